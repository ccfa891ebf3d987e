"""Small input checks shared by the modules.

Each check returns the value in its canonical type, or raises a `ValueError` that names the value and the
hypothesis it breaks. They run before any randomness or data is touched.
"""

import math

import numpy as np


def positive(name, value):
    """A finite number > 0, as a float.

    >>> positive("epsilon", 1)
    1.0
    >>> positive("epsilon", 0)
    Traceback (most recent call last):
    ...
    ValueError: epsilon must be a finite number > 0, got 0
    """
    number = _number(name, value, "a finite number > 0")
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def nonnegative(name, value):
    """A finite number >= 0, as a float.

    >>> nonnegative("epsilon", 0)
    0.0
    """
    number = _number(name, value, "a finite number >= 0")
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return number


def probability(name, value):
    """A number in the open interval (0, 1), as a float.

    >>> probability("beta", .05)
    0.05
    """
    number = _number(name, value, "in the open interval (0, 1)")
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in the open interval (0, 1), got {value!r}")
    return number


def probabilities(name, values):
    """One number or an array of them, each in the open interval (0, 1), as an array.

    >>> probabilities("penalty", [.1, .5]).tolist()
    [0.1, 0.5]
    """
    array = finite_array(name, values)
    for extreme in (array.min(), array.max()):
        probability(name, float(extreme))
    return array


def delta_or_zero(value):
    """The privacy parameter δ: zero (pure differential privacy) or a number in (0, 1), as a float.

    >>> delta_or_zero(0), delta_or_zero(1e-6)
    (0.0, 1e-06)
    """
    number = _number("delta", value, "0 or in (0, 1)")
    if not 0 <= number < 1:
        raise ValueError(f"delta must be 0 or in (0, 1), got {value!r}")
    return number


def count(name, value, least=1):
    """An integer >= least, as an int. Floats are refused, even whole ones, and so are booleans.

    >>> count("rounds", 3)
    3
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")
    return int(value)


def finite_array(name, a):
    """An array of floats without NaN or infinity; of at least one entry.

    >>> finite_array("scores", [1, 2])
    array([1., 2.])
    """
    try:
        array = np.asarray(a, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers, got {a!r}") from None
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)].flat[0]}")
    return array


def histograms(name, a, universe_size=None):
    """One normalised histogram (m,) or a batch (..., m): entries >= 0 that sum to 1 along the last axis.

    >>> histograms("h", [.4, .2, .4])
    array([0.4, 0.2, 0.4])
    >>> histograms("h", [2, 1, 2])
    Traceback (most recent call last):
    ...
    ValueError: h must sum to 1 (a normalised histogram), got sum 5.0
    """
    h = finite_array(name, a)
    if h.ndim == 0 or (universe_size is not None and h.shape[-1] != universe_size):
        raise ValueError(f"{name} must have last axis of length {universe_size}, got shape {h.shape}")
    if h.min() < 0:
        raise ValueError(f"{name} must have entries >= 0 (a histogram), got {h.min()}")
    sums = h.sum(axis=-1)
    if (abs(sums - 1) > 1e-9).any():
        worst = np.ravel(sums)[abs(np.ravel(sums) - 1).argmax()]
        raise ValueError(f"{name} must sum to 1 (a normalised histogram), got sum {worst}")
    return h


def generator(rng):
    """The random generator that was passed in: samplers create none of their own."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a numpy.random.Generator (numpy.random.default_rng(seed)), got {rng!r}")
    return rng


def _number(name, value, hypothesis):
    if isinstance(value, (bool, np.bool_, str)):
        raise ValueError(f"{name} must be {hypothesis}, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {hypothesis}, got {value!r}") from None
