"""The pictures of chapter 2, first half, show what the claims say: known values, the same picture for the same parameters."""

import math

import numpy as np
import pytest
from pictures import curves, drawn_twice

from dplib.experts import constant, hedge, median, polynomial_weights
from dplib.figures import regret as figures

CALLS = {
    figures.log_inequalities: {"eta": 0.4},
    figures.learning_rate: {"N": 7, "T": 60, "update": "Hedge"},
    figures.growth: {"N": 7, "game": "Hedge, losses ±1"},
    figures.short_game: {"N": 30, "drop_the_condition": True},
    figures.comparison: {"N": 80, "eta": 0.15},
    figures.unknown_horizon: {"N": 7, "opponent": "fair coins"},
}


@pytest.mark.parametrize("callback", CALLS)
def test_a_picture_depends_on_its_parameters_alone(callback):
    drawn_twice(callback, CALLS[callback])


def test_logarithm_between_its_bounds_up_to_the_root():
    for eta in (0.1, 0.5, 0.6838, 0.684, 0.9):
        plot = figures.log_inequalities(eta)
        exact, above, below = (curve.y for curve in plot.curves)
        assert plot.x[[0, -1]].tolist() == [-eta, eta] and exact == pytest.approx(np.log(1 - plot.x))
        assert (above >= exact).all() and (below <= exact + 1e-15).all() == plot.check.holds == (eta < 0.683803)
    assert plot.marks[0][1] == pytest.approx(0.683803, abs=1e-6)


def test_learning_rate_reproduces_the_published_curve():
    """N = 50, T = 1000: largest regret and bound at ten step sizes (fair coins by the exact mean 71 there)."""
    plot = figures.learning_rate(50, 1000, "polynomial weights")
    drawn = curves(plot)
    published = [1636, 783, 392, 198, 106, 71, 71, 102, 154, 265]
    first_three = drawn["largest of the five"][:3]
    assert plot.x[:3].tolist() == [0.002, 0.005, 0.01] and first_three == pytest.approx(published[:3], rel=0.003)
    assert (drawn["largest of the five"] >= 0.94 * np.array(published)).all() and drawn["constant"][5] == pytest.approx(63.49, abs=0.01)
    assert drawn["bound of the theorem"][[0, 5, 9]] == pytest.approx([1958, 125.1, 507.8], abs=0.1)
    assert drawn["fair coins"][:7] == pytest.approx(71.09, rel=0.12)  # coins ±1: twice the regret of coins 0 or 1
    assert drawn["median"][7:] == pytest.approx([102, 154, 265], rel=0.01)
    five = [drawn[name] for name in ("constant", "median", "planted", "switching", "fair coins")]
    assert (drawn["largest of the five"] == np.max(five, axis=0)).all()
    assert plot.marks[0][1] == pytest.approx(0.062546, abs=1e-6) and plot.check.right == pytest.approx(125.1, abs=0.05)
    assert 0.5 < plot.check.left / plot.check.right < 0.8


@pytest.mark.parametrize("update", figures.UPDATES)
def test_learning_rate_plays_the_update_that_is_asked_for(update):
    plot = figures.learning_rate(12, 80, update)
    drawn = curves(plot)
    play, extra = (hedge, {"width": 2}) if update == "Hedge" else (polynomial_weights, {})
    assert drawn["constant"][6] == pytest.approx(play(constant(80, 12), 0.1, **extra).regret)
    assert drawn["median"][9] == pytest.approx(play(median, 0.5, experts=12, rounds=80, **extra).regret)
    half = 0.5 if update == "Hedge" else 1.0
    assert drawn["bound of the theorem"] == pytest.approx(half * plot.x * 80 + math.log(12) / plot.x)
    assert plot.marks[0][1] == pytest.approx(math.sqrt(math.log(12) / 80 / half))
    assert (drawn["largest of the five"] <= drawn["bound of the theorem"]).all() and plot.check.holds


def test_growth_has_the_exact_value_and_the_bound_of_its_game():
    limits = {0: 2 * math.sqrt(512 * math.log(50)), 1: math.sqrt(2 * 512 * math.log(50)), 2: math.sqrt(512 * math.log(50) / 2)}
    for index, game in enumerate(figures.GAMES):
        plot = figures.growth(50, game)
        mean, exact, limit = (curve.y for curve in plot.curves)
        assert limit[-1] == pytest.approx(limits[index]) and (exact < limit).all() and (plot.curves[0].draws <= limit).all()
        assert exact[-1] == pytest.approx(math.sqrt(512) * 2.2491 / (2 if index == 2 else 1), rel=2e-3)
        assert mean == pytest.approx(exact, rel=0.12) and plot.x[-1] == 512
    few = figures.growth(2, figures.GAMES[2])
    assert few.curves[0].y == pytest.approx(few.curves[1].y, rel=0.15)


def test_dropping_the_condition_breaks_the_bound_below_ln_n_only():
    for N in (10, 100, 1000):
        kept, dropped = (figures.short_game(N, drop) for drop in (False, True))
        regret, limit = (curve.y for curve in dropped.curves)
        broken = dropped.x[regret > limit]
        assert dropped.x.tolist() == list(range(1, 31)) and dropped.xscale == "linear"  # every whole T, and nothing between them
        assert not dropped.curves[0].joined and broken.tolist() == list(range(2, math.ceil(math.log(N))))
        assert not dropped.check.holds and kept.check.holds and (kept.curves[0].y <= kept.curves[1].y).all()
        assert broken.min() == 2 and broken.max() < math.log(N) and limit == pytest.approx(2 * np.sqrt(dropped.x * math.log(N)))
        late = dropped.x >= 4 * math.log(N)
        assert (regret[late] == kept.curves[0].y[late]).all() and [at for _, at in kept.marks] == [math.log(N), 4 * math.log(N)]


def test_games_of_whole_length_are_dots_and_no_line():
    from dplib.figures import canvas

    line = canvas(figures.short_game(10, True), ((0, 31), (1, 100)))[2].lines[0]
    assert line.get_linestyle() == "None" and line.get_marker() == "o" and line.get_markevery() is None


def test_the_attack_by_hand():
    """N = 2, η = 2, mean loss 0.505: a = 0.01, w = (0.98, −1), W = −0.02, p = (−49, 50), which pays 99; regret 0.505 + 99 + 0.99."""
    assert figures.two_round_attack(2, 2, 2.0) == pytest.approx(0.505 + 99 + 0.99)
    assert figures.two_round_attack(2, 1, 2.0) == pytest.approx(0.505 - 0.01)
    assert figures.two_round_attack(4, 3, 0.5) == pytest.approx(0.5 + (0.75 - 0.75) + 2)  # weights 3/2 and three of 1/2


def test_good_experts_pay_only_their_divergence():
    plot = figures.comparison(64, 0.02)
    regret, with_kl, flat = (curve.y for curve in plot.curves)
    assert with_kl == pytest.approx(0.02 * 200 + np.log(64 / plot.x) / 0.02) and flat == pytest.approx(with_kl[0])
    assert (regret <= with_kl).all() and (regret[:-1] > 0.85 * (with_kl[:-1] - 4)).all() and regret[-1] == pytest.approx(0, abs=1e-9)
    assert plot.check.left == regret[3] and plot.x[3] == 8


def test_not_knowing_the_horizon_costs_what_is_drawn():
    for opponent in ("constant", "switching", "fair coins"):
        drawn = curves(figures.unknown_horizon(20, opponent))
        assert list(drawn) == [prefix + name for prefix in ("", "bound, ") for name in ("T known", "doubling", "shrinking steps")]
        assert (drawn["bound, shrinking steps"] >= drawn["shrinking steps"]).all()
        assert (drawn["T known"] <= 1).all() and (drawn["doubling"] <= drawn["bound, doubling"]).all()
        assert (drawn["shrinking steps"] <= math.sqrt(2)).all() and drawn["bound, doubling"].max() < math.sqrt(2) + 1.5
    turns = curves(figures.unknown_horizon(20, "switching"))
    assert turns["doubling"].max() > 1.5 and turns["T known"].max() > 0.6
    told = hedge((constant(512, 20) + 1) / 2).regret / math.sqrt(512 * math.log(20) / 2)
    assert curves(figures.unknown_horizon(20, "constant"))["T known"][-1] == pytest.approx(told)


def test_unknown_choices_are_refused():
    with pytest.raises(ValueError, match="update must be one of"):
        figures.learning_rate(5, 50, "hedge")
