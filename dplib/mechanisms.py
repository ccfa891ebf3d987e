"""The four building blocks: Laplace and Gaussian noise for numbers, two mechanisms that select.

Every function takes the random generator `rng` and draws from nothing else. Sensitivities are with respect to
replace-one neighbours; what is public is said under **Guarantee**. The guarantees are those of exact real-valued
noise: floating-point samplers need more care before they meet real data.
"""

import numpy as np

from dplib import bounds
from dplib._validate import finite_array, generator, positive, probability


def laplace(answers, sensitivity, epsilon, rng, repeats=None):
    """answers + independent Lap(sensitivity / epsilon) noise on each coordinate.

    answers: array of any shape. sensitivity: Δ₁ > 0, the l1 sensitivity of all answers together. repeats=R stacks
    R independent runs on a new first axis.

    >>> laplace([.4, .6], sensitivity=.4, epsilon=1, rng=np.random.default_rng(0)).round(2).tolist()
    [0.53, 0.35]

    **Guarantee.** (epsilon, 0)-differentially private for replace-one neighbours; the sensitivity and the number
    of answers are public. Claim: thm-laplace-privacy; error: thm-laplace-accuracy; tail of the noise: lem-laplace-tail.
    """
    answers = finite_array("answers", answers)
    b = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)         # [LM-1]
    Z = generator(rng).laplace(scale=b, size=_shape(answers.shape, repeats))        # [LM-2]
    return answers + Z                                                              # [LM-3]


def gaussian(answers, sensitivity, epsilon, delta, rng, method="analytic", repeats=None):
    """answers + independent N(0, σ²) noise on each coordinate, σ = `gaussian_scale(...)`.

    answers: array of any shape. sensitivity: Δ₂ > 0, the l2 sensitivity of all answers together. repeats=R stacks
    R independent runs on a new first axis.

    >>> gaussian([.4, .6], .28, 1, 1e-6, np.random.default_rng(0)).round(2).tolist()
    [0.55, 0.44]

    **Guarantee.** (epsilon, delta)-differentially private for replace-one neighbours, and zCDP with
    ρ = Δ₂²/2σ². Claim: thm-gaussian-analytic, thm-gaussian-classical, thm-gaussian-zcdp.
    """
    answers = finite_array("answers", answers)
    sigma = gaussian_scale(sensitivity, epsilon, delta, method)                     # [GM-1]
    Z = generator(rng).normal(scale=sigma, size=_shape(answers.shape, repeats))     # [GM-2]
    return answers + Z                                                              # [GM-3]


def gaussian_scale(sensitivity, epsilon, delta, method="analytic"):
    """The standard deviation σ that makes Gaussian noise (epsilon, delta)-differentially private.

    "analytic": the least σ, for every ε > 0, by bisection on the exact δ(σ), which falls as σ grows; the upper end of
    the bracket is returned, so the answer errs to the safe side. "classical": Δ₂√(2 ln(1.25/δ))/ε; refuses ε > 1.

    >>> round(gaussian_scale(1, 1, 1e-5), 4), round(gaussian_scale(1, 1, 1e-5, "classical"), 4)
    (3.7306, 4.8448)

    **Guarantee.** Claim: thm-gaussian-analytic ("analytic"), thm-gaussian-classical ("classical").
    """
    if method == "classical":
        return bounds.gaussian_classical(sensitivity, epsilon, delta)
    if method != "analytic":
        raise ValueError(f'method must be "analytic" or "classical", got {method!r}')
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    low = high = 1.0
    while bounds.gaussian_delta(epsilon, high, 1) > delta:
        low, high = high, 2 * high
    while bounds.gaussian_delta(epsilon, low, 1) <= delta:
        low, high = low / 2, low
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if bounds.gaussian_delta(epsilon, middle, 1) > delta else (low, middle)
    return high * positive("sensitivity", sensitivity)


def exponential(scores, sensitivity, epsilon, rng, repeats=None):
    """The index i with probability proportional to exp(epsilon · scores[i] / (2 · sensitivity)).

    Drawn as the largest of ε s(i)/2Δ + Gumbel noise, which has exactly this law and cannot overflow. scores:
    shape (..., k), one choice for each row: an integer array of shape (...). repeats=R adds a first axis of R
    independent choices.

    >>> exponential([0, 3, 1], sensitivity=1, epsilon=4, rng=np.random.default_rng(0), repeats=8).tolist()
    [1, 1, 1, 2, 1, 1, 1, 1]

    **Guarantee.** (epsilon, 0)-differentially private for replace-one neighbours (per row), if each score moves
    by at most `sensitivity`; k is public. Its loss has range epsilon, not 2 epsilon. Claim: thm-exponential-privacy,
    thm-bounded-range; gap: thm-exponential-utility.
    """
    scores = _scores(scores)
    w = positive("epsilon", epsilon) / (2 * positive("sensitivity", sensitivity))   # [EM-1]
    G = generator(rng).gumbel(size=_shape(scores.shape, repeats))                   # [EM-2]
    return np.argmax(w * scores + G, axis=-1)                                       # [EM-3]


def exponential_probabilities(scores, sensitivity, epsilon):
    """The exact law of `exponential`, shape (..., k), computed in the log domain.

    >>> exponential_probabilities([.03, .01, 0, -.02], sensitivity=1 / 200, epsilon=.5).round(4).tolist()
    [0.5977, 0.2199, 0.1334, 0.0491]

    **Guarantee.** None: these are exact probabilities, a function of the private scores. Claim: thm-exponential-privacy.
    """
    scores = _scores(scores)
    w = positive("epsilon", epsilon) / (2 * positive("sensitivity", sensitivity))
    weights = np.exp(w * (scores - scores.max(axis=-1, keepdims=True)))             # the best has weight 1
    return weights / weights.sum(axis=-1, keepdims=True)


def report_noisy_max(scores, sensitivity, epsilon, rng, repeats=None):
    """The index of the largest scores[i] + Lap(2 · sensitivity / epsilon). The noisy value itself is not released.

    scores: shape (..., k), one choice for each row; repeats=R adds a first axis of R independent choices.

    >>> report_noisy_max([0, 30, 10], sensitivity=1, epsilon=4, rng=np.random.default_rng(0))
    np.int64(1)

    **Guarantee.** (epsilon, 0)-differentially private for replace-one neighbours (per row), if each score moves
    by at most `sensitivity`; k is public. Claim: thm-noisy-max; gap: thm-noisy-max-utility.
    """
    scores = _scores(scores)
    b = 2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon)     # [NM-1]
    Z = generator(rng).laplace(scale=b, size=_shape(scores.shape, repeats))         # [NM-2]
    return np.argmax(scores + Z, axis=-1)                                           # [NM-3]


def _scores(scores):
    scores = finite_array("scores", scores)
    if scores.ndim == 0:
        raise ValueError(f"scores must have a last axis of k >= 1 candidates, got the number {scores}")
    return scores


def _shape(shape, repeats):
    if repeats is None:
        return shape
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ValueError(f"repeats must be None or an integer >= 1, got {repeats!r}")
    return (int(repeats), *shape)
