"""The pictures of chapter 1. Callbacks of `explore` are functions of their parameters alone: chance has a fixed seed."""

import numpy as np

from dplib import bounds
from dplib.experts import (heaviest_alone, heaviest_first, heaviest_first_counts, noisy_experts, randomised_weighted_majority,
                           tie_splitter, weighted_majority)
from dplib.plot import Check, Plot, bound, measured, number, truth

ENVELOPE_OPPONENTS = ("heaviest first", "one perfect expert", "noisy experts")
PENALTY_OPPONENTS = {"best expert errs in 10 %": 0.1, "best expert errs in 20 %": 0.2, "best expert errs in 30 %": 0.3,
                     "heaviest first": None}
COIN_OPPONENTS = ("heaviest first", "heaviest alone", "noisy experts")
ETAS = np.array([0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.28, 0.38, 0.5, 0.65, 0.8, 0.9])


def envelopes(penalty, opponent, experts=128, rounds=40):
    """The total weight of weighted majority over the rounds, between the two envelopes of the proof."""
    N, T = experts, rounds
    play = {"heaviest first": heaviest_first, "one perfect expert": tie_splitter,
            "noisy experts": noisy_experts(N, T, 0.25, rng=np.random.default_rng(1))}[opponent]
    run = weighted_majority(play, penalty, experts=N, rounds=T)
    low, high = bounds.weight_envelopes(run.best, np.r_[0, run.wrong.cumsum()], N, penalty)
    return Plot(
        np.arange(T + 1),
        [
            measured("total weight W", np.exp(run.log_total)),
            bound("upper: N(1−η/2)^mist", np.exp(high)),
            bound("lower: (1−η)^OPT", np.exp(low)),
        ],
        "rounds t",
        "weight",
        yscale="log",
        check=Check(int(run.mistakes), bounds.weighted_majority_mistakes(run.opt, N, penalty),
                    f"mistakes in {T} rounds, best expert {run.opt}"),
    )


def penalty_curve(experts, opponent, rounds=300, repeats=6):
    """Mistakes of weighted majority in units of OPT against the penalty η, with the bound; the band holds all games.

    The bound is linear in OPT, so that it holds for the means of several games at the same η as well.
    """
    N, T, eta, rate = experts, rounds, ETAS, PENALTY_OPPONENTS[opponent]
    if rate is None:
        best = np.array([heaviest_first_counts(N, T, e)[-1] for e in eta])[:, None]
        mistakes = np.full((len(eta), 1), T)
    else:
        run = weighted_majority(noisy_experts(N, T, rate, rng=np.random.default_rng(11), repeats=repeats), eta[:, None])
        mistakes, best = run.mistakes, run.opt  # (len(eta), R)
    opt, single = best.mean(axis=1), mistakes / best
    ratio, limit = mistakes.mean(axis=1) / opt, bounds.weighted_majority_mistakes(opt, N, eta) / opt
    at = int(np.flatnonzero(eta == 0.5)[0])
    return Plot(
        eta,
        [
            measured("weighted majority", ratio, single.min(axis=1), single.max(axis=1)),
            bound("bound of the theorem", limit),
            truth("OPT", np.ones(len(eta))),
            truth("2 OPT", np.full(len(eta), 2)),
        ],
        "penalty η",
        "mistakes / OPT",
        xscale="log",
        yscale="log",
        check=Check(ratio[at], limit[at], f"at η = 0.5, where OPT = {number(opt[at])}"),
    )


def constant(experts, rounds=40_000):
    """How far the ratio mist/(OPT + log₂N) of the heaviest-first adversary is below 1/log₂(4/3), as the game goes on."""
    N, exact = experts, bounds.weighted_majority_coefficients(0.5)[0]
    t = np.unique(np.geomspace(10, rounds, 90).astype(int))
    ratio = t / (heaviest_first_counts(N, rounds)[t] + np.log2(N))
    line = lambda name, claimed: bound(name, np.full(len(t), exact - claimed))
    return Plot(
        t,
        [
            measured("2.40942… − mist/(OPT + log₂N)", exact - ratio),
            line("below this, “2.4” is refuted", 2.4),
            line("below this, “2” is refuted", 2.0),
        ],
        "rounds T",
        "distance from 2.40942…",
        xscale="log",
        yscale="log",
        check=Check(float(ratio.max()), 2.4, f"the largest ratio found, {ratio.max():.5f}, against “2.4”"),
    )


def coin(experts, opponent, rounds=300):
    """Deterministic and randomised weighted majority on the same games, in units of OPT, against η."""
    N, T, eta = experts, rounds, ETAS[(0.05 <= ETAS) & (ETAS <= 0.5)]
    play = {"heaviest first": heaviest_first, "heaviest alone": heaviest_alone,
            "noisy experts": noisy_experts(N, T, 0.3, 0.4, rng=np.random.default_rng(2))}[opponent]
    drawn = randomised_weighted_majority(play, eta, experts=N, rounds=T)
    fixed = weighted_majority(play, eta, experts=N, rounds=T)  # the same weights, hence the same advice and OPT
    ratio, limit = drawn.mistakes / drawn.opt, bounds.randomised_majority_mistakes(drawn.opt, N, eta) / drawn.opt
    at = int(np.flatnonzero(eta == 0.2)[0])
    return Plot(
        eta,
        [
            measured("deterministic", fixed.mistakes / fixed.opt),
            measured("with a coin, expected", ratio),
            bound("bound with a coin", limit),
            truth("OPT", np.ones(len(eta))),
            truth("2 OPT", np.full(len(eta), 2)),
        ],
        "penalty η",
        "mistakes / OPT",
        xscale="log",
        check=Check(ratio[at], limit[at], f"with a coin at η = 0.2, where OPT = {drawn.opt[at]}"),
    )
