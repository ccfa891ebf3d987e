"""The prediction game: many games at once are the games one by one, long and wide games stay exact, bad input is refused."""

import math

import numpy as np
import pytest

from dplib import bounds
from dplib.experts import (clockwork_experts, contradict, halving, heaviest_alone, heaviest_first, heaviest_first_counts,
                           noisy_experts, prediction_game, randomised_weighted_majority, tie_splitter, weighted_majority)

ALGORITHMS = [weighted_majority, randomised_weighted_majority]
FIELDS = ("forecasts", "outcomes", "wrong", "best", "expert_mistakes", "log_total")


def same(one, other):
    return all(np.allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12) for name in FIELDS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_games_at_once_are_the_games_one_by_one(algorithm):
    predictions, outcomes = noisy_experts(5, 30, 0.2, 0.6, rng=np.random.default_rng(0), repeats=4)
    eta = np.array([0.1, 0.3, 0.8])[:, None]
    together = algorithm((predictions, outcomes), eta)
    assert together.mistakes.shape == (3, 4) and together.best.shape == together.log_total.shape == (3, 4, 31)
    assert together.expert_mistakes.shape == (3, 4, 5) and together.forecasts.shape == (3, 4, 30)
    for e in range(3):
        for r in range(4):
            alone = algorithm((predictions[r], outcomes[r]), eta[e, 0])
            for name in FIELDS:
                assert getattr(together, name)[e, r] == pytest.approx(getattr(alone, name), rel=1e-12)


def test_repeats_of_halving_are_single_games():
    predictions, outcomes = noisy_experts(9, 12, 0, rng=np.random.default_rng(1), repeats=6)
    together = halving((predictions, outcomes))
    assert together.mistakes.tolist() == [halving((p, s)).mistakes for p, s in zip(predictions, outcomes)]
    assert max(together.mistakes) >= 1


@pytest.mark.parametrize("algorithm", [halving, *ALGORITHMS])
def test_repeats_give_a_leading_axis(algorithm):
    shapes = []
    opponent = lambda t, weights: (shapes.append(weights.shape), tie_splitter(t, weights))[1]
    run = algorithm(opponent, experts=6, rounds=5, repeats=3)
    assert run.wrong.shape == (3, 5) and (run.wrong == run.wrong[0]).all() and set(shapes) == {(3, 6)}
    assert algorithm(tie_splitter, experts=6, rounds=5).wrong == pytest.approx(run.wrong[0])
    fixed = np.tile([True, False], (4, 1)), np.ones(4, bool)
    assert algorithm(fixed, repeats=2).wrong.shape == (2, 4)


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize("block", [1, 7, 40, 10**6])
def test_blocks_of_rounds_do_not_matter(monkeypatch, block, only):
    game = noisy_experts(4, 50, 0.3, 0.4, rng=np.random.default_rng(2))
    at_once, coin, perfect = weighted_majority(game, 0.3, only), randomised_weighted_majority(game, 0.3), (game[1][:, None], game[1])
    one_by_one = iter(zip(*game))
    monkeypatch.setattr(prediction_game, "BLOCK", block)
    assert same(weighted_majority(game, 0.3, only), at_once)
    assert same(randomised_weighted_majority(game, 0.3), coin)
    assert same(weighted_majority(lambda t, weights: next(one_by_one), 0.3, only, experts=4, rounds=50), at_once)
    assert halving(perfect).mistakes == 0


def test_an_adversary_sees_rounds_and_scaled_weights():
    seen = []

    def opponent(t, weights):
        seen.append((t, weights.tolist()))
        return np.array([False, True, t % 2 == 1]), np.array(True)

    weighted_majority(opponent, 0.2, experts=3, rounds=3)
    assert [t for t, _ in seen] == [0, 1, 2]
    assert np.array([w for _, w in seen]) == pytest.approx(np.array([[1, 1, 1], [0.8, 1, 0.8], [0.64, 1, 0.8]]))
    seen.clear()
    halving(opponent, experts=3, rounds=3)
    assert [w for _, w in seen] == [[1, 1, 1], [0, 1, 0], [0, 1, 0]]
    seen.clear()  # everybody loses: only relative weights are handed over
    weighted_majority(lambda t, w: (seen.append(w.tolist()), (np.array([False, False]), np.array(True)))[1], experts=2, rounds=2)
    assert seen == [[1, 1], [1, 1]]


def test_a_million_rounds_and_a_hundred_thousand_experts():
    predictions, outcomes = noisy_experts(6, 10**6, 0.3, 0.45, rng=np.random.default_rng(3))
    for algorithm in ALGORITHMS:
        run = algorithm((predictions, outcomes), 0.9)
        assert np.isfinite(run.log_total).all() and np.isfinite(run.wrong).all()
        assert run.expert_mistakes.tolist() == (predictions != outcomes[:, None]).sum(axis=0).tolist()
        # in the end the best expert carries all the weight: ln W = OPT ln(1-η), about -690 000
        assert run.log_total[-1] == pytest.approx(run.opt * math.log(0.1), rel=1e-12) and run.log_total[-1] < -680_000
        assert run.opt <= run.mistakes <= run.opt + 20
    predictions, outcomes = noisy_experts(10**5, 30, 0, rng=np.random.default_rng(4))
    run = weighted_majority((predictions, outcomes), 0.99)
    assert run.opt == 0 and run.mistakes <= 16 and run.log_total[-1] >= 0
    assert halving((predictions, outcomes)).mistakes <= 16
    run = weighted_majority(heaviest_first, 0.5, experts=10**5, rounds=20)
    assert run.wrong.all() and run.best.tolist() == heaviest_first_counts(10**5, 20).tolist()


def test_ties_are_d_also_when_sums_are_rounded():
    """Ten experts of weight 0.9 and nine of weight 1 tie; so do 0.1 + 0.2 against 0.3 in any order."""
    advice = np.zeros((2, 19), bool)
    advice[0, :9] = advice[1, :9] = True  # round 1: the other ten are wrong
    run = weighted_majority((advice, np.array([True, False])), 0.1)
    assert run.forecasts.tolist() == [False, False]  # 9 against 10, then 9 against 10 · 0.9
    for seed in range(20):
        rng = np.random.default_rng(seed)
        lost = rng.permuted(np.repeat(np.arange(6), 2))
        T = 6
        wrong = np.arange(T)[:, None] < lost  # expert i is wrong in the first lost_i rounds
        last = np.zeros(12, bool)
        for level in range(6):  # of each pair with equal weight one says U, one D
            last[np.flatnonzero(lost == level)[0]] = True
        sequence = np.vstack([~wrong, last]), np.ones(T + 1, bool)
        assert not weighted_majority(sequence, 0.1 + 0.04 * seed).forecasts[-1]


def test_only_on_mistakes_leaves_the_weights_alone_when_we_are_right():
    game = noisy_experts(5, 200, 0.1, rng=np.random.default_rng(5))
    run = weighted_majority(game, 0.4, only_on_mistakes=True)
    falls = np.diff(run.log_total) < 0
    assert not falls[~run.wrong].any() and falls[run.wrong].all()
    assert run.opt == weighted_majority(game, 0.4).opt  # OPT counts all rounds
    assert (np.diff(weighted_majority(game, 0.4).log_total) < 0).sum() > run.wrong.sum()


def test_the_adversaries_say_what_they_promise():
    weights = np.array([[1, 0.25, 1, 0.5], [1, 1, 1, 1]])
    predictions, outcome = tie_splitter(3, weights)
    assert predictions.tolist() == [[True, False, False, False], [True, True, False, False]] and outcome.tolist() == [True, True]
    predictions, outcome = heaviest_first(3, weights)
    assert predictions.tolist() == [[True if i in (1, 3) else False for i in range(4)], [False, False, True, True]]
    assert heaviest_first(1, np.ones(5))[0].tolist() == [False] * 3 + [True] * 2 and outcome.all()
    predictions, outcome = heaviest_alone(1, weights[:, ::-1])
    assert predictions.tolist() == [[True, False, True, True], [False, True, True, True]] and outcome.all()
    assert tie_splitter(1, np.array([0, 1.0, 0]))[0].tolist() == [False, True, False]


def test_noisy_experts_err_at_their_rates():
    predictions, outcomes = noisy_experts(3, 40_000, 0.1, 0.4, rng=np.random.default_rng(6))
    assert (predictions != outcomes[:, None]).mean(axis=0) == pytest.approx([0.1, 0.4, 0.4], abs=0.01)
    assert outcomes.mean() == pytest.approx(0.5, abs=0.01)
    again = noisy_experts(3, 10, rng=np.random.default_rng(7), repeats=2)
    assert again[0].shape == (2, 10, 3) and again[1].shape == (2, 10) and (again[1][0] != again[1][1]).any()


def test_clockwork_experts_follow_their_clocks():
    predictions, outcomes = clockwork_experts(12)
    assert outcomes.tolist() == [t * t % 11 < 5 for t in range(1, 13)]
    assert (predictions[:, 0] != outcomes).tolist() == [(3 * t + 1) % 7 < 1 for t in range(1, 13)]
    assert (predictions[:, 5] != outcomes).tolist() == [(4 * t + 3) % 9 < 6 for t in range(1, 13)]


def test_contradict_shows_the_forecaster_what_it_may_know():
    seen = []

    def forecaster(advice, outcomes):
        seen.append((advice.shape, outcomes.shape))
        advice[:] = True  # what it does to its copy changes nothing
        return len(outcomes) % 2 == 0

    run = contradict(forecaster, 4, 8)
    assert seen == [((t, 8), (t - 1,)) for t in (1, 2, 3, 4)]
    assert run.outcomes.tolist() == [False, True, False, True] and run.mistakes == 4 and run.log_total is None
    assert run.expert_mistakes.sum() > 0 and run.best.tolist() == [0, 0, 0, 0, 1]


GOOD = np.zeros((3, 2), bool), np.zeros(3, bool)


@pytest.mark.parametrize("call, message", [
    (lambda: weighted_majority(GOOD, 0), r"penalty must be in the open interval \(0, 1\), got 0.0$"),
    (lambda: weighted_majority(GOOD, 1.0), "penalty must be in the open interval"),
    (lambda: weighted_majority(GOOD, [0.5, 1.5]), "penalty must be in the open interval.*1.5"),
    (lambda: randomised_weighted_majority(GOOD, float("nan")), "penalty must be finite"),
    (lambda: weighted_majority((GOOD[0].astype(int), GOOD[1])), "predictions must be an array of booleans.*int"),
    (lambda: weighted_majority((GOOD[0], np.zeros(3))), "outcomes must be an array of booleans.*float"),
    (lambda: weighted_majority((GOOD[0], GOOD[1][:2])), r"same rounds, got \(3, 2\) and \(2,\)"),
    (lambda: weighted_majority((np.zeros((3, 0), bool), GOOD[1])), r"predictions must not be empty, got shape \(3, 0\)"),
    (lambda: weighted_majority(([], [])), r"predictions must not be empty, got shape \(0,\)"),
    (lambda: weighted_majority(([[True], [True, False]], [True, True])), "predictions must be an array of booleans.*unequal"),
    (lambda: weighted_majority(GOOD[0]), "opponent must be .predictions, outcomes."),
    (lambda: weighted_majority(GOOD, experts=3), "experts must be 2 for this sequence, got 3"),
    (lambda: weighted_majority(GOOD, rounds=4), "rounds must be 3 for this sequence, got 4"),
    (lambda: weighted_majority(GOOD, [0.1, 0.2], repeats=3), "must broadcast to one shape of games"),
    (lambda: weighted_majority(tie_splitter, experts=4), "rounds must be an integer"),
    (lambda: weighted_majority(tie_splitter, rounds=4), "experts must be an integer"),
    (lambda: halving(tie_splitter, experts=4, rounds=2, repeats=0), "repeats must be an integer >= 1"),
    (lambda: halving((np.array([[False], [True]]), np.array([True, True]))), "halving needs an expert that never errs"),
    (lambda: weighted_majority(lambda t, w: (np.ones(3, bool), np.array(True)), experts=2, rounds=1), r"predictions must have shape \(2,\), got \(3,\)"),
    (lambda: weighted_majority(lambda t, w: (np.ones(2, bool), np.ones(2, bool)), experts=2, rounds=1), r"outcome must have shape \(\), got \(2,\)"),
    (lambda: weighted_majority(lambda t, w: (np.ones(2), np.array(True)), experts=2, rounds=1), "predictions must be an array of booleans"),
    *[(lambda answer=answer: weighted_majority(lambda t, w: answer if t else ([True, True], True), experts=2, rounds=2, repeats=4),
       message + ".*in round 1")
      for answer, message in [
          (None, r"the adversary must return \(predictions, outcome\), got NoneType"), (np.ones(2, bool), "must return .*got ndarray"),
          ((True, True, True), "must return .*got tuple"), ((True, True), r"predictions must have shape \(4, 2\), got \(\)"),
          (([True], True), r"predictions must have shape \(4, 2\), got \(1,\)"), (([[True, False]], True), r"got \(1, 2\)"),
          (([True, False], [True]), r"outcome must have shape \(4,\), got \(1,\)"), (([1, 0], True), "must be an array of booleans.*int"),
          (([[True], [True, False]], True), "unequal length")]],
    *[(lambda penalty=penalty: heaviest_first_counts(4, 4, penalty), f"penalty must be in the open interval.*got {penalty!r}")
      for penalty in (1, 0, float("nan"), None, "abc")],
    (lambda: contradict(None, 3), "forecaster must be a function of advice and outcomes, got None"),
    (lambda: heaviest_first_counts(0, 4), "experts must be an integer >= 1"),
    (lambda: contradict(lambda a, o: 1, 3), "forecaster must return True or False, got 1"),
    (lambda: contradict(lambda a, o: True, 3, 1), "experts must be an integer >= 2"),
    (lambda: noisy_experts(3, 3, 1.5, rng=np.random.default_rng(0)), "must be probabilities, got 1.5"),
    (lambda: noisy_experts(3, 3, rng=7), "rng must be a numpy.random.Generator"),
    (lambda: bounds.halving_mistakes(0), "experts must be an integer >= 1"),
    (lambda: bounds.weighted_majority_mistakes(-1, 4), "best must be >= 0"),
    (lambda: bounds.weighted_majority_mistakes(1, 4, 1), "penalty must be in the open interval"),
    (lambda: bounds.weighted_majority_coefficients([0.2, 0]), "penalty must be in the open interval"),
    (lambda: bounds.weight_envelopes(1, -2, 4), "mistakes must be >= 0"),
    (lambda: bounds.tight_share(3, 10, 0.9), "experts must be more than 2η/.*got 3 at penalty 0.9"),
    (lambda: bounds.tight_share(8, 0), "rounds must be an integer"),
    (lambda: bounds.deterministic_mistakes(1.5, 2), "best must be an integer >= 0"),
    (lambda: bounds.deterministic_mistakes(1, 1), "experts must be an integer >= 2"),
    (lambda: bounds.randomised_majority_mistakes(3, 4, 0.51), "penalty must be at most 1/2.*got 0.51$"),
])
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_take_arrays():
    eta = np.array([0.1, 0.5])
    assert bounds.weighted_majority_mistakes([[3], [7]], 5, eta).shape == (2, 2)
    assert isinstance(bounds.weighted_majority_mistakes(3, 5), float)
    assert bounds.randomised_majority_mistakes(np.array([1, 2]), 5, eta) == pytest.approx([1.1 + math.log(5) / 0.1, 3 + math.log(5) / 0.5])
    assert bounds.randomised_majority_mistakes_log(4, 5, 0.8) == pytest.approx((4 * math.log(5) + math.log(5)) / 0.8)


def test_the_simple_coefficients_hold_up_to_one_half_and_fail_at_nine_tenths():
    for eta in np.linspace(0.001, 0.5, 200):
        of_best, of_log = bounds.weighted_majority_coefficients(eta)
        assert 2 < of_best <= 2 * (1 + eta) and of_log <= 2 / eta
    of_best, of_log = bounds.weighted_majority_coefficients(0.9)
    assert of_best == pytest.approx(3.85, abs=5e-3) and of_best > 3.8 and of_log <= 2 / 0.9


def test_a_tie_is_a_matter_of_rounding_only():
    """Two sides that differ by 2^-30 of the weight are no tie."""
    advice = np.ones((31, 3), bool)
    advice[:30, 2] = False
    advice[30] = [True, False, True]
    assert weighted_majority((advice, np.ones(31, bool))).forecasts[-1]


def test_one_hopeless_game_of_a_batch_is_refused():
    with pytest.raises(ValueError, match="never errs, and in 1 rounds"):
        halving((np.array([[[True]], [[False]]]), np.array([True])))


def test_outcomes_may_have_games_of_their_own():
    assert weighted_majority((np.ones((3, 2), bool), np.zeros((4, 3), bool))).wrong.shape == (4, 3)


def test_a_forecaster_cannot_write_into_the_past():
    def nosy(advice, outcomes):
        outcomes[:] = True
        return True

    assert not contradict(nosy, 5).outcomes.any()
