"""Datasets, neighbours and the running example."""

import numpy as np
import pytest

from dplib.data import Dataset, age_population, ages, attribute_population, attributes, sample


def test_the_worked_example_of_the_notes():
    x = Dataset([0, 1, 2, 2, 0], 3)
    y = x.neighbour(4, 1)
    assert (x.n, x.m) == (5, 3)
    assert x.histogram.tolist() == [2 / 5, 1 / 5, 2 / 5] and y.histogram.tolist() == [1 / 5, 2 / 5, 2 / 5]
    assert x.records.tolist() == [0, 1, 2, 2, 0]                # the neighbour is a new dataset


def test_a_dataset_cannot_be_changed_from_outside():
    records = np.array([0, 1])
    x = Dataset(records, 2)
    records[0] = 1
    assert x.records.tolist() == [0, 1]
    for array in (x.records, x.histogram):
        with pytest.raises(ValueError):
            array[0] = 1
    with pytest.raises(AttributeError):
        x.universe_size = 3


@pytest.mark.parametrize("records, m", [([], 3), ([3], 3), ([-1], 3), ([.5], 3), ([[0]], 3), ([0], 0), (["a"], 2), ([0], 2.)])
def test_bad_datasets_are_refused(records, m):
    with pytest.raises(ValueError):
        Dataset(records, m)


@pytest.mark.parametrize("i, value", [(2, 0), (-1, 0), (0, 3), (0, -1), (0, .5)])
def test_bad_neighbours_are_refused(i, value):
    with pytest.raises(ValueError):
        Dataset([0, 1], 3).neighbour(i, value)


def test_a_small_dtype_does_not_limit_the_universe():
    x = Dataset(np.array([0, 1], np.uint8), 1000)
    assert x.neighbour(0, 500).records.tolist() == [500, 1] and x.records.dtype == np.int64


def test_the_mix_of_the_age_population():
    bumps = [np.exp(-((np.arange(100) + .5 - centre) / width) ** 2 / 2) for centre, width in ((22, 5), (52, 16))]
    parts = np.stack([*(b / b.sum() for b in bumps), np.full(100, .01)], axis=1)
    assert np.linalg.lstsq(parts, age_population(), rcond=None)[0] == pytest.approx([.35, .60, .05])


@pytest.mark.parametrize("m", [1, 2, 100, 1000])
def test_age_population_is_a_distribution(m):
    p = age_population(m)
    assert p.shape == (m,) and p.min() > 0 and p.sum() == pytest.approx(1)


def test_age_population_has_the_same_shape_for_every_m():
    young = lambda m: age_population(m)[: 3 * m // 10].sum()
    assert young(1000) == pytest.approx(young(100), abs=.01)


def test_attribute_population_by_its_chain():
    d = 4
    p = attribute_population(d)
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    assert p.sum() == pytest.approx(1)
    one_way = p @ bits
    assert one_way[0] == pytest.approx(.4)
    for j in range(1, d):
        fresh = .2 + .6 * j / d
        assert one_way[j] == pytest.approx(.6 * one_way[j - 1] + .4 * fresh)
        both = p @ (bits[:, j] * bits[:, j - 1])
        assert both == pytest.approx(one_way[j - 1] * (.6 + .4 * fresh))


def test_samples_come_from_the_population_and_from_rng():
    x = ages(50_000, np.random.default_rng(0))
    assert abs(x.histogram.cumsum() - age_population().cumsum()).max() < .02        # DKW: e^(-40) at this size
    assert np.array_equal(x.records, ages(50_000, np.random.default_rng(0)).records)
    z = attributes(1000, np.random.default_rng(0), d=5)
    assert (z.n, z.m) == (1000, 32)


def test_bad_populations_are_refused():
    for population in ([.5, .6], [1.5, -.5], []):
        with pytest.raises(ValueError):
            sample(population, 10, np.random.default_rng(0))
    with pytest.raises(ValueError, match="rng"):
        sample([1.], 10, None)
    with pytest.raises(ValueError, match="n must"):
        ages(0, np.random.default_rng(0))
