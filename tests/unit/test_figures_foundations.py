"""The callbacks of the foundations figures: fast, deterministic, and the inequality under each is the right one."""

from math import exp, log, sqrt

import numpy as np
import pytest
from pictures import curves

from dplib.data import ages
from dplib.figures import foundations as figures
from dplib.mechanisms import gaussian_scale, report_noisy_max
from dplib.queries import thresholds

POINTS = {
    "laplace_error": [{"epsilon": e, "n": n, "beta": b} for e in (.1, 4) for n in (100, 10**5) for b in (.01, .2)],
    "laplace_loss": [{"epsilon": e, "half_the_noise": False} for e in (.25, 2)],
    "gaussian_classical": [{"epsilon": e, "delta": d} for e in (.5, 1) for d in (1e-3, 1e-9)],
    "selection_gap": [{"k": k, "beta": b} for k in (2, 1000) for b in (.01, .2)],
    "budget": [{"epsilon": e, "delta": d} for e in (.1, 4) for d in (1e-5, 1e-9)],
    "error_by_size": [{"epsilon": e} for e in (.25, 4)],
}


@pytest.mark.parametrize("name", POINTS)
def test_the_inequality_holds_and_does_not_change(name):
    fn = getattr(figures, name)
    for point in POINTS[name]:
        plot = fn(**point)
        assert plot.check.holds, plot.sentence()
        again = fn(**point)
        assert all(np.array_equal(a.y, b.y) for a, b in zip(plot.curves, again.curves))


def test_dropping_a_hypothesis_breaks_the_bound():
    assert not figures.laplace_loss(1, half_the_noise=True).check.holds
    assert figures.gaussian_classical(8, 1e-5).check.holds and not figures.gaussian_classical(9, 1e-5).check.holds


def test_the_exact_curves_stay_below_their_bounds():
    for k in (2, 100):
        exact, noisy, limit, limit_noisy = (curve.y for curve in figures.selection_gap(k, .05).curves)
        assert (exact <= limit + 1e-9).all() and (noisy <= limit_noisy * (1 + 1e-9)).all()
    assert .6 < noisy[-1] / limit_noisy[-1] < .8                # the rivals share the noise of the best
    two = figures.selection_gap(2, .05)
    assert two.curves[1].y == pytest.approx(two.curves[3].y, rel=1e-9)


def test_the_curves_of_the_selection_figure():
    k, plot = 30, figures.selection_gap(30, .01)
    exact, noisy, limit, limit_noisy = (curve.y for curve in plot.curves)
    v = (k - 1) * np.exp(-plot.x)
    assert exact == pytest.approx(v / (1 + v)) and limit == pytest.approx(np.minimum(1, k * np.exp(-plot.x)))
    assert limit_noisy == pytest.approx(np.minimum(1, (k - 1) * (1 + plot.x / 2) * np.exp(-plot.x) / 2))
    assert noisy == pytest.approx([figures.noisy_max_misses(g, k) for g in plot.x])
    assert plot.check.left == pytest.approx(.01 * 29 / 30 / (1 + .01 * 29 / 30)) and plot.check.right == .01
    assert plot.marks[0][1] == pytest.approx(log(30 / .01))


@pytest.mark.parametrize("gap, k", [(4., 10), (2., 100)])
def test_the_noisy_max_integral_against_the_mechanism(gap, k):
    scores = np.concatenate([[gap], np.zeros(k - 1)])
    runs = report_noisy_max(scores, .5, 1, np.random.default_rng(0), repeats=100_000)
    p = figures.noisy_max_misses(gap, k)
    assert abs(np.mean(runs != 0) - p) < 5 * sqrt(p * (1 - p) / 100_000)


def test_who_misses_more_often_depends_on_the_gap():
    for k, crossing in ((10, 3.858), (100, 6.363), (1000, 8.684)):
        assert figures.noisy_max_misses(crossing - .01, k) < figures.exponential_misses(crossing - .01, k)
        assert figures.noisy_max_misses(crossing + .01, k) > figures.exponential_misses(crossing + .01, k)
    for misses in (figures.exponential_misses, figures.noisy_max_misses):
        gap = figures.gap_missed_with(.05, misses, 500)
        assert misses(gap, 500) == pytest.approx(.05, rel=1e-7)


def test_the_exact_quantile_is_exact():
    b, k, beta = 2., 7, .03
    t = figures.laplace_quantile(b, k, beta)
    assert 1 - (1 - exp(-t / b)) ** k == pytest.approx(beta, rel=1e-9)
    plot = figures.laplace_error(.5, 1000, .05)
    runs, exact, limit = (curve.y for curve in plot.curves)
    assert exact == pytest.approx([figures.laplace_quantile(k / 500, int(k), .05) for k in plot.x])
    assert limit == pytest.approx(plot.x / 500 * np.log(plot.x / .05))
    for beta, most in ((.01, .005), (.05, .013), (.2, .07)):    # what the text says about their distance
        plot = figures.laplace_error(1, 1000, beta)
        assert (plot.curves[2].y / plot.curves[1].y - 1).max() < most


@pytest.mark.parametrize("epsilon, delta", [(1, 1e-6), (4, 1e-9)])
def test_the_curves_of_the_budget_figure(epsilon, delta):
    plot = figures.budget(epsilon, delta)
    y, T, L = curves(plot), plot.x, log(1 / delta)
    assert y["basic: ε/T"] == pytest.approx(epsilon / T)
    assert y["budget lemma"] == pytest.approx(epsilon / np.sqrt(8 * T * L))
    advanced, selecting = y["advanced, solved for ε₀"], y["exponential mechanisms only"]
    assert T * advanced**2 / 2 + advanced * np.sqrt(2 * T * L) == pytest.approx(np.full(len(T), epsilon))
    assert T * selecting**2 / 8 + selecting * np.sqrt(T * L / 2) == pytest.approx(np.full(len(T), epsilon))
    optimum = y["optimum for pure steps"]
    assert (optimum >= np.maximum(advanced, epsilon / T) * (1 - 1e-9)).all() and optimum[0] > selecting[0]
    assert optimum[11] == plot.check.right and T[11] == 100 and plot.marks[0][1] == pytest.approx(8 * L)


def test_the_curves_of_the_size_figure():
    """Median largest errors of 100 thresholds, against draws of each noise at the right scale."""
    epsilon, plot = 1, figures.error_by_size(1)
    y, rng, F = curves(plot), np.random.default_rng(9), thresholds(100)
    for name, draw in (("Laplace, pure", rng.laplace(scale=F.diameter(1) / epsilon, size=(4000, 100))),
                       ("Gaussian, δ = 10⁻⁶", rng.normal(scale=gaussian_scale(F.diameter(2), epsilon, 1e-6), size=(4000, 100)))):
        assert y[name] * plot.x == pytest.approx(np.full(len(plot.x), np.median(abs(draw).max(axis=1))), rel=.12)
    assert plot.curves[2].y == pytest.approx(99 / plot.x * log(100 / .05))
    assert ages(100, rng).m == F.k


def test_the_curve_of_the_loss_figure():
    plot = figures.laplace_loss(.5, half_the_noise=False)
    assert plot.curves[0].y == pytest.approx(np.clip(1 - 2 * plot.x, -1, 1) * .5)
    assert figures.laplace_loss(.5, half_the_noise=True).check.left == pytest.approx(1)
