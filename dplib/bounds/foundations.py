"""Foundations: sensitivity, noise, selection and composition. Neighbours are replace-one."""

from math import erfc, exp, expm1, inf, log, log1p, pi, sqrt, tanh

import numpy as np

from dplib._validate import count, delta_or_zero, finite_array, nonnegative, positive, probability

__all__ = [
    "advanced_composition", "advanced_composition_kl", "advanced_composition_textbook", "basic_composition",
    "bounded_range_composition", "budget_epsilon0", "budget_limit", "exponential_failure", "exponential_gap",
    "exponential_loss", "family_sensitivity", "gaussian_classical", "gaussian_classical_formula", "gaussian_delta",
    "gaussian_rho", "histogram_sensitivity", "laplace_error", "laplace_loss", "laplace_sample_size", "laplace_tail",
    "linear_query_sensitivity", "noisy_max_failure", "noisy_max_gap", "noisy_max_loss", "optimal_composition_delta",
    "post_processing", "renyi_divergence", "zcdp_epsilon", "zcdp_epsilon_at_order",
]

# Sensitivity


def linear_query_sensitivity(n):
    """1/n: a [0,1]-valued linear query on n records moves by no more. Claim: lem-sensitivity.

    >>> linear_query_sensitivity(5)
    0.2
    """
    return 1 / count("n", n)


def histogram_sensitivity(n, order):
    """2/n in l1 (order 1), √2/n in l2 (order 2): the normalised histogram moves by no more. Claim: lem-sensitivity.

    >>> histogram_sensitivity(5, 1), round(histogram_sensitivity(5, 2), 4)
    (0.4, 0.2828)
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2 (the l1 or the l2 norm), got {order!r}")
    return 2 ** (1 / order) / count("n", n)


def family_sensitivity(k, n, order):
    """k/n in l1, √k/n in l2: the answers to k linear queries together move by no more. Claim: lem-sensitivity.

    >>> family_sensitivity(16, 100, 1), family_sensitivity(16, 100, 2)
    (0.16, 0.04)
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2 (the l1 or the l2 norm), got {order!r}")
    return count("k", k) ** (1 / order) / count("n", n)


# Laplace mechanism


def laplace_tail(t, sides=2):
    """Pr[|Z| >= t b] = e^-t (two sides) or Pr[Z >= t b] = e^-t / 2 (one side), Z ~ Lap(b), t >= 0. Claim: lem-laplace-tail.

    >>> laplace_tail(0), laplace_tail(0, sides=1), round(laplace_tail(3), 4)
    (1.0, 0.5, 0.0498)
    """
    if sides not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, got {sides!r}")
    return exp(-nonnegative("t", t)) * sides / 2


def laplace_loss(sensitivity, scale):
    """Δ₁/b: the largest privacy loss of adding Lap(b) to each coordinate. Claim: thm-laplace-privacy.

    >>> laplace_loss(sensitivity=.2, scale=.1)
    2.0
    """
    return positive("sensitivity", sensitivity) / positive("scale", scale)


def laplace_error(sensitivity, epsilon, k, beta):
    """(Δ₁/ε) ln(k/β): all k coordinates err by at most this, except with probability β. Claim: thm-laplace-accuracy.

    >>> round(laplace_error(sensitivity=10 / 1000, epsilon=1, k=10, beta=.05), 4)
    0.053
    """
    scale = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return scale * (log(count("k", k)) - log(probability("beta", beta)))


def laplace_sample_size(k, alpha, beta, epsilon):
    """k ln(k/β) / (α ε): with so many records k linear queries err by at most α, except with probability β.
    Claim: thm-laplace-accuracy.

    >>> round(laplace_sample_size(k=10, alpha=.1, beta=.05, epsilon=1))
    530
    """
    return laplace_error(count("k", k), epsilon, k, beta) / positive("alpha", alpha)


# Gaussian mechanism


def gaussian_classical(sensitivity, epsilon, delta):
    """Δ₂ √(2 ln(1.25/δ)) / ε, for 0 < ε <= 1 only. Claim: thm-gaussian-classical.

    >>> round(gaussian_classical(1, 1, 1e-5), 4)
    4.8448
    """
    epsilon = positive("epsilon", epsilon)
    if epsilon > 1:
        raise ValueError(f"the classical Gaussian scale is proved for epsilon <= 1 only, got {epsilon!r}; "
                         "use the analytic scale")
    return gaussian_classical_formula(sensitivity, epsilon, delta)


def gaussian_classical_formula(sensitivity, epsilon, delta):
    """The same formula at any ε: what breaks when the hypothesis ε <= 1 of thm-gaussian-classical goes.

    >>> round(gaussian_classical_formula(1, 9, 1e-5), 4)
    0.5383
    """
    factor = sqrt(2 * (log(1.25) - log(probability("delta", delta))))
    return positive("sensitivity", sensitivity) * factor / positive("epsilon", epsilon)


def gaussian_delta(epsilon, sigma, sensitivity):
    """Φ(Δ₂/2σ - εσ/Δ₂) - e^ε Φ(-Δ₂/2σ - εσ/Δ₂): the least δ of N(0, σ²) noise, for every ε > 0 (and ε = 0).
    Claim: thm-gaussian-analytic.

    >>> round(gaussian_delta(1, 3.7306, 1), 8)
    1e-05
    """
    epsilon = nonnegative("epsilon", epsilon)
    ratio = positive("sensitivity", sensitivity) / positive("sigma", sigma)
    upper = epsilon / ratio - ratio / 2 if ratio > 0 else inf
    if upper > 39:
        return 0.0                                              # below the least double
    density = exp(-upper * upper / 2) / sqrt(2 * pi)            # and e^ε times the one at lower = upper + ratio
    if ratio > 1:
        return erfc(upper / sqrt(2)) / 2 - density * float(_mills(epsilon / ratio + ratio / 2))
    # the two terms nearly cancel: integrate -R'(x) = 1 - x R(x), R the Mills ratio, from upper to lower instead
    nodes, weights = np.polynomial.legendre.leggauss(16)
    x = upper + ratio * (nodes + 1) / 2
    return density * ratio / 2 * float(weights @ (1 - x * _mills(x)))


def gaussian_rho(sensitivity, sigma):
    """Δ₂² / 2σ²: the zCDP parameter of the Gaussian mechanism. Claim: thm-gaussian-zcdp.

    >>> gaussian_rho(1, 2)
    0.125
    """
    return (positive("sensitivity", sensitivity) / positive("sigma", sigma)) ** 2 / 2


# Selection


def exponential_loss(weight, sensitivity):
    """2 λ Δ: the largest privacy loss of choosing i with probability ∝ e^(λ s(i)). Claim: thm-exponential-privacy.

    >>> exponential_loss(weight=.25, sensitivity=2)
    1.0
    """
    return 2 * positive("weight", weight) * positive("sensitivity", sensitivity)


def exponential_gap(sensitivity, epsilon0, k, beta):
    """(2Δ/ε₀) ln(k/β): the chosen score is this far below the best with probability at most β.
    Claim: thm-exponential-utility.

    >>> round(exponential_gap(1, 1, 500, .05), 4)
    18.4207
    """
    scale = 2 * positive("sensitivity", sensitivity) / positive("epsilon0", epsilon0)
    return scale * (log(count("k", k)) - log(probability("beta", beta)))


def exponential_failure(gap, sensitivity, epsilon0, k):
    """k e^(-ε₀g/2Δ), or 1 if that is more: the chosen score is g below the best with no more probability.
    Claim: thm-exponential-utility.

    >>> round(exponential_failure(18.4207, 1, 1, 500), 4)
    0.05
    """
    t = positive("gap", gap) * positive("epsilon0", epsilon0) / (2 * positive("sensitivity", sensitivity))
    return min(1.0, count("k", k) * exp(-t))


def noisy_max_loss(sensitivity, scale):
    """2Δ/b: the largest privacy loss of the index of the largest s(i) + Lap(b). Claim: thm-noisy-max.

    >>> noisy_max_loss(1, 2)
    1.0
    """
    return 2 * positive("sensitivity", sensitivity) / positive("scale", scale)


def noisy_max_gap(sensitivity, epsilon0, k, beta):
    """(4Δ/ε₀) ln(k/β): the chosen score is this far below the best with probability at most β.
    Claim: thm-noisy-max-utility.

    >>> round(noisy_max_gap(1, 1, 500, .05), 4)
    36.8414
    """
    return 2 * exponential_gap(sensitivity, epsilon0, k, beta)


def noisy_max_failure(gap, sensitivity, epsilon0, k):
    """(k-1)/2 · (1 + g/2b) e^(-g/b), b = 2Δ/ε₀: the chosen score is g below the best with no more probability.
    Claim: thm-noisy-max-utility.

    >>> round(noisy_max_failure(20, 1, 1, 500), 4)
    0.068
    """
    t = positive("gap", gap) * positive("epsilon0", epsilon0) / (2 * positive("sensitivity", sensitivity))
    return (count("k", k) - 1) / 2 * (1 + t / 2) * exp(-t)


# Composition


def post_processing(epsilon, delta=0):
    """(ε, δ): what is computed from a private output alone is as private. Claim: thm-post-processing.

    >>> post_processing(1, 1e-6)
    (1.0, 1e-06)
    """
    return positive("epsilon", epsilon), delta_or_zero(delta)


def basic_composition(epsilons, deltas=0):
    """(Σ ε_t, Σ δ_t): the guarantee of mechanisms run one after another. Claim: thm-basic-composition.

    >>> basic_composition([.5, .25, .25], [0, 1e-6, 1e-6])
    (1.0, 2e-06)
    """
    epsilons = finite_array("epsilons", epsilons)
    deltas = np.broadcast_to(finite_array("deltas", deltas), epsilons.shape)
    if epsilons.min() < 0 or deltas.min() < 0:
        raise ValueError(f"epsilons and deltas must be >= 0, got {epsilons.min()} and {deltas.min()}")
    return float(epsilons.sum()), float(deltas.sum())


def renyi_divergence(order, width):
    """a w²/8: the Rényi divergence of order a > 1 when the privacy loss lies in an interval of length w.
    Claim: lem-bounded-loss.

    >>> renyi_divergence(2, 2)
    1.0
    """
    if nonnegative("order", order) <= 1:
        raise ValueError(f"order must be > 1, got {order!r}")
    return order * positive("width", width) ** 2 / 8


def zcdp_epsilon(rho, delta):
    """ρ + 2√(ρ ln(1/δ)): ρ-zCDP implies (this, δ)-differential privacy. Claim: lem-zcdp-conversion.

    >>> round(zcdp_epsilon(.125, 1e-6), 4)
    2.7533
    """
    rho = positive("rho", rho)
    return rho + 2 * sqrt(rho * -log(probability("delta", delta)))


def zcdp_epsilon_at_order(rho, delta, order):
    """aρ + (ln(1/δ) - ln a)/(a-1) + ln(1 - 1/a): ρ-zCDP implies (this, δ)-differential privacy, for every order a > 1.
    Claim: lem-zcdp-conversion.

    >>> round(zcdp_epsilon_at_order(.125, 1e-6, 11), 4)
    2.4215
    """
    if nonnegative("order", order) <= 1:
        raise ValueError(f"order must be > 1, got {order!r}")
    a, L = float(order), -log(probability("delta", delta))
    return a * positive("rho", rho) + (L - log(a)) / (a - 1) + log1p(-1 / a)


def advanced_composition(rounds, epsilon0, delta):
    """T ε₀²/2 + ε₀ √(2T ln(1/δ)): T adaptive ε₀-DP mechanisms are (this, δ)-DP. Claim: thm-advanced-composition.

    >>> round(advanced_composition(100, .05, 1e-6), 4)
    2.7533
    """
    return zcdp_epsilon(count("rounds", rounds) * positive("epsilon0", epsilon0) ** 2 / 2, delta)


def advanced_composition_kl(rounds, epsilon0, delta):
    """T ε₀ tanh(ε₀/2) + ε₀ √(2T ln(1/δ)): the form in the lecture notes, a hair smaller. Claim: thm-advanced-composition.

    >>> round(advanced_composition_kl(100, .05, 1e-6), 4)
    2.7532
    """
    T, eps = count("rounds", rounds), positive("epsilon0", epsilon0)
    return T * eps * tanh(eps / 2) + eps * sqrt(2 * T * -log(probability("delta", delta)))


def advanced_composition_textbook(rounds, epsilon0, delta):
    """T ε₀ (e^ε₀ - 1) + ε₀ √(2T ln(1/δ)): the form of Dwork and Roth, larger than both. Claim: thm-advanced-composition.

    >>> round(advanced_composition_textbook(100, .05, 1e-6), 4)
    2.8846
    """
    T, eps = count("rounds", rounds), positive("epsilon0", epsilon0)
    return T * eps * expm1(eps) + eps * sqrt(2 * T * -log(probability("delta", delta)))


def bounded_range_composition(rounds, epsilon0, delta):
    """T ε₀²/8 + ε₀ √(T ln(1/δ)/2): T adaptive exponential mechanisms at ε₀ are (this, δ)-DP. Claim: thm-bounded-range.

    >>> round(bounded_range_composition(100, .05, 1e-6), 4)
    1.3454
    """
    return zcdp_epsilon(count("rounds", rounds) * positive("epsilon0", epsilon0) ** 2 / 8, delta)


def optimal_composition_delta(rounds, epsilon0, epsilon):
    """Σ_j C(T,j) max(0, e^((T-j)ε₀) - e^(ε + jε₀)) / (1 + e^ε₀)^T: the least δ of T adaptive ε₀-DP mechanisms.
    Claim: thm-optimal-composition.

    >>> optimal_composition_delta(1, 1, 1), round(optimal_composition_delta(2, 1, 1), 4)
    (0.0, 0.3378)
    """
    T, eps, epsilon = count("rounds", rounds), positive("epsilon0", epsilon0), nonnegative("epsilon", epsilon)
    # j answers out of T are lies, a binomial number: all but e^-800 of its law is within 20√T of the mean
    mean, reach = T * exp(-eps) / (1 + exp(-eps)), 20 * sqrt(T) + 1
    j = np.arange(max(0, int(mean - reach)), min(T, int(mean + reach) + 1) + 1)
    log_p = np.concatenate([[0], np.cumsum(np.log((T - j[:-1]) / (j[:-1] + 1)) - eps)])
    log_p -= np.logaddexp.reduce(log_p)
    loss = (T - 2 * j) * eps
    above = loss > epsilon
    return float(np.sum(np.exp(log_p[above]) * -np.expm1(epsilon - loss[above])))


def budget_limit(delta):
    """8 ln(1/δ): lem-budget holds for ε up to this, and pays for T beyond it. Claim: lem-budget.

    >>> round(budget_limit(1e-6), 2)
    110.52
    """
    return -8 * log(probability("delta", delta))


def budget_epsilon0(epsilon, delta, rounds):
    """ε / √(8 T ln(1/δ)): T rounds at this ε₀ are (ε, δ)-DP together if ε <= 8 ln(1/δ). Claim: lem-budget.

    >>> round(budget_epsilon0(1, 1e-6, 100), 5)
    0.00951
    """
    epsilon, limit = positive("epsilon", epsilon), budget_limit(delta)
    if epsilon > limit:
        raise ValueError(f"the budget lemma needs epsilon <= 8 ln(1/delta) = {limit:.4g}, got {epsilon!r}")
    return epsilon / sqrt(count("rounds", rounds) * limit)


def _mills(x):
    """Mills ratio √(2π) Pr[N >= x] e^(x²/2)."""
    from scipy.special import erfcx
    return sqrt(pi / 2) * erfcx(x / sqrt(2))
