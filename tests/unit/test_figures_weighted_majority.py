"""The pictures of chapter 1 show what the claims say: known values, the same picture for the same parameters."""

import numpy as np
import pytest
from pictures import drawn_twice

from dplib import bounds
from dplib.experts import heaviest_first_counts, noisy_experts, weighted_majority
from dplib.figures import weighted_majority as figures

CALLS = {
    figures.envelopes: {"penalty": 0.35, "opponent": "noisy experts"},
    figures.penalty_curve: {"experts": 16, "opponent": "best expert errs in 20 %"},
    figures.constant: {"experts": 64},
    figures.coin: {"experts": 8, "opponent": "noisy experts"},
}


@pytest.mark.parametrize("callback", CALLS)
def test_a_picture_depends_on_its_parameters_alone(callback):
    assert drawn_twice(callback, CALLS[callback]).check.holds


@pytest.mark.parametrize("opponent", figures.ENVELOPE_OPPONENTS)
@pytest.mark.parametrize("eta", [0.2, 0.8])
def test_the_weight_lies_between_its_envelopes(eta, opponent):
    plot = figures.envelopes(eta, opponent)
    weight, upper, lower = (curve.y for curve in plot.curves)
    assert len(weight) == 41 and (weight[0], upper[0], lower[0]) == pytest.approx((128, 128, 1))
    assert (lower <= weight * (1 + 1e-12)).all() and (weight <= upper * (1 + 1e-12)).all()
    steps = np.rint(np.diff(np.log(upper)) / np.log(1 - eta / 2))
    assert set(steps) <= {0, 1} and steps.sum() == plot.check.left  # one step down for each of our mistakes
    best = np.rint(np.log(lower[-1]) / np.log(1 - eta))
    assert plot.check.right == pytest.approx(bounds.weighted_majority_mistakes(best, 128, eta))


@pytest.mark.parametrize("eta", [0.2, 0.35, 0.5, 0.65, 0.8])
def test_heaviest_first_runs_along_the_upper_envelope_at_every_penalty(eta):
    weight, upper, lower = (curve.y for curve in figures.envelopes(eta, "heaviest first").curves)
    assert (np.log(weight / lower) > 0.93 * np.log(upper / lower)).all() and upper[-1] == pytest.approx(128 * (1 - eta / 2) ** 40)


def test_a_good_expert_brings_the_weight_down_to_the_lower_envelope():
    ends = [figures.envelopes(eta, "noisy experts").curves for eta in (0.2, 0.5, 0.8)]
    above = [weight.y[-1] / lower.y[-1] for weight, _, lower in ends]
    assert above[0] > above[1] > above[2] and above[1] < 2 and above[2] < 1.1
    weight, upper, lower = (curve.y for curve in figures.envelopes(0.5, "one perfect expert").curves)
    assert (lower == 1).all() and weight[-1] < 1.001


def test_the_bound_turns_up_again_and_the_mistakes_go_down_to_opt():
    plot = figures.penalty_curve(64, "best expert errs in 10 %")
    ours, limit, best, twice = (curve.y for curve in plot.curves)
    assert (best == 1).all() and (twice == 2).all() and plot.ylabel == "mistakes / OPT"
    assert 0 < limit.argmin() < len(limit) - 1 and limit[-1] > 1.2 * limit.min()
    assert ours[-1] < 1.05 * ours.min() and ours[-1] < 1.15 and ours[0] > 3 and (ours < limit).all()
    run = weighted_majority(noisy_experts(64, 300, 0.1, rng=np.random.default_rng(11), repeats=6), 0.5)
    at = plot.x.tolist().index(0.5)
    opt = run.opt.mean()
    assert opt == pytest.approx(30, abs=3) and ours[at] == pytest.approx(run.mistakes.mean() / opt)
    assert limit[at] == pytest.approx(2.40942084 * (opt + 6) / opt) and f"OPT = {opt:.3g}" in plot.check.what
    assert plot.curves[0].low[at] == (run.mistakes / run.opt).min() and plot.curves[0].high[at] == (run.mistakes / run.opt).max()


@pytest.mark.parametrize("opponent", figures.PENALTY_OPPONENTS)
@pytest.mark.parametrize("N", [4, 16, 64, 256])
def test_the_inequality_of_the_penalties_is_the_one_that_is_drawn(N, opponent):
    plot = figures.penalty_curve(N, opponent)
    ours, limit, _, _ = plot.curves
    at = plot.x.tolist().index(0.5)
    assert (plot.check.left, plot.check.right) == (ours.y[at], limit.y[at])
    assert (ours.low <= ours.y).all() and (ours.y <= ours.high).all() and (ours.y <= limit.y).all()


def test_the_adversary_is_the_worse_the_larger_the_penalty():
    plot = figures.penalty_curve(256, "heaviest first")
    ours, limit, _, _ = (curve.y for curve in plot.curves)
    assert (np.diff(ours) >= 0).all() and 2 <= ours[0] < 2.02 and ours[-1] > 3.8 and (ours <= limit).all()
    assert heaviest_first_counts(256, 300)[-1] == 124 and plot.check.left == 300 / 124 and "OPT = 124" in plot.check.what
    assert plot.check.right == pytest.approx(2.40942 * (124 + 8) / 124, rel=1e-5)
    assert figures.penalty_curve(4, "heaviest first").curves[0].y == pytest.approx(2)  # four experts can be split in halves again and again


@pytest.mark.parametrize("N, refuted", [(16, False), (256, False), (1024, True), (65536, True)])
def test_two_point_four_falls_from_1024_experts_on(N, refuted):
    plot = figures.constant(N)
    distance = plot.curves[0].y
    assert (distance > 0).all() and plot.check.holds is not refuted and plot.check.right == 2.4
    assert (plot.curves[1].y == pytest.approx(0.00942, abs=1e-5)) and plot.curves[2].y[0] == pytest.approx(0.40942, abs=1e-5)
    t = int(plot.x[-1])
    assert t == 40_000
    assert distance[-1] == pytest.approx(2.40942084 - t / (heaviest_first_counts(N, t)[-1] + np.log2(N)), abs=1e-7)


@pytest.mark.parametrize("N", [4, 8, 16])
def test_a_coin_halves_the_mistakes_against_heaviest_first_and_costs_against_heaviest_alone(N):
    plot = figures.coin(N, "heaviest first")
    fixed, drawn, limit, best, twice = (curve.y for curve in plot.curves)
    assert (best == 1).all() and (twice == 2).all() and plot.ylabel == "mistakes / OPT"
    assert (fixed >= 2).all() and (drawn < 0.6 * fixed).all() and (drawn <= limit).all()
    assert plot.x.max() == 0.5 and plot.check.holds
    plot = figures.coin(N, "heaviest alone")
    fixed, drawn, limit, _, _ = (curve.y for curve in plot.curves)
    assert (fixed == 0).all() and (1 < drawn).all() and (drawn < 1.5).all() and (drawn <= limit).all()
    at = plot.x.tolist().index(0.2)
    assert (plot.check.left, plot.check.right) == (drawn[at], limit[at]) and f"OPT = {300 // N}" in plot.check.what
    assert limit == pytest.approx(1 + plot.x + np.log(N) / plot.x / (300 // N))


def test_no_curve_of_the_coin_is_squashed():
    """On the linear axis that holds zero, twice OPT stands above a third of the height whatever is chosen."""
    tops = [curve.y.max() for N in (4, 8, 16) for opponent in figures.COIN_OPPONENTS for curve in figures.coin(N, opponent).curves]
    assert max(tops) < 6


def test_a_check_turns_red_when_the_algorithm_is_worse(monkeypatch):
    def careless(*args, **options):
        run = weighted_majority(*args, **options)
        object.__setattr__(run, "wrong", np.ones_like(run.wrong))
        return run

    monkeypatch.setattr(figures, "weighted_majority", careless)
    assert not figures.envelopes(0.5, "one perfect expert").check.holds
    assert not figures.penalty_curve(16, "best expert errs in 10 %").check.holds


def test_names_and_axes_say_what_is_drawn():
    plot = figures.envelopes(0.5, "heaviest first")
    assert [curve.name.split(":")[0] for curve in plot.curves] == ["total weight W", "upper", "lower"] and plot.yscale == "log"
    assert [curve.name for curve in figures.coin(8, "heaviest first").curves][:2] == ["deterministic", "with a coin, expected"]
    plot = figures.constant(64)
    assert "2.4" in plot.curves[1].name and "2”" in plot.curves[2].name and plot.x[0] == 10


@pytest.mark.parametrize("opponent, rate", [(name, rate) for name, rate in figures.PENALTY_OPPONENTS.items() if rate])
def test_the_best_expert_errs_as_the_select_says(opponent, rate):
    opt = float(figures.penalty_curve(4, opponent).check.what.rsplit(" ", 1)[1])
    assert abs(opt / 300 - rate) < 0.015 and f"{rate:.0%}".replace("%", " %") in opponent
