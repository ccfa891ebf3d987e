"""The four building blocks: Laplace and Gaussian noise for numbers, two mechanisms that select.

Every function takes the random generator `rng` and draws from nothing else. Sensitivities are with respect to
replace-one neighbours; what is public is said under **Guarantee**. The guarantees are those of exact real-valued
noise: floating-point samplers need more care before they meet real data.
"""

import numpy as np

from dplib import bounds
from dplib._validate import finite_array, generator, positive, probability

SAFETY = 1e-11          # `gaussian_scale` aims at (1 - SAFETY) δ: more than the rounding error of the exact δ


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
    b = _scale(positive("sensitivity", sensitivity) / positive("epsilon", epsilon))  # [LM-1]
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

    "analytic": the least σ, for every ε > 0 and δ >= 1e-300, by bisection on the exact δ(σ), which falls as σ grows.
    The bisection aims a little below δ and the upper end of its bracket is returned, so rounding errs to the safe side.
    "classical": Δ₂√(2 ln(1.25/δ))/ε; refuses ε > 1.

    >>> round(gaussian_scale(1, 1, 1e-5), 4), round(gaussian_scale(1, 1, 1e-5, "classical"), 4)
    (3.7306, 4.8448)

    **Guarantee.** Claim: thm-gaussian-analytic ("analytic"), thm-gaussian-classical ("classical").
    """
    if method == "classical":
        return bounds.gaussian_classical(sensitivity, epsilon, delta)
    if method != "analytic":
        raise ValueError(f'method must be "analytic" or "classical", got {method!r}')
    epsilon, target = positive("epsilon", epsilon), (1 - SAFETY) * probability("delta", delta)
    if delta < 1e-300:
        raise ValueError(f"delta must be at least 1e-300, got {delta!r}: below it doubles lose the digits of the exact delta")
    too_little = lambda sigma: bounds.gaussian_delta(epsilon, sigma, 1) > target
    low = high = 1.0
    while too_little(high):
        low, high = high, 2 * high
    while not too_little(low):
        low, high = low / 2, low
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if too_little(middle) else (low, middle)
    return _scale(high * positive("sensitivity", sensitivity) * (1 + 2**-50))       # the last factor: rounding of σ itself


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
    weight = _weight(scores, sensitivity, epsilon)                                  # [EM-1]
    G = generator(rng).gumbel(size=_shape(scores.shape, repeats))                   # [EM-2]
    return np.argmax(weight * scores + G, axis=-1)                                  # [EM-3]


def exponential_probabilities(scores, sensitivity, epsilon):
    """The exact law of `exponential`, shape (..., k), computed in the log domain.

    >>> exponential_probabilities([.03, .01, 0, -.02], sensitivity=1 / 200, epsilon=.5).round(4).tolist()
    [0.5977, 0.2199, 0.1334, 0.0491]

    **Guarantee.** None: these are exact probabilities, a function of the private scores. Claim: thm-exponential-privacy.
    """
    scores = _scores(scores)
    exponents = _weight(scores, sensitivity, epsilon) * scores
    weights = np.exp(exponents - exponents.max(axis=-1, keepdims=True))             # the best has weight 1
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
    b = _scale(2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon))     # [NM-1]
    Z = generator(rng).laplace(scale=b, size=_shape(scores.shape, repeats))         # [NM-2]
    return np.argmax(scores + Z, axis=-1)                                           # [NM-3]


def _scores(scores):
    scores = finite_array("scores", scores)
    if scores.ndim == 0:
        raise ValueError(f"scores must have a last axis of k >= 1 candidates, got the number {scores}")
    return scores


def _weight(scores, sensitivity, epsilon):
    """ε/2Δ, if every ε s/2Δ stays a finite number (in half the range of doubles, so differences do too)."""
    w = positive("epsilon / (2 sensitivity)", positive("epsilon", epsilon) / (2 * positive("sensitivity", sensitivity)))
    largest = w * float(abs(scores).max())
    if largest > 8e307:
        raise ValueError(f"epsilon · score / (2 · sensitivity) must be finite, got {largest} for the largest score")
    return w


def _scale(value):
    """A noise scale that overflowed or vanished would be no noise at all."""
    return positive("the noise scale", value)


def _shape(shape, repeats):
    if repeats is None:
        return shape
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ValueError(f"repeats must be None or an integer >= 1, got {repeats!r}")
    return (int(repeats), *shape)
