"""The accountants: limits, monotonicity, speed and bad input. Their theorems are in tests/claims."""

from math import log
from time import perf_counter

import pytest

from dplib import bounds, composition


def test_with_delta_zero_only_basic_composition_applies():
    assert composition.allowances(1, 0, 4) == {"basic": .25}
    assert composition.best_epsilon0(1, 0, 4).accountant == "basic"
    assert composition.optimal(7, .1, 0) == pytest.approx(.7)


def test_the_budget_lemma_is_left_out_beyond_its_hypothesis():
    assert "budget lemma" in composition.allowances(5, .5, 10)
    assert 8 * log(2) < 6 and "budget lemma" not in composition.allowances(6, .5, 10)


def test_the_best_accountant_by_size():
    assert composition.best_epsilon0(1, 1e-6, 100).accountant == "optimal"
    assert composition.best_epsilon0(1, 1e-6, 100, exponential=True).accountant == "bounded range, tight"
    assert composition.best_epsilon0(1, 1e-6, 2, exponential=True).accountant == "optimal"


def test_optimal_is_zero_when_delta_alone_suffices():
    assert composition.optimal(1, .01, .5) == 0


@pytest.mark.parametrize("T", [1, 10, 1000, 100_000])
def test_many_rounds_stay_finite(T):
    e0 = composition.epsilon0_optimal(1, 1e-9, T)
    assert 0 < e0 < 2
    assert composition.optimal(T, e0, 1e-9) == pytest.approx(1, rel=1e-6)


def test_each_inverse_grows_with_epsilon_and_falls_with_rounds():
    for name in composition.allowances(1, 1e-6, 5, exponential=True):
        allowed = lambda epsilon, T: composition.allowances(epsilon, 1e-6, T, exponential=True)[name]
        assert allowed(.5, 20) < allowed(1, 20) < allowed(2, 20) and allowed(1, 10) > allowed(1, 20) > allowed(1, 40)


def test_rho_of_a_step():
    assert composition.rho_pure(.4) == pytest.approx(.08) and composition.rho_bounded_range(.4) == pytest.approx(.02)
    T, e0, delta = 30, .2, 1e-5
    assert composition.zcdp(T * composition.rho_pure(e0), delta, "simple") == composition.advanced(T, e0, delta)
    assert composition.zcdp(T * composition.rho_bounded_range(e0), delta, "simple") == pytest.approx(
        composition.bounded_range(T, e0, delta))


def test_ten_million_rounds_take_no_minute():
    began = perf_counter()
    epsilon = composition.optimal(10**7, 1e-4, 1e-6)
    assert perf_counter() - began < 5
    assert bounds.optimal_composition_delta(10**7, 1e-4, epsilon) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize("delta", [5e-324, 1e-310])
def test_the_smallest_delta(delta):
    assert 0 < composition.rho_budget(1, delta, "simple") < composition.rho_budget(1, delta)
    assert composition.zcdp(.01, delta) > 0 and bounds.budget_limit(delta) > 5700
    assert bounds.laplace_error(1, 1, 10, delta) > 700


def test_bisection_stops_only_at_the_last_digits():
    for T, epsilon0, delta in ((100, .05, 1e-6), (7, .8, .01)):
        best = composition.optimal(T, epsilon0, delta)
        assert bounds.optimal_composition_delta(T, epsilon0, best) <= delta
        assert bounds.optimal_composition_delta(T, epsilon0, best * (1 - 1e-11)) > delta
    e0 = composition.epsilon0_optimal(1, 1e-6, 100)
    assert bounds.optimal_composition_delta(100, e0, 1) <= 1e-6 < bounds.optimal_composition_delta(100, e0 * (1 + 1e-11), 1)


@pytest.mark.parametrize("call", [
    lambda: bounds.basic_composition([1.], [-1e-9]), lambda: bounds.laplace_tail("a"), lambda: bounds.gaussian_delta("a", 1, 1),
    lambda: composition.epsilon0_optimal("a", 1e-6, 10), lambda: composition.epsilon0_optimal(1, "a", 10),
    lambda: bounds.renyi_divergence("a", 1), lambda: bounds.zcdp_epsilon_at_order(1, 1e-6, None),
    lambda: bounds.optimal_composition_delta(3, .1, "a"), lambda: composition.basic(3, 10**400), lambda: composition.epsilon0_basic(1, 0),
    lambda: composition.basic(0, .1), lambda: composition.basic(3, 0), lambda: composition.advanced(3, .1, 0),
    lambda: composition.advanced(2.5, .1, 1e-6), lambda: composition.bounded_range(3, .1, 1), lambda: composition.optimal(3, -1, .1),
    lambda: composition.zcdp(0, 1e-6), lambda: composition.zcdp(1, 1e-6, "loose"), lambda: composition.rho_budget(-1, 1e-6),
    lambda: composition.budget_lemma(1, 0, 10), lambda: composition.allowances(0, 1e-6, 10), lambda: composition.best_epsilon0(1, 1, 10),
    lambda: composition.epsilon0_optimal(1, 1e-6, 0), lambda: bounds.basic_composition([-1.]), lambda: bounds.basic_composition([]),
    lambda: bounds.laplace_tail(-1), lambda: bounds.laplace_tail(1, sides=3), lambda: bounds.gaussian_delta(-1, 1, 1),
    lambda: bounds.renyi_divergence(1, 1), lambda: bounds.zcdp_epsilon_at_order(1, 1e-6, 1), lambda: bounds.histogram_sensitivity(5, 3),
    lambda: bounds.family_sensitivity(5, 5, 3), lambda: bounds.optimal_composition_delta(3, .1, -1),
])
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError):
        call()
