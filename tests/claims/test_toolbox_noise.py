"""Claims about Laplace and Gaussian noise: tails, privacy, accuracy, calibration."""

from functools import partial
from math import exp, inf, log, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from dplib import bounds
from dplib.audit import epsilon_lower_bound
from dplib.mechanisms import gaussian, gaussian_scale, laplace
from evidence import check_rate

exactly = partial(settings, derandomize=True, deadline=None)
epsilons = st.floats(.01, 8)
deltas = st.floats(1e-9, .999)
RUNS = 200_000

# lem-laplace-tail ---------------------------------------------------------------------------------------------


def check_tail(draws, t, sides):
    """Draws in units of b have the tail of the lemma, not more and not less."""
    hits = int(np.sum(draws >= t) if sides == 1 else np.sum(abs(draws) >= t))
    p = bounds.laplace_tail(t, sides)
    check_rate(hits, draws.size, at_most=p, at_least=p)
    return hits / draws.size


@pytest.mark.claim("lem-laplace-tail", kind="oracle")
@pytest.mark.parametrize("t", [0, .5, 1, 3, 10])
def test_tail_by_quadrature(t):
    density = lambda z: exp(-abs(z)) / 2
    one_side = quad(density, t, inf, epsabs=0)[0]
    assert bounds.laplace_tail(t, sides=1) == pytest.approx(one_side, rel=1e-8)
    assert bounds.laplace_tail(t, sides=2) == pytest.approx(2 * one_side, rel=1e-8)


@pytest.mark.claim("lem-laplace-tail", kind="property")
@exactly(max_examples=200)
@given(st.floats(0, 600), st.floats(1e-3, 1e3))
def test_tail_is_scale_free(t, b):
    assert bounds.laplace_tail(t, 1) == pytest.approx(laplace_law.sf(t * b, scale=b), rel=1e-6)


@pytest.mark.claim("lem-laplace-tail", kind="property")
@exactly(max_examples=200)
@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(.1, 10))
def test_moving_the_tail_costs_one_exponential(r, r_moved, b):
    log_tail = lambda r: laplace_law.logsf(r, scale=b)
    assert log_tail(r) <= log_tail(r_moved) + abs(r - r_moved) / b + 1e-9


@pytest.mark.claim("lem-laplace-tail", kind="property")
@exactly(max_examples=50)
@given(st.integers(1, 1000), st.floats(.001, .5))
def test_the_union_bound_needs_no_independence(k, beta):
    t = log(k / beta)
    assert k * bounds.laplace_tail(t) == pytest.approx(beta)
    independent, equal = 1 - (1 - bounds.laplace_tail(t)) ** k, bounds.laplace_tail(t)
    assert equal <= independent * (1 + 1e-9) and independent <= beta * (1 + 1e-9)


@pytest.mark.claim("lem-laplace-tail", kind="bound")
@pytest.mark.claim("lem-laplace-tail", kind="tight")
def test_the_sampler_has_this_tail(witness):
    draws = laplace(np.zeros(RUNS), sensitivity=3, epsilon=2, rng=np.random.default_rng(1)) / 1.5
    for t, sides in [(.5, 2), (1, 1), (2, 2), (3, 1), (5, 2)]:
        share = check_tail(draws, t, sides)
        assert .9 <= share / bounds.laplace_tail(t, sides) <= 1.1
    share = check_tail(draws, 1, 2)
    witness("lem-laplace-tail", share, bounds.laplace_tail(1, 2))


@pytest.mark.claim("lem-laplace-tail", kind="can-fail")
def test_other_noise_is_caught():
    rng = np.random.default_rng(2)
    for draws in (rng.laplace(scale=.5, size=RUNS), rng.normal(size=RUNS), rng.exponential(size=RUNS)):
        with pytest.raises(AssertionError):
            for t, sides in [(1, 1), (2, 2)]:
                check_tail(draws, t, sides)
    with pytest.raises(AssertionError):                         # Pr[Z >= tb] = e^-t, without the one half
        check_rate(int(np.sum(rng.laplace(size=RUNS) >= 1)), RUNS, at_most=1, at_least=exp(-1))


# thm-laplace-privacy ------------------------------------------------------------------------------------------


def log_ratio(z, shift, scale):
    """The privacy loss at output z of independent Lap(scale) around 0 against around `shift`."""
    return float(np.sum(abs(np.asarray(z) - shift) - abs(np.asarray(z))) / scale)


def check_noise_privacy(mechanism, epsilon, runs=RUNS):
    """An audit on two neighbours at l1 distance 1: no event of the form "the output is below t" may tell more than ε.

    `mechanism(answer, rng)` returns `runs` outputs.
    """
    rng = np.random.default_rng(3)
    x, y = mechanism(0., rng), mechanism(1., rng)
    found = max(epsilon_lower_bound(int(np.sum(x < t)), int(np.sum(y < t)), runs) for t in (-1., -.5, 0.))
    assert found <= epsilon, f"audit: loss >= {found:.3f} > {epsilon}"
    return found


@pytest.mark.claim("thm-laplace-privacy", kind="oracle")
@pytest.mark.parametrize("epsilon", [.1, 1., 3.])
def test_hockey_stick_vanishes_exactly_at_epsilon(epsilon):
    b = 1 / epsilon
    excess = lambda eps: quad(lambda z: max(laplace_law.pdf(z, 0, b) - exp(eps) * laplace_law.pdf(z, 1, b), 0),
                              -20 * b, 20 * b + 1, points=[0, 1], limit=400)[0]
    assert excess(bounds.laplace_loss(1, b)) < 1e-12
    assert excess(.99 * bounds.laplace_loss(1, b)) > 1e-4


@pytest.mark.claim("thm-laplace-privacy", kind="property")
@exactly(max_examples=200)
@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-5, 5)), min_size=1, max_size=6), st.floats(.01, 10))
def test_density_ratio_in_any_dimension(points, scale):
    z, shift = np.array(points).T
    if abs(shift).sum() > 1e-9:
        assert log_ratio(z, shift, scale) <= bounds.laplace_loss(abs(shift).sum(), scale) * (1 + 1e-9) + 1e-9


@pytest.mark.claim("thm-laplace-privacy", kind="bound")
@pytest.mark.claim("thm-laplace-privacy", kind="tight")
def test_audit_of_laplace(witness):
    found = check_noise_privacy(lambda a, rng: laplace(a, 1, 1, rng, repeats=RUNS), 1)
    assert found == pytest.approx(bounds.laplace_loss(1, 1), rel=.1)
    witness("thm-laplace-privacy", found, bounds.laplace_loss(1, 1))


@pytest.mark.claim("thm-laplace-privacy", kind="can-fail")
def test_audit_catches_half_the_noise_and_half_the_sensitivity():
    for broken in (lambda a, rng: laplace(a, .5, 1, rng, repeats=RUNS),             # 1/2n instead of 1/n
                   lambda a, rng: a + rng.laplace(scale=1 / sqrt(2), size=RUNS),    # std 1/ε instead of scale 1/ε
                   lambda a, rng: np.round(a) + rng.laplace(size=RUNS) * .8):
        with pytest.raises(AssertionError):
            check_noise_privacy(broken, 1)


# thm-laplace-accuracy -----------------------------------------------------------------------------------------


def check_laplace_accuracy(mechanism, k, beta, n, epsilon, runs=20_000, formula=bounds.laplace_error):
    """Over many runs the largest of k errors exceeds the bound in a share that agrees with [.9 β, β]."""
    limit = formula(bounds.family_sensitivity(k, n, 1), epsilon, k, beta)
    errors = abs(mechanism(np.full(k, .5), np.random.default_rng(4), runs) - .5).max(axis=-1)
    hits = int(np.sum(errors > limit))
    check_rate(hits, runs, at_most=beta, at_least=.9 * beta)
    return hits / runs


def k_queries(a, rng, runs, k=20, n=1000, epsilon=.5):
    return laplace(a, k / n, epsilon, rng, repeats=runs)


@pytest.mark.claim("thm-laplace-accuracy", kind="oracle")
@pytest.mark.parametrize("k, beta", [(1, .05), (20, .05), (1000, .01)])
def test_exact_failure_probability(k, beta):
    limit = bounds.laplace_error(k / 1000, 1, k, beta)
    fail = -np.expm1(k * np.log1p(-2 * laplace_law.sf(limit, scale=k / 1000)))
    assert fail == pytest.approx(1 - (1 - beta / k) ** k) and fail <= beta * (1 + 1e-9)


@pytest.mark.claim("thm-laplace-accuracy", kind="property")
@exactly(max_examples=200)
@given(st.integers(1, 10**6), st.floats(1e-6, .99), epsilons, st.floats(1e-3, 1))
def test_sample_size_is_the_inverse_of_the_error(k, beta, epsilon, alpha):
    n = bounds.laplace_sample_size(k, alpha, beta, epsilon)
    assert bounds.laplace_error(k / n, epsilon, k, beta) == pytest.approx(alpha)
    tail = bounds.laplace_tail(log(k / beta))
    assert k * tail == pytest.approx(beta)                      # the union bound is met with equality


@pytest.mark.claim("thm-laplace-accuracy", kind="bound")
@pytest.mark.claim("thm-laplace-accuracy", kind="tight")
def test_laplace_fails_with_probability_beta(witness):
    share = check_laplace_accuracy(k_queries, 20, .05, 1000, .5)
    assert .9 <= share / .05 <= 1.1
    witness("thm-laplace-accuracy", share, .05)


@pytest.mark.claim("thm-laplace-accuracy", kind="can-fail")
def test_wrong_scale_and_missing_union_bound_are_caught():
    doubled = lambda a, rng, runs: k_queries(a, rng, runs, epsilon=.25)
    one_query = lambda a, rng, runs: k_queries(a, rng, runs, k=1)           # too accurate: not the noise of k queries
    for broken in (doubled, one_query):
        with pytest.raises(AssertionError):
            check_laplace_accuracy(broken, 20, .05, 1000, .5)
    no_union = lambda sensitivity, epsilon, k, beta: bounds.laplace_error(sensitivity, epsilon, 1, beta)
    with pytest.raises(AssertionError):
        check_laplace_accuracy(k_queries, 20, .05, 1000, .5, formula=no_union)


# thm-gaussian-analytic ----------------------------------------------------------------------------------------


def exact_delta(epsilon, sigma):
    """sup_E P(E) - e^ε Q(E) for N(0,σ²) against N(1,σ²), by quadrature of the positive part."""
    crossing = .5 - epsilon * sigma**2                          # the loss is above ε exactly to the left of this
    part = lambda z: norm.pdf(z, 0, sigma) - exp(epsilon) * norm.pdf(z, 1, sigma)
    return quad(part, crossing - 12 * sigma, crossing, epsabs=0, epsrel=1e-10, limit=300)[0]


def check_gaussian_delta(scale, epsilon, delta):
    """Noise of standard deviation `scale(Δ₂, ε, δ)` is (ε, δ)-DP, by quadrature."""
    found = exact_delta(epsilon, scale(1, epsilon, delta))
    assert found <= delta * (1 + 1e-7), f"delta is {found:.3g}, not {delta}"
    return found


@pytest.mark.claim("thm-gaussian-analytic", kind="oracle")
@pytest.mark.parametrize("epsilon, sigma", [(.1, 20), (.5, 3), (1, 3.73), (1, .5), (3, 1), (8, .6)])
def test_delta_by_two_quadratures(epsilon, sigma):
    value = bounds.gaussian_delta(epsilon, sigma, 1)
    assert value == pytest.approx(exact_delta(epsilon, sigma), rel=1e-8)
    along = quad(lambda t: norm.pdf(t / 2 - epsilon / t), 0, 1 / sigma, epsabs=0, epsrel=1e-10, limit=300)[0]
    assert value == pytest.approx(along, rel=1e-8)              # dδ/d(Δ₂/σ) is the normal density: no cancellation


def log_exact_delta(epsilon, sigma):
    """ln of ∫_0^θ φ(t/2 - ε/t) dt, θ = 1/σ: an integral of positive terms, with t = θ e^-s and the peak taken out."""
    theta = 1 / sigma
    upper = epsilon / theta - theta / 2
    value = lambda t: exp((upper - (epsilon / t - t / 2)) * (upper + (epsilon / t - t / 2)) / 2) * t
    step = 1 / (1 + abs(upper) * (epsilon / theta + theta / 2))             # the integrand falls off within a few of these
    steps = np.unique(np.minimum([0, *(step * 2.0 ** np.arange(-2, 60))], 80))
    total = sum(quad(lambda s: value(theta * exp(-s)), low, high, epsabs=0, epsrel=1e-13)[0]
                for low, high in zip(steps, steps[1:]) if upper <= 0 or step * 60 > low)
    return log(total) - upper**2 / 2 - log(2 * pi) / 2


@pytest.mark.claim("thm-gaussian-analytic", kind="oracle")
@pytest.mark.parametrize("epsilon, delta", [(1e-12, 1e-100), (1e-12, 1e-15), (1e-12, 1e-11), (1e-6, 1e-300), (.01, 1e-9), (1, 1e-5),
                                            (30, 1e-300), (500, 1e-6), (1e-3, .5), (3, .9)])
def test_the_scale_errs_to_the_safe_side_where_the_terms_cancel(epsilon, delta):
    sigma = gaussian_scale(1, epsilon, delta)
    found = log_exact_delta(epsilon, sigma) - log(delta)
    assert -1e-9 <= found <= 0, f"ln of true over promised delta: {found}"
    assert bounds.gaussian_delta(epsilon, sigma, 1) == pytest.approx(exp(log_exact_delta(epsilon, sigma)), rel=1e-10)


@pytest.mark.claim("thm-gaussian-analytic", kind="property")
@exactly(max_examples=150)
@given(st.floats(1e-12, 50), st.floats(1e-300, .99), st.floats(1e-3, 1e3))
def test_the_scale_is_the_least_one(epsilon, delta, sensitivity):
    sigma = gaussian_scale(sensitivity, epsilon, delta)
    assert bounds.gaussian_delta(epsilon, sigma, sensitivity) <= delta
    assert bounds.gaussian_delta(epsilon, gaussian_scale(1, epsilon, delta), 1) <= (1 - 1e-11) * delta
    assert bounds.gaussian_delta(epsilon, .9999 * sigma, sensitivity) > delta
    assert sigma == pytest.approx(sensitivity * gaussian_scale(1, epsilon, delta), rel=1e-12)


@pytest.mark.claim("thm-gaussian-analytic", kind="property")
@exactly(max_examples=200)
@given(st.floats(0, 100), st.floats(1e-3, 100), st.floats(1e-6, 1))
def test_delta_falls_as_sigma_grows_from_one_to_zero(epsilon, sigma, step):
    assert bounds.gaussian_delta(epsilon, sigma * (1 + step), 1) <= bounds.gaussian_delta(epsilon, sigma, 1) * (1 + 1e-11)
    assert bounds.gaussian_delta(epsilon, 1e-3, 1) == pytest.approx(1) and bounds.gaussian_delta(epsilon, 1e12, 1) < 1e-11
    just_above, just_below = (bounds.gaussian_delta(epsilon, 1 + s, 1) for s in (1e-13, -1e-13))
    assert just_above == pytest.approx(just_below, rel=1e-9)    # σ = Δ₂ is where the code changes its formula


@pytest.mark.claim("thm-gaussian-analytic", kind="bound")
@pytest.mark.parametrize("epsilon, delta", [(.1, 1e-5), (1, 1e-6), (3, 1e-3), (8, 1e-5), (1, .9)])
def test_analytic_scale_is_private(epsilon, delta):
    check_gaussian_delta(gaussian_scale, epsilon, delta)


@pytest.mark.claim("thm-gaussian-analytic", kind="tight")
def test_analytic_scale_is_tight(witness):
    found = check_gaussian_delta(gaussian_scale, 1, 1e-5)
    assert .999 <= found / 1e-5 <= 1 + 1e-7
    witness("thm-gaussian-analytic", found, 1e-5)
    epsilon, delta, runs, rng = 1, .05, 400_000, np.random.default_rng(5)
    x, y = (gaussian(a, 1, epsilon, delta, rng, repeats=runs) for a in (0., 1.))
    crossing = .5 - epsilon * gaussian_scale(1, epsilon, delta) ** 2
    measured = np.mean(x < crossing) - exp(epsilon) * np.mean(y < crossing)
    assert .9 <= measured / delta <= 1.1                        # the sampler itself, on the optimal event


@pytest.mark.claim("thm-gaussian-analytic", kind="can-fail")
@pytest.mark.claim("thm-gaussian-classical", kind="can-fail")
def test_too_little_gaussian_noise_is_caught():
    broken = [lambda s, e, d: gaussian_scale(s, e, d) / 2,
              lambda s, e, d: .999 * gaussian_scale(s, e, d),
              lambda s, e, d: gaussian_scale(s / 2, e, d),
              lambda s, e, d: bounds.gaussian_classical(s, e, d) / 2,
              lambda s, e, d: s * sqrt(log(1.25 / d)) / e]                  # the 2 under the root is lost
    for scale in broken:
        with pytest.raises(AssertionError):
            check_gaussian_delta(scale, 1, 1e-5)
    check_gaussian_delta(bounds.gaussian_classical_formula, 8.4, 1e-5)      # beyond ε = 1 nothing is promised,
    with pytest.raises(AssertionError):                                     # and a little later it is false
        check_gaussian_delta(bounds.gaussian_classical_formula, 8.5, 1e-5)


# thm-gaussian-classical ---------------------------------------------------------------------------------------


@pytest.mark.claim("thm-gaussian-classical", kind="oracle")
@pytest.mark.parametrize("epsilon", [.01, .3, 1])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, .1, .7, .99])
def test_classical_scale_by_quadrature(epsilon, delta):
    check_gaussian_delta(bounds.gaussian_classical, epsilon, delta)


@pytest.mark.claim("thm-gaussian-classical", kind="property")
@exactly(max_examples=300)
@given(st.floats(1e-4, 1), st.one_of(deltas, st.floats(1e-300, 1e-9), st.floats(.999, .999999)))
def test_classical_scale_for_all_delta(epsilon, delta):
    sigma = gaussian_scale(1, epsilon, delta, method="classical")
    assert bounds.gaussian_delta(epsilon, sigma, 1) <= delta


@pytest.mark.claim("thm-gaussian-classical", kind="property")
@exactly(max_examples=50)
@given(st.floats(1, 1e3, exclude_min=True), deltas)
def test_classical_scale_refuses_large_epsilon(epsilon, delta):
    with pytest.raises(ValueError, match="epsilon <= 1"):
        gaussian_scale(1, epsilon, delta, method="classical")


@pytest.mark.claim("thm-gaussian-classical", kind="bound")
def test_classical_scale_on_a_grid_and_the_constants_of_its_proof():
    for epsilon in np.linspace(.02, 1, 50):
        for delta in np.concatenate([np.logspace(-12, -1, 30), np.linspace(.1, .999, 40)]):
            assert bounds.gaussian_delta(epsilon, bounds.gaussian_classical(1, epsilon, delta), 1) <= delta
    u = exp(.5) / (1.25 * sqrt(2 * pi))
    a = (u + sqrt(u**2 + 2)) / 2                                # the root of a - 1/2a = u
    cut = 1.25 * exp(-a**2 / 2)
    assert (round(u, 4), round(a, 4), round(cut, 4)) == (.5262, 1.0176, .7448)
    smallest = sqrt(2 * log(1.25))
    assert norm.cdf(1 / (2 * smallest) - smallest) < .54 < cut


@pytest.mark.claim("thm-gaussian-classical", kind="tight")
def test_classical_scale_wastes_between_a_quarter_and_a_third(witness):
    ratio = {e: gaussian_scale(1, e, 1e-5) / gaussian_scale(1, e, 1e-5, "classical") for e in (.1, 1)}
    assert 1 / ratio[.1] == pytest.approx(1.58, abs=.005) and 1 / ratio[1] == pytest.approx(1.30, abs=.005)
    witness("thm-gaussian-classical", gaussian_scale(1, 1, 1e-5), gaussian_scale(1, 1, 1e-5, "classical"))


@pytest.mark.claim("thm-gaussian-classical", kind="can-fail")
@pytest.mark.parametrize("delta, epsilon", [(1e-5, 8.42), (1e-6, 8.78), (1e-9, 9.62)])
def test_where_the_classical_formula_becomes_false(delta, epsilon):
    broken = lambda e: bounds.gaussian_delta(e, bounds.gaussian_classical_formula(1, e, delta), 1) > delta
    assert not broken(epsilon - .01) and broken(epsilon + .01)


# thm-gaussian-zcdp --------------------------------------------------------------------------------------------


def check_gaussian_renyi(rho, sigma, order, shift=(1.,)):
    """The Rényi divergence of N(0, σ²I) and N(shift, σ²I) is at most a ρ. Each coordinate by quadrature; they add up."""
    divergence = 0
    for s in shift:
        log_integrand = lambda z: order * norm.logpdf(z, 0, sigma) + (1 - order) * norm.logpdf(z, s, sigma)
        centre = (1 - order) * s                                # where the integrand has its peak
        peak = log_integrand(centre)
        value = quad(lambda z: exp(log_integrand(z) - peak), centre - 12 * sigma, centre + 12 * sigma, epsrel=1e-11)[0]
        divergence += (log(value) + peak) / (order - 1)
    assert divergence <= order * rho * (1 + 1e-7) + 1e-9, f"{divergence} > {order} * {rho}"
    return divergence


@pytest.mark.claim("thm-gaussian-zcdp", kind="oracle")
@pytest.mark.claim("thm-gaussian-zcdp", kind="bound")
@pytest.mark.claim("thm-gaussian-zcdp", kind="tight")
@pytest.mark.parametrize("sigma, order", [(1, 1.5), (1, 4), (3, 2), (5, 20)])
def test_gaussian_divergence_is_order_times_rho(sigma, order, witness):
    rho = bounds.gaussian_rho(1, sigma)
    found = check_gaussian_renyi(rho, sigma, order)
    assert found == pytest.approx(order * rho, rel=1e-8)
    witness("thm-gaussian-zcdp", found, order * rho)


@pytest.mark.claim("thm-gaussian-zcdp", kind="property")
@exactly(max_examples=30)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=3), st.floats(.3, 5), st.floats(1.01, 10))
def test_only_the_l2_norm_of_the_shift_matters(shift, sigma, order):
    norm2 = float(np.linalg.norm(shift))
    if norm2 > 1e-3:
        rho = bounds.gaussian_rho(norm2, sigma)
        assert check_gaussian_renyi(rho, sigma, order, shift) == pytest.approx(order * rho, rel=1e-5, abs=1e-9)


@pytest.mark.claim("thm-gaussian-zcdp", kind="can-fail")
def test_half_of_rho_is_caught():
    with pytest.raises(AssertionError):
        check_gaussian_renyi(bounds.gaussian_rho(1, 2) / 2, 2, 3)
    with pytest.raises(AssertionError):
        check_gaussian_renyi(bounds.gaussian_rho(1, 2), 1.9, 3)             # less noise than said
