"""The exact law of sparse vector algorithms, by quadrature: what an audit can only estimate, computed.

Given the noisy threshold τ̂ = t the answers are independent: with F the distribution function of Lap(s),

    P[outputs] = ∫ p(t) · Π_{⊥} F(t − f_i) · Π_{⊤} (1 − F(t − f_i)) dt,

one such integral for each draw of the threshold. The logarithm of the integrand is concave, so that a panel whose ends are
far below its peak can be left out: everything beyond it is smaller still. What remains is divided until it is nowhere steep.
"""

import math

import numpy as np

from dplib._validate import count, finite_array, positive, probability

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NEGLIGIBLE = 50.0  # e^-50 of the peak
_STEEP = 4.0  # most by which ln of the integrand may vary within a panel


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
    answers, (threshold,) = finite_array("answers", answers), finite_array("threshold", [threshold])
    outputs = [_output(rule, output) for output in outputs]
    if answers.ndim != 1 or not 0 < len(outputs) <= len(answers):
        raise ValueError(f"outputs must be 1 to k long for k answers, got {len(outputs)} and answers {answers.shape}")
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
    if np.shape(answers) != np.shape(neighbour_answers):
        raise ValueError(f"neighbours answer the same queries, got {np.shape(answers)} and {np.shape(neighbour_answers)}")
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


def _output(rule, output):
    """⊥ as False; ⊤ as True, or as the published number for a rule that publishes."""
    flag = isinstance(output, (bool, np.bool_))
    if flag and (rule.publish == "flag" or not output):
        return bool(output)
    if flag or rule.publish == "flag" or not isinstance(output, (int, float, np.number)) or not np.isfinite(output):
        wanted = "True or False" if rule.publish == "flag" else "False or the finite number that was published"
        raise ValueError(f"each output must be {wanted} for publish={rule.publish!r}, got {output!r}")
    return float(output)


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused in `_log_integral`
def _one_threshold(rule, answers, threshold, outputs):
    """ln of the integral above: all outputs judged by one draw of the threshold."""
    below = answers[[output is False for output in outputs]]
    above = answers[[output is not False for output in outputs]]
    s0, s = rule.threshold_scale, rule.query_scale
    cap, constant = math.inf, 0.0  # τ̂ ≤ cap, and a factor that does not depend on t
    if rule.publish == "compared":  # the published number v is compared: ⊤ iff t ≤ v
        published = [output for output in outputs if output is not False]
        cap = min([cap, *published])
        constant = -np.abs(above - published).sum() / s - len(published) * math.log(2 * s)
        above = above[:0]
    if s == 0:  # no query noise: the integrand is p(t) on (largest ⊥, smallest ⊤]
        left, right = max([-math.inf, *below]), min([math.inf, *above])
        return _log_laplace_interval(left - threshold, right - threshold, s0)
    (lows, low_counts), (highs, high_counts) = (np.unique(part, return_counts=True) for part in (below, above))
    centres, counts = np.concatenate([lows, highs]), np.concatenate([low_counts, high_counts])
    signs = np.repeat([1.0, -1.0], [len(lows), len(highs)])  # the integrand is p(t) Π F(sign · (t − centre))^count
    product = lambda t, centres: laplace_log_cdf(signs * (np.asarray(t)[..., None] - centres), s) @ counts
    if s0 == 0:
        return float(constant + (product(threshold, centres) if threshold <= cap else -math.inf))
    # kinks are edges of panels; the peak is near one of them: the origin goes there, so that rounding does no harm
    kinks = np.unique(np.minimum(np.append(centres, threshold), cap))
    origin = kinks[np.argmax(product(kinks, centres) - np.abs(kinks - threshold) / s0)]
    kinks, centres, threshold, cap = kinks - origin, centres - origin, threshold - origin, cap - origin
    # ln F(z) is linear for z < 0 and constant for z > layer; in between panels are at most 2s wide
    layer = s * (40 + math.log(len(answers)))
    ends, far = centres + signs * layer, layer + 60 * s0
    edges = np.unique(np.minimum(np.concatenate([kinks, ends, [kinks[0] - far, kinks[-1] + far]]), cap))
    middles = (edges[:-1] + edges[1:])[:, None] / 2
    curved = (np.abs(2 * middles - centres - ends) < layer).any(axis=1)
    parts = np.where(curved, np.ceil(np.minimum(np.diff(edges), layer) / (2 * s)), 1).astype(int)
    edges = np.interp(np.arange(parts.sum() + 1), np.append(0, parts.cumsum()), edges)
    log_integrand = lambda t: product(t, centres) - np.abs(t - threshold) / s0
    return float(constant - math.log(2 * s0) + _log_integral(log_integrand, edges))


def _log_integral(log_f, edges):
    """ln ∫ e^log_f for a concave log_f, smooth between the edges: panels are divided until log_f is nowhere steep."""
    panels, ready, peak = np.stack([edges[:-1], edges[1:]]), [], -math.inf  # (2, panels)
    for _ in range(60):
        t = np.linspace(*panels, 5)  # (5, panels)
        heights = log_f(t)
        peak = max(peak, heights.max())
        steep = np.ptp(heights, axis=0) > _STEEP
        ready.append(panels[:, ~steep & (heights.max(axis=0) > peak - _NEGLIGIBLE)])
        t, heights = t[:, steep], heights[:, steep]
        keep = np.maximum(heights[:-1], heights[1:]) > peak - _NEGLIGIBLE
        panels = np.stack([t[:-1][keep], t[1:][keep]])
        if not 0 < panels.shape[1] < len(edges) + 1000:  # done; or log_f is steep because of rounding
            break
    t, w = _panels(*np.concatenate(ready, axis=1))
    total = (w * np.exp(log_f(t) - peak)).sum()
    if panels.size or not 0 < total < math.inf:
        raise ValueError("these scales and answers are too far apart for floating point: the integral is not resolved")
    return peak + math.log(total)


def _panels(left, right):
    """Gauss-Legendre nodes and weights on the intervals [left_j, right_j], as (panels, 16) arrays."""
    half = (right - left)[:, None] / 2
    return (left + right)[:, None] / 2 + half * _NODES, half * _WEIGHTS


def _log_laplace_interval(left, right, scale):
    """ln P[left < Z ≤ right] for Z ~ Lap(scale); for scale = 0 the noise is the constant 0."""
    if left >= right:
        return -math.inf
    if scale == 0:
        return 0.0 if left < 0 <= right else -math.inf
    if left < 0 < right:
        return math.log(-(math.expm1(left / scale) + math.expm1(-right / scale)) / 2)
    near, far = sorted((abs(left), abs(right)))
    return -near / scale - math.log(2) + math.log(-math.expm1(-(far - near) / scale))
