"""The exact law of sparse vector algorithms, by quadrature: what an audit can only estimate, computed.

Given the noisy threshold τ̂ = t the answers are independent: with F the distribution function of Lap(s),

    P[outputs] = ∫ p(t) · Π_{⊥} F(t − f_i) · Π_{⊤} (1 − F(t − f_i)) dt,

one such integral for each draw of the threshold. The logarithm of the integrand is concave, so that a panel where it is
far below its peak can be left out: everything beyond it is smaller still.
"""

import math

import numpy as np

from dplib._validate import count, finite_array, positive, probability

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NEGLIGIBLE = 50.0  # e^-50 of the peak


def laplace_log_cdf(z, scale):
    """ln P[Z ≤ z] for Z ~ Lap(scale); for scale = 0 the noise is the constant 0."""
    z = np.asarray(z, dtype=float)
    if scale == 0:
        return np.where(z >= 0, 0.0, -np.inf)
    u = np.abs(z) / scale
    return np.where(z < 0, -u - math.log(2), np.log1p(-0.5 * np.exp(-u)))


def log_probability(rule, answers, threshold, outputs):
    """ln P[the run starts with `outputs`], for the answers f_1(x), f_2(x), … of one dataset.

    outputs: True (⊤) or False (⊥) for each processed query, the first ones of `answers`; for a rule that publishes what
    it compared, a ⊤ is the published number instead and the result is the logarithm of a density.

    >>> from dplib.sparse_vector import sparse_rule
    >>> round(math.exp(log_probability(sparse_rule(1, 1.0), [1, 3, 6], 5, [False, False, True])), 6)
    0.272997
    """
    answers = finite_array("answers", answers)
    outputs = [o.item() if isinstance(o, np.generic) else o for o in outputs]  # `is False` below needs Python's own
    if not 0 < len(outputs) <= len(answers):
        raise ValueError(f"outputs must be 1 to {len(answers)} long, one per processed query, got {len(outputs)}")
    hits = sum(output is not False for output in outputs)
    last = outputs[-1] is not False
    if rule.c is not None and (hits > rule.c or (hits == rule.c and not last)):
        raise ValueError(f"the rule halts at the {rule.c}th ⊤; these outputs go on after it")
    total, start = 0.0, 0
    for i, output in enumerate(outputs):
        if (rule.refresh and output is not False) or i == len(outputs) - 1:
            total += _one_threshold(rule, answers[start : i + 1], threshold, outputs[start : i + 1])
            start = i + 1
    return total


def privacy_loss(rule, answers, neighbour_answers, threshold, outputs):
    """ln P_x[outputs] − ln P_x'[outputs]: the privacy loss of one output, exactly (+inf where only x can give it).

    >>> from dplib.sparse_vector import sparse_rule
    >>> round(privacy_loss(sparse_rule(1, 1.0), [0] * 51, [1] * 50 + [-1], 0, [False] * 50 + [True]), 6)
    1.0
    """
    here, there = (log_probability(rule, a, threshold, outputs) for a in (answers, neighbour_answers))
    if here == there == -math.inf:
        raise ValueError("this output is impossible for both datasets: it has no privacy loss")
    return here - there


def error_quantile(k, beta, epsilon, sensitivity=1.0, c=1):
    """The (1−β)-quantile of max|Z₀| + max|Z_i| over c threshold and k query noises of runs at ε: the least α that
    the argument of `thm-above-threshold-accuracy` (c = 1) could give.

    >>> [round(error_quantile(k, .05, 1.0), 2) for k in (1, 10, 100, 1000, 10_000)]
    [14.7, 23.73, 32.93, 42.14, 51.35]
    """
    from scipy.optimize import brentq

    k, c, beta = count("k", k), count("c", c), probability("beta", beta)
    unit = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    # in units of Δ/ε: thresholds have scale 2, queries scale 4
    def miss(alpha):
        edges = np.linspace(0, alpha, 65)
        z, w = _panels(edges[:-1], edges[1:])
        density = c / 2 * np.exp(-z / 2) * (-np.expm1(-z / 2)) ** (c - 1)  # of the largest |Z₀|
        return float((w * density * (-np.expm1(-(alpha - z) / 4)) ** k).sum()) - (1 - beta)

    return unit * brentq(miss, 0.0, 6 * math.log((k + c) / beta), xtol=1e-10)


def _one_threshold(rule, answers, threshold, outputs):
    """ln of the integral above: all outputs judged by one draw of the threshold."""
    below = [a for a, o in zip(answers, outputs) if o is False]
    above = [(a, o) for a, o in zip(answers, outputs) if o is not False]
    s0, s = rule.threshold_scale, rule.query_scale
    cap, constant = math.inf, 0.0  # τ̂ ≤ cap, and a factor that does not depend on t
    if rule.publish == "compared":
        for answer, value in above:  # the published number v is compared: ⊤ iff t ≤ v
            cap, constant = min(cap, value), constant - abs(float(value) - answer) / s - math.log(2 * s)
        above = []
    lows, low_counts = np.unique(below, return_counts=True) if below else (np.empty(0), np.empty(0))
    highs, high_counts = np.unique([a for a, _ in above], return_counts=True) if above else (np.empty(0), np.empty(0))

    def log_integrand(t):  # t: any shape
        t = np.asarray(t, dtype=float)[..., None]
        total = (low_counts * laplace_log_cdf(t - lows, s)).sum(-1)
        return total + (high_counts * laplace_log_cdf(highs - t, s)).sum(-1)

    if s0 == 0:
        return constant + (float(log_integrand(threshold)) if threshold <= cap else -math.inf)
    if s == 0:  # no query noise: the integrand is p(t) on (largest ⊥, smallest ⊤]
        left, right = max([-math.inf, *lows]), min([cap, *highs])
        return constant + _log_laplace_interval(left - threshold, right - threshold, s0)
    density = lambda t: log_integrand(t) - np.abs(t - threshold) / s0 - math.log(2 * s0)
    # kinks of the integrand are panel edges; panels are short against the fastest decay
    reach = _NEGLIGIBLE * s0 + s * math.log(2 + len(answers))
    points = np.concatenate([[threshold], lows, highs])
    ends = min(points.min() - reach, cap - reach), min(points.max() + reach, cap)
    width = 4 / (1 / s0 + len(answers) / s)
    regular = np.linspace(*ends, 2 + min(math.ceil((ends[1] - ends[0]) / width), 200_000))
    edges = np.unique(np.concatenate([regular, points[(points > ends[0]) & (points < ends[1])]]))
    heights = density(edges)
    heights = np.maximum(heights[:-1], heights[1:])
    keep = heights > heights.max() - _NEGLIGIBLE
    t, w = _panels(edges[:-1][keep], edges[1:][keep])
    values = density(t)
    peak = values.max()
    return float(constant + peak + math.log((w * np.exp(values - peak)).sum()))


def _panels(left, right):
    """Gauss-Legendre nodes and weights on the intervals [left_j, right_j], as (panels, 16) arrays."""
    half = (right - left)[:, None] / 2
    return (left + right)[:, None] / 2 + half * _NODES, half * _WEIGHTS


def _log_laplace_interval(left, right, scale):
    """ln P[left < Z ≤ right] for Z ~ Lap(scale)."""
    if left >= right:
        return -math.inf
    if left < 0 < right:
        tails = [0.5 * math.exp(-abs(end) / scale) for end in (left, right)]
        return math.log1p(-sum(tails))
    near, far = sorted((abs(left), abs(right)))
    return -near / scale - math.log(2) + math.log(-math.expm1(-(far - near) / scale))
