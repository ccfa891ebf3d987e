"""The pictures of chapter 6 show what the claims say: known values, the same picture for the same parameters."""

import matplotlib
import numpy as np
import pytest
from pictures import drawn_twice

from dplib import bounds
from dplib.figures import sparse_vector as figures
from dplib.sparse_law import error_quantile
from dplib.sparse_vector import Rule, run_many, sparse_rule

matplotlib.use("agg")

CALLS = {
    figures.accuracy: {"epsilon": 0.5, "n": 100, "beta": 0.2},
    figures.first_alarm: {"epsilon": 2.0},
    figures.loss_by_rule: {"rule": "Algorithm 4", "c": 2, "epsilon": 1.0},
    figures.certified: {"rule": "Algorithm 6", "c": 2, "runs": 10_000, "epsilon": 1.0},
    figures.finding: {"c": 1, "epsilon": 1.0, "repeats": 50},
    figures.budget_split: {"c": 5, "monotone": True},
    figures.delta_pays: {"epsilon": 1.0, "log10_delta": -6},
}


@pytest.mark.parametrize("callback", CALLS)
def test_a_picture_depends_on_its_parameters_alone(callback):
    drawn_twice(callback, CALLS[callback])


def test_one_draw_for_the_largest_of_k_noises_has_the_right_law():
    errors = figures.largest_noises(1000, 10, 1.0, repeats=200_000)
    assert np.quantile(errors, 0.95) == pytest.approx(error_quantile(1000, 0.05, 1.0, c=10), rel=0.01)


@pytest.mark.parametrize("k", [1, 2, 3, 50])
def test_comparison_errors_have_the_law_of_all_k_noises(k):
    """Against k noises drawn one by one, at five quantiles."""
    z = np.random.default_rng(0).laplace(size=(40_000, k + 1)) * [2] + 0.0
    z[:, 1:] *= 2
    direct = np.abs(z[:, 1:] - z[:, :1]).max(axis=1)
    ours = figures.comparison_errors(k, 1.0, repeats=40_000)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    assert np.quantile(ours, levels) == pytest.approx(np.quantile(direct, levels), rel=0.04)


def test_accuracy_lies_below_what_the_proof_bounds():
    plot = figures.accuracy(1.0, 1000, 0.05)
    exact = np.array([error_quantile(int(k), 0.05, 1.0, 1 / 1000) for k in plot.x])
    assert (0.85 * exact < plot.curves[0].y).all() and (plot.curves[0].y < exact).all()
    assert plot.check.holds and plot.check.right == pytest.approx(0.0594269)
    errors = figures.comparison_errors(10, 1.0, 1 / 1000)
    at_ten = [curve[plot.x.tolist().index(10)] for curve in (plot.curves[0].low, plot.curves[0].high)]
    assert at_ten == pytest.approx(np.quantile(errors, [0.25, 0.75]))
    front = figures.first_alarm(1.0)
    assert front.curves[0].y.tolist() == plot.curves[0].y.tolist() and front.check.right == plot.check.right


def test_only_the_private_versions_keep_the_promise():
    plots = {rule: figures.loss_by_rule(rule, 2, 1.0) for rule in figures.RULES}
    assert [rule for rule, plot in plots.items() if plot.check.holds] == [
        "Sparse (private)", "one threshold draw, halves (private)",
    ]
    at_hundred = {rule: plot.curves[0].y[-1] for rule, plot in plots.items()}
    limits = {"Algorithm 4": 3.25, "Algorithm 6": 2.5, "query noise without c": 1.5, "no threshold noise": 25.5}
    for rule, limit in limits.items():
        assert at_hundred[rule] == pytest.approx(limit, abs=1e-3)
    assert (figures.loss_by_rule("Algorithm 4", 2, 0.5).curves[1].y == 0.5).all()


def test_certificates_stay_below_the_exact_loss_and_convict_only_the_guilty():
    plot = figures.certified("Algorithm 6", 4, 1_000_000, 1.0)
    assert (plot.curves[0].draws.max(axis=0) <= plot.curves[1].y + 1e-9).all() and plot.check.left > 2.5
    assert plot.curves[1].y[3] == pytest.approx(3.546, abs=1e-3)
    assert (plot.curves[2].y == 1.0).all() and not plot.check.holds
    assert figures.certified("Sparse (private)", 1, 1_000_000, 1.0).check.holds


def test_finding_reproduces_the_published_comparison():
    """The share found at gaps 40 and 80 with c = 5 of 200, ε = 1: the single draw finds more, δ > 0 less."""
    plot = figures.finding(5, 1.0)
    for gap in (40, 80):
        share = {curve.name: curve.y[plot.x.tolist().index(gap)] for curve in plot.curves}
        assert share["one threshold draw"] > share["Sparse"] > share["Sparse, δ = 10⁻⁶"]
    assert [at for _, at in plot.marks] == pytest.approx([249.6, 423.9], abs=0.1) and plot.check.holds
    # the curve with δ is that of δ = 10⁻⁶, and the check is made at α itself
    where = np.random.default_rng(66).permuted(np.tile(np.arange(200) < 5, (200, 1)), axis=1)
    found = run_many(sparse_rule(5, 1.0, 1e-6), np.where(where, 80, -80), 0.0, np.random.default_rng(6), 200).above
    assert plot.curves[1].y[plot.x.tolist().index(80)] == pytest.approx((found & where).sum() / 1000)
    assert figures.finding(20, 0.5).check.left == 0 and "at gap α" in plot.check.what


def test_the_check_of_finding_turns_red_when_the_gap_is_too_small(monkeypatch):
    monkeypatch.setattr(bounds, "sparse_error", lambda *_: 60.0)
    assert not figures.finding(5, 1.0).check.holds


def test_split_marks_the_minimum_of_the_formula():
    for monotone, weight in ((False, 10), (True, 5)):
        plot = figures.budget_split(5, monotone)
        best = plot.marks[0][1]
        assert best == pytest.approx(1 / (1 + weight ** (2 / 3)))
        assert abs(plot.x[plot.curves[1].y.argmin()] - best) <= plot.x[1] - plot.x[0]
        assert plot.curves[0].y == pytest.approx(plot.curves[1].y, rel=0.1)
        assert plot.check.left == pytest.approx((2 * (1 + weight ** (2 / 3)) ** 3) ** 0.5)


def test_delta_pays_to_the_right_of_the_mark():
    plot = figures.delta_pays(1.0, -6)
    pure, approximate = plot.curves[0].y, plot.curves[1].y
    assert ((approximate < pure) == (plot.x > bounds.hits_where_delta_pays(1e-6))).all()
    assert plot.marks[0][1] == bounds.hits_where_delta_pays(1e-6)
    for measured, limit in zip(plot.curves[:2], plot.curves[2:]):
        assert (0.7 * limit.y < measured.y).all() and (measured.y < limit.y).all()


def test_twelve_runs_counts_what_it_draws():
    answers = np.linspace(-60, 60, 40)
    fig, early, late = figures.twelve_runs(answers, 0.0, 1e9, np.random.default_rng(0))
    assert (early, late) == (0, 0) and len(fig.axes) == 12
    fig, early, late = figures.twelve_runs(answers, 0.0, 0.1, np.random.default_rng(0))
    for ax in fig.axes:  # it halts at the first cross at or above the line of the noisy threshold
        (_, line, _, crosses, *circle) = ax.lines
        over = crosses.get_ydata() >= line.get_ydata()[0]
        assert not over[:-1].any() and over[-1] == bool(circle)
    titles = [ax.get_title() for ax in fig.axes]
    assert early == sum("early" in t for t in titles) and late == sum("late" in t for t in titles) and early > 6


def test_the_arrows_of_the_coupling_are_the_translation():
    fig = figures.coupling_picture(g=3.0, f=4.0, g_neighbour=4.0, f_neighbour=3.0)
    arrows = [np.subtract(text.xy, text.xyann) for text in fig.axes[0].texts]
    assert len(arrows) == 3 and np.allclose(arrows, [1.0, 2.0])  # t moves by Δ, v by 2Δ


def test_worst_loss_moves_the_right_queries():
    assert figures.worst_loss(Rule(2.0, 4.0), 50, 1) == pytest.approx(1.0, abs=1e-6)
