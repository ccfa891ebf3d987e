"""The pictures of chapter 1. Callbacks of `explore` are functions of their parameters alone: chance has a fixed seed."""

import numpy as np

from dplib import bounds
from dplib.experts import (heaviest_alone, heaviest_first, heaviest_first_counts, noisy_experts, randomised_weighted_majority,
                           tie_splitter, weighted_majority)
from dplib.plot import Check, Plot, bound, measured, truth

ENVELOPE_OPPONENTS = ("heaviest first", "one perfect expert", "noisy experts")
PENALTY_OPPONENTS = {"best expert errs in 10 %": 0.1, "best expert errs in 20 %": 0.2, "best expert errs in 30 %": 0.3,
                     "heaviest first": None}
COIN_OPPONENTS = ("heaviest first", "heaviest alone", "noisy experts")
ETAS = np.array([0.02, 0.03, 0.05, 0.08, 0.13, 0.2, 0.28, 0.38, 0.5, 0.65, 0.8, 0.9])


def envelopes(penalty, opponent, experts=16, rounds=40):
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
    """Mistakes of weighted majority against the penalty η, with the bound, OPT and twice OPT."""
    N, T, eta, rate = experts, rounds, ETAS, PENALTY_OPPONENTS[opponent]
    if rate is None:
        best = np.array([heaviest_first_counts(N, T, e)[-1] for e in eta])[:, None]
        mistakes = np.full((len(eta), 1), T)
    else:
        run = weighted_majority(noisy_experts(N, T, rate, rng=np.random.default_rng(11), repeats=repeats), eta[:, None])
        mistakes, best = run.mistakes, run.opt  # (len(eta), R)
    limit = bounds.weighted_majority_mistakes(best, N, eta[:, None])
    at = int(np.flatnonzero(eta == 0.5)[0])
    worst = (mistakes / limit)[at].argmax()
    return Plot(
        eta,
        [
            measured("our mistakes", mistakes.mean(axis=1), *np.quantile(mistakes, [0.1, 0.9], axis=1)),
            bound("bound of the theorem", limit.mean(axis=1)),
            truth("OPT", best.mean(axis=1)),
            truth("2 OPT", 2 * best.mean(axis=1)),
        ],
        "penalty η",
        "mistakes",
        xscale="log",
        yscale="log",
        check=Check(int(mistakes[at, worst]), limit[at, worst], "at η = 0.5, the game nearest to its bound"),
    )


def constant(experts, rounds=40_000):
    """How far the ratio mist/(OPT + log₂N) of the heaviest-first adversary is below 1/log₂(4/3), as the game goes on."""
    N, exact = experts, bounds.weighted_majority_coefficients(0.5)[0]
    t = np.unique(np.geomspace(10, rounds, 90).astype(int))
    distance = exact - t / (heaviest_first_counts(N, rounds)[t] + np.log2(N))
    line = lambda name, claimed: bound(name, np.full(len(t), exact - claimed))
    return Plot(
        t,
        [
            measured("2.40942… − mist/(OPT + log₂N)", distance),
            line("below this, “2.4” is refuted", 2.4),
            line("below this, “2” is refuted", 2.0),
        ],
        "rounds T",
        "distance from 2.40942…",
        xscale="log",
        yscale="log",
        check=Check(exact - 2.4, distance.min(), "the distance that “2.4” needs, against the least one found"),
    )


def coin(experts, opponent, rounds=200):
    """Deterministic and randomised weighted majority on the same games, against η."""
    N, T, eta = experts, rounds, ETAS[(0.05 <= ETAS) & (ETAS <= 0.5)]
    play = {"heaviest first": heaviest_first, "heaviest alone": heaviest_alone,
            "noisy experts": noisy_experts(N, T, 0.3, 0.4, rng=np.random.default_rng(2))}[opponent]
    drawn = randomised_weighted_majority(play, eta, experts=N, rounds=T)
    fixed = weighted_majority(play, eta, experts=N, rounds=T)
    limit = bounds.randomised_majority_mistakes(drawn.opt, N, eta)
    at = int(np.flatnonzero(eta == 0.2)[0])
    return Plot(
        eta,
        [
            measured("deterministic", fixed.mistakes),
            measured("with a coin, expected", drawn.mistakes),
            bound("bound, deterministic", bounds.weighted_majority_mistakes(fixed.opt, N, eta)),
            bound("bound, with a coin", limit),
            truth("OPT", drawn.opt),
            truth("2 OPT", 2 * drawn.opt),
        ],
        "penalty η",
        "mistakes",
        xscale="log",
        check=Check(drawn.mistakes[at], limit[at], f"expected mistakes with a coin at η = 0.2, OPT = {drawn.opt[at]}"),
    )
