"""Witnesses of chapter 6, accuracy and choice of noise."""

import math

import numpy as np
import pytest
from evidence import check_rate, rate_is_at_most
from hypothesis import given, settings
from hypothesis import strategies as st

from dplib import bounds
from dplib.sparse_law import error_quantile
from dplib.sparse_vector import (
    NumericSparse, Rule, numeric_split, one_threshold_rule, run_epsilon, run_many, scales, sparse_rule,
)

derandomised = settings(derandomize=True, deadline=None, max_examples=40)
betas = st.floats(1e-4, 0.5)


def inaccurate(runs, answers, threshold, alpha):
    """Per run: is some ⊤ below τ − α, or some processed ⊥ above τ + α?"""
    answers = np.asarray(answers)
    processed = np.arange(answers.shape[-1]) < runs.processed[:, None]
    wrong = np.where(runs.above, answers < threshold - alpha, processed & (answers > threshold + alpha))
    return wrong.any(axis=1)


def failures_on_hard_instances(rule, k, alpha, repeats=4000):
    """Failures of `rule` on two streams: all queries just below τ − α, and all just above τ + α."""
    rng, edge = np.random.default_rng(7), alpha * (1 + 1e-9)
    return [
        inaccurate(run_many(rule, np.full(k, side * edge), 0.0, rng, repeats), np.full(k, side * edge), 0.0, alpha).sum()
        for side in (-1, 1)
    ]


# AboveThreshold


@pytest.mark.claim("thm-above-threshold-accuracy", kind="oracle")
def test_error_of_one_query_in_closed_form():
    """|Z₀| + |Z₁| with means 2 and 4 exceeds s with probability 2e^(−s/4) − e^(−s/2)."""
    for beta in (0.5, 0.05, 1e-3):
        s = error_quantile(1, beta, 1.0)
        assert 2 * math.exp(-s / 4) - math.exp(-s / 2) == pytest.approx(beta, rel=1e-6)


@pytest.mark.claim("thm-above-threshold-accuracy", kind="oracle")
def test_exact_quantiles_and_bounds_have_the_printed_values():
    ks = (1, 10, 100, 1000, 10_000)
    exact = [error_quantile(k, 0.05, 1.0) for k in ks]
    assert exact == pytest.approx([14.70, 23.73, 32.93, 42.14, 51.35], abs=0.006)
    six = [bounds.above_threshold_error(k, 0.05, 1.0) for k in ks]
    eight = [bounds.above_threshold_error_textbook(k, 0.05, 1.0) for k in ks]
    assert six == pytest.approx([22.1, 32.4, 45.7, 59.4, 73.2], abs=0.06)
    assert eight == pytest.approx([29.5, 47.9, 66.4, 84.8, 103.2], abs=0.06)


@pytest.mark.claim("thm-above-threshold-accuracy", kind="property")
@given(st.integers(1, 10**6), betas, st.floats(0.05, 20), st.floats(0.001, 10))
@derandomised
def test_exact_quantile_is_below_six_is_below_eight(k, beta, epsilon, sensitivity):
    exact = error_quantile(k, beta, epsilon, sensitivity)
    six = bounds.above_threshold_error(k, beta, epsilon, sensitivity)
    assert exact <= six <= bounds.above_threshold_error_textbook(k, beta, epsilon, sensitivity) * (1 + 1e-12)


@pytest.mark.claim("thm-above-threshold-accuracy", kind="property")
@given(st.lists(st.floats(-9, 9), min_size=1, max_size=6), st.integers(0, 10**6), st.floats(0.2, 3))
@derandomised
def test_a_comparison_is_off_by_at_most_the_two_noises(answers, seed, epsilon):
    """Steps (1) and (2): with α = |Z₀| + max|Z_i| of the very run, every output is right up to α."""
    twin = np.random.default_rng(seed)  # draws what `run_many` will draw
    noise = twin.laplace(scale=scales(epsilon)[1], size=(1, len(answers)))
    threshold_noise = twin.laplace(scale=scales(epsilon)[0], size=(1, 1))
    runs = run_many(sparse_rule(1, epsilon), answers, 0.0, np.random.default_rng(seed))
    alpha = abs(threshold_noise).max() + abs(noise).max()
    assert not inaccurate(runs, answers, 0.0, alpha + 1e-12).any()


@pytest.mark.claim("thm-above-threshold-accuracy", kind="bound")
@pytest.mark.parametrize("k, beta", [(1, 0.2), (10, 0.05), (300, 0.05)])
def test_failures_are_rarer_than_beta(k, beta):
    alpha = bounds.above_threshold_error(k, beta, 1.0)
    for failures in failures_on_hard_instances(sparse_rule(1, 1.0), k, alpha):
        assert rate_is_at_most(beta, failures, 4000)


@pytest.mark.claim("thm-above-threshold-accuracy", kind="bound")
def test_it_does_not_halt_before_k_when_all_before_are_below():
    k, beta = 100, 0.05
    answers = np.full(k, -bounds.above_threshold_error(k, beta, 1.0) * (1 + 1e-9))
    runs = run_many(sparse_rule(1, 1.0), answers, 0.0, np.random.default_rng(8), 4000)
    assert rate_is_at_most(beta, (runs.processed < k).sum(), 4000)


@pytest.mark.claim("thm-above-threshold-accuracy", kind="tight")
def test_bound_is_within_a_factor_of_one_and_a_half(witness):
    for k in (1, 10, 1000, 10_000):
        exact, six = error_quantile(k, 0.05, 1.0), bounds.above_threshold_error(k, 0.05, 1.0)
        witness("thm-above-threshold-accuracy", exact, six)
        assert 0.66 < exact / six < 0.74


@pytest.mark.claim("thm-above-threshold-accuracy", kind="can-fail")
def test_a_third_of_alpha_or_twice_the_noise_is_not_enough():
    alpha = bounds.above_threshold_error(300, 0.05, 1.0)
    assert not rate_is_at_most(0.05, max(failures_on_hard_instances(sparse_rule(1, 1.0), 300, alpha / 3)), 4000)
    assert not rate_is_at_most(0.05, max(failures_on_hard_instances(sparse_rule(1, 0.5), 300, alpha)), 4000)
    without_log = 6 / 1.0
    assert error_quantile(300, 0.05, 1.0) > without_log


# Sparse


def sparse_failures(rule, k, c, alpha, repeats=2000):
    """c queries just above τ + α among k just below τ − α: runs that miss one, or report another."""
    rng = np.random.default_rng(9)
    interesting = rng.permuted(np.tile(np.arange(k) < c, (repeats, 1)), axis=1)
    answers = np.where(interesting, 1, -1) * alpha * (1 + 1e-9)
    above = run_many(rule, answers, 0.0, rng, repeats).above
    return (above != interesting).any(axis=1).sum()


@pytest.mark.claim("thm-sparse-accuracy", kind="oracle")
def test_printed_values_of_the_accuracy_of_sparse():
    pure, approximate = run_epsilon(10, 1.0), run_epsilon(10, 1.0, 1e-6)
    assert bounds.sparse_error_textbook(1000, 0.05, pure, 10) == pytest.approx(1031.938, abs=1e-3)
    assert bounds.sparse_error_textbook(1000, 0.05, approximate, 10) == pytest.approx(3430.693, abs=1e-3)
    assert (math.log(1000) + math.log(400)) * math.sqrt(512 * 10 * math.log(1e6)) == pytest.approx(3430.693, abs=1e-3)
    assert error_quantile(1000, 0.05, approximate, c=10) == pytest.approx(1538, abs=0.5)
    simulated = np.random.default_rng(10).laplace(size=(4000, 1010))
    maxima = abs(simulated[:, :10]).max(axis=1) * 2 + abs(simulated[:, 10:]).max(axis=1) * 4
    exact = error_quantile(1000, 0.05, 1.0, c=10)
    check_rate((maxima > exact).sum(), 4000, at_most=0.05, at_least=0.05)


@pytest.mark.claim("thm-sparse-accuracy", kind="property")
@given(st.integers(1, 10**5), st.integers(1, 200), betas, st.floats(0.05, 5), st.sampled_from([0.0, 1e-6, 1e-2]))
@derandomised
def test_exact_quantile_is_below_both_bounds_of_sparse(k, c, beta, epsilon, delta):
    budget = run_epsilon(c, epsilon, delta)
    exact = error_quantile(k, beta, budget, c=c)
    assert exact <= bounds.sparse_error(k, beta, budget, c)
    assert exact <= bounds.sparse_error_textbook(k, beta, budget, c)


@pytest.mark.claim("thm-sparse-accuracy", kind="bound")
@pytest.mark.parametrize("c, delta", [(1, 0.0), (5, 0.0), (5, 1e-6)])
def test_sparse_finds_exactly_the_interesting_queries(c, delta):
    alpha = bounds.sparse_error(200, 0.05, run_epsilon(c, 1.0, delta), c)
    assert rate_is_at_most(0.05, sparse_failures(sparse_rule(c, 1.0, delta), 200, c, alpha), 2000)


@pytest.mark.claim("thm-sparse-accuracy", kind="bound")
def test_what_is_not_processed_is_below_and_why_c_minus_one_is_needed_for_all():
    """With c queries at or above τ − α Sparse may halt early, but only queries below τ − α are left unprocessed."""
    c, k = 1, 5
    answers = np.array([400.0, -400, -400, -400, -400])
    runs = run_many(sparse_rule(c, 1.0), answers, 0.0, np.random.default_rng(11), 500)
    assert (runs.processed == 1).mean() > 0.99  # halts at the first query: not all k are processed
    alpha = bounds.sparse_error(k, 0.05, 1.0, c)
    unprocessed = np.arange(k) >= runs.processed[:, None]
    assert rate_is_at_most(0.05, (unprocessed & (answers >= -alpha)).any(axis=1).sum(), 500)


@pytest.mark.claim("thm-sparse-accuracy", kind="tight")
def test_bound_of_sparse_is_within_a_factor_of_two(witness):
    for k, c in ((200, 5), (1000, 10), (10_000, 100)):
        exact, six = error_quantile(k, 0.05, run_epsilon(c, 1.0), c=c), bounds.sparse_error(k, 0.05, run_epsilon(c, 1.0), c)
        witness("thm-sparse-accuracy", exact, six)
        assert 0.7 < exact / six < 0.86


@pytest.mark.claim("thm-sparse-accuracy", kind="can-fail")
def test_the_garbled_constants_of_the_notes_are_refuted():
    budget = run_epsilon(10, 1.0, 1e-6)
    garbled = (math.log(1000) + math.log(400)) * math.sqrt(12 * 10 * math.log(1e6))  # √12 for √512
    assert garbled == pytest.approx(525.216, abs=1e-3)
    assert garbled < error_quantile(1000, 0.05, budget, c=10)
    assert not rate_is_at_most(0.05, sparse_failures(sparse_rule(10, 1.0, 1e-6), 200, 10, garbled), 2000)


# NumericSparse


def numeric_failures(k, c, epsilon, delta, alpha, answer_scale=None, find=None, repeats=2000):
    """Runs of NumericSparse in which a comparison or a published number is off by more than α: c hits far above τ."""
    rng = np.random.default_rng(12)
    default_find, b = numeric_split(c, epsilon, delta)
    rule = sparse_rule(c, find or default_find, delta / 2)
    answers = np.where(np.arange(k) < c, 20 * alpha, -alpha * (1 + 1e-9))
    runs = run_many(rule, answers, 0.0, rng, repeats)
    off = np.abs(rng.laplace(scale=answer_scale or b, size=(repeats, k))) > alpha
    return ((runs.above & off).any(axis=1) | inaccurate(runs, answers, 0.0, alpha)).sum()


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="oracle")
def test_bound_is_what_sparse_and_the_laplace_answers_need():
    """Half of β for each: the bound equals the textbook bound of Sparse at 8ε/9, β/2, and covers b ln(2c/β)."""
    for c, delta in ((1, 0.0), (10, 0.0), (10, 1e-6), (100, 1e-6)):
        find, b = numeric_split(c, 1.0, delta)
        alpha = bounds.numeric_sparse_error(1000, 0.05, 1.0, c, delta)
        sparse_part = bounds.sparse_error_textbook(1000, 0.025, run_epsilon(c, find, delta / 2), c)
        assert alpha == pytest.approx(sparse_part, rel=1e-12)
        assert b * math.log(2 * c / 0.05) <= alpha


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="property")
@given(st.integers(1, 10**6), st.integers(1, 1000), betas, st.floats(0.01, 5), st.sampled_from([0.0, 1e-9, 1e-3]))
@derandomised
def test_answers_fit_into_the_bound_for_all_parameters(k, c, beta, epsilon, delta):
    _, b = numeric_split(c, epsilon, delta)
    alpha = bounds.numeric_sparse_error(k, beta, epsilon, c, delta)
    some_answer_off = -math.expm1(c * math.log1p(-bounds.laplace_tail(alpha / b)))
    assert some_answer_off <= beta / 2


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="bound")
@pytest.mark.parametrize("c, delta", [(1, 0.0), (10, 0.0), (10, 1e-6), (100, 1e-6)])
def test_numeric_sparse_fails_at_most_beta(c, delta):
    alpha = bounds.numeric_sparse_error(1000, 0.05, 1.0, c, delta)
    assert rate_is_at_most(0.05, numeric_failures(1000, c, 1.0, delta, alpha, repeats=1000), 1000)


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="bound")
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_numeric_stream_itself_fails_at_most_beta(delta):
    """300 runs of the class: c hits far above τ among queries just below τ − α. And its numbers have the stated spread."""
    k, c, rng = 100, 10, np.random.default_rng(15)
    alpha, failures, errors = bounds.numeric_sparse_error(k, 0.05, 1.0, c, delta), 0, []
    answers = np.where(np.arange(k) % 10 == 9, 20, -(1 + 1e-9)) * alpha
    for _ in range(300):
        stream = NumericSparse(0.0, c, 1.0, delta, rng=rng)
        said = [stream.ask(answer) for answer in answers if not stream.halted]
        published = [(answer, value) for answer, value in zip(answers, said) if value is not None]
        errors += [abs(value - answer) for answer, value in published if answer > 0]
        failures += any(answer < -alpha or abs(value - answer) > alpha for answer, value in published) or len(published) < c
    assert rate_is_at_most(0.05, failures, 300)
    _, scale = numeric_split(c, 1.0, delta)
    assert abs(np.mean(errors) / scale - 1) < 5 / math.sqrt(len(errors))  # |Lap(b)| has mean and deviation b


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="tight")
def test_numeric_bound_is_not_vacuous(witness):
    c, k = 10, 1000
    find, _ = numeric_split(c, 1.0)
    exact = error_quantile(k, 0.025, run_epsilon(c, find), c=c)
    ratio = witness("thm-numeric-sparse-accuracy", exact, bounds.numeric_sparse_error(k, 0.05, 1.0, c))
    assert 0.4 < ratio < 0.7


@pytest.mark.claim("thm-numeric-sparse-accuracy", kind="can-fail")
@pytest.mark.parametrize("c, share", [(10, 0.079), (100, 0.305)])
def test_the_textbook_noise_for_positive_delta_fails_too_often(c, share):
    """Dwork and Roth's split for δ > 0: answers of scale √(32 c ln(2/δ))/ε₂, ε₂ = 2ε/(√512 + 1)."""
    root = math.sqrt(512)
    log_term = math.log(2 / 1e-6)
    textbook_scale = math.sqrt(32 * c * log_term) * (root + 1) / 2
    textbook_alpha = (math.log(1000) + math.log(4 * c / 0.05)) * math.sqrt(c * log_term) * (root + 1)
    exact = -math.expm1(c * math.log1p(-math.exp(-textbook_alpha / textbook_scale)))
    assert exact == pytest.approx(share, abs=2e-3) and exact > 0.05
    failures = numeric_failures(1000, c, 1.0, 1e-6, textbook_alpha, textbook_scale, find=root / (root + 1), repeats=4000)
    assert not rate_is_at_most(0.05, failures, 4000)


# Splitting the budget, and when δ > 0 pays


def is_best_share(share, c, monotone):
    """Is no other share on a fine grid better?"""
    grid = np.linspace(0.001, 0.999, 1999)
    least = min(bounds.comparison_variance(c, s, monotone=monotone) for s in grid)
    return bounds.comparison_variance(c, share, monotone=monotone) <= least * (1 + 1e-9)


def share_of(rule):
    return 1 / rule.threshold_scale  # ε = Δ = 1


@pytest.mark.claim("lem-budget-split", kind="oracle")
def test_best_split_agrees_with_a_numerical_minimiser():
    from scipy.optimize import minimize_scalar

    for c in (1, 5, 40):
        for monotone in (False, True):
            found = minimize_scalar(
                lambda s: bounds.comparison_variance(c, s, monotone=monotone), bounds=(1e-4, 1 - 1e-4), method="bounded",
                options={"xatol": 1e-10},
            )
            assert share_of(one_threshold_rule(c, 1.0, monotone=monotone)) == pytest.approx(found.x, rel=1e-5)


@pytest.mark.claim("lem-budget-split", kind="property")
@given(st.integers(1, 1000), st.floats(0.001, 0.999), st.booleans())
@derandomised
def test_no_other_split_has_less_variance(c, share, monotone):
    best = share_of(one_threshold_rule(c, 1.0, monotone=monotone))
    assert bounds.comparison_variance(c, best, monotone=monotone) <= bounds.comparison_variance(
        c, share, monotone=monotone
    ) * (1 + 1e-12)


@pytest.mark.claim("lem-budget-split", kind="bound")
@pytest.mark.parametrize("c, share", [(1, None), (5, None), (5, 0.5), (20, 0.1)])
def test_variance_of_the_drawn_noise_is_the_formula(c, share, witness):
    """Sample variance of Z_i − Z₀ over 200 000 draws, within five standard errors on both sides."""
    rule = one_threshold_rule(c, 1.0, share=share)
    z = np.random.default_rng(13).laplace(size=(2, 200_000)) * [[rule.query_scale], [rule.threshold_scale]]
    squares = (z[0] - z[1]) ** 2
    formula = bounds.comparison_variance(c, share_of(rule))
    witness("lem-budget-split", squares.mean(), formula)
    assert abs(squares.mean() - formula) < 5 * squares.std() / math.sqrt(200_000)


@pytest.mark.claim("lem-budget-split", kind="oracle")
def test_variance_scales_with_sensitivity_and_budget():
    """2(Δ/ε₁)² + 2(2cΔ/ε₂)² at ε = 0.5 = 0.1 + 0.4, Δ = 0.1, c = 3, and that of the rule's own noise."""
    assert bounds.comparison_variance(3, 0.2, 0.5, 0.1) == pytest.approx(2 * 1.0**2 + 2 * 1.5**2)
    assert bounds.comparison_variance(3, 0.2, 0.5, 0.1, monotone=True) == pytest.approx(2 * 1.0**2 + 2 * 0.75**2)
    rule = one_threshold_rule(3, 0.5, 0.1, share=0.2)
    assert 2 * rule.threshold_scale**2 + 2 * rule.query_scale**2 == pytest.approx(2 * 1.0**2 + 2 * 1.5**2)


@pytest.mark.claim("lem-budget-split", kind="tight")
def test_the_best_split_is_visibly_better_than_halves():
    ratios = [
        bounds.comparison_variance(c, share_of(one_threshold_rule(c, 1.0))) / bounds.comparison_variance(c, 0.5)
        for c in (1, 5, 20)
    ]
    assert ratios[0] > ratios[1] > ratios[2]
    assert 0.8 < ratios[0] < 0.9 and 0.4 < ratios[1] < 0.5 and 0.3 < ratios[2] < 0.4


@pytest.mark.claim("lem-budget-split", kind="can-fail")
@pytest.mark.parametrize("power", [1 / 3, 1 / 2, 1, 2])
def test_other_exponents_are_not_best(power):
    assert is_best_share(1 / (1 + 10 ** (2 / 3)), 5, False)
    assert not is_best_share(1 / (1 + 10**power), 5, False)


def first_hit_count_where_delta_pays(delta):
    """The least c at which the noise with δ > 0 is smaller, by comparing the scales themselves."""
    return next(c for c in range(1, 10**4) if sparse_rule(c, 1.0, delta).query_scale < sparse_rule(c, 1.0).query_scale)


@pytest.mark.claim("lem-delta-pays", kind="oracle")
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-6, 1e-9])
def test_first_c_where_delta_pays(delta):
    assert first_hit_count_where_delta_pays(delta) == math.floor(bounds.hits_where_delta_pays(delta)) + 1


@pytest.mark.claim("lem-delta-pays", kind="property")
@given(st.integers(1, 2000), st.floats(1e-12, 0.5), st.floats(0.1, 5))
@derandomised
def test_delta_pays_exactly_above_eight_log(c, delta, epsilon):
    if epsilon <= bounds.hits_where_delta_pays(delta):
        smaller = sparse_rule(c, epsilon, delta).threshold_scale < sparse_rule(c, epsilon).threshold_scale
        assert smaller == (c > bounds.hits_where_delta_pays(delta))


@pytest.mark.claim("lem-delta-pays", kind="bound")
def test_measured_error_crosses_where_the_lemma_says():
    error = lambda c, delta: error_quantile(1000, 0.05, run_epsilon(c, 1.0, delta), c=c)
    limit = bounds.hits_where_delta_pays(1e-6)
    for c in (10, 50, math.floor(limit), math.ceil(limit), 200, 1000):
        assert (error(c, 1e-6) < error(c, 0.0)) == (c > limit)


@pytest.mark.claim("lem-delta-pays", kind="tight")
def test_at_the_crossing_the_two_noises_agree(witness):
    limit = bounds.hits_where_delta_pays(1e-6)
    c = first_hit_count_where_delta_pays(1e-6)
    witness("lem-delta-pays", c - 1, limit)  # the last c at which δ = 0 is as good
    assert c == 111
    assert sparse_rule(c, 1.0, 1e-6).query_scale / sparse_rule(c, 1.0).query_scale == pytest.approx(1, abs=0.005)
    assert (sparse_rule(10, 1.0).threshold_scale, sparse_rule(10, 1.0, 1e-6).threshold_scale) == pytest.approx((20, 66.49), abs=0.01)


@pytest.mark.claim("lem-delta-pays", kind="can-fail")
def test_other_constants_would_be_seen():
    first = first_hit_count_where_delta_pays(1e-6)
    for factor in (4, 6, 9, 16):
        assert math.floor(factor * math.log(1e6)) + 1 != first


def test_rules_with_equal_scales_are_equal():
    assert sparse_rule(1, 1.0) == Rule(2.0, 4.0, 1, True)
