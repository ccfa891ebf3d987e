"""The game that a reader plays: the page carries the numbers of the theorem, exactly where a tie depends on them."""

import html as escaping
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from math import log

import numpy as np
import pytest

from dplib.player import OPENING, play

WORDS = {"caption": "A < B & C", "alt": 'It "falls"', "name": "fig-test"}
ROLES = ["adversary", "forecaster"]


def make(role="adversary", **more):
    return play(role=role, **{**WORDS, **more})


def page(role="adversary", **more):
    """The page as the book's build writes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPLIB_EXPLORE", "static")
        return make(role, **more)._repr_mimebundle_()["text/html"]


def data(*arguments, **more):
    return json.loads(re.search(r'class="dx-data">(.*?)</script>', page(*arguments, **more), re.S)[1])


@pytest.mark.parametrize("role", ROLES)
def test_weights_are_whole_numbers_in_the_exact_ratio(role):
    """w after k mistakes is to w after none as (1-η)^k to 1, without rounding: the script's sums are then exact."""
    sent = data(role, penalty=[0.1, 0.375, 0.5], rounds=25)
    assert sent["penalties"] == ["0.1", "0.375", "0.5"] and sent["start"] == 2
    for game in sent["natures"]:
        for eta, table in zip([Fraction(1, 10), Fraction(3, 8), Fraction(1, 2)], game["tables"], strict=True):
            weights = [int(w) for w in table["weights"]]
            assert [Fraction(w, weights[0]) for w in weights] == [(1 - eta) ** k for k in range(26)]


@pytest.mark.parametrize("role", ROLES)
def test_bound_and_envelopes_are_those_of_the_theorem(role):
    """mist <= (OPT ln(1/(1-η)) + ln N) / ln(2/(2-η)), and (1-η)^OPT <= W <= N(1-η/2)^mist, written out here once more."""
    for game in data(role, penalty=[0.1, 0.4], start=0.4, rounds=25)["natures"]:
        for eta, table in zip([0.1, 0.4], game["tables"], strict=True):
            N, k = game["experts"], np.arange(26)
            np.testing.assert_allclose(table["bound"], (k * log(1 / (1 - eta)) + log(N)) / log(2 / (2 - eta)), rtol=1e-8)
            np.testing.assert_allclose(table["lower"], (1 - eta) ** k, rtol=1e-5)
            np.testing.assert_allclose(table["upper"], N * (1 - eta / 2) ** k, rtol=1e-5)
            np.testing.assert_allclose([float(w) for w in table["said"]], table["bound"], rtol=6e-3)
            np.testing.assert_allclose([float(w) for w in table["shown"]], (1 - eta) ** k, rtol=6e-3)
            assert max(map(len, table["shown"])) <= 8  # 9.54e-7, not 9.54e-07: a cell of a narrow table


def test_text_is_a_scripted_game():
    """Heaviest-first by hand, N = 4, η = 1/2: 1100 wrong, then 0011 after a tie, and so on; a best expert errs every second round."""
    text = repr(make(experts=4, rounds=7))
    assert text == "heaviest-first adversary, 4 experts, penalty 0.5, 7 rounds: 7 <= 12 (1.7x slack) with OPT = 3"
    assert f"{OPENING} rounds" in repr(make()) and repr(make()) == repr(make())


def test_forecasters_games_have_one_good_expert_and_a_bad_plain_majority():
    """Each of the eight games can be won by trusting, and is lost by counting heads; knowing one is no help in the others."""
    games = make("forecaster").natures[0].games
    wrong = [(advice != outcomes[:, None]).sum(axis=0) for advice, outcomes in games]
    for (advice, outcomes), errors in zip(games, wrong):
        assert advice.shape == (30, 6) and 2 <= np.sort(errors)[0] <= 4 and np.sort(errors)[1] >= 12
        assert ((advice.sum(axis=1) > 3) != outcomes).sum() >= 15
    assert len(games) == 8 and list(np.sort(wrong[0])[:2]) == [2, 14]
    assert {int(errors.argmin()) for errors in wrong} == set(range(6))  # every place is once the good one
    assert len({outcomes.tobytes() for _, outcomes in games}) == len({advice.tobytes() for advice, _ in games}) == 8
    assert repr(make("forecaster")) == "one expert is good, 6 experts, penalty 0.5, 30 rounds: 5 <= 11 (2.2x slack) with OPT = 2"
    for sent, (advice, outcomes) in zip(data("forecaster")["natures"][0]["games"], games, strict=True):
        assert [[c == "U" for c in row] for row in sent["advice"]] == advice.tolist()
        assert [c == "U" for c in sent["outcomes"]] == outcomes.tolist()


def test_contradicting_nature_has_two_constant_experts():
    nature = data("forecaster", rounds=9)["natures"][1]
    assert nature["experts"] == 2 and nature["games"] == [{"advice": ["UD"] * 9, "outcomes": None}]


def test_goal_of_an_adversary_is_sent():
    assert data(experts=4, goal=(5, 1))["goal"] == [5, 1] and data()["goal"] is None


@pytest.mark.parametrize("wrong, said", [
    ({"role": "nature"}, "role must be 'adversary' or 'forecaster', got 'nature'"),
    ({"experts": 1}, "experts must be an integer >= 2, got 1"),
    ({"experts": 13}, "experts must be at most 12 to be seen at once, got 13"),
    ({"experts": 6.0}, "experts must be an integer"),
    ({"rounds": 0}, "rounds must be an integer >= 1, got 0"),
    ({"rounds": 101}, "rounds must be at most 100, got 101"),
    ({"penalty": 0.5}, "penalty must be a list of values of η, got 0.5"),
    ({"penalty": []}, "penalty must be a list of different values in increasing order, got []"),
    ({"penalty": [0.5, 0.1]}, "in increasing order, got [0.5, 0.1]"),
    ({"penalty": [0.5, 0.5]}, "different values"),
    ({"penalty": [0.5, 1]}, "penalty must be in the open interval (0, 1), got 1"),
    ({"penalty": [0, 0.5]}, "penalty must be in the open interval (0, 1), got 0"),
    ({"penalty": [1 / 3, 0.5]}, "at most three decimals (ties are compared exactly), got 0.3333333333333333"),
    ({"start": 0.3}, "start must be one of the penalties [0.1, 0.25, 0.5, 0.75], got 0.3"),
    ({"goal": (1, 0), "role": "forecaster"}, "goal is for the adversary, got role 'forecaster'"),
    ({"goal": (10, 1), "experts": 4}, "goal must be within the bound: 7.23 mistakes with OPT = 1 at η = 0.5, got 10"),
    ({"goal": (0, 1)}, "mistakes of the goal must be an integer >= 1, got 0"),
    ({"goal": (5, -1)}, "OPT of the goal must be an integer >= 0, got -1"),
    ({"caption": None}, "play needs caption="),
    ({"alt": " "}, "play needs alt="),
])
def test_bad_arguments_are_named(wrong, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make(**wrong)


@pytest.mark.parametrize("role", ROLES)
def test_texts_are_escaped_and_nobody_is_asked(role):
    text = page(role)
    assert text.count("A &lt; B &amp; C</figcaption>") == 1 and text.count(escaping.escape('It "falls"')) == 2
    assert 'data-name="fig-test"' in text and '<noscript><img src="data:image/png;base64,' in text
    assert not re.search(r'(?:src|href)="(?!data:)', text) and "@import" not in text and "url(http" not in text
    assert re.findall(r"https?://[^\"' )]+", text) == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert text.count("</script>") == 2 and len(text.encode()) < 70_000


def test_same_call_same_page_and_id_is_a_hash_of_content():
    ids = {re.search(r'id="(pl-[0-9a-f]{10})"', page(**more))[1]
           for more in ({}, {}, {"alt": "other"}, {"name": "fig-2"}, {"caption": "other"}, {"rounds": 9}, {"experts": 5})}
    assert len(ids) == 6 and page() == page()


def test_same_page_in_another_process():
    """No order of a set, no address, no clock."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; from test_player import page; sys.stdout.buffer.write(page('forecaster').encode())"
    here = os.path.dirname(__file__)
    out = subprocess.run([sys.executable, "-c", code, here, os.path.dirname(os.path.dirname(here))], capture_output=True, check=True,
                         env={**os.environ, "PYTHONHASHSEED": "7"}).stdout
    assert out.decode() == page("forecaster")


def test_book_gets_page_and_picture(monkeypatch):
    import base64

    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png"} and bundle["text/plain"] == repr(make())
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")


def test_kernel_gets_the_same_page_in_a_widget(monkeypatch):
    """A notebook then stores the sentence and not the page; nbval compares that sentence."""
    import ipywidgets

    made = []

    class Kept(ipywidgets.Output):
        def __init__(self, **traits):
            super().__init__(**traits)
            made.append(self)

    monkeypatch.delenv("DPLIB_EXPLORE", raising=False)
    monkeypatch.setattr(ipywidgets, "Output", Kept)
    bundle = make()._repr_mimebundle_()
    assert bundle.pop("application/vnd.jupyter.widget-view+json")["model_id"] == made[0].model_id
    assert bundle == {"text/plain": repr(make())}
    (shown,) = made[0].outputs
    assert shown["data"] == {"text/html": page()}


def test_without_widgets_the_page_itself_is_shown(monkeypatch):
    monkeypatch.delenv("DPLIB_EXPLORE", raising=False)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert make()._repr_mimebundle_() == {"text/plain": repr(make()), "text/html": page()}
