"""Chapter 1: how many mistakes the majority algorithms make, N experts of whom the best makes OPT (`best`) mistakes."""

from math import inf, log, log1p

import numpy as np

from dplib._validate import count, finite_array, probabilities, probability

__all__ = [
    "deterministic_mistakes", "halving_mistakes", "randomised_majority_mistakes", "randomised_majority_mistakes_log",
    "tight_share", "weight_envelopes", "weighted_majority_coefficients", "weighted_majority_mistakes",
]


def halving_mistakes(experts):
    """⌊log₂ N⌋: the most mistakes of halving when some expert never errs, and what can be forced. Claim: thm-halving.

    >>> [halving_mistakes(N) for N in (1, 2, 3, 1023, 1024)]
    [0, 1, 1, 9, 10]
    """
    return count("experts", experts).bit_length() - 1


def weighted_majority_coefficients(penalty):
    """ln(1/(1-η)) / ln(2/(2-η)) and 1 / ln(2/(2-η)): what a mistake of the best expert and a unit of ln N cost.
    Claim: thm-weighted-majority.

    >>> [round(c, 5) for c in weighted_majority_coefficients(.5)]
    [2.40942, 3.47606]
    """
    eta = probabilities("penalty", penalty)
    unit = -1 / np.log1p(-eta / 2)
    return _plain(-np.log1p(-eta) * unit), _plain(unit)


def weighted_majority_mistakes(best, experts, penalty=0.5):
    """(OPT ln(1/(1-η)) + ln N) / ln(2/(2-η)): weighted majority makes no more mistakes. Claim: thm-weighted-majority.

    `best` and `penalty` may be arrays that broadcast.

    >>> round(weighted_majority_mistakes(2947, 1024), 2)
    7124.66
    """
    of_best, of_log = weighted_majority_coefficients(penalty)
    return _plain(of_best * _best(best) + of_log * log(count("experts", experts)))


def weight_envelopes(best, mistakes, experts, penalty=0.5):
    """OPT ln(1-η) and ln N + mist ln(1-η/2), between which ln W lies after every round. Claim: thm-weighted-majority.

    >>> low, high = weight_envelopes(best=2, mistakes=3, experts=8)
    >>> round(float(np.exp(low)), 4), round(float(np.exp(high)), 4)
    (0.25, 3.375)
    """
    eta = probabilities("penalty", penalty)
    high = log(count("experts", experts)) + _best(mistakes, "mistakes") * np.log1p(-eta / 2)
    return _plain(_best(best) * np.log1p(-eta)), _plain(high)


def tight_share(experts, rounds, penalty=0.5):
    """ln(2/(2-η)) / (ln(1/ρ) + (ln N)/T), ρ = 1 - η/2 - η/((1-η)N): the share of its bound to which weighted majority is
    driven in T rounds (T may be infinite); needs ρ > 0. Claim: thm-weighted-majority-tight.

    >>> round(tight_share(4096, 40_000), 4), round(tight_share(4096, float("inf")), 4)
    (0.9981, 0.9989)
    """
    N, eta = count("experts", experts), probability("penalty", penalty)
    T = rounds if rounds == inf else count("rounds", rounds)
    rho = 1 - eta / 2 - eta / ((1 - eta) * N)
    if rho <= 0:
        raise ValueError(f"experts must be more than 2η/((1-η)(2-η)), got {experts!r} at penalty {penalty!r}")
    return -log1p(-eta / 2) / (-log(rho) + log(N) / T)


def deterministic_mistakes(best, experts):
    """2 OPT + ⌊log₂ N⌋: every deterministic algorithm can be made to err so often, N >= 2. Claim: prop-deterministic-barrier.

    >>> deterministic_mistakes(best=100, experts=2)
    201
    """
    return 2 * count("best", best, least=0) + halving_mistakes(count("experts", experts, least=2))


def randomised_majority_mistakes(best, experts, penalty):
    """(1+η) OPT + ln N / η: expected mistakes of randomised weighted majority, η <= 1/2. Claim: prop-randomised-majority.

    >>> round(randomised_majority_mistakes(9, 6, .25), 3)
    18.417
    """
    eta = probabilities("penalty", penalty)
    if np.max(eta) > 0.5:
        raise ValueError(f"penalty must be at most 1/2 for (1+η)OPT + ln N/η, got {np.max(eta)}")
    return _plain((1 + eta) * _best(best) + log(count("experts", experts)) / eta)


def randomised_majority_mistakes_log(best, experts, penalty):
    """(OPT ln(1/(1-η)) + ln N) / η: the same before rounding up, for every η in (0, 1). Claim: prop-randomised-majority.

    >>> round(randomised_majority_mistakes_log(9, 6, .25), 3)
    17.524
    """
    eta = probabilities("penalty", penalty)
    return _plain((-np.log1p(-eta) * _best(best) + log(count("experts", experts))) / eta)


def _best(best, name="best"):
    """One number of mistakes or an array of them, each >= 0."""
    array = finite_array(name, best)
    if array.min() < 0:
        raise ValueError(f"{name} must be >= 0 (a number of mistakes), got {array.min()}")
    return array


def _plain(array):
    """A float if there is only one number."""
    return float(array) if np.ndim(array) == 0 else array
