"""The pictures of multiplicative weights for queries show what the claims say: known counts, lines that end where they must."""

import itertools
import math

import numpy as np
import pytest
from pictures import drawn_twice

from dplib import bounds
from dplib.data import ages
from dplib.figures import query_weights as figures
from dplib.mwem import query_mw
from dplib.queries import thresholds

GRID = {"m": [16, 64, 256], "alpha": [0.2, 0.4], "rule": ["largest", "smallest"], "update": ["polynomial", "hedge"]}
POINTS = [dict(zip(GRID, values)) for values in itertools.product(*GRID.values())]


@pytest.mark.parametrize(
    "callback, arguments",
    [
        (figures.potential, {"m": 16, "alpha": 0.2, "rule": "smallest", "update": "hedge"}),
        (figures.approach, {"updates": 5, "alpha": 0.05, "update": "polynomial"}),
        (figures.entropy, {"m": 64, "alpha": 0.3, "update": "hedge"}),
    ],
)
def test_a_picture_depends_on_its_parameters_alone(callback, arguments):
    drawn_twice(callback, arguments)


def test_potential_counts_the_known_updates_and_bounds():
    counts = {
        (0.4, "largest", "polynomial"): (30, 103), (0.4, "smallest", "polynomial"): (35, 103), (0.4, "smallest", "hedge"): (8, 12),
        (0.2, "largest", "polynomial"): (91, 415), (0.2, "smallest", "polynomial"): (161, 415), (0.2, "largest", "hedge"): (13, 51),
        (0.1, "smallest", "polynomial"): (562, 1663), (0.1, "smallest", "hedge"): (80, 207),
    }
    for (alpha, rule, update), (updates, most) in counts.items():
        plot = figures.potential(64, alpha, rule, update)
        assert plot.check.left == updates and plot.check.right == most and plot.check.holds


@pytest.mark.parametrize("point", POINTS)
def test_potential_lies_below_its_line_until_the_error_is_below_alpha(point):
    plot = figures.potential(**point)
    potential, error, line, accuracy = (curve.y for curve in plot.curves)
    assert plot.x[0] == 0 and potential[0] == pytest.approx(1) and (0 < potential[1:]).all()
    live = plot.x <= plot.x[48]
    assert (potential[live] <= line[live] + 1e-12).all() and (accuracy == point["alpha"]).all()
    assert line == pytest.approx(1 - plot.x, abs=1e-12) and plot.x[-1] == pytest.approx(1) and plot.marks == (("end of the run", plot.x[48]),)
    assert error[-1] < point["alpha"] and error[0] >= point["alpha"]
    m, most = point["m"], figures.MOST[point["update"]](point["m"], point["alpha"])
    run = query_mw(figures.spike(m), thresholds(m), point["alpha"], rule=point["rule"], update=point["update"])
    end = np.isclose(plot.x * most, run.updates).argmax()  # a point of its own; the run stands still after it
    assert end == 48 and (potential[end:] == potential[end]).all() and (error[end:] == error[end]).all()
    assert (error[plot.x * most <= run.updates - 1] >= point["alpha"]).all() and len(plot.x) == 61
    assert potential[-1] == pytest.approx(run.divergence[-1] / math.log(m)) and error[0] == run.max_error[0]


@pytest.mark.parametrize("point", POINTS[::3])
def test_wrong_sign_breaks_the_bound_and_leaves_through_the_top(point):
    plot = figures.potential(**point, wrong=True)
    potential, error, line, _ = (curve.y for curve in plot.curves)
    assert not plot.check.holds and plot.check.left == plot.check.right + 1 and "no end" in plot.check.what
    assert (np.diff(potential[:49]) > 0).all() and potential[48:] == pytest.approx(figures.TOP) and (potential[1:] > line[1:]).all()
    assert plot.marks == (("", plot.x[48]),)
    assert plot.x[-1] == pytest.approx(1) and 0 < plot.x[48] < 1 and line == pytest.approx(1 - plot.x, abs=1e-12)
    assert (error >= point["alpha"]).all()


def test_approach_shows_the_register_and_comes_closer():
    h = ages(2000, np.random.default_rng(2)).histogram
    plots = [figures.approach(updates, 0.05, "polynomial") for updates in (0, 1, 4, 16, 64, 128)]
    for plot in plots:
        assert (plot.curves[1].y == 100 * h).all() and plot.check.holds and plot.curves[0].y.sum() == pytest.approx(100)
    assert plots[0].curves[0].y == pytest.approx(np.ones(100)) and plots[0].check.left == pytest.approx(plots[0].check.right)
    assert (np.diff([plot.check.left for plot in plots]) < 0).all()
    end = query_mw(h, thresholds(100), 0.05)
    assert plots[-1].curves[0].y == pytest.approx(100 * end.p) and f"updates made: {end.updates}," in plots[-1].check.what
    start, step = float(bounds.kl_from_uniform(h)), 0.025 * (0.05 - 0.025)
    assert plots[3].check.right == pytest.approx(start - 16 * step)
    assert plots[-1].check.right == pytest.approx(start - end.updates * step) and end.updates < 128
    assert f"largest error now {end.max_error[-1]:.3f}" in plots[-1].check.what and "now 0.205" in plots[0].check.what
    hedge = figures.approach(4, 0.02, "hedge")
    assert hedge.check.right == pytest.approx(start - 4 * 2 * 0.02**2)


@pytest.mark.parametrize("m, alpha, update", [(64, 0.4, "polynomial"), (256, 0.3, "hedge"), (1024, 0.4, "polynomial")])
def test_entropy_lies_below_the_refined_bound_and_ends_at_nothing(m, alpha, update):
    plot = figures.entropy(m, alpha, update)
    made, plain, refined = (curve.y for curve in plot.curves)
    assert len(plot.x) == 7 and plot.x[0] == 0 and plot.x[-1] == pytest.approx(1)
    assert (plain == 1).all() and refined == pytest.approx(1 - plot.x, abs=1e-12)
    assert (made <= refined + 1e-12).all() and made[-1] == 0 and made[0] > 0.35 and (np.diff(made) < 0).all()
    most = {"polynomial": 4, "hedge": 1 / 2}[update] * math.log(m) / alpha**2
    assert plot.check.left == pytest.approx(made[3] * most) and plot.check.right == math.floor(most / 2)
    assert f"on {math.isqrt(m)} of {m} elements" in plot.check.what


def test_entropy_counts_are_those_of_the_algorithm():
    """A spike at 0 and the even spread over half of 64 elements."""
    plot = figures.entropy(64, 0.4, "polynomial")
    assert plot.curves[0].y[0] == pytest.approx(46 / (25 * math.log(64)), rel=0.03)
    half = query_mw(np.repeat([1 / 32, 0], 32), thresholds(64), 0.4, rule="smallest").updates
    assert plot.curves[0].y[5] == pytest.approx(half / (25 * math.log(64))) and plot.x[5] == pytest.approx(5 / 6)
