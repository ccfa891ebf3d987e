"""Chapter 6: the sparse vector technique. Neighbours are replace-one unless a docstring says otherwise."""

from math import log, sqrt

from dplib._validate import count, positive, probability
from dplib.bounds.foundations import advanced_composition, basic_composition, budget_epsilon0, laplace_loss

__all__ = [
    "above_threshold_error", "above_threshold_error_textbook", "above_threshold_loss", "all_below_loss",
    "comparison_variance", "hits_where_delta_pays", "numeric_sparse_error", "numeric_sparse_loss", "one_threshold_loss",
    "reused_noise_loss", "sparse_error", "sparse_error_textbook", "sparse_loss",
]


def above_threshold_loss(threshold_scale, query_scale, sensitivity=1.0):
    """Δ/s₀ + 2Δ/s: the privacy loss of one run with Lap(s₀) on the threshold and Lap(s) on each query.
    Claim: thm-above-threshold-privacy.

    >>> above_threshold_loss(2, 4)
    1.0
    """
    return one_threshold_loss(threshold_scale, query_scale, 1, sensitivity)


def all_below_loss(threshold_scale, sensitivity=1.0):
    """Δ/s₀: the privacy loss of a run that answers ⊥ throughout. Claim: thm-above-threshold-privacy.

    >>> all_below_loss(2)
    0.5
    """
    return positive("sensitivity", sensitivity) / positive("threshold_scale", threshold_scale)


def above_threshold_error(k, beta, epsilon, sensitivity=1.0):
    """6Δ ln((k+1)/β)/ε: no comparison among k is off by more, with probability 1−β. Claim: thm-above-threshold-accuracy.

    >>> round(above_threshold_error(1000, .05, 1), 4)
    59.4269
    """
    return sparse_error(k, beta, epsilon, 1, sensitivity)


def above_threshold_error_textbook(k, beta, epsilon, sensitivity=1.0):
    """8Δ(ln k + ln(2/β))/ε: the larger bound of the textbook. Claim: thm-above-threshold-accuracy.

    >>> round(above_threshold_error_textbook(1000, .05, 1), 4)
    84.7731
    """
    return sparse_error_textbook(k, beta, epsilon, 1, sensitivity)


def sparse_loss(c, run_epsilon, delta=0.0):
    """cε' if δ = 0, else cε'²/2 + ε'√(2c ln(1/δ)): c runs of AboveThreshold at ε'. Claim: thm-sparse-privacy.

    >>> round(sparse_loss(10, .1), 6), round(sparse_loss(10, .1, 1e-6), 4)
    (1.0, 1.7123)
    """
    if delta == 0:
        return basic_composition([run_epsilon] * count("c", c))[0]
    return advanced_composition(c, run_epsilon, delta)


def sparse_error(k, beta, run_epsilon, c, sensitivity=1.0):
    """6Δ ln((k+c)/β)/ε': no comparison of Sparse with c runs at ε' is off by more. Claim: thm-sparse-accuracy.

    >>> round(sparse_error(200, .05, 1 / 5, 5), 1)
    249.6
    """
    unit = positive("sensitivity", sensitivity) / positive("run_epsilon", run_epsilon)
    return 6 * unit * log((count("k", k) + count("c", c)) / probability("beta", beta))


def sparse_error_textbook(k, beta, run_epsilon, c, sensitivity=1.0):
    """8Δ(ln k + ln(2c/β))/ε': the textbook's bound; with ε' = ε/√(8c ln(1/δ)) the 8 becomes √(512 c ln(1/δ))/ε.
    Claim: thm-sparse-accuracy.

    >>> round(sparse_error_textbook(1000, .05, 1 / 10, 10), 3)
    1031.938
    >>> round(sparse_error_textbook(1000, .05, budget_epsilon0(1, 1e-6, 10), 10), 3)
    3430.693
    """
    unit = positive("sensitivity", sensitivity) / positive("run_epsilon", run_epsilon)
    return 8 * unit * (log(count("k", k)) + log(2 * count("c", c) / probability("beta", beta)))


def one_threshold_loss(threshold_scale, query_scale, c, sensitivity=1.0, monotone=False):
    """Δ/s₀ + 2cΔ/s, and Δ/s₀ + cΔ/s for a monotone family: one threshold draw for up to c ⊤.
    Claim: thm-one-threshold, lem-broken-variants.

    >>> one_threshold_loss(2, 16, 4), one_threshold_loss(2, 16, 4, monotone=True)
    (1.0, 0.75)
    """
    per_hit = (1 if monotone else 2) * positive("sensitivity", sensitivity) / positive("query_scale", query_scale)
    return all_below_loss(threshold_scale, sensitivity) + count("c", c) * per_hit


def comparison_variance(c, share, epsilon=1.0, sensitivity=1.0, monotone=False):
    """2(Δ/ε₁)² + 2(2cΔ/ε₂)², ε₁ = share·ε: the variance of Z_i − Z₀; least at ε₂/ε₁ = (2c)^(2/3). Claim: lem-budget-split.

    >>> comparison_variance(4, .2) < comparison_variance(4, .5)
    True
    """
    unit = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    weight = count("c", c) * (1 if monotone else 2)
    return 2 * (unit / probability("share", share)) ** 2 + 2 * (weight * unit / (1 - share)) ** 2


def hits_where_delta_pays(delta):
    """8 ln(1/δ): Sparse needs less noise with δ > 0 than with δ = 0 exactly for larger c. Claim: lem-delta-pays.

    >>> round(hits_where_delta_pays(1e-6), 1)
    110.5
    """
    return 8 * log(1 / probability("delta", delta))


def numeric_sparse_loss(c, run_epsilon, answer_scale, delta=0.0, sensitivity=1.0):
    """Loss of Sparse at ε' plus that of c Laplace answers of the given scale, δ/2 each. Claim: thm-numeric-sparse-privacy.

    >>> round(numeric_sparse_loss(2, 4 / 9, 18), 6)
    1.0
    """
    answers = laplace_loss(sensitivity, answer_scale)
    return sparse_loss(c, run_epsilon, delta / 2) + sparse_loss(c, answers, delta / 2)


def numeric_sparse_error(k, beta, epsilon, c, delta=0.0, sensitivity=1.0):
    """9cΔ(ln k + ln(4c/β))/ε if δ = 0, else Δ(ln k + ln(4c/β))√(648 c ln(2/δ))/ε. Claim: thm-numeric-sparse-accuracy.

    >>> round(numeric_sparse_error(1000, .05, 1, 10), 2)
    1223.31
    """
    unit = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    factor = 9 * count("c", c) if delta == 0 else sqrt(648 * count("c", c) * log(2 / probability("delta", delta)))
    return factor * unit * (log(count("k", k)) + log(4 * c / probability("beta", beta)))


def reused_noise_loss(below, query_scale, sensitivity=1.0):
    """bΔ/s after b answers ⊥, s the scale of Z_i: the price of publishing f_i + Z_i, or of an exact threshold.
    Claim: lem-reused-noise, lem-broken-variants.

    >>> reused_noise_loss(20, 4)
    5.0
    """
    return count("below", below) * positive("sensitivity", sensitivity) / positive("query_scale", query_scale)
