"""Chapter 2, first half: the regret of multiplicative weights on losses. T rounds, N experts, η the step size."""

from math import inf, log, sqrt

import numpy as np

from dplib._validate import count, histograms, nonnegative, positive, probability

__all__ = [
    "anytime_regret", "azuma", "doubling_regret", "doubling_regret_by_epoch", "fair_coin_regret", "gaussian_maximum",
    "hedge_regret", "hedge_regret_at", "hedge_step", "hoeffding_exponent", "kl_from_uniform", "log_lower", "log_root",
    "log_upper", "polynomial_formula", "polynomial_regret", "polynomial_regret_against", "polynomial_regret_at",
    "polynomial_step", "sampled_regret",
]


def log_upper(y):
    """−y, the upper bound on ln(1−y) for y < 1. Claim: lem-log-inequalities.

    >>> log_upper(.5)
    -0.5
    """
    return -y


def log_lower(y):
    """−y − y², the lower bound on ln(1−y) for y <= 1/2. Claim: lem-log-inequalities.

    >>> log_lower(.5)
    -0.75
    """
    return -y - y * y


def log_root():
    """The y > 0 with ln(1−y) = −y − y², up to which the lower bound holds. Claim: lem-log-inequalities.

    >>> round(log_root(), 6)
    0.683803
    """
    low, high = 0.5, 0.9                                     # the lower bound holds at the first and fails at the second
    while high - low > 1e-15:
        middle = (low + high) / 2
        low, high = (middle, high) if log(1 - middle) >= log_lower(middle) else (low, middle)
    return low


def polynomial_formula(rounds, experts):
    """√(ln N/T) and 2√(T ln N), step size and regret of the theorem, without its hypothesis T >= 4 ln N: to show what breaks.
    Claim: thm-regret.

    >>> [round(v, 3) for v in polynomial_formula(4, 100)]
    [1.073, 8.584]
    """
    eta = sqrt(log(count("experts", experts)) / count("rounds", rounds))
    return eta, 2 * rounds * eta


def polynomial_step(rounds, experts):
    """η = √(ln N/T), the step size of the regret theorem; T >= 4 ln N, so that η <= 1/2. Claim: thm-regret.

    >>> round(polynomial_step(200, 5), 6)
    0.089706
    """
    T, N = count("rounds", rounds), count("experts", experts)
    if T < 4 * log(N):
        raise ValueError(f"rounds must be at least 4 ln N = {4 * log(N):.4g} for {N} experts, got {T}: "
                         "√(ln N/T) would exceed 1/2; give a step size, such as 0.5")
    return polynomial_formula(T, N)[0]


def polynomial_regret_at(rounds, experts, step_size):
    """ηT + ln N/η: regret of polynomial weights at step size 0 < η <= 1/2. Claim: thm-regret.

    >>> round(polynomial_regret_at(1000, 50, .002))
    1958
    """
    return polynomial_regret_against(count("rounds", rounds), log(count("experts", experts)), step_size)


def polynomial_regret_against(second_moment, divergence, step_size):
    """ηΣ⟨(ℓ^t)²,p⟩ + KL(p‖uniform)/η: regret against a fixed distribution p, 0 < η <= 1/2. Claim: thm-regret.

    >>> round(polynomial_regret_against(1000, 0.0, .05), 6)
    50.0
    """
    eta = positive("step_size", step_size)
    if eta > 0.5:
        raise ValueError(f"step_size must be at most 1/2 in the regret theorem, got {step_size!r}")
    return eta * nonnegative("second_moment", second_moment) + nonnegative("divergence", divergence) / eta


def polynomial_regret(rounds, experts):
    """2√(T ln N): regret of polynomial weights at η = √(ln N/T), T >= 4 ln N. Claim: thm-regret.

    >>> round(polynomial_regret(1000, 50), 1)
    125.1
    """
    return 2 * rounds * polynomial_step(rounds, experts)


def kl_from_uniform(p):
    """KL(p‖uniform) = ln N − H(p), p of shape (..., N). Claim: thm-regret.

    >>> round(float(kl_from_uniform([1.0, 0.0])), 4), float(kl_from_uniform([.5, .5]))
    (0.6931, 0.0)
    """
    p = histograms("p", p)
    entropy = -np.sum(p * np.log(np.where(p > 0, p, 1.0)), axis=-1)
    return np.maximum(log(p.shape[-1]) - entropy, 0.0)


def hoeffding_exponent(step_size, width=1.0):
    """s²D²/8: ln E exp(s(X − EX)) for X in an interval of length D is at most this. Claim: lem-hoeffding.

    >>> hoeffding_exponent(2.0, 2.0)
    2.0
    """
    return (float(step_size) * positive("width", width)) ** 2 / 8


def azuma(rounds, beta, width=2.0):
    """D√(T ln(1/β)/2): T martingale differences, each in an interval of length D, have a larger sum with probability
    at most β. Claim: thm-sampled-regret.

    >>> round(azuma(1000, .05), 2)
    77.4
    """
    return positive("width", width) * sqrt(count("rounds", rounds) * log(1 / probability("beta", beta)) / 2)


def sampled_regret(rounds, experts, beta):
    """2√(T ln N) + √(2T ln(1/β)): regret of sampled play, with probability 1−β. Claim: thm-sampled-regret.

    >>> round(sampled_regret(1000, 50, .05), 1)
    202.5
    """
    return polynomial_regret(rounds, experts) + azuma(rounds, beta)


def hedge_step(rounds, experts, width=1.0):
    """η = √(8 ln N/T)/D: Hedge's step size for losses that spread over at most D in a round. Claim: thm-hedge.

    >>> round(hedge_step(1000, 50), 4)
    0.1769
    """
    return sqrt(8 * log(count("experts", experts)) / count("rounds", rounds)) / positive("width", width)


def hedge_regret_at(rounds, experts, step_size, width=1.0):
    """ηD²T/8 + ln N/η: regret of Hedge at any step size η > 0. Claim: thm-hedge.

    >>> round(hedge_regret_at(1000, 50, .1), 2)
    51.62
    """
    eta = positive("step_size", step_size)
    return count("rounds", rounds) * hoeffding_exponent(eta, width) / eta + log(count("experts", experts)) / eta


def hedge_regret(rounds, experts, width=1.0):
    """D√(T ln N/2): regret of Hedge at its best step size, for every T. Claim: thm-hedge.

    >>> round(hedge_regret(1000, 50), 2), round(hedge_regret(1000, 50, width=2), 2)
    (44.23, 88.45)
    """
    return positive("width", width) * sqrt(count("rounds", rounds) * log(count("experts", experts)) / 2)


def fair_coin_regret(rounds, experts):
    """E[max_i (T/2 − B_i)] with N independent B_i ~ Bin(T, 1/2): what *every* algorithm pays in expected regret when
    the losses are fair coins 0 or 1. Exact: T/2 − Σ_k Pr[B > k]^N over k = 0, …, T−1. Claim: thm-fair-coins.

    >>> fair_coin_regret(1, 2), fair_coin_regret(2, 2)
    (0.25, 0.375)
    """
    from scipy.special import bdtrc

    T, N = count("rounds", rounds), count("experts", experts)
    return float(T / 2 - np.sum(bdtrc(np.arange(T), T, 0.5) ** N))


def gaussian_maximum(experts):
    """E[max of N independent standard normals], by quadrature. Claim: thm-fair-coins.

    >>> round(gaussian_maximum(2), 6), round(gaussian_maximum(50), 4)     # the first is 1/√π
    (0.56419, 2.2491)
    """
    from scipy.integrate import quad
    from scipy.special import log_ndtr

    N = count("experts", experts)
    above = quad(lambda x: -np.expm1(N * log_ndtr(x)), 0, 40, points=[2, sqrt(2 * log(N) + 1)], limit=200, epsabs=1e-11)[0]
    return above - quad(lambda x: np.exp(N * log_ndtr(x)), -inf, 0, epsabs=1e-11)[0]


def doubling_regret(rounds, experts, width=1.0):
    """√2/(√2−1) · D√(T ln N/2): regret of Hedge restarted after 1, 2, 4, … rounds. Claim: prop-doubling.

    >>> round(doubling_regret(1000, 50) / hedge_regret(1000, 50), 3)
    3.414
    """
    return sqrt(2) / (sqrt(2) - 1) * hedge_regret(rounds, experts, width)


def doubling_regret_by_epoch(rounds, experts, width=1.0):
    """The same with every epoch at its own price and the last one, of length 2^n, cut short after r rounds:
    D√(ln N/2) [(2^(n/2) − 1)/(√2 − 1) + 2^(n/2) (1 + r/2^n)/2], n = ⌊log₂ T⌋, r = T + 1 − 2^n.
    At most √2 + 3/2 times D√(T ln N/2), for every T. Claim: prop-doubling.

    >>> round(doubling_regret_by_epoch(1000, 50), 2), round(doubling_regret_by_epoch(1023, 50), 2)
    (103.96, 104.67)
    """
    T = count("rounds", rounds)
    n = T.bit_length() - 1
    full, share = (2 ** (n / 2) - 1) / (sqrt(2) - 1), (T + 1 - 2**n) / 2**n
    return hedge_regret(1, experts, width) * (full + 2 ** (n / 2) * (1 + share) / 2)


def anytime_regret(rounds, experts, width=1.0):
    """D√(T ln N): regret, at every T, of Hedge with step size 2√(ln N/t)/D in round t. Claim: prop-doubling.

    >>> round(anytime_regret(1000, 50) / hedge_regret(1000, 50), 4)
    1.4142
    """
    return sqrt(2) * hedge_regret(rounds, experts, width)
