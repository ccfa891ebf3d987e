"""Claims about the two mechanisms that select: the exponential mechanism and report noisy max."""

from fractions import Fraction
from functools import partial
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace as laplace_law

from dplib import bounds
from dplib.audit import epsilon_lower_bound
from dplib.mechanisms import exponential, exponential_probabilities, report_noisy_max
from evidence import check_rate, loss

exactly = partial(settings, derandomize=True, deadline=None)
RUNS = 200_000
pairs = st.lists(st.tuples(st.floats(-20, 20), st.floats(-1, 1)), min_size=1, max_size=8)


def noisy_max_probabilities(scores, sensitivity, epsilon, scale=None):
    """The exact law of report noisy max: candidate i wins if its noisy score tops all others.

    The integrand is smooth between scores, so Gauss-Legendre on pieces of at most 3b is exact to many digits.
    """
    s = np.asarray(scores, dtype=float)
    b = 2 * sensitivity / epsilon if scale is None else scale
    edges = np.unique(np.concatenate([[s.min() - 45 * b], s, [s.max() + 45 * b]]))
    edges = np.concatenate([np.linspace(l, r, 2 + int((r - l) / (3 * b)))[:-1] for l, r in zip(edges, edges[1:])] + [edges[-1:]])
    nodes, node_weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    v = (edges[:-1, None] + half * (nodes + 1)).ravel()         # (points,)
    weight = (half * node_weights).ravel()
    below = laplace_law.cdf((v - s[:, None]) / b)               # (k, points)
    density = laplace_law.pdf((v - s[:, None]) / b) / b
    return np.array([np.sum(weight * density[i] * np.prod(np.delete(below, i, axis=0), axis=0)) for i in range(len(s))])


def check_selection_privacy(law, scores, neighbour, epsilon):
    """No candidate is more than e^ε likelier on one of two neighbours whose scores differ by at most 1."""
    P, Q = law(scores), law(neighbour)
    assert P.sum() == pytest.approx(1, abs=1e-6) and Q.sum() == pytest.approx(1, abs=1e-6)
    found = max(loss(P, Q), loss(Q, P))
    assert found <= epsilon + 1e-6, f"loss {found} > {epsilon}"
    return found


def check_sampler(draws, probabilities):
    """Drawn indices have the given law: every candidate's share, from both sides."""
    for i, p in enumerate(probabilities):
        check_rate(int(np.sum(draws == i)), draws.size, at_most=p, at_least=p)


# thm-exponential-privacy --------------------------------------------------------------------------------------

law_of_exponential = partial(exponential_probabilities, sensitivity=1, epsilon=1.)


def opposite(k):
    """The hard instance: on the neighbour one score rises and all others fall, as for φ and 1 - φ."""
    return np.zeros(k), np.concatenate([[1.], -np.ones(k - 1)])


@pytest.mark.claim("thm-exponential-privacy", kind="oracle")
def test_the_law_by_fractions():
    # ε = 2 ln 2 and Δ = 1 make every weight a power of two
    scores, neighbour = (3, 0, 1, -2), (2, 1, 0, -1)
    law = lambda s: [Fraction(2) ** v / sum(Fraction(2) ** u for u in s) for v in s]
    computed = exponential_probabilities(scores, 1, 2 * log(2))
    assert computed == pytest.approx([float(p) for p in law(scores)], rel=1e-12)
    assert max(max(p / q, q / p) for p, q in zip(law(scores), law(neighbour))) <= 4         # = e^ε


@pytest.mark.claim("thm-exponential-privacy", kind="oracle")
def test_the_law_on_linear_queries():
    law = exponential_probabilities([.03, .01, 0, -.02], sensitivity=1 / 200, epsilon=.5)
    assert law.round(4).tolist() == [.5977, .2199, .1334, .0491]


@pytest.mark.claim("thm-exponential-privacy", kind="property")
@exactly(max_examples=300)
@given(pairs, st.floats(.01, 5))
def test_any_scores_any_neighbour(pair, epsilon):
    scores, moves = np.array(pair).T
    law = partial(exponential_probabilities, sensitivity=1, epsilon=epsilon)
    limit = bounds.exponential_loss(epsilon / 2, 1)
    check_selection_privacy(law, scores, scores + moves, limit)


@pytest.mark.claim("thm-exponential-privacy", kind="bound")
def test_the_gumbel_sampler_has_the_law():
    scores = np.array([3, 2.5, 0, -1, 2.9])
    draws = exponential(scores, 1, 1.5, np.random.default_rng(0), repeats=RUNS)
    check_sampler(draws, exponential_probabilities(scores, 1, 1.5))


@pytest.mark.claim("thm-exponential-privacy", kind="tight")
def test_opposite_moves_use_the_whole_budget(witness):
    found = check_selection_privacy(law_of_exponential, *opposite(10_000), 1)
    assert found == pytest.approx(bounds.exponential_loss(.5, 1), rel=.001)
    tripled = check_selection_privacy(partial(exponential_probabilities, sensitivity=3, epsilon=1.), *(3 * s for s in opposite(10_000)), 1)
    assert tripled == pytest.approx(bounds.exponential_loss(1 / 6, 3), rel=.001)
    witness("thm-exponential-privacy", found, bounds.exponential_loss(.5, 1))


@pytest.mark.claim("thm-exponential-privacy", kind="can-fail")
def test_a_missing_one_half_is_caught():
    broken = partial(exponential_probabilities, sensitivity=.5, epsilon=1.)
    with pytest.raises(AssertionError):
        check_selection_privacy(broken, *opposite(10), 1)
    one_direction = np.zeros(10), np.concatenate([[1.], np.zeros(9)])
    check_selection_privacy(broken, *one_direction, 1)          # scores that only rise would not need the half
    scores = np.array([3, 2.5, 0])
    draws = exponential(scores, .5, 1, np.random.default_rng(0), repeats=RUNS)
    with pytest.raises(AssertionError):
        check_sampler(draws, exponential_probabilities(scores, 1, 1))


# thm-exponential-utility --------------------------------------------------------------------------------------


def check_utility(select, k, beta, gap, at_least=0.0, runs=100_000):
    """One best candidate, k - 1 exactly `gap` below: the share of runs that miss the best agrees with <= β."""
    scores = np.concatenate([[gap], np.zeros(k - 1)])
    missed = int(np.sum(select(scores, np.random.default_rng(1), runs) != 0))
    check_rate(missed, runs, at_most=beta, at_least=at_least)
    return missed / runs


def exponential_in_blocks(scores, rng, runs, sensitivity=1.):
    return np.concatenate([exponential(scores, sensitivity, 1, rng, repeats=1000) for _ in range(runs // 1000)])


@pytest.mark.claim("thm-exponential-utility", kind="oracle")
def test_exact_failure_of_the_hard_instance():
    k, beta = 500, .05
    gap = bounds.exponential_gap(1, 1, k, beta)
    missed = exponential_probabilities(np.concatenate([[gap], np.zeros(k - 1)]), 1, 1)[1:].sum()
    w = (k - 1) * beta / k
    assert missed == pytest.approx(w / (1 + w)) and missed == pytest.approx(.0475, abs=5e-5)
    assert bounds.exponential_failure(gap, 1, 1, k) == pytest.approx(beta)
    assert bounds.exponential_failure(3 * gap, 3, 1, k) == pytest.approx(beta) and bounds.exponential_failure(.1, 1, 1, k) == 1


@pytest.mark.claim("thm-exponential-utility", kind="property")
@exactly(max_examples=200)
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=30), st.floats(.001, .999), st.floats(.01, 10))
def test_exact_failure_for_any_scores(scores, beta, epsilon):
    scores = np.array(scores)
    law = exponential_probabilities(scores, 1, epsilon)
    gap = bounds.exponential_gap(1, epsilon, len(scores), beta)
    assert law[scores.max() - scores >= gap].sum() <= beta + 1e-12
    assert law[scores.max() - scores >= gap / 2].sum() <= bounds.exponential_failure(gap / 2, 1, epsilon, len(scores)) + 1e-12


@pytest.mark.claim("thm-exponential-utility", kind="bound")
@pytest.mark.claim("thm-exponential-utility", kind="tight")
def test_the_hard_instance_misses_almost_as_often_as_allowed(witness):
    gap = bounds.exponential_gap(1, 1, 500, .05)
    check_utility(exponential_in_blocks, 500, .05, gap, at_least=.0475)
    exact = exponential_probabilities(np.concatenate([[gap], np.zeros(499)]), 1, 1)[1:].sum()
    assert exact == pytest.approx(.05, rel=.051)                # 1 - 1/(1 + β) of it is lost
    witness("thm-exponential-utility", exact, .05)


@pytest.mark.claim("thm-exponential-utility", kind="can-fail")
def test_a_doubled_sensitivity_or_a_gap_without_k_is_caught():
    gap = bounds.exponential_gap(1, 1, 500, .05)
    with pytest.raises(AssertionError):
        check_utility(partial(exponential_in_blocks, sensitivity=2.), 500, .05, gap)
    with pytest.raises(AssertionError):
        check_utility(exponential_in_blocks, 500, .05, bounds.exponential_gap(1, 1, 1, .05))
    with pytest.raises(AssertionError):
        check_utility(exponential_in_blocks, 500, .05, gap / 2)


# thm-noisy-max ----------------------------------------------------------------------------------------

law_of_noisy_max = partial(noisy_max_probabilities, sensitivity=1, epsilon=1.)


def two_candidates(gap, b):
    """Pr[the worse of two wins] = Pr[Z - Z' >= gap] = (1 + gap/2b) e^(-gap/b) / 2, in closed form."""
    return (1 + gap / (2 * b)) * exp(-gap / b) / 2


@pytest.mark.claim("thm-noisy-max", kind="oracle")
@pytest.mark.parametrize("gap", [0., 1., 6., 30.])
def test_two_candidates_in_closed_form(gap):
    law = noisy_max_probabilities([gap, 0.], 1, 1.)
    assert law[1] == pytest.approx(two_candidates(gap, 2), rel=1e-6) and law.sum() == pytest.approx(1)


@pytest.mark.claim("thm-noisy-max", kind="property")
@exactly(max_examples=25)
@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-1, 1)), min_size=2, max_size=4), st.floats(.2, 3))
def test_noisy_max_for_any_scores_and_neighbour(pair, epsilon):
    scores, moves = np.array(pair).T
    law = partial(noisy_max_probabilities, sensitivity=1, epsilon=epsilon)
    check_selection_privacy(law, scores, scores + moves, bounds.noisy_max_loss(1, 2 / epsilon))


@pytest.mark.claim("thm-noisy-max", kind="bound")
def test_audit_of_noisy_max():
    rng, (x, y) = np.random.default_rng(2), opposite(20)
    draws, draws_y = (report_noisy_max(s, 1, 1, rng, repeats=RUNS) for s in (x, y))
    found = epsilon_lower_bound(int(np.sum(draws_y == 0)), int(np.sum(draws == 0)), RUNS)
    assert .5 <= found <= 1
    check_sampler(draws_y, law_of_noisy_max(y))


@pytest.mark.claim("thm-noisy-max", kind="tight")
def test_a_far_behind_candidate_uses_the_whole_budget(witness):
    """The exact law far behind the leader; and the mechanism itself, where its runs can see the loss."""
    for scale in (1, 3):
        law = partial(noisy_max_probabilities, sensitivity=scale, epsilon=1.)
        found = log(law([200. * scale, 0.])[1] / law([201. * scale, -1. * scale])[1])
        assert found == pytest.approx(bounds.noisy_max_loss(scale, 2 * scale), rel=.02) and found <= 1
    witness("thm-noisy-max", found, bounds.noisy_max_loss(1, 2))
    rng, runs = np.random.default_rng(6), 1_000_000
    near, far = (int(np.sum(report_noisy_max(s, 1, 4, rng, repeats=runs) == 1)) for s in ([1.5, 0], [2.5, -1]))
    for hits, gap in ((near, 1.5), (far, 3.5)):
        check_rate(hits, runs, at_most=two_candidates(gap, .5), at_least=two_candidates(gap, .5))
    audited = epsilon_lower_bound(near, far, runs)
    assert .8 * bounds.noisy_max_loss(1, .5) <= audited <= bounds.noisy_max_loss(1, .5)


@pytest.mark.claim("thm-noisy-max", kind="can-fail")
def test_half_the_noise_is_caught():
    halved = partial(noisy_max_probabilities, sensitivity=1, epsilon=1., scale=1.)
    with pytest.raises(AssertionError):
        check_selection_privacy(halved, *opposite(20), 1)
    no_noise = lambda s: np.where(s == s.max(), 1 - 1e-9, 1e-9 / (len(s) - 1))
    with pytest.raises(AssertionError):
        check_selection_privacy(no_noise, np.array([0., 1.]), np.array([1., 0.]), 1)


# thm-noisy-max-utility ----------------------------------------------------------------------------------------


def noisy_max_in_blocks(scores, rng, runs, sensitivity=1.):
    return np.concatenate([report_noisy_max(scores, sensitivity, 1, rng, repeats=1000) for _ in range(runs // 1000)])


@pytest.mark.claim("thm-noisy-max-utility", kind="oracle")
@pytest.mark.parametrize("k", [2, 3, 6])
def test_exact_failure_of_noisy_max(k):
    for gap in (1., 5., 20.):
        missed = 1 - noisy_max_probabilities(np.concatenate([[gap], np.zeros(k - 1)]), 1, 1.)[0]
        limit = bounds.noisy_max_failure(gap, 1, 1, k)
        assert missed <= limit + 1e-9
        if k == 2:
            assert missed == pytest.approx(limit, rel=1e-6)     # the union bound over one rival is exact


@pytest.mark.claim("thm-noisy-max-utility", kind="property")
@exactly(max_examples=300)
@given(st.integers(1, 10**9), st.floats(1e-9, .999), st.floats(.01, 10), st.floats(.01, 10))
def test_the_sharper_form_implies_the_other(k, beta, epsilon, sensitivity):
    gap = bounds.noisy_max_gap(sensitivity, epsilon, k, beta)
    assert bounds.noisy_max_failure(gap, sensitivity, epsilon, k) <= beta


@pytest.mark.claim("thm-noisy-max-utility", kind="bound")
@pytest.mark.claim("thm-noisy-max-utility", kind="tight")
def test_noisy_max_at_the_gap_of_the_sharper_form(witness):
    for k, gap, least in ((2, 6., 1), (10, 10., .6)):           # one rival: exact; more: they share the noise of the best
        limit = bounds.noisy_max_failure(gap, 1, 1, k)
        check_utility(noisy_max_in_blocks, k, limit, gap, at_least=least * limit)
    exact = noisy_max_probabilities([6., 0.], 1, 1.)[1]
    assert exact == pytest.approx(bounds.noisy_max_failure(6., 1, 1, 2), rel=1e-9)
    witness("thm-noisy-max-utility", exact, bounds.noisy_max_failure(6., 1, 1, 2))
    assert bounds.noisy_max_gap(3, 2, 500, .05) == pytest.approx(4 * 3 / 2 * log(500 / .05))
    assert check_utility(noisy_max_in_blocks, 500, .05, bounds.noisy_max_gap(1, 1, 500, .05), runs=20_000) < .001


@pytest.mark.claim("thm-noisy-max-utility", kind="can-fail")
def test_noisy_max_with_too_much_noise_is_caught():
    limit = bounds.noisy_max_failure(10., 1, 1, 10)
    with pytest.raises(AssertionError):
        check_utility(partial(noisy_max_in_blocks, sensitivity=2.), 10, limit, 10.)
    with pytest.raises(AssertionError):                         # the gap of the exponential mechanism is too small here
        check_utility(noisy_max_in_blocks, 500, .05, bounds.exponential_gap(1, 1, 500, .05), runs=20_000)
