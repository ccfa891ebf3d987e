"""The game in a real Chromium, from a single file and with every host blocked: the script plays as dplib does."""

import re
from fractions import Fraction

import numpy as np
import pytest
from checks import AXE
from test_explore_page import PAGE

from dplib.bounds import weight_envelopes, weighted_majority_mistakes
from dplib.experts import contradict, heaviest_first, weighted_majority
from dplib.player import html, play
from dplib.plot import Check, number, typeset

WORDS = {"caption": "The weight falls.", "alt": "A curve falls between two dashed ones."}
PENALTIES = (0.1, 0.25, 0.5, 0.75)
TITLES = ("adversary", "five", "forecaster", "twin", "goal")
GAMES = {"adversary": play(**WORDS), "five": play(experts=5, rounds=12, **WORDS), "forecaster": play(role="forecaster", **WORDS),
         "twin": play(name="twin", **WORDS), "goal": play(experts=4, goal=(5, 1), **WORDS)}

# Run in the page: make one move as a reader does and say what a reader then sees.
HELPERS = """
window.board = (n) => {
  const figure = document.querySelectorAll("figure.dplib-player")[n], all = (what) => [...figure.querySelectorAll(what)];
  const text = (what) => figure.querySelector(what).innerText.trim().replace(/\\s+/g, " ");
  const press = (name) => all("button").find((b) => b.textContent.startsWith(name)).click();
  const choose = (index, at) => { const made = all("select")[index]; made.selectedIndex = at; made.dispatchEvent(new Event("input", { bubbles: true })); };
  const cells = (column) => all(`tbody .${column}`).map((c) => c.textContent.trim());
  const seen = () => ({
    tally: text(".pl-tally"), check: text(".dx-check"), where: text(".dx-where"), counts: Object.fromEntries(all(".pl-counts > div").map((d) => [d.children[0].textContent, d.children[1].textContent])),
    weights: cells("pl-c2:not(.pl-rail)"), wrong: cells("pl-c3").map(Number), last: cells("pl-c4"), says: all("input:checked + .pl-letter, .pl-on").map((c) => c.textContent).join(""),
    bars: all(".pl-bar").map((b) => parseFloat(b.style.width)), lines: all(".dx-plot > svg .dx-line").map((p) => p.getAttribute("d")),
  });
  const advise = (letters) => all("tbody tr").forEach((row, i) => { const radio = row.querySelectorAll("input")[letters[i] === "U" ? 0 : 1]; if (!radio.checked) radio.click(); });
  return { figure, all, text, press, choose, seen, advise };
};
"""
PLAY = """([n, penalty, moves]) => {
  const b = board(n); b.press("Start again"); b.choose(0, penalty);
  return moves.map(([advice, outcome]) => { b.advise(advice); const before = b.seen(); b.press("Reveal " + outcome); return [before, b.seen()]; });
}"""
PRESS = "([n, name, times]) => { const b = board(n); return Array.from({ length: times }, () => { b.press(name); return b.seen(); }); }"


@pytest.fixture(scope="module")
def lone_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "player.html"
    path.write_text(PAGE.format("".join(html(game) for game in GAMES.values())), "utf-8")
    return path.as_uri()


def letters(row):
    return "".join("U" if up else "D" for up in row)


def status(page, n=0):
    return " ".join(page.locator("[role=status]").nth(n).inner_text().split())


def referee(advice, outcomes, eta):
    """The game by exact fractions: what is said, who is wrong how often, W, and both sides' weights, round by round."""
    weights, keep, out = [Fraction(1)] * len(advice[0]), 1 - Fraction(str(eta)), []
    for said, outcome in zip(advice, outcomes):
        up, down = (sum(w for w, u in zip(weights, said) if u == side) for side in (True, False))
        weights = [w if u == outcome else w * keep for w, u in zip(weights, said)]
        out.append((up, down, up > down, sum(weights)))
    return out


def drawn(lines, values):
    """The paths are the values, curve by curve: one straight line takes all values to pixels, up to their rounding."""
    points = np.array([[[float(v) for v in pair.split()] for pair in re.split("[ML]", path)[1:]] for path in lines])
    assert points.shape[:2] == np.shape(values) and np.allclose(np.diff(points[..., 0], 2), 0, atol=0.21)
    pixels, values = points[..., 1].ravel(), np.ravel(values)
    slope, offset = np.polyfit(values, pixels, 1)
    assert slope < -1 and np.abs(pixels - slope * values - offset).max() < 0.12


# ---- the reader is the adversary ---------------------------------------------------------------------------------

@pytest.mark.parametrize("eta", PENALTIES)
@pytest.mark.parametrize("title", ["adversary", "five"])
def test_every_round_is_that_of_dplib(opened, title, eta):
    """Random moves, half of them with as many ties as there can be; every word and number after every round."""
    game, page = GAMES[title], opened()
    N, rounds = game.natures[0].experts, game.rounds
    rng = np.random.default_rng(int(1000 * eta) + N)
    ties = 0
    for style in ("any", "contrary"):
        advice = rng.random((rounds, N)) < 0.5
        outcomes = rng.random(rounds) < 0.5
        if style == "contrary":  # every second expert against the others: both sides stay alike, and in other orders
            advice = np.arange(N) % 2 == rng.integers(0, 2, rounds)[:, None]
        run = weighted_majority((advice, outcomes), eta)
        exact = referee(advice.tolist(), outcomes.tolist(), eta)
        said = page.evaluate(PLAY, [TITLES.index(title), PENALTIES.index(eta), [[letters(a), letters([s])] for a, s in zip(advice, outcomes)]])
        errors, mistakes = np.cumsum(advice != outcomes[:, None], axis=0), np.concatenate([[0], np.cumsum(run.wrong)])
        for t, (before, after) in enumerate(said):
            up, down, says_u, total = exact[t]
            ties += up == down
            assert says_u == run.forecasts[t]
            word = letters([says_u])
            assert before["says"] == letters(advice[t])
            assert before["tally"].endswith(f"weighted majority says {word}.") and ("a tie" in before["tally"]) == (up == down)
            sides = [float(x) for x in re.findall(r"\d[\d.e-]*(?=[,:])", before["tally"])]
            np.testing.assert_allclose(sides, [float(up), float(down)], rtol=6e-3)
            verdict = "no mistake" if says_u == outcomes[t] else "a mistake"
            assert after["where"].startswith(f"Round {t + 1}: weighted majority said {word}, the outcome was {letters([outcomes[t]])}: {verdict}.")
            wrong = [i + 1 for i in np.flatnonzero(advice[t] != outcomes[t])]
            assert [int(i) for i in re.findall(r"\d+", after["where"].partition(f"{verdict}.")[2])] == wrong
            assert [word != "right" for word in after["last"]] == [i + 1 in wrong for i in range(N)]
            assert after["wrong"] == errors[t].tolist()
            assert after["weights"] == [number((1 - eta) ** k).replace("e-0", "e-") for k in errors[t].tolist()]
            np.testing.assert_allclose(after["bars"], 100 * (1 - eta) ** (errors[t] - errors[t].min()), rtol=1e-4)
            check = Check(int(mistakes[t + 1]), weighted_majority_mistakes(run.best[t + 1], N, eta))
            assert after["check"] == typeset(check.numbers())
            assert after["counts"] == {"rounds": f"{t + 1} of {rounds}", "majority's mistakes": str(check.left),
                                       "best expert, OPT": str(run.best[t + 1]), f"bound at η = {number(eta)}": number(check.right)}
        low, high = weight_envelopes(run.best, mistakes, N, eta)
        drawn(said[-1][1]["lines"], [run.log_total, high, low])
    assert ties >= (1 if N % 2 == 0 else 0)


@pytest.mark.parametrize("eta, opening, split", [(0.5, "DDUUU", "DDDUU"), (0.5, "DUDUU", "DDDUU"), (0.75, "DDDDU", "UUUUD"), (0.75, "UDDDD", "UDDDD")])
def test_a_tie_of_unlike_sides_goes_to_d(opened, eta, opening, split):
    """Two halves and a whole against two wholes, four quarters against a whole: a tie, D is said, and U is a mistake."""
    (_, _), (before, after) = opened().evaluate(PLAY, [1, PENALTIES.index(eta), [[opening, "U"], [split, "U"]]])
    assert before["tally"].endswith(": a tie, and weighted majority says D.")
    assert "weighted majority said D, the outcome was U: a mistake." in after["where"]


@pytest.mark.parametrize("title", ["adversary", "five"])
@pytest.mark.parametrize("eta", PENALTIES)
def test_heaviest_first_button_is_the_librarys_adversary(opened, title, eta):
    game, page = GAMES[title], opened()
    N = game.natures[0].experts
    run = weighted_majority(heaviest_first, eta, experts=N, rounds=game.rounds)
    page.evaluate("([n, at]) => board(n).choose(0, at)", [TITLES.index(title), PENALTIES.index(eta)])
    shown = page.evaluate(PRESS, [TITLES.index(title), "Let the heaviest", game.rounds])
    assert shown[-1]["wrong"] == run.expert_mistakes.tolist()
    assert [int(s["counts"]["best expert, OPT"]) for s in shown] == run.best[1:].tolist()
    assert [int(s["counts"]["majority's mistakes"]) for s in shown] == list(range(1, game.rounds + 1))  # every round a mistake
    assert page.evaluate(PRESS, [TITLES.index(title), "Let the heaviest", 1])[0]["counts"] == shown[-1]["counts"]  # the game is over
    assert f"All {game.rounds} rounds are played." == shown[-1]["tally"]


def test_text_of_python_is_what_the_button_gives(opened):
    text = repr(GAMES["adversary"])
    shown = opened().evaluate(PRESS, [0, "Let the heaviest", 10])[-1]
    assert f"10 rounds: {shown['check'].replace('≤', '<=').replace('×', 'x')} with OPT = {shown['counts']['best expert, OPT']}" in text


def test_after_the_last_round_no_side_is_shown_as_heavier(opened):
    page = opened()
    beam = page.locator("figure").first.locator(".pl-beam")
    page.evaluate(PRESS, [0, "Let the heaviest", 39])
    assert beam.is_visible()
    page.evaluate(PRESS, [0, "Let the heaviest", 1])
    assert not beam.is_visible()
    page.evaluate(PRESS, [0, "Undo", 1])
    assert beam.is_visible()


@pytest.mark.parametrize("width", [320, 1000])
def test_a_weight_stands_on_one_line(opened, width):
    page = opened(width)
    page.evaluate(PRESS, [0, "Let the heaviest", 40])
    lines = page.evaluate("""() => board(0).all("tbody td.pl-c2:not(.pl-rail)").map((cell) => {
        const range = document.createRange(); range.selectNodeContents(cell); return [cell.textContent, range.getClientRects().length]; })""")
    assert lines == [["9.54e-7", 1]] * 6


def test_goal_is_said_reached_and_missed(opened):
    """Four experts, η = 1/2: two pairs, then three of which two have erred before, then the perfect one, then the three again."""
    page, moves = opened(), [[advice, "U"] for advice in ("UUDD", "UDUD", "UDDD", "DUUU", "UDDD")]
    goal = "5 mistakes with OPT at most 1."
    assert page.evaluate("() => board(4).seen().where") == f"Nothing is revealed yet. Goal: {goal}"
    shown = [after["where"] for _, after in page.evaluate(PLAY, [4, 2, moves])]
    assert all(text.endswith(f" Goal: {goal}") for text in shown[:4]) and shown[4].endswith(f" Goal reached in round 5: {goal}")
    later = page.evaluate(PRESS, [4, "Let the heaviest", 6])
    assert int(later[-1]["counts"]["best expert, OPT"]) > 1 and later[-1]["where"].endswith(f" Goal reached in round 5: {goal}")
    page.evaluate("() => board(4).press('Start again')")
    missed = page.evaluate(PRESS, [4, "Let the heaviest", 6])  # five mistakes, but OPT = 2 by then
    assert [text["where"].rpartition(" Goal")[2].partition(":")[0] for text in missed] == ["", "", "", " missed", " missed", " missed"]
    assert page.evaluate(PRESS, [4, "Undo", 3])[-1]["where"].endswith(f" Goal: {goal}")


def test_undo_start_again_and_another_penalty(opened):
    """Undo brings back what was chosen; another penalty replays the same moves; nothing is left of a game started again."""
    page = opened()
    fresh = page.evaluate("() => board(0).seen()")
    moves = [["DDDUUU", "U"], ["UUUDDD", "U"], ["DUDUDU", "D"], ["DDDDUU", "U"]]
    steps = [after for _, after in page.evaluate(PLAY, [0, 2, moves])]
    back = page.evaluate(PRESS, [0, "Undo", 4])
    assert [s["wrong"] for s in back] == [s["wrong"] for s in [*steps[2::-1], fresh]]
    assert [s["says"] for s in back] == [advice for advice, _ in moves[::-1]]
    assert page.evaluate(PRESS, [0, "Undo", 1])[0] == back[-1]  # there is nothing left to undo
    again = page.evaluate(PLAY, [0, 0, moves])[-1][1]
    page.evaluate(PLAY, [0, 2, moves])
    page.evaluate("() => board(0).choose(0, 0)")
    assert page.evaluate("() => board(0).seen()") == again != steps[-1]
    page.evaluate("() => board(0).choose(0, 2)")
    assert page.evaluate(PRESS, [0, "Start again", 1])[0] == fresh


# ---- the reader is the forecaster --------------------------------------------------------------------------------

FORECAST = """([nature, penalty, words]) => {
  const b = board(2); b.choose(0, nature); b.choose(1, penalty); b.all("input[type=checkbox]")[0].checked = true;
  b.all("input[type=checkbox]")[0].dispatchEvent(new Event("input", { bubbles: true }));
  return [...words].map((word) => { const before = b.seen(); b.press("I say " + word); return [before, b.seen()]; });
}"""


@pytest.mark.parametrize("eta", PENALTIES)
@pytest.mark.parametrize("nature", [0, 1])
def test_forecaster_weighted_majority_and_best_expert_are_counted(opened, nature, eta):
    game = GAMES["forecaster"]
    where, rounds = game.natures[nature], game.rounds
    words = np.random.default_rng(3).random(rounds) < 0.5
    advice, outcomes = where.games[0] if nature == 0 else (where.games[0][0], ~words)
    run = weighted_majority((advice, outcomes), eta)
    yours, theirs = np.cumsum(words != outcomes), np.cumsum(run.wrong)
    shown = opened().evaluate(FORECAST, [nature, PENALTIES.index(eta), letters(words)])
    for t, (before, after) in enumerate(shown):
        assert before["says"] == letters(advice[t])
        assert before["tally"].endswith(f"weighted majority says {letters([run.forecasts[t]])}.")
        assert (f"Round {t + 1}: you said {letters([words[t]])}, weighted majority said {letters([run.forecasts[t]])}, the outcome was "
                f"{letters([outcomes[t]])}: {'you were right' if words[t] == outcomes[t] else 'your mistake'}.") in after["where"]
        right = weighted_majority_mistakes(run.best[t + 1], where.experts, eta)
        assert after["check"] == typeset(Check(int(theirs[t]), right).numbers())
        assert after["counts"] == {"rounds": f"{t + 1} of {rounds}", "your mistakes": str(yours[t]), "majority's mistakes": str(theirs[t]),
                                   "best expert, OPT": str(run.best[t + 1]), f"bound at η = {number(eta)}": number(right)}
    assert shown[-1][1]["wrong"] == run.expert_mistakes.tolist()
    bounds = weighted_majority_mistakes(run.best, where.experts, eta)
    drawn(shown[-1][1]["lines"], [[0, *yours], [0, *theirs], run.best, 2 * run.best, bounds])


def test_contradicted_reader_errs_twice_as_often_as_the_best_expert(opened):
    """prop-deterministic-barrier as one plays it: alternating is the best one can do, and 2·OPT <= mistakes even so."""
    run = contradict(lambda advice, outcomes: len(outcomes) % 2 == 0, rounds=30)
    shown = opened().evaluate(FORECAST, [1, 2, "UD" * 15])
    assert (run.mistakes, run.opt) == (30, 15)
    assert shown[-1][1]["where"].endswith("You erred 30 times, weighted majority 15 times, the best expert 15 times, and 2·OPT = 30.")
    assert shown[0][1]["where"].endswith("You have 1 mistake, and 2·OPT = 0.")
    assert not any("equally often" in after["where"] for _, after in shown)
    page = opened()
    shown = page.evaluate(FORECAST, [1, 2, "UUDDD"])
    hint = " Say both words equally often, and your mistakes are 2·OPT."
    assert [hint in after["where"] for _, after in shown] == [False, True, False, False, False]
    assert shown[1][1]["where"].endswith("You have 2 mistakes, and 2·OPT = 0." + hint)


def test_a_new_game_is_another_one_and_start_again_the_same(opened):
    """The button goes through nature's eight games and round again; both natures end with a verdict."""
    page, games = opened(), GAMES["forecaster"].natures[0].games
    for number, (advice, outcomes) in enumerate([*games, games[0]]):
        (start,) = page.evaluate(PRESS, [2, "New game", 1]) if number else (page.evaluate("() => board(2).seen()"),)
        assert start["says"] == letters(advice[0]) and start["counts"]["rounds"] == "0 of 30"
        assert start["where"] == f"Game {number % 8 + 1} of 8: nothing is said yet."
        shown = [after for _, after in page.evaluate("""(words) => { const b = board(2);
            return [...words].map((word) => { b.press("I say " + word); return [0, b.seen()]; }); }""", letters(outcomes))]
        run = weighted_majority((advice, outcomes), 0.5)
        assert shown[-1]["wrong"] == (advice != outcomes[:, None]).sum(axis=0).tolist() and "You erred" not in shown[-2]["where"]
        assert shown[-1]["where"].endswith(f"You erred 0 times, weighted majority {run.mistakes} times, the best expert {run.opt} times.")
        assert page.evaluate(PRESS, [2, "Start again", 1])[0] == start
    figure = page.locator("figure").nth(2)
    assert figure.get_by_role("button", name="New game").is_visible()
    page.evaluate("() => board(2).choose(0, 1)")
    assert not figure.get_by_role("button", name="New game").is_visible()  # there is only one way of being contradicted


def test_weights_are_shown_on_request_only(opened):
    page = opened()
    figure = page.locator("figure").nth(2)
    assert figure.locator("tbody .pl-c1").first.is_visible() and not figure.locator("tbody .pl-c2").first.is_visible()
    figure.get_by_role("button", name="I say U").click()
    assert figure.locator(".pl-tally").inner_text() == ""
    figure.get_by_label("show weights and past mistakes").check()
    assert figure.locator("tbody .pl-c2").nth(1).is_visible() and "weighted majority says" in figure.locator(".pl-tally").inner_text()
    assert status(page, 2).count("Round 1") == 1  # looking is not a move


# ---- the page ----------------------------------------------------------------------------------------------------

def test_keyboard_alone_plays_and_keeps_its_place(opened):
    page = opened()
    page.locator("figure select").first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[role=radiogroup]').getAttribute('aria-label')") == "expert 1 says"
    page.keyboard.press("ArrowLeft")
    assert "Weight for U 4, for D 2" in page.locator(".pl-tally").first.inner_text()
    for _ in range(6):
        page.keyboard.press("Tab")
    for presses in range(1, 4):
        assert page.evaluate("document.activeElement.textContent").startswith("Reveal U")
        page.keyboard.press("Enter" if presses % 2 else "Space")
        assert f"Round {presses}: weighted majority said U, the outcome was U: no mistake. Wrong: experts 2 and 3." in status(page)
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Tab")
    for _ in range(40):
        page.keyboard.press("Enter")
    assert "Round 40" in status(page) and page.evaluate("document.activeElement.textContent").startswith("Reveal D")


def test_several_games_share_one_name_and_do_not_meddle(opened):
    page = opened()
    page.evaluate(PRESS, [0, "Let the heaviest", 3])
    page.locator("figure").nth(3).get_by_role("radiogroup", name="expert 2 says").get_by_role("radio", name="U").click()
    before = page.evaluate("[0, 1, 2].map((n) => board(n).seen())")
    page.evaluate(PRESS, [3, "Reveal D", 2])
    assert page.evaluate("[0, 1, 2].map((n) => board(n).seen())") == before
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(set(ids)) == len(ids)
    known = page.evaluate("""() => { const f = document.createElement('iframe'); document.body.append(f);
        const own = Object.keys(window).filter(k => !(k in f.contentWindow) && isNaN(k)); f.remove(); return own }""")
    assert sorted(known) == ["board", "dplibPlayer"]  # the first is ours


def test_game_survives_theme_and_width(opened):
    page = opened()
    shown = page.evaluate(PRESS, [0, "Let the heaviest", 5])[-1]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.dx-plot > svg').viewBox.baseVal.width < 400")
    after = page.evaluate("() => board(0).seen()")
    assert {**after, "lines": 0} == {**shown, "lines": 0} and after["lines"] != shown["lines"]


def test_a_move_takes_less_than_five_milliseconds(opened):
    took = opened().evaluate("""() => { const b = board(0); return Array.from({ length: 40 }, () => {
        const began = performance.now(); b.press("Let the heaviest"); return performance.now() - began; }); }""")
    assert sorted(took)[20] < 5


@pytest.mark.parametrize("width", [320, 380, 1000])
@pytest.mark.parametrize("moves", [0, 1, 40])
def test_nothing_is_cut_off(opened, width, moves):
    page = opened(width)
    for n in (0, 3):
        page.evaluate("n => board(n).choose(0, 0)", n)
        page.evaluate(PRESS, [n, "Let the heaviest", moves])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    beyond = page.evaluate("""() => [...document.querySelectorAll('.dplib-player :is(td, th, button, select, p, dd, svg text, .dx-legend li)')].filter((e) => {
        const r = e.getBoundingClientRect(); return r.width && (r.left < 0 || r.right > innerWidth) }).map((e) => e.outerHTML)""")
    assert beyond == []
    bars = page.evaluate("() => Math.min(...[...document.querySelectorAll('.pl-rail')].filter((e) => e.offsetWidth).map((e) => e.offsetWidth))")
    assert bars >= 24


def test_print_shows_the_game_and_no_button(opened):
    page = opened(theme="dark")
    page.evaluate(PRESS, [0, "Let the heaviest", 5])
    page.emulate_media(media="print")
    figure = page.locator("figure").first
    assert not any(b.is_visible() for b in figure.locator("button").all())
    assert page.get_by_label("penalty η").first.is_visible() and page.get_by_label("nature").is_visible()  # what was played
    assert figure.locator(".dx-plot > svg").is_visible() and "Round 5" in status(page) and figure.locator(".pl-counts").is_visible()
    visible = page.evaluate("() => board(0).all('.pl-letter').filter((e) => getComputedStyle(e).visibility === 'visible').map((e) => e.textContent).join('')")
    assert visible == page.evaluate("() => board(0).seen().says")
    assert figure.evaluate("e => getComputedStyle(e).color") == "rgb(0, 0, 0)"
    assert figure.locator("input:checked + .pl-letter").first.evaluate("e => getComputedStyle(e).color") == "rgb(255, 255, 255)"


def test_without_script_there_is_a_picture_and_no_dead_control(opened):
    page = opened(java_script_enabled=False)
    assert page.get_by_role("img", name=WORDS["alt"]).count() == 5 and page.locator("figure img").first.bounding_box()["width"] > 300
    assert page.locator("figure button, figure select, figure input").count() == 0
    assert status(page) == "10 ≤ 18.3 (1.8× slack) with OPT = 5 heaviest-first adversary, 6 experts, penalty 0.5, 10 rounds"


def test_motion_is_left_out_on_request(opened):
    moving = "e => getComputedStyle(e).transitionDuration"
    assert opened().locator(".pl-bar").first.evaluate(moving) == "0.25s"
    assert opened(reduced_motion="reduce").locator(".pl-bar").first.evaluate(moving) == "0s"


@pytest.mark.parametrize("theme, width, moves", [("light", 380, 3), ("dark", 380, 0), ("light", 1000, 0), ("dark", 1000, 3), ("dark", 380, 40), ("light", 1000, 40)])
def test_axe_finds_nothing(opened, theme, width, moves):
    page = opened(width, theme)
    page.evaluate(PRESS, [0, "Let the heaviest", moves])
    page.evaluate(PRESS, [2, "I say U", moves])
    if moves == 3:
        page.locator("figure").nth(2).get_by_label("show weights and past mistakes").check()
    page.add_script_tag(content=AXE)
    found = page.evaluate("axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })")
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []
    assert len(found["passes"]) > 10
