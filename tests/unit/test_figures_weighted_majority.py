"""The pictures of chapter 1 show what the claims say: known values, the same picture for the same parameters."""

import numpy as np
import pytest

from dplib import bounds
from dplib.experts import heaviest_first_counts, weighted_majority
from dplib.figures import weighted_majority as figures

CALLS = {
    figures.envelopes: {"penalty": 0.35, "opponent": "noisy experts"},
    figures.penalty_curve: {"experts": 16, "opponent": "best expert errs in 20 %"},
    figures.constant: {"experts": 64},
    figures.coin: {"experts": 8, "opponent": "noisy experts"},
}


@pytest.mark.parametrize("callback", CALLS)
def test_a_picture_depends_on_its_parameters_alone(callback):
    first, second = (callback(**CALLS[callback]) for _ in range(2))
    for one, other in zip(first.curves, second.curves, strict=True):
        assert (np.array(one.rows()) == np.array(other.rows())).all()
    assert first.check == second.check and first.check.holds


@pytest.mark.parametrize("opponent", figures.ENVELOPE_OPPONENTS)
@pytest.mark.parametrize("eta", [0.2, 0.8])
def test_the_weight_lies_between_its_envelopes(eta, opponent):
    plot = figures.envelopes(eta, opponent)
    weight, upper, lower = (curve.y for curve in plot.curves)
    assert len(weight) == 41 and (weight[0], upper[0], lower[0]) == pytest.approx((16, 16, 1))
    assert (lower <= weight * (1 + 1e-12)).all() and (weight <= upper * (1 + 1e-12)).all()
    steps = np.rint(np.diff(np.log(upper)) / np.log(1 - eta / 2))
    assert set(steps) <= {0, 1} and steps.sum() == plot.check.left  # one step down for each of our mistakes
    best = np.rint(np.log(lower[-1]) / np.log(1 - eta))
    assert plot.check.right == pytest.approx(bounds.weighted_majority_mistakes(best, 16, eta))


def test_heaviest_first_stays_near_the_upper_envelope_and_a_good_expert_near_the_lower_one():
    weight, upper, lower = (curve.y for curve in figures.envelopes(0.5, "heaviest first").curves)
    assert (weight > upper / 2).all() and upper[-1] == pytest.approx(16 * 0.75**40)
    weight, upper, lower = (curve.y for curve in figures.envelopes(0.5, "noisy experts").curves)
    assert weight[-1] < 1.2 * lower[-1]
    weight, upper, lower = (curve.y for curve in figures.envelopes(0.5, "one perfect expert").curves)
    assert (lower == 1).all() and weight[-1] < 1.001


def test_the_bound_turns_up_again_and_the_mistakes_do_not():
    plot = figures.penalty_curve(64, "best expert errs in 10 %")
    ours, limit, best, twice = (curve.y for curve in plot.curves)
    assert 0 < limit.argmin() < len(limit) - 1 and limit[-1] > 1.2 * limit.min()
    assert ours[-1] < 1.05 * ours.min() and (ours < limit).all() and twice == pytest.approx(2 * best)
    assert best == pytest.approx(30, abs=3)  # a tenth of 300 rounds
    assert (figures.penalty_curve(64, "best expert errs in 30 %").curves[2].y > 2.5 * best).all()
    best_of_game = plot.check.right / 2.40942084 - 6  # the check is made for one game: OPT is a whole number
    assert best_of_game == pytest.approx(round(best_of_game), abs=1e-4) and best_of_game <= plot.check.left


def test_against_the_adversary_every_round_is_a_mistake():
    plot = figures.penalty_curve(256, "heaviest first")
    ours, limit, best, twice = (curve.y for curve in plot.curves)
    assert (ours == 300).all() and (limit >= 300).all() and (twice <= 300).all()
    at = plot.x.tolist().index(0.5)
    assert best[at] == heaviest_first_counts(256, 300)[-1] == 124 and plot.check.left == 300
    assert plot.check.right == pytest.approx(2.40942 * (124 + 8), rel=1e-5)


@pytest.mark.parametrize("N, refuted", [(16, False), (256, False), (1024, True), (65536, True)])
def test_two_point_four_falls_from_1024_experts_on(N, refuted):
    plot = figures.constant(N)
    distance = plot.curves[0].y
    assert (distance > 0).all() and plot.check.holds is not refuted
    assert (plot.curves[1].y == pytest.approx(0.00942, abs=1e-5)) and plot.curves[2].y[0] == pytest.approx(0.40942, abs=1e-5)
    t = int(plot.x[-1])
    assert t == 40_000
    assert distance[-1] == pytest.approx(2.40942084 - t / (heaviest_first_counts(N, t)[-1] + np.log2(N)), abs=1e-7)


def test_a_coin_halves_the_mistakes_against_heaviest_first_and_costs_against_heaviest_alone():
    plot = figures.coin(16, "heaviest first")
    fixed, drawn, fixed_limit, drawn_limit, best, twice = (curve.y for curve in plot.curves)
    assert (fixed == 200).all() and (drawn < 0.6 * fixed).all() and (twice <= 200).all()
    assert (drawn_limit < fixed_limit).all() and (drawn <= drawn_limit).all() and (fixed <= fixed_limit).all()
    assert plot.x.max() == 0.5 and plot.check.holds
    fixed, drawn, _, limit, best, _ = (curve.y for curve in figures.coin(16, "heaviest alone").curves)
    assert (fixed == 0).all() and (best == 12).all() and (drawn > best).all() and (drawn <= limit).all()


def test_a_check_turns_red_when_the_algorithm_is_worse(monkeypatch):
    def careless(*args, **options):
        run = weighted_majority(*args, **options)
        object.__setattr__(run, "wrong", np.ones_like(run.wrong))
        return run

    monkeypatch.setattr(figures, "weighted_majority", careless)
    assert not figures.envelopes(0.5, "one perfect expert").check.holds
    assert not figures.penalty_curve(16, "best expert errs in 10 %").check.holds
