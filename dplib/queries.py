"""Families of k linear queries over a universe of m elements.

A linear query is a function φ from the universe to [0, 1]; its answer on a dataset is the mean of φ over the
records, that is the inner product of φ with the histogram. A family is the k x m matrix F with rows φ_1, …, φ_k,
and the answers are `F @ h`. Structured families know how to compute that without building the matrix.
"""

from abc import ABC, abstractmethod
from math import sqrt

import numpy as np

from dplib._validate import count, finite_array, generator


class Queries(ABC):
    """k linear queries over m elements: `F @ h`, `F.row(i)`, `F.k`, `F.m`, `F.column_norm`, `F.closed()`."""

    __array_ufunc__ = None                      # numpy must leave `array @ F` alone: it has no meaning here
    zero_one = False                            # whether every query is known to take the values 0 and 1 only

    def __init__(self, k, m):
        self.k = count("k", k)
        self.m = count("m", m)

    def __matmul__(self, h):
        """The answers, shape (..., k), on one histogram (m,) or on a batch (..., m); linear in h.

        On a histogram that was released privately this costs nothing more. Claim: thm-post-processing.
        """
        h = finite_array("histogram", h)
        if h.ndim == 0 or h.shape[-1] != self.m:
            raise ValueError(f"a histogram over m = {self.m} elements is needed, got shape {h.shape}")
        return self._answers(h)

    def row(self, i):
        """Query i (0 <= i < k) as a vector of its values on the universe, shape (m,)."""
        i = count("i", i, least=0)
        if i >= self.k:
            raise ValueError(f"query index must be below k = {self.k}, got {i}")
        return self._row(i)

    @property
    @abstractmethod
    def column_norm(self):
        """||F||_{1->2}: the largest l2 norm of a column of F."""

    @abstractmethod
    def _answers(self, h): ...                  # (..., m) -> (..., k)

    @abstractmethod
    def _row(self, i): ...

    @abstractmethod
    def _diameter(self, order): ...

    def diameter(self, order):
        """The largest distance between two columns of F in the norm l1 or l2 (order 1 or 2).

        Replacing one record moves the histogram by (e_u - e_u')/n, so the sensitivity of all k answers together
        is exactly `diameter(order) / n`.

        **Guarantee.** At most k/n in l1 and √k/n in l2, since entries lie in [0, 1]. Claim: lem-sensitivity.
        """
        if order not in (1, 2):
            raise ValueError(f"order must be 1 or 2 (the l1 or the l2 norm), got {order!r}")
        return self._diameter(order)

    def closed(self):
        """The family with the complement 1 - φ of each query added: rows 0..k-1 as before, then complements."""
        return _Closed(self)

    def matrix(self):
        """F as a plain array (k, m): for small examples and for tests only."""
        return np.stack([self.row(i) for i in range(self.k)])

    def __repr__(self):
        return f"<{self.k} linear queries over {self.m} elements>"


class _Thresholds(Queries):
    """φ_i(u) = 1 if u <= i: answers are running sums."""

    zero_one = True

    def __init__(self, m):
        super().__init__(m, m)

    def _answers(self, h):
        return np.cumsum(h, axis=-1)

    def _row(self, i):
        return (np.arange(self.m) <= i).astype(float)

    @property
    def column_norm(self):
        return sqrt(self.m)                     # every threshold counts element 0

    def _diameter(self, order):
        return float((self.m - 1) ** (1 / order))       # elements 0 and m-1 differ in all queries but the last


class _Points(Queries):
    """φ_i(u) = 1 if u = i: the answers are the histogram itself."""

    zero_one = True

    def __init__(self, m):
        super().__init__(m, m)

    def _answers(self, h):
        return np.array(h)                      # a copy: answers are the caller's to change

    def _row(self, i):
        return (np.arange(self.m) == i).astype(float)

    @property
    def column_norm(self):
        return 1.0

    def _diameter(self, order):
        return 2 ** (1 / order) if self.m > 1 else 0.0


class _Matrix(Queries):
    """A family given by its matrix."""

    def __init__(self, matrix):
        F = np.array(finite_array("matrix", matrix))
        if F.ndim != 2:
            raise ValueError(f"matrix must have shape (k, m), got {F.shape}")
        if F.min() < 0 or F.max() > 1:
            raise ValueError(f"linear queries take values in [0, 1], got {F.min()}..{F.max()}")
        super().__init__(*F.shape)
        F.setflags(write=False)
        self._F = F

    def _answers(self, h):
        return h @ self._F.T                    # (..., m) @ (m, k)

    def _row(self, i):
        return self._F[i]

    @property
    def column_norm(self):
        return float(np.linalg.norm(self._F, axis=0).max())

    def _diameter(self, order):
        columns = np.unique(self._F.T, axis=0)                  # (m', k): equal columns are at distance 0
        return max(float(np.linalg.norm(columns - c, ord=order, axis=1).max()) for c in columns)


class _Closed(Queries):
    """A family with the complements of its queries."""

    def __init__(self, half):
        super().__init__(2 * half.k, half.m)
        self._half = half

    def _answers(self, h):
        a = self._half @ h
        return np.concatenate([a, h.sum(axis=-1, keepdims=True) - a], axis=-1)     # <1 - φ, h> = <1, h> - <φ, h>

    def _row(self, i):
        half = self._half
        return half.row(i) if i < half.k else 1 - half.row(i - half.k)

    @property
    def column_norm(self):
        if self._half.zero_one:
            return sqrt(self._half.k)                           # φ² + (1 - φ)² = 1
        F = self._half.matrix()
        return float(np.sqrt((F**2 + (1 - F) ** 2).sum(axis=0).max()))

    def _diameter(self, order):
        return 2 ** (1 / order) * self._half.diameter(order)    # a complement moves as much as its query

    def closed(self):
        return self


def thresholds(m):
    """The m threshold queries of an ordered universe: φ_i(u) = 1 if u <= i. No matrix is built.

    >>> F = thresholds(3)
    >>> (F @ [.5, .25, .25]).tolist(), F.row(1).tolist()
    ([0.5, 0.75, 1.0], [1.0, 1.0, 0.0])
    >>> thresholds(64).column_norm, round(thresholds(64).diameter(2), 4)
    (8.0, 7.9373)
    """
    return _Thresholds(m)


def point_queries(m):
    """The m point queries: φ_i(u) = 1 if u = i. Their answers are the histogram.

    >>> (point_queries(3) @ [.5, .25, .25]).tolist(), point_queries(3).diameter(1)
    ([0.5, 0.25, 0.25], 2.0)
    """
    return _Points(m)


def random_queries(k, m, rng):
    """k queries whose km values are 0 or 1 by independent fair coins.

    >>> random_queries(2, 5, np.random.default_rng(0))
    <2 linear queries over 5 elements>
    """
    return _Matrix(generator(rng).integers(0, 2, size=(count("k", k), count("m", m))))


def from_matrix(matrix):
    """The family with the given matrix, shape (k, m), entries in [0, 1].

    >>> F = from_matrix([[1, 0, 1], [0, .5, 1]])
    >>> (F @ [.5, .25, .25]).tolist(), (F.closed() @ [.5, .25, .25]).tolist()
    ([0.75, 0.375], [0.75, 0.375, 0.25, 0.625])
    """
    return _Matrix(matrix)
