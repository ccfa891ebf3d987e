"""Datasets over a finite universe, their histograms, and the running example data of the book.

Universe elements are numbered 0, …, m-1. Neighbouring datasets are *replace-one*: the same public size n, one
record exchanged.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dplib._validate import count, generator, histograms


@dataclass(frozen=True, eq=False)
class Dataset:
    """n records, each an element of the universe {0, …, universe_size - 1}.

    >>> x = Dataset([0, 1, 2, 2, 0], universe_size=3)
    >>> x.n, x.m, x.histogram.tolist()
    (5, 3, [0.4, 0.2, 0.4])
    >>> x.neighbour(4, 1).histogram.tolist()
    [0.2, 0.4, 0.4]
    """

    records: np.ndarray
    universe_size: int

    def __post_init__(self):
        m = count("universe_size", self.universe_size)
        records = np.array(self.records)                        # a copy: a dataset does not change under our feet
        if records.ndim != 1 or records.size == 0:
            raise ValueError(f"records must be a non-empty list of elements, got shape {records.shape}")
        if records.dtype.kind not in "iu":
            raise ValueError(f"records must be integers in 0..{m - 1}, got dtype {records.dtype}")
        if records.min() < 0 or records.max() >= m:
            raise ValueError(f"records must lie in 0..{m - 1}, got {records.min()}..{records.max()}")
        records = records.astype(np.int64)                      # whatever came in, every element of the universe fits
        records.setflags(write=False)
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "universe_size", m)

    @property
    def n(self):
        """The number of records. It is public: neighbours have the same n."""
        return self.records.size

    @property
    def m(self):
        """The size of the universe."""
        return self.universe_size

    @cached_property
    def histogram(self):
        """The normalised histogram h, shape (m,): entry u is the share of records equal to u.

        **Guarantee.** Between replace-one neighbours it moves by at most 2/n in l1 and √2/n in l2.
        Claim: lem-sensitivity.
        """
        h = np.bincount(self.records, minlength=self.m) / self.n
        h.setflags(write=False)
        return h

    def neighbour(self, i, new_value):
        """The dataset with record i (0 <= i < n) replaced by new_value."""
        i = count("i", i, least=0)
        if i >= self.n:
            raise ValueError(f"i must be below n = {self.n} (one record is replaced), got {i}")
        records = np.array(self.records)
        records[i] = count("new_value", new_value, least=0)
        return Dataset(records, self.m)


def sample(population, n, rng):
    """n independent records from a population, a distribution on the universe of shape (m,).

    >>> sample([0, 1, 0], 4, np.random.default_rng(0)).records.tolist()
    [1, 1, 1, 1]
    """
    population = histograms("population", population)
    records = generator(rng).choice(population.size, size=count("n", n), p=population)
    return Dataset(records, population.size)


def age_population(m=100):
    """Ages in m steps: 35 % young (a narrow bump), 60 % in working age (wide), 5 % spread evenly; shape (m,).

    The bumps are normal curves at .22 m and .52 m with widths .05 m and .16 m, cut to the universe and
    normalised, so the shape is the same for every m.

    >>> p = age_population(100)
    >>> int(p.argmax()), round(float(p[:30].sum()), 3)
    (22, 0.396)
    """
    u = (np.arange(count("m", m)) + .5) / m
    young, working = (_bump(u, .22, .05), _bump(u, .52, .16))
    return .35 * young + .60 * working + .05 / m


def attribute_population(d=8):
    """Records of d yes/no attributes; universe {0,1}^d, attribute j is bit j of the element; shape (2^d,).

    A chain: attribute 0 is 1 with probability .4; each next one copies the one before with probability .6 and
    is drawn afresh (1 with probability .2 + .6 j/d) otherwise. Neighbours in the chain are correlated, far ones
    almost not.

    >>> p = attribute_population(2)
    >>> p.round(3).tolist()
    [0.48, 0.08, 0.12, 0.32]
    """
    d = count("d", d)
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1       # (m, d)
    p = np.where(bits[:, 0] == 1, .4, .6)
    for j in range(1, d):
        fresh = .2 + .6 * j / d
        p *= .6 * (bits[:, j] == bits[:, j - 1]) + .4 * np.where(bits[:, j] == 1, fresh, 1 - fresh)
    return p


def ages(n, rng, m=100):
    """The running example on an ordered universe: n ages from `age_population(m)`.

    >>> ages(1000, np.random.default_rng(1)).histogram.argmax()
    np.int64(22)
    """
    return sample(age_population(m), n, rng)


def attributes(n, rng, d=8):
    """The running example on {0,1}^d: n records from `attribute_population(d)`.

    >>> attributes(5, np.random.default_rng(1), d=3).m
    8
    """
    return sample(attribute_population(d), n, rng)


def _bump(u, centre, width):
    curve = np.exp(-((u - centre) / width) ** 2 / 2)
    return curve / curve.sum()
