"""Bad input is refused with the value and the hypothesis it breaks."""

import numpy as np
import pytest

from dplib import _validate as check

nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize("function, good, bad", [
    (lambda v: check.positive("epsilon", v), [1, .5, np.float64(2), np.int64(3)], [0, -1, nan, inf, "1", None, True, [1]]),
    (lambda v: check.nonnegative("epsilon", v), [0, 0., 1e300], [-1e-300, nan, inf, "0", None, True, 10**400]),
    (lambda v: check.probability("beta", v), [.5, 1e-300], [0, 1, -.1, 1.5, nan, "x", None, False]),
    (check.delta_or_zero, [0, 1e-9, .999], [1, -1e-9, nan, inf, "0", True]),
    (lambda v: check.count("k", v), [1, np.int64(7)], [0, -3, 1.0, 2.5, "3", None, True, nan]),
    (lambda v: check.count("i", v, least=0), [0, 4], [-1]),
    (lambda v: check.finite_array("scores", v), [[1], 2., [[1, 2]]], [[], [nan], [1, inf], ["a"], None, [[1], [1, 2]]]),
    (lambda v: check.histograms("h", v, 2), [[.5, .5], [[0, 1], [1, 0]]], [[.5, .6], [.5, .5 + 1e-8], [.5, .499], [-.5, 1.5], [1], 1., [nan, 1], [[.5, .5], [0, 0]]]),
    (check.generator, [np.random.default_rng(0)], [None, 0, np.random, np.random.RandomState(0)]),
])
def test_good_values_pass_and_bad_ones_raise(function, good, bad):
    for value in good:
        function(value)
    for value in bad:
        with pytest.raises(ValueError, match="must"):
            function(value)


def test_the_message_names_the_value_and_the_hypothesis():
    with pytest.raises(ValueError, match=r"epsilon must be a finite number > 0, got -2"):
        check.positive("epsilon", -2)
    with pytest.raises(ValueError, match=r"h must sum to 1 .*, got sum 2"):
        check.histograms("h", [1, 1])
    with pytest.raises(ValueError, match=r"scores must be finite, got nan"):
        check.finite_array("scores", [0, nan])


def test_values_come_back_in_their_canonical_type():
    assert type(check.positive("epsilon", 1)) is float and type(check.count("k", np.int8(3))) is int
    assert check.finite_array("a", [1, 2]).dtype == float
