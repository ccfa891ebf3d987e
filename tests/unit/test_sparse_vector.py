"""Sparse vector code beyond its claims: bad input is refused before anything is spent, batch and stream agree in form."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest

from dplib.sparse_law import error_quantile, laplace_log_cdf, log_probability, privacy_loss
from dplib.sparse_variants import VARIANTS
from dplib.sparse_vector import (
    AboveThreshold, NumericSparse, Rule, Runs, Sparse, numeric_split, one_threshold_rule, run_epsilon, run_many, sparse_rule,
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
        ("query_scale > 0", lambda: Rule(1, 0, publish="compared")),
        ("threshold_scale", lambda: Rule(math.inf, 1)),
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
    for answer in (math.nan, "3", True, np.True_, None, [1.0, 2.0], 10**400):
        with pytest.raises(ValueError, match="answer must be a finite number"):
            stream.ask(answer)
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


def test_transcripts_see_every_query():
    """Two runs that differ in the last of twenty queries only."""
    above = np.zeros((3, 20), dtype=bool)
    above[1, -1] = True
    codes = Runs(above, np.full(3, 20)).transcripts()
    assert codes[0] == codes[2] != codes[1]


def test_a_tie_is_above_in_the_batch_and_in_the_law():
    for refresh in (True, False):
        rule = Rule(0.0, 0.0, 1, refresh)
        assert run_many(rule, [-1.0, 5.0], 5.0, np.random.default_rng(0)).above.tolist() == [[False, True]]
        assert log_probability(rule, [5.0], 5.0, [True]) == 0 and log_probability(rule, [5.0], 5.0, [False]) == -math.inf
        assert log_probability(rule, [-1.0, 5.0], 5.0, [False, True]) == 0
    for rule in (Rule(0.0, 2.0), Rule(2.0, 0.0)):  # with noise a tie has probability 0
        assert [math.exp(log_probability(rule, [5.0], 5.0, [o])) for o in (True, False)] == pytest.approx([0.5, 0.5])


def test_published_numbers_are_what_was_compared():
    twin = np.random.default_rng(0)  # draws what `run_many` will draw
    noisy = 3.0 + twin.laplace(scale=2.0, size=(200, 4))
    noisy_threshold = twin.laplace(scale=5.0, size=(200, 1))
    rule = Rule(5.0, 2.0, None, refresh=False, publish="compared")
    runs = run_many(rule, [3.0] * 4, 0.0, np.random.default_rng(0), 200)
    assert (runs.above == (noisy >= noisy_threshold)).all() and 0 < runs.above.mean() < 1
    assert (runs.published[runs.above] == noisy[runs.above]).all()


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


@pytest.mark.parametrize("words, rule, answers, outputs", [
    ("True or False", Rule(1, 1, 3), [0.0] * 3, [0, 0, 1]),
    ("True or False", Rule(1, 1, 3), [0.0] * 3, np.array([0, 0, 1])),
    ("True or False", Rule(1, 1), [0.0], [-7.3]),
    ("True or False", Rule(1, 1), [0.0], ["⊤"]),
    ("finite number", Rule(1, 1, publish="compared"), [0.0], [True]),
    ("finite number", Rule(1, 1, publish="compared"), [0.0], [np.True_]),
    ("finite number", Rule(1, 1, publish="compared"), [0.0], [math.nan]),
    ("finite number", Rule(1, 1, publish="compared"), [0.0], [None]),
    ("outputs must be", Rule(1, 1), [[0.0], [0.0]], [False]),
    ("outputs must be", Rule(1, 1), 0.0, [False]),
    ("outputs must be", Rule(1, 1), [0.0], []),
])  # fmt: skip
def test_law_refuses_outputs_it_would_misread(words, rule, answers, outputs):
    with pytest.raises(ValueError, match=words):
        log_probability(rule, answers, 0.0, outputs)


def test_law_takes_the_outputs_of_numpy_and_neighbours_of_one_length():
    runs = run_many(Rule(2, 4, 2), [0.0, 1.0, 2.0], 0.0, np.random.default_rng(0))
    word = runs.above[0, : runs.processed[0]]
    assert log_probability(Rule(2, 4, 2), [0.0, 1.0, 2.0], 0.0, word) == log_probability(
        Rule(2, 4, 2), [0.0, 1.0, 2.0], 0.0, word.tolist()
    )
    assert log_probability(Rule(2, 4, publish="compared"), [0.0, 0.0], 0.0, [np.False_, np.float64(-1)]) == log_probability(
        Rule(2, 4, publish="compared"), [0.0, 0.0], 0.0, [False, -1]
    )
    with pytest.raises(ValueError, match="neighbours answer the same queries"):
        privacy_loss(Rule(2, 4), [0.0, 0.0], [1.0], 0.0, [False])
    with pytest.raises(ValueError, match="threshold"):
        log_probability(Rule(2, 4), [0.0], math.inf, [False])


def test_no_published_number_is_below_an_exact_threshold():
    exact = Rule(0.0, 4.0, 2, refresh=False, publish="compared")
    densities = math.log(math.exp(-3 / 4) / 8) + math.log(math.exp(-1 / 4) / 8)
    for published in ([3.0, -1.0], [-1.0, 3.0]):
        assert log_probability(exact, [0.0, 0.0], 0.0, published) == -math.inf
        assert log_probability(exact, [0.0, 0.0], -1.0, published) == pytest.approx(densities, abs=1e-12)


def test_law_without_query_noise_is_that_of_an_interval():
    """⊥ at f, ⊤ at g: P[f < τ̂ ≤ g], around the threshold, beside it, and for an interval of length 2e-12."""
    law = lambda f, g: log_probability(Rule(2.0, 0.0, None, refresh=False), [f, g], 0.0, [False, True])
    assert law(-1.0, 3.0) == pytest.approx(math.log1p(-0.5 * math.exp(-0.5) - 0.5 * math.exp(-1.5)), abs=1e-14)
    assert law(1.0, 3.0) == pytest.approx(math.log(0.5 * math.exp(-0.5) - 0.5 * math.exp(-1.5)), abs=1e-14)
    assert law(-1e-12, 1e-12) == pytest.approx(math.log(2e-12 / 4), abs=1e-11)


def exact_log_probability(s0, s, answers, threshold, outputs):
    """The same integral without quadrature: between two kinks the integrand is a sum of exponentials; 100 and more digits."""
    with decimal.localcontext() as context:
        context.prec, context.Emax, context.Emin = 100 + len(answers), decimal.MAX_EMAX, decimal.MIN_EMIN
        s0, s, threshold, answers = Decimal(s0), Decimal(s), Decimal(threshold), [Decimal(a) for a in answers]
        kinks, total = sorted({threshold, *answers}), Decimal(0)
        for left, right in zip([None, *kinks], [*kinks, None]):
            start = right if left is None else left
            before = lambda kink: left is None or (right is not None and kink >= right)  # is the piece left of this kink?
            terms = {0: (-abs(start - threshold) / s0).exp() / (2 * s0)}  # {j: a}: Σ a e^((j/s ± 1/s0)(t − start))
            for answer, output in zip(answers, outputs):
                sign = 1 if before(answer) else -1
                tail, new = (sign * (start - answer) / s).exp() / 2, {}
                for j, a in terms.items():
                    if before(answer) == output:  # the factor is 1 − tail, else the tail itself
                        new[j] = new.get(j, 0) + a
                    new[j + sign] = new.get(j + sign, 0) + (-a if before(answer) == output else a) * tail
                terms = new
            for j, a in terms.items():
                rate = j / s + (1 if before(threshold) else -1) / s0
                if left is None or right is None:
                    total += a / rate if left is None else -a / rate
                else:
                    total += a * (right - left) if rate == 0 else a * (((right - left) * rate).exp() - 1) / rate
        return float(total.ln())


F, T = False, True


@pytest.mark.parametrize("s0, s, answers, threshold, outputs", [
    (2, 4, [0, 0.3, -0.2], 0, [F, F, T]),
    (0.7, 0.3, [0, 3, 1, 1, -2], 0.5, [F, T, F, T, F]),
    (2, 4, [0] * 51, 0, [F] * 50 + [T]),
    (2, 4, [1] * 50 + [-1] * 5, 0, [F] * 50 + [T] * 5),
    (4, 1, [0] * 60 + [1] * 60, 2, [T] * 60 + [F] * 60),
    (100, 1, [0], 0, [F]),
    (20, 1, [0] * 4, 0, [F] * 4),
    (50, 1, [0] * 80, 30, [F] * 80),
    (50, 1, [0] * 80, -30, [T] * 80),
    (1e-8, 1, [0, 0.3, -0.2], 0, [F, F, T]),
    (1e-9, 1, [0, 0.3, -0.2], 0, [F, F, T]),
    (1e-9, 1, [1000, 1000.3, 999.8], 1000, [F, F, T]),
    (1, 1e-6, [0, 2e-6], 0, [F, T]),
    (1e5, 1, [0] * 105, 0, [F] * 100 + [T] * 5),
    (2e-9, 4e-9, [0, 1, 0.3], 0.3, [F, F, T]),
    (2e-9, 4e-9, [0, 1, 0.3], 0.3, [F, T, F]),
    (1e12, 1e-12, [0, 1], 0.5, [F, T]),
    (1e-12, 1e12, [0, 1], 0.5, [F, T]),
])  # fmt: skip
def test_law_is_exact_at_all_scales(s0, s, answers, threshold, outputs):
    ours = log_probability(Rule(s0, s, None, refresh=False), answers, threshold, outputs)
    assert ours == pytest.approx(exact_log_probability(s0, s, answers, threshold, outputs), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("s0, s, answers", [
    (1e307, 1, [0, 1]), (1, 1e-320, [0, 1]), (1e-150, 1, [0, 1]), (4e5, 1e-10, [1e7, 0.3]),
])  # fmt: skip
def test_law_refuses_what_floating_point_cannot_resolve(s0, s, answers):
    with pytest.raises(ValueError, match="not resolved"):
        log_probability(Rule(s0, s, None, refresh=False), answers, 0.5, [F, T])


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


SCALES = {  # (threshold scale, query scale, c, refresh, publish) at c = 3, ε = 0.5, Δ = 0.1
    "alg1": (0.4, 2.4, 3, False, "flag"),
    "alg2": (1.2, 2.4, 3, True, "flag"),
    "broken_alg3": (0.4, 1.2, 3, False, "compared"),
    "broken_alg4": (0.8, 0.8 / 3, 3, False, "flag"),
    "broken_alg5": (0.4, 0.0, None, False, "flag"),
    "broken_alg6": (0.4, 0.4, None, False, "flag"),
    "broken_no_threshold_noise": (0.0, 0.8, 3, False, "flag"),
    "broken_unscaled": (0.4, 0.8, 3, False, "flag"),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_have_the_published_scales(name):
    rule, (threshold_scale, query_scale, *rest) = VARIANTS[name](3, 0.5, 0.1), SCALES[name]
    assert (rule.threshold_scale, rule.query_scale) == pytest.approx((threshold_scale, query_scale), rel=1e-12)
    assert [rule.c, rule.refresh, rule.publish] == rest
