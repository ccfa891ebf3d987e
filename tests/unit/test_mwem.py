"""Multiplicative weights for queries: what it returns, what it refuses, and that it stays finite and small."""

import dataclasses
import math

import numpy as np
import pytest

from dplib import bounds
from dplib.experts import polynomial_weights
from dplib.mwem import query_game, query_loss, query_mw, replay, right_sign, wrong_sign
from dplib.queries import Queries, from_matrix, thresholds

SPIKE = np.eye(16)[5]
F = thresholds(16)


@pytest.mark.parametrize("update", ["polynomial", "hedge"])
def test_the_run_is_what_its_transcript_says(update):
    run = query_mw(SPIKE, F, 0.2, update=update, step_size=0.15)
    assert run.updates == len(run.picked) == len(run.signs) == len(run.divergence) - 1 == len(run.max_error) - 1
    assert run.update == update and run.step_size == 0.15 and set(run.signs) == {1, -1}
    for t in (0, 3, run.updates):
        p = replay(F, run.picked[:t], run.signs[:t], run.step_size, update)
        errors = F @ (p - SPIKE)
        assert abs(errors).max() == pytest.approx(run.max_error[t], abs=1e-12)
        assert -math.log(p[5]) == pytest.approx(run.divergence[t], abs=1e-12)
        if t < run.updates:
            assert abs(errors[run.picked[t]]) == pytest.approx(abs(errors).max(), abs=1e-12)
            assert run.signs[t] == np.sign(errors[run.picked[t]])
    assert run.p == pytest.approx(p, abs=1e-12) and run.p.sum() == pytest.approx(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.updates = 0


def test_one_update_is_the_formula():
    for update, low in (("polynomial", 1 - 0.3), ("hedge", math.exp(-0.3))):
        h = np.eye(4)[3]
        run = query_mw(h, from_matrix([[1, 0.5, 0, 0]]), 0.3, step_size=0.3, update=update, max_updates=1)
        middle = 1 - 0.15 if update == "polynomial" else math.exp(-0.15)
        w = np.array([low, middle, 1, 1])
        assert run.p == pytest.approx(w / w.sum()) and run.signs.tolist() == [1]
        up = query_mw(np.eye(4)[0], from_matrix([[1, 0.5, 0, 0]]), 0.3, step_size=0.3, update=update, max_updates=1)
        w = np.array([1.3, 1.15, 1, 1]) if update == "polynomial" else np.exp([0.3, 0.15, 0, 0])
        assert up.p == pytest.approx(w / w.sum()) and up.signs.tolist() == [-1]


def test_rules_pick_among_the_large_errors():
    first = {rule: query_mw(SPIKE, F, 0.4, rule=rule, max_updates=1).picked[0] for rule in ("largest", "smallest")}
    errors = abs(F @ (np.full(16, 1 / 16) - SPIKE))  # 1/16 … 5/16, then 10/16, 9/16, …, 0
    assert errors[first["largest"]] == 10 / 16 and errors[first["smallest"]] == 7 / 16
    seen = []

    def last(t, errors):
        seen.append((t, errors.shape))
        return np.flatnonzero(abs(errors) >= 0.4)[-1]

    run = query_mw(SPIKE, F, 0.4, rule=last)
    assert run.finished and seen == [(t, (16,)) for t in range(run.updates)]


def test_default_step_sizes_and_cap():
    assert query_mw(SPIKE, F, 0.4).step_size == 0.2
    assert query_mw(SPIKE, F, 0.4, update="hedge").step_size == 1.6
    stuck = query_mw(SPIKE, F, 0.9, sign=wrong_sign)
    assert stuck.finished  # the largest error at the start is 10/16
    stuck = query_mw(SPIKE, F, 0.5, sign=wrong_sign)
    assert not stuck.finished and stuck.updates == int(10 * 16 * math.log(16)) + 1
    assert query_mw(SPIKE, F, 0.5, max_updates=0).updates == 0


def test_universes_of_one_and_truths_that_are_uniform():
    one = query_mw([1.0], thresholds(1), 0.1)
    assert one.finished and one.updates == 0 and one.p.tolist() == [1] and bounds.query_updates(1, 0.1) == 0
    flat = query_mw(np.full(16, 1 / 16), F, 1e-6)
    assert flat.finished and flat.updates == 0 and flat.divergence.tolist() == pytest.approx([0], abs=1e-12)


def test_wrong_signs_and_huge_steps_stay_finite():
    for kind, step in (("polynomial", 0.999), ("hedge", 50.0)):
        run = query_mw(SPIKE, F, 0.3, update=kind, step_size=step, sign=wrong_sign, max_updates=2000)
        assert run.updates == 2000 and np.isfinite(run.divergence).all() and np.isfinite(run.p).all()
        assert run.divergence[-1] > 1000 and run.p.sum() == pytest.approx(1)
        assert replay(F, run.picked, run.signs, step, kind) == pytest.approx(run.p)
        assert replay(F, [3] * 2000, [-1] * 2000, step, kind) == pytest.approx([0.25] * 4 + [0] * 12)


def test_a_large_universe_is_never_a_matrix(monkeypatch):
    monkeypatch.setattr(Queries, "matrix", lambda self: pytest.fail("the matrix was built"))
    h = np.zeros(2**17)
    h[[5, 40_000]] = 0.5
    run = query_mw(h, thresholds(2**17), 0.3)
    assert run.finished and run.updates <= bounds.query_updates(2**17, 0.3, divergence=math.log(2**16))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"h": [0.5, 0.6]}, "last axis of length 16"),
        ({"h": np.full(16, 0.1)}, "sum to 1"),
        ({"h": np.full((2, 16), 1 / 16)}, "one histogram"),
        ({"alpha": 0}, "alpha must be a finite number > 0, got 0"),
        ({"alpha": 1.2}, r"alpha must be in \(0, 1\].*1.2"),
        ({"alpha": float("nan")}, "alpha"),
        ({"step_size": 1.0}, "below 1,.*1.0"),
        ({"step_size": 1e308, "update": "hedge"}, r"below 1e\+100,.*got 1e\+308"),
        ({"step_size": 0}, "step_size must be a finite number > 0, got 0"),
        ({"update": "exponential"}, "'polynomial' or 'hedge', got 'exponential'"),
        ({"rule": "median"}, "rule must be .* got 'median'"),
        ({"rule": lambda t, errors: 15}, "must pick a query with error >= alpha = 0.3, got query 15"),
        ({"rule": lambda t, errors: 2}, "error >= alpha = 0.3, got query 2 with error 0.1875"),  # 3/16
        ({"rule": lambda t, errors: 16}, "below k = 16, got 16"),
        ({"rule": lambda t, errors: -1}, "query index must be an integer >= 0"),
        ({"sign": lambda error: 0}, r"\+1 or -1, got 0"),
        ({"max_updates": 2.5}, "max_updates must be an integer"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    arguments = {"h": SPIKE, "queries": F, "alpha": 0.3} | change
    with pytest.raises(ValueError, match=message):
        query_mw(**arguments)


def test_a_rule_is_asked_only_for_queries_that_are_off():
    """An error of exactly alpha is large enough for a rule to pick."""
    run = query_mw(np.eye(4)[0], from_matrix([[1, 0, 0, 0]]), 0.75, rule=lambda t, errors: 0)
    assert run.updates == 1 and run.finished
    exactly = query_mw(np.eye(8)[0], thresholds(8), 0.75, rule="smallest", max_updates=1)  # errors 7/8, 6/8, 5/8, …
    assert exactly.picked.tolist() == [1]
    above = 0.75 + 5e-10  # an error below alpha by half a billionth is below alpha
    assert query_mw(np.eye(4)[0], from_matrix([[1, 0, 0, 0]]), above).updates == 0
    assert query_mw(np.eye(8)[0], thresholds(8), above, rule="smallest", max_updates=1).picked.tolist() == [0]


def test_an_array_is_no_family_of_queries():
    for call in (lambda a: query_mw(SPIKE, a, 0.3), lambda a: query_game(SPIKE, a), lambda a: replay(a, [0], [1], 0.1)):
        with pytest.raises(ValueError, match=r"`Queries` family \(use from_matrix for an array\), got ndarray"):
            call(np.eye(16))


def test_signs():
    with pytest.raises(ValueError, match="error must be a number to have a sign, got nan"):
        right_sign(np.nan)
    assert [right_sign(e) for e in (0.1, 0.0, -0.1)] == [1, 1, -1] == [-wrong_sign(e) for e in (0.1, 0.0, -0.1)]


def test_query_loss_refuses_what_is_no_query():
    assert query_loss([0.25, 1, 0], [0.5, 0.25, 0.25], [0, 0, 1]).tolist() == [0.25, 1, 0]
    with pytest.raises(ValueError, match=r"\[0, 1\], got -1.0"):
        query_loss([-1, 1], [0.5, 0.5], [1, 0])
    with pytest.raises(ValueError, match="one shape"):
        query_loss([1, 0, 0], [0.5, 0.5], [1, 0])


def test_the_query_game_asks_the_largest_error_and_hands_out_signed_queries():
    game = query_game(SPIKE, F)
    assert game(0, np.full(16, 1 / 16)).tolist() == [-1] * 6 + [0] * 10  # threshold 5: 6/16 against 1
    assert game(3, np.eye(16)[0]).tolist() == [1] + [0] * 15
    run = polynomial_weights(query_game(SPIKE, F, lambda t, errors: t % 16), experts=16, rounds=40)
    assert run.loss - run.expert_losses @ SPIKE <= bounds.query_regret(40, 16)
    p = np.random.default_rng(0).dirichlet(np.ones(16))
    for i in range(16):  # what the player hands out is the loss of the lemma
        assert (query_game(SPIKE, F, lambda t, errors: i)(0, p) == query_loss(F.row(i), p, SPIKE)).all()
    with pytest.raises(ValueError, match=r"one game only, with p of shape \(16,\), got shape \(2, 16\)"):
        polynomial_weights(game, experts=16, rounds=40, repeats=2)
    with pytest.raises(ValueError, match="choose must be"):
        query_game(SPIKE, F, "smallest")
    with pytest.raises(ValueError, match="below k = 16"):
        query_game(SPIKE, F, lambda t, errors: 16)(0, SPIKE)


def test_replay_refuses_a_torn_transcript():
    with pytest.raises(ValueError, match="the same length.*got 2 and 1"):
        replay(F, [0, 1], [1], 0.1)
    with pytest.raises(ValueError, match=r"\+1 or -1"):
        replay(F, [0], [2], 0.1)
    with pytest.raises(ValueError, match="step_size"):
        replay(F, [0], [1], None)


def test_bounds_refuse_what_the_theorem_does_not_cover():
    for call, message in (
        (lambda: bounds.query_updates(64, 1.5), "alpha"),
        (lambda: bounds.query_updates(64, 1.5, 0.2), "alpha"),
        (lambda: bounds.query_updates(64, 0.4, 0.6), "1/2"),
        (lambda: bounds.query_updates(64, 0.4, -0.1), "step_size"),
        (lambda: bounds.query_updates(64, 0.4, divergence=4.2), "at most ln m = 4.15888, got 4.2"),
        (lambda: bounds.query_updates_hedge(64, 1.5), "alpha"),
        (lambda: bounds.query_updates_hedge(0, 0.5), "m must be an integer >= 1"),
        (lambda: bounds.kl_decrease(-0.1, 0.2), "error"),
        (lambda: bounds.query_tangent(0.1, [1, 0], [0.1]), "shorter"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
