"""The prediction game on a page, round by round: the reader is the adversary, or the forecaster.

`play` gives one figure for the built book, a file and a live kernel. Its script adds, compares and counts; what a formula
gives ((1-η)^k, the bound, the two envelopes of the total weight) is written into the page from `dplib.bounds`. The weights
are whole numbers there, (1-η)^k times a power of η's denominator, so that sums are exact and a tie is a tie.

>>> play(caption="You are the adversary.", alt="A falling curve between two others.")
heaviest-first adversary, 6 experts, penalty 0.5, 10 rounds: 10 <= 18.3 (1.8x slack) with OPT = 5
"""

import hashlib
import html as escaping
import json
import re
from base64 import b64encode
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dplib._validate import count, probability
from dplib.bounds import weight_envelopes, weighted_majority_mistakes
from dplib.experts import heaviest_first, noisy_experts, weighted_majority
from dplib.explore import is_static
from dplib.plot import Check, Plot, bound, measured, number, truth, typeset

__all__ = ["play"]

ROUNDS = {"adversary": 40, "forecaster": 30}
OPENING = 10  # rounds of the adversary's game that the text and the picture without script show
SEEDS = (35, 130, 258, 120, 361, 39, 203, 378)  # of nature's games: the plain majority of six experts is then wrong in half of the rounds or more
AXES = {"adversary": ("rounds t", "total weight W"), "forecaster": ("rounds t", "mistakes")}
CURVES = {
    "adversary": [(measured, "total weight W, a dot at each mistake"), (bound, "upper envelope N(1 − η/2)^mist"), (bound, "lower envelope (1 − η)^OPT")],
    "forecaster": [(measured, "you"), (measured, "weighted majority"), (truth, "best expert, OPT"), (truth, "2·OPT"),
                   (bound, "bound for weighted majority")],
}


@dataclass(frozen=True)
class Nature:
    """What the reader plays in or against: games of `advice` (T, N) with True = U and `outcomes` (T,), each None if the reader makes it."""

    label: str
    experts: int
    games: tuple = ((None, None),)


def _natures(role, experts, rounds):
    if role == "adversary":
        return (Nature("you", experts),)
    constant = np.tile([True, False], (rounds, 1))
    return (Nature("one expert is good", experts, tuple(_one_good(experts, rounds, seed) for seed in SEEDS)),
            Nature("always contradicts you", 2, ((constant, None),)))


def _one_good(experts, rounds, seed):
    """Advice and outcomes: one expert, at a random place, errs in a tenth of the rounds, the others guess."""
    rng = np.random.default_rng(seed)
    advice, outcomes = noisy_experts(experts, rounds, best=0.1, others=0.5, rng=rng)
    return advice[:, rng.permutation(experts)], outcomes


class Player:
    """A game to be played on the page; its text form is a scripted game, so that a notebook test compares numbers."""

    def __init__(self, role, penalties, start, rounds, natures, goal, caption, alt, name):
        self.role, self.penalties, self.start, self.rounds, self.natures, self.goal = role, penalties, start, rounds, natures, goal
        self.caption, self.alt, self.name = caption, alt, name
        self.static = is_static()
        self.plot = self._scripted()

    def __repr__(self):
        who = "heaviest-first adversary" if self.role == "adversary" else self.natures[0].label
        played = f"{who}, {self.natures[0].experts} experts, penalty {number(self.penalties[self.start])}, {len(self.plot.x) - 1} rounds"
        return f"{played}: {self.plot.sentence()}"

    def _scripted(self):
        """The plot of one game: heaviest-first for a few rounds, or weighted majority in nature's first game."""
        eta, nature = self.penalties[self.start], self.natures[0]
        advice, outcomes = nature.games[0]
        fixed = advice is not None
        size = {} if fixed else {"experts": nature.experts, "rounds": min(OPENING, self.rounds)}
        run = weighted_majority((advice, outcomes) if fixed else heaviest_first, eta, **size)
        mistakes = np.concatenate([[0], np.cumsum(run.wrong)])
        bounds = weighted_majority_mistakes(run.best, nature.experts, eta)
        low, high = np.exp(weight_envelopes(run.best, mistakes, nature.experts, eta))
        rows = [mistakes, run.best, 2 * run.best, bounds] if fixed else [np.exp(run.log_total), high, low]
        raised = lambda title: re.sub(r"\^(\w+)", r"$^\\mathrm{\1}$", title.partition(", a dot")[0])
        curves = [make(raised(title), row) for (make, title), row in zip(CURVES[self.role][-len(rows):], rows)]
        return Plot(np.arange(len(mistakes)), curves, *AXES[self.role], yscale="linear" if fixed else "log",
                    check=Check(int(mistakes[-1]), float(bounds[-1]), f"with OPT = {run.opt}"))

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.static:
            return {"text/plain": repr(self), "text/html": html(self), "image/png": png(self)}
        return {**_live(html(self)), "text/plain": repr(self)}


def play(*, role="adversary", experts=6, penalty=(0.1, 0.25, 0.5, 0.75), start=0.5, rounds=None, goal=None, caption=None, alt=None,
         name=None):
    """The prediction game, to be played by the reader against or beside weighted majority.

    role: "adversary" (the reader chooses the advice and the outcome) or "forecaster" (the reader predicts; nature is one of
    eight fixed games with one good expert, or two constant experts and the opposite of what the reader says).   experts: N, 2 to
    12.   penalty: the values of η on offer, with at most three decimals.   start: the first of them.   rounds: at most
    100.   goal: (mistakes, OPT) that an adversary is to reach: so many mistakes while OPT is at most so large.   caption, alt: required; the alternative text says what one should see.   name: tells apart two equal figures.
    """
    if role not in ROUNDS:
        raise ValueError(f"role must be 'adversary' or 'forecaster', got {role!r}")
    if count("experts", experts, least=2) > 12:
        raise ValueError(f"experts must be at most 12 to be seen at once, got {experts!r}")
    rounds = ROUNDS[role] if rounds is None else count("rounds", rounds)
    if rounds > 100:
        raise ValueError(f"rounds must be at most 100, got {rounds!r}")
    penalties = _penalties(penalty)
    if start not in penalties:
        raise ValueError(f"start must be one of the penalties {list(penalties)}, got {start!r}")
    for what, text in (("caption", caption), ("alt", alt)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"play needs {what}=..., a sentence {'about' if what == 'caption' else 'saying what to see in'} the figure")
    goal = None if goal is None else _goal(goal, role, experts, start)
    return Player(role, penalties, penalties.index(start), rounds, _natures(role, experts, rounds), goal, caption, alt, name)


def _goal(goal, role, experts, penalty):
    if role != "adversary":
        raise ValueError(f"goal is for the adversary, got role {role!r}")
    mistakes, best = goal
    limit = weighted_majority_mistakes(count("OPT of the goal", best, least=0), experts, penalty)
    if count("mistakes of the goal", mistakes) > limit:
        raise ValueError(f"goal must be within the bound: {number(limit)} mistakes with OPT = {best} at η = {penalty}, got {mistakes!r}")
    return mistakes, best


def _penalties(penalty):
    if isinstance(penalty, (str, bytes)) or not hasattr(penalty, "__iter__"):
        raise ValueError(f"penalty must be a list of values of η, got {penalty!r}")
    penalties = tuple(probability("penalty", eta) for eta in penalty)
    if not penalties or list(penalties) != sorted(set(penalties)):
        raise ValueError(f"penalty must be a list of different values in increasing order, got {list(penalties)}")
    for eta in penalties:
        if Fraction(str(eta)).denominator > 1000:
            raise ValueError(f"penalty must have at most three decimals (ties are compared exactly), got {eta!r}")
    return penalties


# ---- the page ----------------------------------------------------------------------------------------------------

def payload(player):
    """All that the script needs, as plain lists and strings."""
    return {
        "role": player.role, "rounds": player.rounds, "goal": player.goal, "penalties": [number(eta) for eta in player.penalties], "start": player.start,
        "axes": [{"label": label, "log": log} for label, log in zip(AXES[player.role], (False, player.role == "adversary"))],
        "curves": [{"kind": make.__name__, "name": name} for make, name in CURVES[player.role]],
        "natures": [{"label": nature.label, "experts": nature.experts, "opening": letters(np.arange(nature.experts) >= nature.experts // 2),
                     "games": [{"advice": None if advice is None else [letters(row) for row in advice],
                                "outcomes": None if outcomes is None else letters(outcomes)} for advice, outcomes in nature.games],
                     "tables": [table(nature.experts, eta, player.rounds) for eta in player.penalties]} for nature in player.natures],
    }


def letters(row):
    """True as U, False as D.

    >>> letters([True, False])
    'UD'
    """
    return "".join("DU"[int(up)] for up in row)


def table(experts, penalty, rounds):
    """The formulas at 0, 1, …, T mistakes: weights as whole numbers and in words, the bound likewise, the envelopes.

    >>> made = table(experts=4, penalty=.5, rounds=2)
    >>> made["weights"], made["shown"], made["said"], made["lower"], made["upper"]
    (['4', '2', '1'], ['1', '0.5', '0.25'], ['4.82', '7.23', '9.64'], [1.0, 0.5, 0.25], [4.0, 3.0, 2.25])
    """
    k, keep, unit = np.arange(rounds + 1), 1 - Fraction(str(penalty)), Fraction(str(penalty)).denominator ** rounds
    bounds = weighted_majority_mistakes(k, experts, penalty).tolist()
    lower, upper = (np.exp(log).tolist() for log in weight_envelopes(k, k, experts, penalty))
    return {"weights": [str(keep**j * unit) for j in range(rounds + 1)], "shown": [number(w).replace("e-0", "e-") for w in lower],
            "bound": [float(f"{b:.9g}") for b in bounds], "said": [number(b) for b in bounds],
            "lower": [float(f"{w:.6g}") for w in lower], "upper": [float(f"{w:.6g}") for w in upper]}


def png(player, colours=None):
    """The picture of the scripted game, for print and for a page without script."""
    from dplib.explore import domain
    from dplib.figures import canvas, to_png

    return b64encode(to_png(canvas(player.plot, domain([player.plot]))[0], colours)).decode()


def html(player):
    """The figure as HTML that asks nobody for anything; its id is a hash of what it shows."""
    from dplib.explore_page import script, style

    data = json.dumps(payload(player), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    text = escaping.escape
    key = "pl-" + hashlib.sha256("\0".join([data, player.caption, player.alt, player.name or ""]).encode()).hexdigest()[:10]
    name = f' data-name="{text(player.name)}"' if player.name else ""
    check = player.plot.check
    return (
        f'<figure class="dplib-figure dplib-player" id="{key}"{name}>\n{style("player.css")}\n<div class="pl-board"></div>\n'
        f'<p class="dx-says" role="status"><span class="dx-check">{text(typeset(check.numbers()))}</span> <span class="dx-what">{text(check.what)}</span> '
        f'<span class="dx-where">{text(repr(player).partition(":")[0])}</span></p>\n'
        f'<div class="dx-plot" data-alt="{text(player.alt)}"></div>\n'
        f'<noscript><img src="data:image/png;base64,{png(player, 16)}" alt="{text(player.alt)}"></noscript>\n'
        f'<figcaption class="dx-caption">{text(player.caption)}</figcaption>\n'
        f'<script type="application/json" class="dx-data">{data}</script>\n{script("player.js")}\n</figure>'
    )


def _live(page):
    """The same page in a kernel, inside a widget: a stored notebook then keeps the text and not the page."""
    try:
        from ipywidgets import Output
    except ImportError:
        return {"text/html": page}
    shown = {"output_type": "display_data", "data": {"text/html": page}, "metadata": {}}
    return Output(outputs=(shown,))._repr_mimebundle_()
