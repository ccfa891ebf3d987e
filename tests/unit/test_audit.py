"""The audit: its confidence limits are exact, right mechanisms pass, broken ones are caught, with known power."""

import math

import numpy as np
import pytest

from dplib.audit import CONFIDENCE, audit, clopper_pearson, departs_from_law, epsilon_lower_bound, power, runs_needed
from dplib.sparse_law import log_probability
from dplib.sparse_variants import VARIANTS
from dplib.sparse_vector import sparse_rule


def binomial(n, p):
    return np.array([math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])


def test_limits_cover_with_the_stated_probability():
    n = 40
    low, high = clopper_pearson(np.arange(n + 1), n, 0.95)
    for p in np.linspace(0.01, 0.99, 99):
        law = binomial(n, p)
        assert law[low > p].sum() <= 0.05 + 1e-12
        assert law[high < p].sum() <= 0.05 + 1e-12
    naive = np.arange(n + 1) / n  # a "limit" without margin does not cover
    assert binomial(n, 0.3)[naive > 0.3].sum() > 0.05


def test_limits_at_the_ends_and_bad_counts():
    assert clopper_pearson(0, 10, 0.9)[0] == 0 and clopper_pearson(10, 10, 0.9)[1] == 1
    with pytest.raises(ValueError, match="between 0 and runs"):
        clopper_pearson(11, 10, 0.9)
    with pytest.raises(ValueError, match="confidence"):
        clopper_pearson(1, 10, 1.0)


def test_false_alarm_probability_is_below_one_in_a_million():
    """An event at the very edge, p = e^ε q: the exact probability of certifying more than ε."""
    for q in (0.001, 0.05, 0.3):
        for runs in (100, 5000):
            assert power(math.e * q, q, runs, 1.0) < 1e-6
    assert power(math.e * 0.05, 0.05, 5000, 1.0, confidence=0.9) > 1e-4  # and the check is not vacuous


def test_bound_needs_more_than_delta():
    assert epsilon_lower_bound(300, 0, 1000, confidence=0.99) > 3
    assert epsilon_lower_bound(300, 0, 1000, confidence=0.99, delta=0.35) == 0
    assert epsilon_lower_bound(100, 100, 1000) == 0


def test_power_agrees_with_simulation():
    rng = np.random.default_rng(0)
    bounds = epsilon_lower_bound(rng.binomial(10_000, 0.2, 4000), rng.binomial(10_000, 0.05, 4000), 10_000)
    low, high = (clopper_pearson(int((bounds > 1).sum()), 4000, 1 - 1e-6)[side] for side in (0, 1))
    assert low <= power(0.2, 0.05, 10_000, 1.0) <= high


def test_runs_needed_reach_the_chance():
    runs = runs_needed(0.2, 0.05, 1.0)
    assert power(0.2, 0.05, runs, 1.0) >= 0.99 > power(0.2, 0.05, int(0.97 * runs), 1.0)
    with pytest.raises(ValueError, match="not above epsilon"):
        runs_needed(0.2, 0.1, 1.0)
    with pytest.raises(ValueError, match="more than"):
        runs_needed(1e-7, 1e-8, 1.0, most=10**5)


def test_power_on_a_broken_variant_is_planned_not_hoped_for():
    """The exact law gives the probabilities of ⊥⊥⊥⊤⊤ for two neighbours, hence the power of 50 000 measured runs."""

    def power_on(rule):
        outputs, pair = [False] * 3 + [True] * 2, ([0.0] * 5, [1.0] * 3 + [-1.0] * 2)
        p, q = (math.exp(log_probability(rule, answers, 0.0, outputs)) for answers in pair)
        return power(p, q, 50_000, 1.0)

    assert power_on(VARIANTS["broken_alg4"](2, 1.0)) > 0.99
    assert power_on(VARIANTS["broken_alg6"](2, 1.0)) > 0.99
    assert power_on(sparse_rule(2, 1.0)) < 1e-6


def test_audit_finds_event_and_direction():
    coin = lambda p: lambda rng, runs: (rng.random(runs) < p).astype(int)
    found = audit(coin(0.02), coin(0.3), np.random.default_rng(1), 20_000)
    assert found.event == (1,) and found.swapped and 2 < found.epsilon < math.log(15)
    assert audit(coin(0.3), coin(0.3), np.random.default_rng(1), 20_000).epsilon == 0
    assert found.confidence == CONFIDENCE and found.runs == 10_000


def test_audit_joins_outcomes_into_one_event():
    """Ten outcomes that are each too rare to tell: together they do."""
    spread = lambda p: lambda rng, runs: np.where(rng.random(runs) < p, rng.integers(1, 11, runs), 0)
    found = audit(spread(0.2), spread(0.02), np.random.default_rng(2), 10_000)
    assert set(found.event) == set(range(1, 11)) and found.epsilon > 1.5


def test_choosing_the_event_costs_no_confidence():
    """The same law on both sides, with thousands of rare outcomes: an event picked and measured on one half would convict."""
    same = lambda rng, runs: rng.integers(0, 5000, runs)
    assert max(audit(same, same, np.random.default_rng(seed), 20_000).epsilon for seed in range(5)) == 0


def test_audit_and_power_allow_for_delta():
    coin = lambda p: lambda rng, runs: (rng.random(runs) < p).astype(int)
    free, allowed = (audit(coin(0.2), coin(0.01), np.random.default_rng(3), 20_000, delta=d) for d in (0.0, 0.19))
    assert free.epsilon > 2 and allowed.epsilon < 0.5 and allowed.delta == 0.19
    assert power(0.2, 0.01, 5000, 1.0) > 0.99 > 0.01 > power(0.2, 0.01, 5000, 1.0, delta=0.17)


def test_audit_refuses_samples_of_the_wrong_shape():
    with pytest.raises(ValueError, match="1-d array"):
        audit(lambda rng, r: np.zeros((r, 2)), lambda rng, r: np.zeros(r), np.random.default_rng(0), 100)
    with pytest.raises(ValueError, match="Generator"):
        audit(lambda rng, r: np.zeros(r), lambda rng, r: np.zeros(r), 0, 100)


def test_law_test_bound_holds_exactly():
    """P[n·kl(K/n, p) > t] ≤ 2e^-t, by enumeration."""
    for n, p in ((30, 0.2), (60, 0.5), (60, 0.01)):
        frequency = np.arange(n + 1) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            kl = np.nan_to_num(frequency * np.log(frequency / p)) + np.nan_to_num(
                (1 - frequency) * np.log((1 - frequency) / (1 - p))
            )
        for t in (1, 3, 6):
            assert binomial(n, p)[n * kl > t].sum() <= 2 * math.exp(-t)


def test_law_test_accepts_right_and_rejects_wrong():
    rng, law = np.random.default_rng(3), np.array([0.5, 0.3, 0.2])
    assert all(departs_from_law(rng.multinomial(4000, law), law) is None for _ in range(200))
    assert departs_from_law(rng.multinomial(4000, [0.5, 0.25, 0.25]), law) in (1, 2)
    assert departs_from_law([5, 0], [0.0, 1.0]) is not None  # an impossible outcome
    with pytest.raises(ValueError, match="summing to 1"):
        departs_from_law([1, 2], [0.5, 0.6])


def test_law_test_accuses_exactly_where_its_bound_says():
    """100 outcomes, one of them at twice its probability: n·kl = t, and the line is at false_alarm = 2M e^-t."""
    law, counts = np.full(100, 0.01), np.full(100, 99.0)
    counts[7] = 199.0
    n, p = counts.sum(), 199 / counts.sum()
    t = n * (p * math.log(p / 0.01) + (1 - p) * math.log((1 - p) / 0.99))
    line = 2 * 100 * math.exp(-t)
    assert departs_from_law(counts, law, 1.001 * line) == 7 and departs_from_law(counts, law, line / 1.001) is None


def test_certificate_is_the_bound_of_the_measured_half():
    coin = lambda p: lambda rng, runs: (rng.random(runs) < p).astype(int)
    found = audit(coin(0.3), coin(0.01), np.random.default_rng(4), 20_000, confidence=0.999, delta=0.1)
    rest = {"confidence": 0.999, "delta": 0.1}
    assert found.epsilon == epsilon_lower_bound(found.hits, found.other_hits, found.runs, **rest) > 1
    assert (found.confidence, found.delta, found.runs, found.swapped) == (0.999, 0.1, 10_000, False)


def test_power_with_delta_agrees_with_simulation():
    rng = np.random.default_rng(5)
    hits, other = rng.binomial(10_000, 0.3, 4000), rng.binomial(10_000, 0.05, 4000)
    certified = int((epsilon_lower_bound(hits, other, 10_000, delta=0.1) > 1).sum())
    low, high = (clopper_pearson(certified, 4000, 1 - 1e-6)[side] for side in (0, 1))
    assert low <= power(0.3, 0.05, 10_000, 1.0, delta=0.1) <= high < 1
