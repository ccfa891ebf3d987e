"""Claims about post-processing and composition, from the sum of the ε to the exact optimum."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dplib import bounds, composition
from dplib.audit import epsilon_lower_bound
from dplib.mechanisms import exponential_probabilities, laplace
from dplib.queries import from_matrix, point_queries, thresholds
from evidence import check_rate, hockey_stick, least_delta, loss, randomised_response, renyi

exactly = partial(settings, derandomize=True, deadline=None)
rounds = st.integers(1, 400)
small = st.floats(1e-3, 2)
deltas = st.floats(1e-12, .5)

# thm-post-processing ------------------------------------------------------------------------------------------


def check_no_more(P, Q, kernel_P, kernel_Q, factor):
    """The least δ (at e^ε = factor) after the kernels is at most the one before. An honest kernel is the same for both."""
    before = hockey_stick(P, Q, factor)
    after = hockey_stick(_push(P, kernel_P), _push(Q, kernel_Q), factor)
    assert after <= before, f"{after} > {before}"
    return before, after


def _push(P, kernel):
    return [sum(p * row[j] for p, row in zip(P, kernel)) for j in range(len(kernel[0]))]


def _law(weights):
    return [w / sum(weights) for w in weights]


weights = st.lists(st.integers(1, 20), min_size=3, max_size=3)


@pytest.mark.claim("thm-post-processing", kind="oracle")
def test_randomised_post_processing_by_fractions():
    P, Q = ([Fraction(v, 10) for v in row] for row in ((6, 3, 1), (1, 4, 5)))
    for rows in product([(1, 0), (0, 1), (Fraction(1, 3), Fraction(2, 3))], repeat=3):
        for factor in (Fraction(1), Fraction(2), Fraction(7, 2)):
            check_no_more(P, Q, rows, rows, factor)


@pytest.mark.claim("thm-post-processing", kind="property")
@exactly(max_examples=200)
@given(weights, weights, st.lists(weights, min_size=3, max_size=3), st.fractions(1, 10))
def test_any_kernel(p, q, rows, factor):
    kernel = [_law([Fraction(w) for w in row]) for row in rows]
    check_no_more(_law([Fraction(w) for w in p]), _law([Fraction(w) for w in q]), kernel, kernel, factor)


@pytest.mark.claim("thm-post-processing", kind="bound")
def test_rounding_and_clipping_laplace_answers():
    runs, epsilon, rng = 200_000, 1., np.random.default_rng(0)
    clean = lambda a: np.clip(np.round(laplace(a, 1, epsilon, rng, repeats=runs)), 0, 1)
    x, y = clean(0.), clean(1.)
    found = max(epsilon_lower_bound(int(np.sum(x == v)), int(np.sum(y == v)), runs) for v in (0, 1))
    assert .5 < found <= bounds.post_processing(epsilon)[0]


def answers_law(F, law, released):
    """The law of `F @ h` when the histogram h of the list `released` comes out with the probabilities `law`."""
    total = {}
    for p, h in zip(law, released):
        answer = tuple((F @ h).round(9))
        total[answer] = total.get(answer, 0) + p
    return total


def check_answers(family_x, family_y, P, Q, released, factor):
    """Answers from a released histogram tell no more than the histogram: the least δ of their laws, exactly."""
    laws = answers_law(family_x, P, released), answers_law(family_y, Q, released)
    outcomes = laws[0].keys() | laws[1].keys()
    before = hockey_stick(P, Q, factor)
    after = hockey_stick(*([law.get(a, 0) for a in outcomes] for law in laws), factor)
    assert after <= before, f"{after} > {before}"
    return before, after


RELEASED = [np.array(h) / 2 for h in ((2, 0, 0), (1, 1, 0), (1, 0, 1), (0, 2, 0), (0, 1, 1), (0, 0, 2))]
RELEASE = _law([Fraction(w) for w in (20, 7, 3, 4, 1, 1)]), _law([Fraction(w) for w in (2, 9, 1, 10, 8, 6)])


@pytest.mark.claim("thm-post-processing", kind="oracle")
@pytest.mark.claim("thm-post-processing", kind="tight")
def test_queries_on_a_released_histogram_are_free():
    for factor in (Fraction(1), Fraction(2), Fraction(3)):
        for F in (thresholds(3), point_queries(3), point_queries(3).closed()):      # these answers determine the histogram
            before, after = check_answers(F, F, *RELEASE, RELEASED, factor)
            assert after == before > 0
        for rows in ([[1, 0, 0]], [[0, 1, 1]], [[.5, .5, 0]]):                      # these forget some of it
            before, after = check_answers(from_matrix(rows), from_matrix(rows), *RELEASE, RELEASED, factor)
            assert after < before or factor == 3                # at 3 only the first histogram tells anything


@pytest.mark.claim("thm-post-processing", kind="can-fail")
def test_queries_that_know_the_data_are_caught():
    with pytest.raises(AssertionError):
        check_answers(from_matrix([[1, 0, 0]]), from_matrix([[0, 0, 0]]), *RELEASE, RELEASED, Fraction(2))


@pytest.mark.claim("thm-post-processing", kind="tight")
def test_an_invertible_map_loses_nothing(witness):
    P, Q = ([Fraction(v, 10) for v in row] for row in ((6, 3, 1), (1, 4, 5)))
    swap = [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    before, after = check_no_more(P, Q, swap, swap, Fraction(2))
    assert after == before > 0
    witness("thm-post-processing", float(after), float(before))
    assert bounds.post_processing(.7, 1e-3) == (.7, 1e-3) and bounds.post_processing(.7) == (.7, 0)


@pytest.mark.claim("thm-post-processing", kind="can-fail")
def test_a_second_look_at_the_data_is_caught():
    P, Q = [Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]
    honest = [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))]
    peeking = [(Fraction(1), Fraction(0)), (Fraction(1), Fraction(0))]
    check_no_more(P, Q, honest, honest, Fraction(2))
    with pytest.raises(AssertionError):
        check_no_more(P, Q, peeking, honest, Fraction(2))       # the kernel of x is not the kernel of x'


# thm-basic-composition ----------------------------------------------------------------------------------------


def check_basic(first, second, claim=bounds.basic_composition):
    """Two steps, the second chosen by the outcome of the first: the pair is (Σε, Σδ)-DP in both directions.

    A step is (P, Q, e^ε, δ); `second` maps the first outcome to such a step. All numbers are Fractions.
    """
    P1, Q1, factor1, delta1 = first
    steps = [second(y) for y in range(len(P1))]
    factor2, delta2 = steps[0][2:]
    P = [p * r for p, step in zip(P1, steps) for r in step[0]]
    Q = [q * r for q, step in zip(Q1, steps) for r in step[1]]
    eps, delta = claim([log(factor1), log(factor2)], [float(delta1), float(delta2)])
    found = max(least_delta(P, Q, eps), least_delta(Q, P, eps))
    assert found <= delta + 1e-12, f"delta is {found}, not {delta}"
    return found, delta


def leaky(factor, delta):
    """Randomised response with odds `factor` that gives the record away with probability δ."""
    t = Fraction(factor, factor + 1)
    return [(1 - delta) * t, (1 - delta) * (1 - t), delta, 0], [(1 - delta) * (1 - t), (1 - delta) * t, 0, delta], factor, delta


@pytest.mark.claim("thm-basic-composition", kind="oracle")
def test_two_adaptive_leaky_steps_by_fractions():
    swapped = lambda step: (step[0][1::-1] + step[0][2:], step[1][1::-1] + step[1][2:], *step[2:])
    for delta1, delta2 in product((Fraction(0), Fraction(1, 10), Fraction(1, 4)), repeat=2):
        plain = leaky(3, delta2)
        check_basic(leaky(2, delta1), lambda y: plain if y % 2 else swapped(plain))
        check_basic(leaky(2, delta1), lambda y: plain)
    assert bounds.basic_composition([.5, .25], [.125, .0625]) == (.75, .1875)
    assert bounds.basic_composition([.5, .25, .25], .125) == (1, .375)


@pytest.mark.claim("thm-basic-composition", kind="property")
@exactly(max_examples=200)
@given(st.lists(weights, min_size=8, max_size=8))
def test_any_two_adaptive_steps(tables):
    laws = [_law([Fraction(w) for w in t]) for t in tables]
    ratio = lambda P, Q: max(max(p / q, q / p) for p, q in zip(P, Q))
    factor2 = max(ratio(laws[2 + 2 * y], laws[3 + 2 * y]) for y in range(3))
    second = lambda y: (laws[2 + 2 * y], laws[3 + 2 * y], factor2, Fraction(0))
    check_basic((laws[0], laws[1], ratio(laws[0], laws[1]), Fraction(0)), second)


@pytest.mark.claim("thm-basic-composition", kind="bound")
@pytest.mark.claim("thm-basic-composition", kind="tight")
def test_randomised_response_adds_up_exactly(witness):
    for T, eps0 in ((1, .3), (10, .1), (50, .2)):
        P, Q = randomised_response(eps0, T)
        found = loss(P, Q)
        assert found <= composition.basic(T, eps0) * (1 + 1e-9)
        assert found == pytest.approx(T * eps0, rel=1e-6)
        witness("thm-basic-composition", found, composition.basic(T, eps0))
    for delta in (Fraction(1, 100), Fraction(1, 1000)):         # two leaks: 2δ - δ² of the 2δ
        found, promised = check_basic(leaky(3, delta), lambda y: leaky(3, delta))
        assert found == pytest.approx(promised, rel=.01)


@pytest.mark.claim("thm-basic-composition", kind="can-fail")
def test_root_t_without_delta_is_caught():
    root = lambda epsilons, deltas: (sqrt(len(epsilons)) * max(epsilons), sum(deltas))
    no_delta = lambda epsilons, deltas: (sum(epsilons), max(deltas))
    step = leaky(3, Fraction(1, 10))
    for claim in (root, no_delta):
        with pytest.raises(AssertionError):
            check_basic(leaky(3, Fraction(1, 10)), lambda y: step, claim)


# lem-bounded-loss ---------------------------------------------------------------------------------------------


def check_renyi(P, Q, orders=(1.01, 1.5, 2, 5, 30), width=None):
    """The Rényi divergence is at most a w²/8, w the range of the loss (or a claimed width). Returns the largest ratio."""
    L = np.log(P) - np.log(Q)
    w = np.ptp(L) if width is None else width
    ratio = max(renyi(P, Q, a) / bounds.renyi_divergence(a, w) for a in orders)
    assert ratio <= 1 + 1e-6, f"ratio {ratio}"
    return ratio


@pytest.mark.claim("lem-bounded-loss", kind="oracle")
@pytest.mark.parametrize("order", [2, 3])
def test_integer_orders_by_fractions(order):
    # P/Q in {4/3, 1/2}: the moments are exact, the bound is a w²/8 with w = ln(8/3)
    P, Q = [Fraction(4, 5), Fraction(1, 5)], [Fraction(3, 5), Fraction(2, 5)]
    exact = log(sum(p**order / q ** (order - 1) for p, q in zip(P, Q))) / (order - 1)
    assert renyi(np.array(P, float), np.array(Q, float), order) == pytest.approx(exact, rel=1e-12)
    assert exact <= bounds.renyi_divergence(order, log(8 / 3))


@pytest.mark.claim("lem-bounded-loss", kind="property")
@exactly(max_examples=300)
@given(st.lists(st.tuples(st.floats(.01, 1), st.floats(-3, 3)), min_size=2, max_size=6), st.floats(1.001, 100))
def test_any_finite_pair(table, order):
    q, tilt = np.array(table).T
    p = q * np.exp(tilt)
    if np.ptp(tilt) > 1e-2:
        check_renyi(p / p.sum(), q / q.sum(), orders=(order,))


@pytest.mark.claim("lem-bounded-loss", kind="bound")
def test_twenty_thousand_random_exponential_mechanisms():
    rng, worst = np.random.default_rng(1), 0
    for _ in range(20_000):
        scores = rng.normal(scale=3, size=rng.integers(2, 8))
        moved = scores + rng.uniform(-1, 1, size=scores.size)
        P, Q = exponential_probabilities(np.stack([scores, moved]), 1, 1)
        worst = max(worst, check_renyi(P, Q, orders=(1.5, 4), width=1.))
    assert .5 < worst <= 1


@pytest.mark.claim("lem-bounded-loss", kind="tight")
def test_randomised_response_nearly_attains_it(witness):
    ratio = check_renyi(*randomised_response(.05), orders=(1.01, 2))
    assert .999 <= ratio <= 1
    witness("lem-bounded-loss", ratio, 1)


@pytest.mark.claim("lem-bounded-loss", kind="can-fail")
def test_a_smaller_width_is_caught():
    P, Q = randomised_response(.5)
    check_renyi(P, Q)
    with pytest.raises(AssertionError):
        check_renyi(P, Q, width=.5)                             # ε₀ instead of 2ε₀: randomised response has both signs
    with pytest.raises(AssertionError):
        check_renyi(*randomised_response(.05), width=.09)       # and a tenth less than 2ε₀ is too little


# lem-zcdp-conversion ------------------------------------------------------------------------------------------


def gaussian_epsilon(rho, delta):
    """The exact ε at δ of the Gaussian mechanism with this ρ, the standard example of ρ-zCDP."""
    sigma, low, high = 1 / sqrt(2 * rho), 0., 1.
    while bounds.gaussian_delta(high, sigma, 1) > delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if bounds.gaussian_delta(middle, sigma, 1) > delta else (low, middle)
    return high


def check_conversion(convert, rho, delta):
    """The conversion promises no less ε than the Gaussian mechanism with that ρ really has."""
    true, promised = gaussian_epsilon(rho, delta), convert(rho, delta)
    assert true <= promised * (1 + 1e-9) + 1e-9, f"{true} > {promised}"
    return true / promised if promised else 1.0


@pytest.mark.claim("lem-zcdp-conversion", kind="oracle")
@pytest.mark.parametrize("rho, delta", [(.01, 1e-6), (.125, 1e-6), (1, 1e-3), (.5, .2), (20, 1e-9), (1e-6, 7.7e-4), (1e-5, .0024)])
def test_the_tight_conversion_by_brute_force(rho, delta):
    orders = 1 + np.logspace(-3, 4, 200_001)
    brute = min(bounds.zcdp_epsilon_at_order(rho, delta, a) for a in orders)
    assert composition.zcdp(rho, delta) == pytest.approx(brute, rel=1e-6)
    best = 1 + sqrt(log(1 / delta) / rho)                       # where aρ + ln(1/δ)/(a-1) is least
    assert best * rho + log(1 / delta) / (best - 1) == pytest.approx(bounds.zcdp_epsilon(rho, delta))


@pytest.mark.claim("lem-zcdp-conversion", kind="property")
@exactly(max_examples=200)
@given(st.floats(1e-4, 20), deltas)
def test_gaussian_below_tight_below_simple(rho, delta):
    check_conversion(composition.zcdp, rho, delta)
    assert composition.zcdp(rho, delta) <= bounds.zcdp_epsilon(rho, delta)


@pytest.mark.claim("lem-zcdp-conversion", kind="property")
@exactly(max_examples=100)
@given(st.floats(.01, 30), deltas, st.sampled_from(["simple", "tight"]))
def test_rho_budget_is_the_inverse(epsilon, delta, conversion):
    rho = composition.rho_budget(epsilon, delta, conversion)
    assert composition.zcdp(rho, delta, conversion) <= epsilon * (1 + 1e-12)
    assert composition.zcdp(1.001 * rho, delta, conversion) > epsilon


@pytest.mark.claim("lem-zcdp-conversion", kind="bound")
@pytest.mark.claim("lem-zcdp-conversion", kind="tight")
def test_conversion_of_the_gaussian(witness):
    for rho, delta in ((.01, 1e-6), (.125, 1e-6), (2, 1e-9)):
        simple = check_conversion(bounds.zcdp_epsilon, rho, delta)
        tight = check_conversion(composition.zcdp, rho, delta)
        assert .75 <= simple <= tight <= 1
        witness("lem-zcdp-conversion", tight, 1)


@pytest.mark.claim("lem-zcdp-conversion", kind="can-fail")
def test_a_lost_factor_two_is_caught():
    for broken in (lambda rho, delta: rho + sqrt(rho * log(1 / delta)), lambda rho, delta: bounds.zcdp_epsilon(rho / 2, delta)):
        with pytest.raises(AssertionError):
            check_conversion(broken, .125, 1e-6)


# thm-optimal-composition --------------------------------------------------------------------------------------


def brute_force_delta(T, epsilon0, epsilon):
    """The least δ of T rounds of randomised response, over all 2^T transcripts."""
    p = 1 / (1 + exp(-epsilon0))
    total = 0
    for transcript in product((0, 1), repeat=T):
        lies = sum(transcript)
        total += max(p ** (T - lies) * (1 - p) ** lies - exp(epsilon) * p**lies * (1 - p) ** (T - lies), 0)
    return total


@pytest.mark.claim("thm-optimal-composition", kind="oracle")
@pytest.mark.parametrize("T", [1, 2, 5, 9])
def test_optimal_delta_over_all_transcripts(T):
    for epsilon in (0., .3, 1., .8 * T):
        assert bounds.optimal_composition_delta(T, .7, epsilon) == pytest.approx(brute_force_delta(T, .7, epsilon), abs=1e-14)


@pytest.mark.claim("thm-optimal-composition", kind="oracle")
def test_optimal_delta_by_fractions():
    T, two = 6, Fraction(2)                                     # e^ε₀ = 2, e^ε = 4
    p = two / 3
    P = [binomial * p ** (T - j) * (1 - p) ** j for j, binomial in enumerate((1, 6, 15, 20, 15, 6, 1))]
    exact = hockey_stick(P, P[::-1], Fraction(4))
    assert bounds.optimal_composition_delta(T, log(2), log(4)) == pytest.approx(float(exact), rel=1e-12)


def adaptive_laws(T, epsilon0, rng):
    """Two transcript laws of T adaptive steps with three outcomes, each ε₀-DP: the next pair depends on the past.

    Some steps are exponential mechanisms (loss in an interval of length ε₀), some randomised response (loss ε₀ and -ε₀,
    and nothing said with a small probability); half of the laws have steps of the second kind only.
    """
    P, Q, bold = np.ones(1), np.ones(1), rng.choice([.4, 1])
    for _ in range(T):
        next_P, next_Q = [], []
        for p, q in zip(P, Q):
            if rng.random() > bold:
                q1 = rng.dirichlet(np.ones(3))
                p1 = q1 * np.exp(np.array([1, -1, rng.choice([-1, 1])]) * epsilon0 / 2)
                p1 /= p1.sum()                                  # normalising moves all losses by at most ε₀/2
            else:
                share = rng.choice([0., .02, rng.random() * (1 - bold)])    # of the outcome that says nothing
                truth, lie = (1 - share) / (1 + exp(-epsilon0)), (1 - share) / (1 + exp(epsilon0))
                p1, q1 = np.array([truth, lie, share]), np.array([lie, truth, share])
            next_P.append(p * p1)
            next_Q.append(q * q1)
        P, Q = np.concatenate(next_P), np.concatenate(next_Q)
    return P, Q


def check_composition(delta_of, T, epsilon0, P, Q):
    """The least δ of a pair of transcript laws is at most the promised one, at several ε."""
    for share in (.2, .5, .8):
        epsilon = share * T * epsilon0
        found, promised = least_delta(P, Q, epsilon), delta_of(T, epsilon0, epsilon)
        assert found <= promised + 1e-12, f"{found} > {promised}"


@pytest.mark.claim("thm-optimal-composition", kind="property")
@exactly(max_examples=40)
@given(st.integers(1, 5), st.floats(.05, 3), st.integers(0, 10**6))
def test_no_adaptive_mechanism_beats_randomised_response(T, epsilon0, seed):
    P, Q = adaptive_laws(T, epsilon0, np.random.default_rng(seed))
    check_composition(bounds.optimal_composition_delta, T, epsilon0, P, Q)


@pytest.mark.claim("thm-optimal-composition", kind="can-fail")
def test_random_adaptive_steps_see_a_tenth_of_epsilon0():
    """The property test above has power: with .9 ε₀ in the bound many of its draws would fail."""
    failed = 0
    for seed in range(100):
        P, Q = adaptive_laws(4, .5, np.random.default_rng(seed))
        check_composition(bounds.optimal_composition_delta, 4, .5, P, Q)
        try:
            check_composition(lambda T, e0, e: bounds.optimal_composition_delta(T, .9 * e0, e), 4, .5, P, Q)
        except AssertionError:
            failed += 1
    assert failed >= 30


@pytest.mark.claim("thm-optimal-composition", kind="bound")
@exactly(max_examples=200)
@given(rounds, small, deltas)
def test_optimal_is_below_the_other_accountants(T, epsilon0, delta):
    best = composition.optimal(T, epsilon0, delta)
    others = (composition.basic(T, epsilon0), composition.advanced(T, epsilon0, delta),
              bounds.advanced_composition_kl(T, epsilon0, delta), bounds.advanced_composition_textbook(T, epsilon0, delta))
    assert best <= min(others) * (1 + 1e-9)


@pytest.mark.claim("thm-optimal-composition", kind="tight")
def test_randomised_response_attains_the_optimum(witness):
    for T, epsilon0, epsilon in ((10, .3, 1.), (100, .05, 2.)):
        P, Q = randomised_response(epsilon0, T)
        found = least_delta(P, Q, epsilon)
        assert found == pytest.approx(bounds.optimal_composition_delta(T, epsilon0, epsilon), rel=1e-9)
        witness("thm-optimal-composition", found, bounds.optimal_composition_delta(T, epsilon0, epsilon))


@pytest.mark.claim("thm-optimal-composition", kind="can-fail")
def test_one_round_too_few_is_caught():
    P, Q = randomised_response(.7, 6)
    check_composition(bounds.optimal_composition_delta, 6, .7, P, Q)
    with pytest.raises(AssertionError):
        check_composition(lambda T, e0, e: bounds.optimal_composition_delta(T - 1, e0, e), 6, .7, P, Q)
    with pytest.raises(AssertionError):
        check_composition(lambda T, e0, e: bounds.optimal_composition_delta(T, .9 * e0, e), 6, .7, P, Q)


# thm-advanced-composition -------------------------------------------------------------------------------------


def check_accountant(accountant, T, epsilon0, delta, laws=randomised_response):
    """At the promised ε the exact least δ of a hard T-fold composition is at most δ."""
    epsilon = accountant(T, epsilon0, delta)
    found = least_delta(*laws(epsilon0, T), epsilon)
    assert found <= delta * (1 + 1e-9), f"delta is {found:.3g}, not {delta}"
    return epsilon


@pytest.mark.claim("thm-advanced-composition", kind="oracle")
def test_numbers_of_the_chapter():
    values = [f(100, .05, 1e-6) for f in (composition.optimal, composition.advanced, bounds.advanced_composition_kl,
                                          bounds.advanced_composition_textbook)]
    assert [round(v, 3) for v in values] == [2.208, 2.753, 2.753, 2.885]
    assert composition.basic(100, .05) == 5
    assert round(composition.advanced(500, .3, 1e-6), 1) == 57.8
    assert round(bounds.advanced_composition_kl(500, .3, 1e-6), 1) == 57.6


@pytest.mark.claim("thm-advanced-composition", kind="oracle")
@pytest.mark.parametrize("T, epsilon0, delta", [(3, .5, .1), (8, .2, .01), (10, 1., .3)])
def test_advanced_over_all_transcripts(T, epsilon0, delta):
    assert brute_force_delta(T, epsilon0, composition.advanced(T, epsilon0, delta)) <= delta


@pytest.mark.claim("thm-advanced-composition", kind="property")
@exactly(max_examples=300)
@given(rounds, small, st.floats(1e-12, .999))
def test_advanced_on_randomised_response(T, epsilon0, delta):
    for form in (composition.advanced, bounds.advanced_composition_kl, bounds.advanced_composition_textbook):
        check_accountant(form, T, epsilon0, delta)
    assert bounds.advanced_composition_kl(T, epsilon0, delta) <= composition.advanced(T, epsilon0, delta)


@pytest.mark.claim("thm-advanced-composition", kind="bound")
def test_the_loss_exceeds_epsilon_at_most_delta_of_the_time():
    T, epsilon0, delta, runs = 200, .1, .01, 100_000
    lies = np.random.default_rng(2).binomial(T, 1 / (1 + exp(epsilon0)), size=runs)
    losses = (T - 2 * lies) * epsilon0
    check_rate(int(np.sum(losses > composition.advanced(T, epsilon0, delta))), runs, at_most=delta)


@pytest.mark.claim("thm-advanced-composition", kind="tight")
def test_advanced_is_within_a_quarter_of_the_optimum(witness):
    for T, epsilon0, delta in ((100, .05, 1e-6), (1000, .01, 1e-6), (10_000, .01, 1e-9)):
        ratio = composition.optimal(T, epsilon0, delta) / composition.advanced(T, epsilon0, delta)
        assert .75 <= ratio <= 1
        witness("thm-advanced-composition", composition.optimal(T, epsilon0, delta), composition.advanced(T, epsilon0, delta))


@pytest.mark.claim("thm-advanced-composition", kind="can-fail")
def test_a_lost_root_two_is_caught():
    broken = [lambda T, e, d: T * e**2 / 2 + e * sqrt(T * log(1 / d)),
              lambda T, e, d: composition.advanced(T, e / 2, d),
              lambda T, e, d: composition.advanced(int(sqrt(T)), e, d),
              lambda T, e, d: composition.bounded_range(T, e, d)]           # its hypothesis does not hold here
    for accountant in broken:
        with pytest.raises(AssertionError):
            check_accountant(accountant, 400, .05, 1e-3)


# thm-bounded-range --------------------------------------------------------------------------------------------


def exponential_rounds(epsilon0, T, p=.5):
    """T rounds of the exponential mechanism with two candidates whose scores move in opposite directions."""
    shift = 1 / 2 * log(p / (1 - p)) * 2 / epsilon0 if p != .5 else 0.
    P1, Q1 = exponential_probabilities(np.array([[shift + .5, -.5], [shift - .5, .5]]), 1, epsilon0)
    j = np.arange(T + 1)
    return binom.pmf(j, T, P1[0]), binom.pmf(j, T, Q1[0])


@pytest.mark.claim("thm-bounded-range", kind="oracle")
@pytest.mark.parametrize("T", [2, 5, 8])
def test_bounded_range_over_all_transcripts(T):
    epsilon0, delta = .8, .05
    epsilon = composition.bounded_range(T, epsilon0, delta)
    P1, Q1 = exponential_probabilities(np.array([[.5, -.5, 0], [-.5, .5, .2]]), 1, epsilon0)
    P, Q = np.ones(1), np.ones(1)
    for _ in range(T):
        P, Q = np.outer(P, P1).ravel(), np.outer(Q, Q1).ravel()
    assert np.ptp(np.log(P1) - np.log(Q1)) <= epsilon0
    assert max(least_delta(P, Q, epsilon), least_delta(Q, P, epsilon)) <= delta


@pytest.mark.claim("thm-bounded-range", kind="property")
@exactly(max_examples=300)
@given(rounds, small, st.floats(1e-9, .999), st.floats(.01, .99))
def test_two_candidates_any_tilt(T, epsilon0, delta, p):
    check_accountant(composition.bounded_range, T, epsilon0, delta, partial(exponential_rounds, p=p))


@pytest.mark.claim("thm-bounded-range", kind="bound")
@exactly(max_examples=300)
@given(st.lists(st.tuples(st.floats(-30, 30), st.floats(-1, 1)), min_size=2, max_size=8), st.floats(.01, 5))
def test_the_loss_of_an_exponential_mechanism_has_range_epsilon0(pair, epsilon0):
    scores, moves = np.array(pair).T
    P, Q = exponential_probabilities(np.stack([scores, scores + moves]), 1, epsilon0)
    assert np.ptp(np.log(P) - np.log(Q)) <= epsilon0 * (1 + 1e-6) + 1e-9


@pytest.mark.claim("thm-bounded-range", kind="tight")
def test_bounded_range_is_within_a_third_of_the_truth(witness):
    T, epsilon0, delta = 400, .05, 1e-6
    promised = composition.bounded_range(T, epsilon0, delta)
    true = max(e for e in np.linspace(0, promised, 401)
               if least_delta(*exponential_rounds(epsilon0, T), e) > delta)
    assert .7 <= true / promised <= 1
    witness("thm-bounded-range", true, promised)


@pytest.mark.claim("thm-bounded-range", kind="can-fail")
def test_randomised_response_is_not_of_bounded_range():
    check_accountant(composition.bounded_range, 400, .05, 1e-3, exponential_rounds)
    with pytest.raises(AssertionError):
        check_accountant(composition.bounded_range, 400, .05, 1e-3, randomised_response)
    with pytest.raises(AssertionError):
        check_accountant(lambda T, e, d: composition.bounded_range(T, e / 2, d), 400, .05, 1e-3, exponential_rounds)


# lem-budget ---------------------------------------------------------------------------------------------------


def check_budget(allowance, epsilon, delta, T):
    """T rounds at the allowed ε₀ stay within ε by the theorem, and within δ on randomised response."""
    epsilon0 = allowance(epsilon, delta, T)
    assert composition.advanced(T, epsilon0, delta) <= epsilon * (1 + 1e-12)
    assert bounds.optimal_composition_delta(T, epsilon0, epsilon) <= delta
    return epsilon0


@pytest.mark.claim("lem-budget", kind="oracle")
def test_the_two_terms_of_the_proof():
    epsilon, delta, T = 3., 1e-4, 70
    e0, L = composition.budget_lemma(epsilon, delta, T), log(1 / delta)
    assert T * e0**2 / 2 == pytest.approx(epsilon**2 / (16 * L))
    assert e0 * sqrt(2 * T * L) == pytest.approx(epsilon / 2)
    numbers = {name: round(e0, 5) for name, e0 in composition.allowances(1, 1e-6, 100, exponential=True).items()}
    assert numbers == {"basic": .01, "budget lemma": .00951, "advanced": .01869, "optimal": .02401,
                       "bounded range": .03738, "bounded range, tight": .04414}


@pytest.mark.claim("lem-budget", kind="oracle")
@pytest.mark.parametrize("name, first", [("budget lemma", 111), ("advanced", 29), ("bounded range", 8)])
def test_where_each_rule_overtakes_basic_composition(name, first):
    pays = lambda T: (a := composition.allowances(1, 1e-6, T, exponential=True))[name] > a["basic"]
    assert pays(first) and not pays(first - 1)


@pytest.mark.claim("lem-budget", kind="property")
@exactly(max_examples=200)
@given(st.integers(1, 10**6), deltas, st.floats(.001, 1))
def test_every_budget_up_to_the_limit(T, delta, share):
    epsilon = share * bounds.budget_limit(delta)
    e0 = composition.budget_lemma(epsilon, delta, T)
    assert composition.advanced(T, e0, delta) <= epsilon * (1 + 1e-12)


@pytest.mark.claim("lem-budget", kind="property")
@exactly(max_examples=60)
@given(st.integers(1, 300), st.floats(1e-12, .1), st.floats(.01, 8))
def test_inverses_are_inverses_and_the_best_is_the_best(T, delta, epsilon):
    found = composition.allowances(epsilon, delta, T, exponential=True)
    assert composition.advanced(T, found["advanced"], delta) == pytest.approx(epsilon)
    assert composition.bounded_range(T, found["bounded range"], delta) == pytest.approx(epsilon)
    assert composition.optimal(T, found["optimal"], delta) <= epsilon * (1 + 1e-9)
    assert bounds.optimal_composition_delta(T, 1.001 * found["optimal"], epsilon) > delta
    assert found["optimal"] >= max(found["basic"], found["advanced"], found.get("budget lemma", 0)) * (1 - 1e-9)
    assert composition.best_epsilon0(epsilon, delta, T, exponential=True).epsilon0 == max(found.values())


@pytest.mark.claim("lem-budget", kind="bound")
@pytest.mark.parametrize("epsilon, delta, T", [(.1, 1e-9, 10), (1, 1e-6, 100), (50, 1e-6, 100), (110, 1e-6, 1000)])
def test_the_budget_is_kept(epsilon, delta, T):
    check_budget(composition.budget_lemma, epsilon, delta, T)


@pytest.mark.claim("lem-budget", kind="tight")
def test_the_lemma_is_exact_at_its_limit_and_wastes_half_elsewhere(witness):
    limit = bounds.budget_limit(1e-6)
    assert limit == pytest.approx(8 * log(1e6))
    at_limit = composition.advanced(100, composition.budget_lemma(limit, 1e-6, 100), 1e-6)
    assert at_limit == pytest.approx(limit)
    witness("lem-budget", at_limit, limit)
    ordinary = composition.advanced(100, composition.budget_lemma(1, 1e-6, 100), 1e-6)
    assert .5 <= ordinary <= .51


@pytest.mark.claim("lem-budget", kind="can-fail")
def test_beyond_the_limit_and_without_the_eight_it_breaks():
    formula = lambda eight: lambda epsilon, delta, T: epsilon / sqrt(eight * T * log(1 / delta))
    check_budget(formula(8), 100, 1e-6, 100)
    with pytest.raises(AssertionError):
        check_budget(formula(8), 120, 1e-6, 100)                # 8 ln(1/δ) = 110.5
    with pytest.raises(AssertionError):
        check_budget(formula(1), 1, 1e-6, 100)
    with pytest.raises(ValueError, match="8 ln"):
        composition.budget_lemma(120, 1e-6, 100)
