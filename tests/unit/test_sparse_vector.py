"""Sparse vector code beyond its claims: bad input is refused before anything is spent, batch and stream agree in form."""

import math

import numpy as np
import pytest

from dplib.sparse_law import error_quantile, laplace_log_cdf, log_probability, privacy_loss
from dplib.sparse_variants import VARIANTS
from dplib.sparse_vector import (
    AboveThreshold, NumericSparse, Rule, Sparse, numeric_split, one_threshold_rule, run_epsilon, run_many, sparse_rule,
)


def untouched(rng):
    """Has nothing been drawn?"""
    return rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


BAD = [
    ("epsilon", lambda rng: AboveThreshold(0.0, 0.0, rng=rng)),
    ("epsilon", lambda rng: AboveThreshold(0.0, math.nan, rng=rng)),
    ("sensitivity", lambda rng: AboveThreshold(0.0, 1.0, sensitivity=-1.0, rng=rng)),
    ("threshold", lambda rng: AboveThreshold(math.inf, 1.0, rng=rng)),
    ("c must be", lambda rng: Sparse(0.0, 0, 1.0, rng=rng)),
    ("c must be", lambda rng: Sparse(0.0, 2.5, 1.0, rng=rng)),
    ("delta", lambda rng: Sparse(0.0, 2, 1.0, 1.0, rng=rng)),
    ("8 ln", lambda rng: Sparse(0.0, 2, 50.0, 0.1, rng=rng)),
    ("epsilon", lambda rng: NumericSparse(0.0, 2, -1.0, rng=rng)),
    ("8 ln", lambda rng: NumericSparse(0.0, 2, 30.0, 0.1, rng=rng)),
    ("answers", lambda rng: run_many(Rule(1, 1), [], 0.0, rng)),
    ("answers", lambda rng: run_many(Rule(1, 1), [math.nan], 0.0, rng)),
    ("shape", lambda rng: run_many(Rule(1, 1), np.zeros((3, 2)), 0.0, rng, 2)),
    ("repeats", lambda rng: run_many(Rule(1, 1), [1.0], 0.0, rng, 0)),
]


@pytest.mark.parametrize("words, call", BAD)
def test_bad_input_is_refused_before_a_draw(words, call):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=words):
        call(rng)
    assert untouched(rng)


def test_bad_rules_are_refused():
    for words, make in [
        ("threshold_scale", lambda: Rule(-1, 1)),
        ("query_scale", lambda: Rule(1, math.nan)),
        ("publish", lambda: Rule(1, 1, publish="all")),
        ("c must be", lambda: Rule(1, 1, c=0)),
        ("share", lambda: one_threshold_rule(2, 1.0, share=1.0)),
        ("Generator", lambda: AboveThreshold(0.0, 1.0, rng=7)),
    ]:
        with pytest.raises(ValueError, match=words):
            make()


def test_an_answer_that_is_not_a_number_costs_nothing():
    rng = np.random.default_rng(0)
    stream = AboveThreshold(0.0, 1.0, rng=rng)
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match="answer"):
        stream.ask(math.nan)
    assert rng.bit_generator.state == state and not stream.halted


def test_a_huge_epsilon_silences_the_noise():
    answers = [-1.0, 2.0, -1.0, 3.0, 4.0]
    stream = NumericSparse(0.0, 2, 1e9, rng=np.random.default_rng(0))
    said = [stream.ask(a) for a in answers[:4]]
    assert [s is None for s in said] == [True, False, True, False] and stream.halted
    assert (said[1], said[3]) == pytest.approx((2, 3), abs=1e-6)
    runs = run_many(sparse_rule(2, 1e9), answers, 0.0, np.random.default_rng(0), 3)
    assert runs.above.tolist() == [[False, True, False, True, False]] * 3 and runs.processed.tolist() == [4] * 3


def test_transcripts_tell_runs_apart():
    runs = run_many(sparse_rule(2, 1.0), np.zeros(20), 0.0, np.random.default_rng(0), 50)
    codes = runs.transcripts()
    for i in range(10):
        for j in range(10):
            assert (codes[i] == codes[j]) == (runs.above[i] == runs.above[j]).all()


def test_unlimited_rule_processes_everything_and_published_numbers_match():
    runs = run_many(VARIANTS["broken_alg6"](1, 1.0), np.zeros(9), 0.0, np.random.default_rng(0), 20)
    assert (runs.processed == 9).all() and runs.published is None
    runs = run_many(VARIANTS["broken_alg3"](2, 1.0), np.zeros(9), 0.0, np.random.default_rng(0), 20)
    assert (np.isnan(runs.published) == ~runs.above).all() and (runs.above.sum(axis=1) <= 2).all()


def test_numeric_split_refuses_epsilon_beyond_nine_log():
    limit = 9 * math.log(2 / 0.1)
    numeric_split(3, limit * 0.999, 0.1)
    NumericSparse(0.0, 3, limit * 0.999, 0.1, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="8 ln"):
        NumericSparse(0.0, 3, limit * 1.001, 0.1, rng=np.random.default_rng(0))


def test_law_refuses_impossible_questions():
    rule = sparse_rule(1, 1.0)
    with pytest.raises(ValueError, match="go on after"):
        log_probability(rule, [0.0, 0.0], 0.0, [True, False])
    with pytest.raises(ValueError, match="outputs must be"):
        log_probability(rule, [0.0], 0.0, [False, False])
    with pytest.raises(ValueError, match="impossible for both"):
        privacy_loss(Rule(2.0, 0.0, None, refresh=False), [0.0, 0.0], [1.0, 1.0], 0.0, [False, True])
    with pytest.raises(ValueError, match="beta"):
        error_quantile(10, 0.0, 1.0)


def test_law_stays_exact_far_in_the_tail():
    """⊥ for a query a hundred scales above the threshold: P = P[Z₁ − Z₀ < −400] in closed form, e^-100 and less."""
    u = 400.0
    tail = (16 * math.exp(-u / 4) - 4 * math.exp(-u / 2)) / 24
    assert log_probability(sparse_rule(1, 1.0), [u], 0.0, [False]) == pytest.approx(math.log(tail), abs=1e-9)
    assert laplace_log_cdf(-1000.0, 1.0) == pytest.approx(-1000 - math.log(2))
    assert laplace_log_cdf([0.0, -1.0], 0.0).tolist() == [0.0, -math.inf]


def test_run_epsilon_is_the_budget_of_each_run():
    assert run_epsilon(4, 1.0) == 0.25
    assert run_epsilon(100, 1.0, 1e-6) == pytest.approx(0.00951, abs=1e-5)


@pytest.mark.parametrize("refresh", [True, False])
def test_equality_counts_as_above_in_a_batch(refresh):
    assert run_many(Rule(0.0, 0.0, 1, refresh), [0.0], 0.0, np.random.default_rng(0)).above.all()


def test_what_is_published_is_what_was_compared():
    runs = run_many(VARIANTS["broken_alg3"](1, 1.0), np.full(3, 50.0), 0.0, np.random.default_rng(0), 200)
    published = runs.published[:, 0]
    assert np.std(published) == pytest.approx(2 * math.sqrt(2), rel=0.3) and np.mean(published) == pytest.approx(50, abs=1)


def test_the_smallest_published_number_limits_the_threshold():
    """⊤ with 1 and then with −1: τ̂ ≤ −1, whatever the order; scales 2 and 4, closed form."""
    rule = VARIANTS["broken_alg3"](2, 1.0)
    expected = 2 * (-1 / 4 - math.log(8)) + math.log(0.5 * math.exp(-1 / 2))
    for numbers in ([1.0, -1.0], [-1.0, 1.0]):
        assert log_probability(rule, [0.0, 0.0], 0.0, numbers) == pytest.approx(expected, abs=1e-9)


def test_a_loss_has_a_sign():
    one, other = [1, 3, 6], [2, 4, 5]
    word = [False, False, True]
    forth, back = (privacy_loss(sparse_rule(1, 1.0), *pair, 5, word) for pair in ((one, other), (other, one)))
    assert forth == pytest.approx(0.402645, abs=1e-6) and back == pytest.approx(-forth)


def test_numeric_sparse_with_delta_is_accurate_as_a_stream():
    from dplib import bounds

    k, c, beta, rng = 20, 3, 0.05, np.random.default_rng(14)
    alpha = bounds.numeric_sparse_error(k, beta, 1.0, c, 1e-6)
    answers = [2 * alpha if i in (4, 9, 15) else -2 * alpha for i in range(k)]
    wrong = 0
    for _ in range(300):
        stream = NumericSparse(0.0, c, 1.0, 1e-6, rng=rng)
        said = {i: value for i, a in enumerate(answers) if not stream.halted and (value := stream.ask(a)) is not None}
        wrong += set(said) != {4, 9, 15} or any(abs(value - answers[i]) > alpha for i, value in said.items())
    assert wrong <= 0.05 * 300
