"""The interface of a family of queries: structured families agree with their matrices."""

import tracemalloc

import numpy as np
import pytest

from dplib.queries import Queries, from_matrix, point_queries, random_queries, thresholds

rng = np.random.default_rng
FAMILIES = {
    "thresholds": thresholds(6),
    "points": point_queries(6),
    "random": random_queries(4, 6, rng(0)),
    "matrix": from_matrix(rng(1).random((3, 6))),
    "closed thresholds": thresholds(6).closed(),
    "closed points": point_queries(6).closed(),
    "closed matrix": from_matrix(rng(1).random((3, 6))).closed(),
    "one element": thresholds(1),
    "one point": point_queries(1),
}


@pytest.fixture(params=FAMILIES, ids=list(FAMILIES))
def F(request):
    return FAMILIES[request.param]


def test_answers_agree_with_the_matrix(F):
    M = F.matrix()
    assert M.shape == (F.k, F.m) and M.min() >= 0 and M.max() <= 1
    for shape in [(F.m,), (5, F.m), (2, 3, F.m)]:
        h = rng(2).random(shape)
        assert np.allclose(F @ h, h @ M.T) and (F @ h).shape == (*shape[:-1], F.k)


def test_norms_agree_with_the_matrix(F):
    M = F.matrix()
    assert F.column_norm == pytest.approx(np.linalg.norm(M, axis=0).max())
    for order in (1, 2):
        pairs = np.linalg.norm(M.T[:, None] - M.T[None], ord=order, axis=2)
        assert F.diameter(order) == pytest.approx(pairs.max())


def test_closure_under_complement(F):
    C = F.closed()
    rows = {tuple(np.round(row, 12)) for row in C.matrix()}
    assert all(tuple(np.round(1 - np.array(row), 12)) in rows for row in rows)
    assert C.closed() is C
    p, h = rng(3).dirichlet(np.ones(F.m), size=2)
    assert (C @ (p - h)).max() == pytest.approx(abs(F @ (p - h)).max(), abs=1e-12)     # the signed maximum is the error


def test_shapes_and_indices_are_checked(F):
    for bad in (np.ones(F.m + 1), 1., np.ones((F.m, F.m + 1))):
        with pytest.raises(ValueError, match=f"m = {F.m}"):
            F @ bad
    for i in (-1, F.k, .5):
        with pytest.raises(ValueError):
            F.row(i)
    with pytest.raises(ValueError, match="order"):
        F.diameter(3)


def test_an_array_on_the_left_is_refused():
    with pytest.raises(TypeError):
        np.ones(6) @ thresholds(6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_histogram_with_nan_is_refused(F, bad):
    h = np.full((2, F.m), 1 / F.m)
    h[1, -1] = bad
    with pytest.raises(ValueError, match="finite"):
        F @ h


def test_the_diameter_looks_at_every_column():
    M = np.full((3, 200), .5) + rng(4).uniform(-.1, .1, size=(3, 200))
    M[:, 150], M[:, 199] = 0, 1                                 # the far pair, late and not next to each other
    assert from_matrix(M).diameter(1) == pytest.approx(3) and from_matrix(M).diameter(2) == pytest.approx(3**.5)
    equal = np.concatenate([np.zeros((2, 100)), np.ones((2, 1))], axis=1)
    assert from_matrix(equal).diameter(1) == 2


def test_random_queries_are_fair_coins():
    M = random_queries(200, 500, rng(5)).matrix()
    assert set(np.unique(M)) == {0, 1}
    assert abs(M.mean() - .5) < .01 and abs(np.corrcoef(M[0], M[1])[0, 1]) < .25     # 6 and 5.6 standard deviations


def test_the_closed_column_norm_needs_no_rows():
    class Deaf(type(thresholds(2))):
        def _row(self, i):
            raise AssertionError("a row was built")
    assert Deaf(100_000).closed().column_norm == 100_000**.5


@pytest.mark.parametrize("matrix", [[[2, 0]], [[1.2, 0]], [[1 + 1e-9, 0]], [[-1e-9, 0]], [[-.1, 0]], [[np.nan, 0]], [1, 0], [], [[]]])
def test_bad_matrices_are_refused(matrix):
    with pytest.raises(ValueError):
        from_matrix(matrix)


def test_bad_sizes_are_refused():
    for make in (lambda: thresholds(0), lambda: point_queries(2.), lambda: random_queries(0, 3, rng(0)), lambda: random_queries(2, 3, 0)):
        with pytest.raises(ValueError):
            make()
    with pytest.raises(TypeError):
        Queries(1, 1)


def test_thresholds_never_build_the_matrix():
    m = 1 << 16                                                 # the matrix would need 32 GB
    tracemalloc.start()
    F, h = thresholds(m), np.full(m, 1 / m)
    answers = F @ h
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answers[-1] == pytest.approx(1) and peak < 4 * h.nbytes


def test_a_matrix_cannot_be_changed_from_outside():
    M = np.zeros((1, 2))
    F = from_matrix(M)
    M[0, 0] = 1
    assert F.row(0).tolist() == [0, 0]
    h = np.array([.5, .5])
    answers = point_queries(2) @ h
    answers[0] = 9
    assert h[0] == .5
