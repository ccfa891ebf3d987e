"""Claim lem-sensitivity: how far one record moves linear queries and histograms."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dplib import bounds
from dplib.data import Dataset, ages
from dplib.queries import from_matrix, point_queries, random_queries, thresholds

CLAIM = "lem-sensitivity"


def check_histogram(h, neighbour, n):
    """The three inequalities of the lemma for one pair of histograms."""
    step = np.asarray(h) - np.asarray(neighbour)
    assert abs(step).sum() <= bounds.histogram_sensitivity(n, 1) + 1e-12
    assert np.linalg.norm(step) <= bounds.histogram_sensitivity(n, 2) + 1e-12


def check_family(matrix, h, neighbour, n):
    moved = np.asarray(matrix) @ (np.asarray(h) - np.asarray(neighbour))
    assert abs(moved).max() <= bounds.linear_query_sensitivity(n) + 1e-12
    for order in (1, 2):
        assert np.linalg.norm(moved, ord=order) <= bounds.family_sensitivity(len(matrix), n, order) + 1e-12


def all_pairs(n, m):
    """Every dataset of n records over m elements with every replace-one neighbour."""
    for records in product(range(m), repeat=n):
        for i, new in product(range(n), range(m)):
            yield records, records[:i] + (new,) + records[i + 1:]


@pytest.mark.claim(CLAIM, kind="oracle")
def test_every_pair_of_neighbours_by_fractions():
    n, m = 4, 3
    share = lambda records, u: Fraction(records.count(u), n)
    l1, l2_squared, query = set(), set(), set()
    for x, y in all_pairs(n, m):
        step = [share(x, u) - share(y, u) for u in range(m)]
        l1.add(sum(map(abs, step)))
        l2_squared.add(sum(s * s for s in step))
        query.add(abs(step[0] + step[1]))                       # the threshold query u <= 1
    assert max(l1) == Fraction(2, n) == Fraction(bounds.histogram_sensitivity(n, 1))
    assert max(l2_squared) == Fraction(2, n * n)
    assert max(query) == Fraction(1, n) == Fraction(bounds.linear_query_sensitivity(n))


@pytest.mark.claim(CLAIM, kind="oracle")
@pytest.mark.parametrize("make", [
    lambda: thresholds(4), lambda: point_queries(4), lambda: thresholds(4).closed(), lambda: point_queries(4).closed(),
    lambda: random_queries(5, 4, np.random.default_rng(3)), lambda: from_matrix([[.2, .7, .7, .3], [1, 0, .5, .5]]),
], ids=["thresholds", "points", "closed thresholds", "closed points", "random", "matrix"])
def test_the_diameter_is_the_exact_sensitivity(make):
    F, n = make(), 3
    for order in (1, 2):
        worst = max(np.linalg.norm(F @ Dataset(x, 4).histogram - F @ Dataset(y, 4).histogram, ord=order)
                    for x, y in all_pairs(n, 4))
        assert worst == pytest.approx(F.diameter(order) / n, rel=1e-12)


@pytest.mark.claim(CLAIM, kind="property")
@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.data())
def test_any_family_any_neighbour(data):
    k, m, n = (data.draw(st.integers(1, 6)) for _ in range(3))
    matrix = data.draw(st.lists(st.lists(st.floats(0, 1), min_size=m, max_size=m), min_size=k, max_size=k))
    x = Dataset(data.draw(st.lists(st.integers(0, m - 1), min_size=n, max_size=n)), m)
    y = x.neighbour(data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, m - 1)))
    check_histogram(x.histogram, y.histogram, n)
    check_family(matrix, x.histogram, y.histogram, n)
    F = from_matrix(matrix)
    for order in (1, 2):
        assert np.linalg.norm(F @ (x.histogram - y.histogram), ord=order) <= F.diameter(order) / n + 1e-12


@pytest.mark.claim(CLAIM, kind="property")
@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=6), st.integers(1, 50))
def test_equality_exactly_when_the_query_attains_0_and_1(eighths, n):
    values = [v / 8 for v in eighths]
    exact = from_matrix([values]).diameter(1) / n
    attains = min(values) == 0 and max(values) == 1
    assert (exact == bounds.linear_query_sensitivity(n)) == attains


@pytest.mark.claim(CLAIM, kind="bound")
def test_the_running_example_stays_within_the_bounds():
    rng = np.random.default_rng(0)
    x, F = ages(500, rng), random_queries(50, 100, rng).matrix()
    for _ in range(200):
        y = x.neighbour(int(rng.integers(500)), int(rng.integers(100)))
        check_histogram(x.histogram, y.histogram, 500)
        check_family(F, x.histogram, y.histogram, 500)


@pytest.mark.claim(CLAIM, kind="tight")
def test_one_record_reaches_the_bounds(witness):
    x = ages(500, np.random.default_rng(0))
    y = x.neighbour(0, 99 if x.records[0] != 99 else 0)
    l1 = abs(x.histogram - y.histogram).sum()
    assert .999 <= l1 / bounds.histogram_sensitivity(500, 1) <= 1 + 1e-12
    witness(CLAIM, l1, bounds.histogram_sensitivity(500, 1))
    assert thresholds(100).diameter(2) / 500 == pytest.approx(bounds.family_sensitivity(99, 500, 2))
    assert np.linalg.norm(x.histogram - y.histogram) == pytest.approx(bounds.histogram_sensitivity(500, 2))
    opposite = from_matrix([[0, 1]] * 7)
    for order in (1, 2):
        assert opposite.diameter(order) / 500 == pytest.approx(bounds.family_sensitivity(7, 500, order))


@pytest.mark.claim(CLAIM, kind="can-fail")
def test_counts_and_unbounded_queries_are_caught():
    x = Dataset([0, 1, 2, 2, 0], 3)
    y = x.neighbour(4, 1)
    with pytest.raises(AssertionError):
        check_histogram(5 * x.histogram, 5 * y.histogram, 5)                # forgot to normalise
    with pytest.raises(AssertionError):
        check_histogram(x.histogram, Dataset([2, 1, 2, 2, 1], 3).histogram, 5)      # two records replaced
    with pytest.raises(AssertionError):
        check_family([[2, 0, 0]], x.histogram, y.histogram, 5)              # values outside [0, 1]
    with pytest.raises(AssertionError):
        check_histogram(x.histogram, y.histogram, 10)                       # the add/remove bound 1/n in l1
