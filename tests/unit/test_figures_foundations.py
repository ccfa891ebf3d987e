"""The callbacks of the foundations figures: fast, deterministic, and the inequality under each is the right one."""

import numpy as np
import pytest

from dplib.figures import foundations as figures
from dplib.mechanisms import report_noisy_max

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
        assert (exact <= limit + 1e-9).all() and (noisy <= limit_noisy * 1.001).all()
    assert .6 < noisy[-1] / limit_noisy[-1] < .8                # the rivals share the noise of the best
    assert np.allclose(figures.selection_gap(2, .05).curves[1].y, figures.selection_gap(2, .05).curves[3].y, rtol=1e-3)


def test_the_noisy_max_integral_against_the_mechanism():
    scores = np.concatenate([[4.], np.zeros(9)])
    runs = report_noisy_max(scores, .5, 1, np.random.default_rng(0), repeats=100_000)
    assert np.mean(runs != 0) == pytest.approx(figures._noisy_max_misses(4., 10), rel=.05)
