"""The loop of the loss game: shapes, repeats, blocks, what an adversary is shown, refused input, large sizes."""

import math

import numpy as np
import pytest

from dplib import bounds
from dplib.experts import (
    against_the_choice, anytime_hedge, constant, doubling, fair_coins, hedge, loss_game, median, planted, polynomial_weights, seesaw,
    switching,
)

ALGORITHMS = [polynomial_weights, hedge, doubling, anytime_hedge]
FIELDS = ("paid", "expert_losses", "log_total", "p")


def losses(T=37, N=5, repeats=(), seed=0):
    return np.random.default_rng(seed).random((*repeats, T, N))


def same(one, other, index=...):
    for name in FIELDS:
        assert np.allclose(getattr(one, name)[index], getattr(other, name), rtol=1e-12, atol=1e-12), name


@pytest.mark.parametrize("play", ALGORITHMS)
def test_shapes_for_one_game_and_for_many(play):
    one, many = play(losses()), play(losses(), repeats=4)
    assert one.paid.shape == (37,) and one.expert_losses.shape == one.p.shape == (5,) and one.log_total.shape == (38,)
    assert many.paid.shape == (4, 37) and many.p.shape == (4, 5) and many.regret.shape == (4,) and one.regret.shape == ()
    assert one.log_total[0] == pytest.approx(math.log(5)) and one.p.sum() == pytest.approx(1)
    assert one.choices is None and one.sampled is None
    with pytest.raises(ValueError, match="no experts were drawn"):
        one.sampled_regret


@pytest.mark.parametrize("play", ALGORITHMS)
def test_many_games_are_the_games_one_by_one(play):
    table = losses(repeats=(3,))
    many = play(table, repeats=3)
    for r in range(3):
        same(many, play(table[r]), r)


@pytest.mark.parametrize("play", ALGORITHMS)
def test_blocks_and_adversaries_play_the_same_game(play, monkeypatch):
    table = losses(repeats=(3,))
    whole = play(table, repeats=3)
    same(whole, play(lambda t, p: table[:, t], experts=5, rounds=37, repeats=3))
    for block in (1, 3 * 5 * 4, 3 * 5 * 36):  # one round, four rounds, all but the last
        monkeypatch.setattr(loss_game, "BLOCK", block)
        same(whole, play(table, repeats=3))


@pytest.mark.parametrize("play", ALGORITHMS)
def test_drawn_experts_do_not_depend_on_the_blocks_and_pay_their_own_loss(play, monkeypatch):
    table = losses()
    run = play(table, rng=np.random.default_rng(3))
    assert (run.sampled == table[np.arange(37), run.choices]).all()
    assert run.sampled_regret == pytest.approx(run.sampled.sum() - table.sum(axis=0).min())
    again = play(lambda t, p: table[t], experts=5, rounds=37, rng=np.random.default_rng(3))
    assert (again.choices == run.choices).all()
    monkeypatch.setattr(loss_game, "BLOCK", 20)
    assert (play(table, rng=np.random.default_rng(3)).choices == run.choices).all()
    many = play(losses(repeats=(2,)), repeats=2, rng=np.random.default_rng(3))
    assert (many.sampled == np.take_along_axis(losses(repeats=(2,)), many.choices[..., None], -1)[..., 0]).all()


def test_experts_are_drawn_from_p():
    run = polynomial_weights(np.tile([0.9, 0.0, -0.9], (2, 1)), step_size=0.5, repeats=60_000, rng=np.random.default_rng(1))
    second = np.bincount(run.choices[:, 1], minlength=3) / 60_000
    assert second == pytest.approx([0.55 / 3, 1 / 3, 1.45 / 3], abs=0.01)


def test_a_step_size_for_each_game():
    etas = np.array([0.05, 0.2, 0.45])
    for play in (polynomial_weights, hedge):
        many = play(losses(), etas, repeats=3)
        adaptive = play(lambda t, p: losses()[t], etas, experts=5, rounds=37, repeats=3)
        for r, eta in enumerate(etas):
            same(many, play(losses(), float(eta)), r)
            same(adaptive, play(losses(), float(eta)), r)


def test_the_default_step_sizes():
    assert polynomial_weights(losses()).step_size == pytest.approx(math.sqrt(math.log(5) / 37))
    assert hedge(losses()).step_size == pytest.approx(math.sqrt(8 * math.log(5) / 37))
    assert hedge(losses(), width=4).step_size == pytest.approx(math.sqrt(8 * math.log(5) / 37) / 4)
    assert anytime_hedge(losses(), width=2).step_size[8] == pytest.approx(math.sqrt(math.log(5) / 9))
    steps = doubling(losses()).step_size
    assert len(steps) == 37 and np.flatnonzero(np.diff(steps)).tolist() == [0, 2, 6, 14, 30]
    assert steps[[0, 7, 36]] == pytest.approx([math.sqrt(8 * math.log(5) / length) for length in (1, 8, 32)])


def test_what_an_adversary_is_shown():
    seen = []

    def spy(t, p, *choices):
        seen.append((t, p.sum(), *(c.shape[-1] for c in choices)))
        return np.zeros(3)

    for sees, extra in (("weights", ()), ("past choices", (0, 1, 2, 3)), ("this choice", (1, 2, 3, 4))):
        for play in (hedge, doubling):
            seen.clear()
            run = play(spy, experts=3, rounds=4, rng=np.random.default_rng(0), sees=sees)
            expected = [(t, pytest.approx(1), *(extra[t : t + 1])) for t in range(4)]
            assert seen == expected and run.choices.shape == (4,)


def test_an_adversary_cannot_change_what_it_is_shown():
    def meddle(t, p, choices):
        (p if t == 0 else choices)[...] = 0
        return np.zeros(3)

    for first in (0, 1):
        with pytest.raises(ValueError, match="read-only"):
            hedge(lambda t, p, c: meddle(t + first, p, c), experts=3, rounds=2, rng=np.random.default_rng(0), sees="this choice")


def test_this_choice_is_the_expert_that_pays():
    """The adversary that sees the draw takes the largest loss in every round, in one game and in many, across restarts."""
    for play, kind in ((polynomial_weights, {}), (hedge, {"width": 2}), (doubling, {"width": 2}), (anytime_hedge, {"width": 2})):
        for repeats in (None, 5):
            game = {"experts": 4, "rounds": 50, "repeats": repeats, "rng": np.random.default_rng(0), "sees": "this choice"}
            assert (play(against_the_choice, **game, **kind).sampled == 1).all()


def test_a_million_rounds_and_a_hundred_thousand_experts():
    T = 10**6
    run = polynomial_weights(np.broadcast_to([-1.0, 1.0, 0.5], (T, 3)), step_size=0.5)
    assert run.p.tolist() == [1, 0, 0] and run.loss == pytest.approx(-T, rel=1e-5) and np.isfinite(run.log_total).all()
    assert run.log_total[-1] == pytest.approx(T * math.log(1.5)) and 0 < run.regret < 10
    worst = hedge(np.broadcast_to([1.0, 1.0], (T, 2)), step_size=5.0)  # all weights underflow together
    assert worst.p.tolist() == [0.5, 0.5] and worst.log_total[-1] == pytest.approx(math.log(2) - 5 * T)
    wide = polynomial_weights(median, experts=10**5, rounds=60)
    assert np.isfinite(wide.p).all() and wide.p.sum() == pytest.approx(1) and wide.p.min() > 0


@pytest.mark.parametrize("play", ALGORITHMS)
def test_one_expert_has_no_regret(play):
    assert play(losses(N=1)).regret == pytest.approx(0, abs=1e-12)


BAD = [
    (polynomial_weights, {"opponent": [[1.5, 0.0]] * 9}, r"losses must lie in \[-1, 1\], got max \|loss\| = 1.5"),
    (polynomial_weights, {"opponent": [[-1.5, 0.0]] * 9}, r"losses must lie in \[-1, 1\]"),
    (polynomial_weights, {"opponent": lambda t, p: [np.nan, 0.0], "experts": 2, "rounds": 9}, "losses must be finite, got nan in round 0"),
    (polynomial_weights, {"opponent": [[np.nan, 0.0]] * 9}, "losses must be finite"),
    (polynomial_weights, {"opponent": np.zeros((4, 100))}, r"at least 4 ln N = 18.42 for 100 experts, got 4"),
    (polynomial_weights, {"opponent": np.zeros((18, 100))}, r"got 18"),
    (polynomial_weights, {"opponent": losses(), "step_size": 1.0}, "step_size must be > 0 and < 1"),
    (polynomial_weights, {"opponent": losses(), "step_size": -0.1}, "step_size must be a finite number > 0, got -0.1"),
    (polynomial_weights, {"opponent": losses(), "step_size": [0.1, 0.0], "repeats": 2}, "step_size must be > 0"),
    (polynomial_weights, {"opponent": losses(), "step_size": [0.1, 0.2], "repeats": 3}, r"one shape of games, got \[\(2,\), \(3,\)"),
    (polynomial_weights, {"opponent": losses(), "step_size": "abc"}, "step_size must be a finite number > 0, got 'abc'"),
    (polynomial_weights, {"opponent": losses(), "step_size": [[0.1], [0.2, 0.3]]}, "step_size must be an array of numbers"),
    (hedge, {"opponent": [[-1.0, 0.5]] * 9}, "interval of length width = 1.0, got one of 1.5"),
    (hedge, {"opponent": [[1.0005, 0.0]] * 9}, "got one of 1.0005"),
    (polynomial_weights, {"opponent": [[1 + 1e-7, 0.0]] * 9}, r"got max \|loss\| = 1.0000001"),
    (doubling, {"opponent": [[1.5, 0.0]] * 9}, "got one of 1.5"),
    (anytime_hedge, {"opponent": [[1.5, 0.0]] * 9}, "got one of 1.5"),
    (hedge, {"opponent": lambda t, p: np.zeros((2, 3)), "experts": 3, "rounds": 2}, r"must have shape \(3,\), got \(2, 3\) in round 0"),
    (hedge, {"opponent": lambda t, p: [np.inf, 0.0], "experts": 2, "rounds": 9}, "losses must be finite, got inf in round 0"),
    (hedge, {"opponent": losses(), "width": 0}, "width must be"),
    (doubling, {"opponent": losses(), "width": -1}, "width must be"),
    (anytime_hedge, {"opponent": losses(), "width": np.nan}, "width must be"),
    (hedge, {"opponent": np.zeros(5)}, r"shape \(T, N\)"),
    (hedge, {"opponent": np.zeros((2, 5, 3)), "repeats": 3}, "one shape of games"),
    (hedge, {"opponent": losses(), "step_size": 1e308}, r"step_size must be > 0 and < 1e\+100.*got 1e\+308"),
    (hedge, {"opponent": losses(), "width": 1e-308}, "width must be > 1e-100"),
    *[(play, {"opponent": np.full((9, 2), huge)}, r"at most 1e\+100 in size, so that their sums are finite, got 1e\+308")
      for play in (hedge, doubling, anytime_hedge) for huge in (1e308, -1e308)],
    *[(hedge, {"opponent": lambda t, p, bad=bad: bad if t else np.zeros(2), "experts": 2, "rounds": 9}, message + ".* in round 1")
      for bad, message in [
       ("abc", "losses must be an array of numbers, got 'abc'"), ([[1, 2], [3]], "must be an array of numbers"), (None, "losses must be"),
       ([0.0, 1.5], "got one of 1.5"), ([], "must not be empty"), (0.5, r"must have shape \(2,\), got \(\)"), ([[0, 1]], "got .1, 2.")]],
    (hedge, {"opponent": losses(), "experts": 6}, "experts must be 5, as the losses have it, got 6"),
    (hedge, {"opponent": losses(), "rounds": 36}, "rounds must be 37"),
    (hedge, {"opponent": median}, "experts must be an integer"),
    (hedge, {"opponent": median, "experts": 3, "rounds": 0}, "rounds must be an integer >= 1, got 0"),
    (hedge, {"opponent": lambda t, p: np.zeros(4), "experts": 3, "rounds": 5}, r"must have shape \(3,\), got \(4,\) in round 0"),
    (hedge, {"opponent": losses(), "repeats": 0}, "repeats must be"),
    (hedge, {"opponent": losses(), "rng": 7}, "rng must be a numpy.random.Generator"),
    (hedge, {"opponent": losses(), "sees": "all"}, "sees must be one of"),
    (hedge, {"opponent": losses(), "rng": np.random.default_rng(0), "sees": "this choice"}, "needs an adversary"),
    (hedge, {"opponent": against_the_choice, "experts": 3, "rounds": 5, "sees": "this choice"}, "needs rng="),
]


@pytest.mark.parametrize("play, given, message", BAD)
def test_bad_input_is_refused_with_the_broken_hypothesis(play, given, message):
    with pytest.raises(ValueError, match=message):
        play(**given)


@pytest.mark.parametrize("call, message", [
    (lambda: bounds.polynomial_regret_at(100, 5, 0.501), "step_size must be at most 1/2 in the regret theorem, got 0.501"),
    (lambda: bounds.polynomial_step(18, 91), "at least 4 ln N = 18.04"), (lambda: bounds.hoeffding_exponent(1.0, -1), "width"),
    (lambda: bounds.polynomial_regret(18, 100), "at least 4 ln N"), (lambda: bounds.polynomial_regret_against(-1, 0, 0.1), "second_moment"),
    (lambda: bounds.sampled_regret(100, 5, 1.0), "beta"), (lambda: bounds.hedge_regret_at(100, 5, 0.0), "step_size"),
    (lambda: bounds.hedge_step(0, 5), "rounds"), (lambda: bounds.hedge_regret(9, 0), "experts"), (lambda: bounds.azuma(9, 0.1, 0), "width"),
    (lambda: bounds.fair_coin_regret(2.5, 3), "rounds"), (lambda: bounds.kl_from_uniform([0.5, 0.6]), "p must sum to 1"),
])
def test_bounds_refuse_what_their_theorems_exclude(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_are_formulas_and_nothing_else():
    modules = {"foundations", "query_weights", "regret", "sparse_vector", "weighted_majority"}
    names = {name for name in dir(bounds) if not name.startswith("_")} - modules
    assert "hedge_regret" in names and all(getattr(bounds, name).__module__.startswith("dplib.bounds.") for name in names)


def test_bounds_at_the_edge_of_their_hypotheses():
    assert bounds.polynomial_step(18, 90) == pytest.approx(math.sqrt(math.log(90) / 18)) and 4 * math.log(90) < 18 < 4 * math.log(91)
    assert bounds.gaussian_maximum(10**16) == pytest.approx(8.28967, abs=1e-4)


def test_losses_are_refused_before_a_number_is_drawn():
    late = losses(T=10**5)
    late[-1, 0] = 2.5  # in the last of several blocks
    for play in ALGORITHMS:
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        with pytest.raises(ValueError, match="2.5|interval"):
            play(late, rng=rng)
        assert rng.bit_generator.state == before


def test_step_sizes_and_games_broadcast():
    """Three step sizes on four tables: (3, 4) games, the same as one by one, against an array and against an adversary."""
    etas, table = np.array([[0.05], [0.2], [0.45]]), losses(repeats=(4,))
    for play in (polynomial_weights, hedge):
        many = play(table, etas)
        adaptive = play(lambda t, p: np.broadcast_to(table[:, t], p.shape), etas, experts=5, rounds=37, repeats=4)
        assert many.paid.shape == adaptive.paid.shape == (3, 4, 37) and many.regret.shape == (3, 4)
        for e in range(3):
            for r in range(4):
                same(many, play(table[r], float(etas[e, 0])), (e, r))
                same(adaptive, play(table[r], float(etas[e, 0])), (e, r))
    assert play(losses(), etas, rng=np.random.default_rng(0)).choices.shape == (3, 1, 37)


def test_runs_are_compared_by_identity():
    run = hedge(losses())
    assert run == run and run != hedge(losses())


# the opponents


def test_the_heavier_half_is_wrong_and_no_more_than_needed():
    p = np.random.default_rng(0).dirichlet(np.ones(7), size=40)
    wrong = median(0, p) > 0
    mass = np.where(wrong, p, 0).sum(axis=1)
    lightest = np.where(wrong, p, 2).min(axis=1)
    assert (mass >= 0.5).all() and (mass - lightest < 0.5).all()
    assert (lightest >= np.where(wrong, 0, p).max(axis=1)).all() and set(np.unique(median(0, p))) == {-1, 1}
    for N in (4, 12, 50, 60):  # a tie is half, despite rounding
        assert median(3, np.full(N, 1 / N)).tolist() == [1] * (N // 2) + [-1] * (N // 2)
    assert median(0, np.array([0.25, 0.5, 0.25])).tolist() == [-1, 1, -1]


def test_seesaw_has_two_phases():
    p = np.full(40, 1 / 40)
    early = seesaw(0, p)
    assert early[:2].tolist() == [-1, -1] and (early > 0).sum() == 20 and p[early > 0].sum() == pytest.approx(0.5)
    late = [seesaw(t, np.array([0.5, 0.48, 0.01, 0.01])).tolist() for t in (0, 1)]
    assert late == [[1, -1, 1, 1], [-1, 1, 1, 1]]
    both = seesaw(1, np.array([[0.25] * 4, [0.5, 0.48, 0.01, 0.01]]))
    assert both.tolist() == [[-1, -1, 1, 1], [-1, 1, 1, 1]] and seesaw(4, np.array([0.5, 0.5])).tolist() == [1, -1]


def test_fixed_sequences_have_the_stated_losses():
    assert constant(4, 3).sum(axis=0).tolist() == [-4, 4, 4]
    assert switching(12, 4, turn=3).argmin(axis=1).tolist() == [0, 0, 0, 1, 1, 1] * 2 and switching(12, 4).sum() == 24
    table = planted(20_000, 4, np.random.default_rng(5), gap=0.3)
    assert table.mean(axis=0) == pytest.approx([-0.3, 0, 0, 0], abs=0.03) and set(np.unique(table)) == {-1, 1}
    assert planted(1000, 50, np.random.default_rng(5))[:, 0].mean() == pytest.approx(-2 * math.sqrt(math.log(50) / 1000), abs=0.1)
    assert planted(5, 50, np.random.default_rng(5))[:, 0].tolist() == [-1] * 5
    coins = fair_coins(500, 6, np.random.default_rng(5), repeats=20, low=-2, high=1)
    assert coins.shape == (20, 500, 6) and set(np.unique(coins)) == {-2, 1} and coins.mean() == pytest.approx(-0.5, abs=0.03)
    assert (coins[0] != coins[1]).any() and fair_coins(2, 3, np.random.default_rng(5)).shape == (2, 3)


@pytest.mark.parametrize("make, message", [
    (lambda: constant(0, 3), "rounds"), (lambda: switching(5, 1), "experts"), (lambda: switching(5, 3, turn=0), "turn"),
    (lambda: planted(5, 3, np.random.default_rng(0), gap=1.5), "gap must be in"), (lambda: planted(5, 3, 0), "rng"),
    *[(lambda low=low, high=high: fair_coins(5, 3, np.random.default_rng(0), low=low, high=high), f"low < high, got {low} and {high}")
      for low, high in ((1, 0), (2, 2), (np.nan, 1), (0, np.nan), (-np.inf, 0), (0, np.inf))],
    (lambda: seesaw(0, np.ones(1)), "seesaw must have at least two experts, who take turns, got 1"),
    (lambda: hedge(against_the_choice, width=2, experts=3, rounds=5), 'needs sees="this choice": the expert drawn in round 0'),
    (lambda: hedge(against_the_choice, width=2, experts=3, rounds=5, rng=np.random.default_rng(0), sees="past choices"), "needs sees="),
    (lambda: fair_coins(5, 3, np.random), "rng"), (lambda: fair_coins(5, 3.0, np.random.default_rng(0)), "experts"),
])
def test_opponents_refuse_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()
