"""Witnesses of chapter 2, first half: regret on losses."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from evidence import check_rate, rate_is_at_most
from hypothesis import given, settings
from hypothesis import strategies as st

from dplib import bounds
from dplib.experts import (
    against_the_choice, anytime_hedge, constant, doubling, fair_coins, hedge, median, planted, polynomial_weights, seesaw, switching,
)

derandomised = settings(derandomize=True, deadline=None, max_examples=30)
seeds = st.integers(0, 10**6)
ROOT = 0.683803  # ln(1 - y) = -y - y²


def opponents(T, N, seed=1):
    rng = np.random.default_rng(seed)
    return [constant(T, N), median, planted(T, N, rng), switching(T, N), switching(T, N, 7), fair_coins(T, N, rng, low=-1), seesaw]


def homework():
    """The losses of homework 2.2: ½cos(1 + it) - 0.4 for expert 3, + 0.2 for the others, i = 1..5, t = 1..200."""
    i, t = np.arange(1, 6), np.arange(1, 201)[:, None]
    return 0.5 * np.cos(1 + i * t) + np.where(i == 3, -0.4, 0.2)


def tables(T, N, faces):
    """All |faces|^(TN) loss tables as one array (repeats, T, N)."""
    return np.array(list(itertools.product(faces, repeat=T * N)), float).reshape(-1, T, N)


def exactly(table, factor):
    """Paid losses and final distribution in exact arithmetic, from a rule factor(ℓ) -> what the weight is multiplied by."""
    w, paid = [Fraction(1)] * len(table[0]), []
    for losses in table:
        paid.append(sum(a * l for a, l in zip(w, losses)) / sum(w))
        w = [a * factor(l) for a, l in zip(w, losses)]
    return paid, [a / sum(w) for a in w]


# lem-log-inequalities


@pytest.mark.claim("lem-log-inequalities", kind="oracle")
def test_both_sides_at_half_in_exact_arithmetic_and_the_root():
    """-3/4 <= ln(1/2) <= -1/2, because (1/2)^4 >= e^-3 and (1/2)^2 <= e^-1 with e between 271/100 and 272/100."""
    assert Fraction(1, 2) ** 4 >= 1 / Fraction(271, 100) ** 3 and Fraction(1, 2) ** 2 <= 1 / Fraction(272, 100)
    assert (bounds.log_lower(0.5), bounds.log_upper(0.5)) == (-0.75, -0.5)
    assert bounds.log_lower(0.3) == pytest.approx(-0.39) and math.log(0.7) == pytest.approx(-0.3567, abs=1e-4)
    assert bounds.log_root() == pytest.approx(ROOT, abs=1e-6) and 1 / ROOT**2 == pytest.approx(2.1386, abs=1e-4)
    assert bounds.log_lower(-0.4) == pytest.approx(0.24) and bounds.log_upper(-0.4) == 0.4


@pytest.mark.claim("lem-log-inequalities", kind="property")
@given(st.floats(-1e6, 0.5))
@derandomised
def test_logarithm_lies_between(y):
    rounding = 1e-15 * abs(y)
    assert bounds.log_lower(y) - rounding <= math.log1p(-y) <= bounds.log_upper(y) + rounding


@pytest.mark.claim("lem-log-inequalities", kind="bound")
@pytest.mark.claim("thm-regret", kind="bound")
@pytest.mark.parametrize("eta", [0.05, 0.3, 0.5])
def test_total_weight_lies_between_its_two_envelopes(eta):
    """Steps (1) to (3) of the regret proof on the weights themselves, after every round."""
    T, N = 60, 8
    for opponent in opponents(T, N):
        seen = []
        fixed = (lambda t, p: opponent(t, p)) if callable(opponent) else (lambda t, p: opponent[t])
        run = polynomial_weights(lambda t, p: seen.append(fixed(t, p)) or seen[-1], eta, experts=N, rounds=T)
        y = eta * np.cumsum(seen, axis=0)  # (T, N)
        upper = math.log(N) - eta * np.cumsum(run.paid)
        lower = np.max(-y - eta**2 * np.cumsum(np.square(seen), axis=0), axis=1)
        assert (lower <= run.log_total[1:] + 1e-9).all() and (run.log_total[1:] <= upper + 1e-9).all()


@pytest.mark.claim("lem-log-inequalities", kind="tight")
def test_both_inequalities_are_of_second_order(witness):
    assert 0.9 < witness("lem-log-inequalities", -math.log(0.5), -bounds.log_lower(0.5)) < 0.95
    for y in (1e-3, -1e-3):
        assert (bounds.log_upper(y) - math.log1p(-y)) / y**2 == pytest.approx(0.5, abs=1e-3)
        assert (math.log1p(-y) - bounds.log_lower(y)) / y**2 == pytest.approx(0.5, abs=1e-3)


@pytest.mark.claim("lem-log-inequalities", kind="can-fail")
def test_lower_bound_fails_beyond_the_root_and_with_half_the_square():
    assert bounds.log_lower(ROOT + 1e-4) > math.log(1 - ROOT - 1e-4) and bounds.log_lower(ROOT - 1e-4) < math.log(1 - ROOT + 1e-4)
    assert -0.3 - 0.3**2 / 2 > math.log(0.7)
    assert math.log(1 + 0.3) > 0.3 - 0.3**2  # the equality sign of the notes is wrong on both sides of 0


# thm-regret


@pytest.mark.claim("thm-regret", kind="oracle")
def test_polynomial_weights_in_exact_arithmetic():
    table = [[1, 0, -1], [Fraction(1, 2), -1, 1], [1, 1, 0], [-1, 0, Fraction(1, 4)]]
    for eta in (Fraction(1, 2), Fraction(1, 5)):
        paid, p = exactly(table, lambda l: 1 - eta * l)
        run = polynomial_weights([[float(l) for l in row] for row in table], float(eta))
        assert run.paid == pytest.approx([float(x) for x in paid], abs=1e-14) and run.p == pytest.approx([float(x) for x in p])
        assert run.expert_losses == pytest.approx([1.5, 0, 0.25]) and run.best == 0
        assert run.regret == pytest.approx(float(sum(paid)))


@pytest.mark.claim("thm-regret", kind="oracle")
def test_homework_values():
    run = polynomial_weights(homework())
    assert run.step_size == pytest.approx(0.089706, abs=1e-6) and run.loss == pytest.approx(-61.732591, abs=1e-6)
    assert run.best == pytest.approx(-80.308712, abs=1e-6) and run.expert_losses.argmin() == 2
    assert run.regret == pytest.approx(18.576121, abs=1e-6) and bounds.polynomial_regret(200, 5) == pytest.approx(35.882452, abs=1e-6)
    etas = [0.005, 0.0625, 0.5]
    assert polynomial_weights(constant(1000, 50), etas, repeats=3).regret == pytest.approx([782.93, 63.49, 8.11], abs=0.01)
    against_median = polynomial_weights(median, etas, repeats=3, experts=50, rounds=1000).regret
    assert against_median == pytest.approx([2.50, 32.94, 264.86], rel=0.01)


@pytest.mark.claim("thm-regret", kind="oracle")
def test_every_table_of_signs_and_zeros():
    """All 3^8 loss tables for two experts in four rounds: no regret above ηT + ln N/η, and the largest is known."""
    for eta in (0.2, 0.5):
        regrets = polynomial_weights(tables(4, 2, (-1, 0, 1)), eta, repeats=3**8).regret
        assert regrets.max() <= eta * 4 + math.log(2) / eta
    assert polynomial_weights(tables(2, 2, (-1, 1)), 0.5, repeats=16).regret.max() == pytest.approx(1.5)  # 1 + 1/2, by hand


@pytest.mark.claim("thm-regret", kind="property")
@given(seeds, st.integers(1, 40), st.integers(1, 30), st.floats(0.01, 0.5), st.floats(0.05, 5))
@derandomised
def test_regret_against_every_distribution(seed, T, N, eta, concentration):
    """The form with KL, for a random comparison p and losses that answer to p^t."""
    rng = np.random.default_rng(seed)
    seen = []

    def answer(t, p):
        seen.append(np.clip(rng.normal(size=N) + 3 * N * (p - 1 / N) * rng.integers(-1, 2), -1, 1))
        return seen[-1]

    run = polynomial_weights(answer, eta, experts=N, rounds=T)
    for p in (rng.dirichlet(np.full(N, concentration)), np.eye(N)[run.expert_losses.argmin()], np.full(N, 1 / N)):
        entropy = -sum(x * math.log(x) for x in p if x > 0)
        extra = eta * (np.square(seen) @ p).sum() + (math.log(N) - entropy) / eta
        assert run.loss <= run.expert_losses @ p + extra + 1e-9
        ours = bounds.polynomial_regret_against((np.square(seen) @ p).sum(), bounds.kl_from_uniform(p), eta)
        assert ours == pytest.approx(extra, abs=1e-9) and ours <= eta * T + math.log(N) / eta + 1e-9


@pytest.mark.claim("thm-regret", kind="bound")
@pytest.mark.parametrize("T, N", [(19, 100), (150, 3), (400, 200)])
def test_no_opponent_gets_more_than_the_bound(T, N):
    """19 is the first T >= 4 ln 100: the hypothesis holds with nothing to spare."""
    for opponent in opponents(T, N):
        game = {"experts": N, "rounds": T}
        assert polynomial_weights(opponent, **game).regret <= 2 * math.sqrt(T * math.log(N))
        for eta in (0.01, 0.2, 0.5):
            assert polynomial_weights(opponent, eta, **game).regret <= eta * T + math.log(N) / eta


@pytest.mark.claim("thm-regret", kind="tight")
def test_both_terms_of_the_bound_are_reached(witness):
    """ln N/η by a constant opponent; at the best η the seesaw takes ln N/η + ηT/2 of ηT + ln N/η, about three quarters."""
    slow = polynomial_weights(constant(1000, 50), 0.005).regret
    assert 0.99 < witness("thm-regret", slow, bounds.polynomial_regret_at(1000, 50, 0.005)) <= 1
    hard = polynomial_weights(seesaw, experts=3000, rounds=6000).regret
    assert 0.68 < witness("thm-regret", hard, bounds.polynomial_regret(6000, 3000)) < 0.76
    fast = polynomial_weights(switching(4000, 2), 0.25).regret
    assert fast == pytest.approx(0.25 * 4000 / 2, rel=0.02)


@pytest.mark.claim("thm-regret", kind="can-fail")
def test_wrong_sign_no_update_and_smaller_constants_are_caught():
    bound = bounds.polynomial_regret(200, 5)
    wrong_sign = polynomial_weights(-homework())  # plays on −ℓ, is charged ℓ
    assert -wrong_sign.loss - homework().sum(axis=0).min() == pytest.approx(116.654, abs=1e-3) and 116.654 > bound
    no_update = polynomial_weights(homework(), 1e-12)
    assert no_update.regret == pytest.approx(96.014, abs=1e-3) and no_update.regret > bound
    assert polynomial_weights(homework(), math.sqrt(math.log2(5) / 200)).regret == pytest.approx(15.5738, abs=1e-4)
    assert hedge(homework(), polynomial_weights(homework()).step_size, width=2).regret == pytest.approx(18.4152, abs=1e-4)
    hard = polynomial_weights(seesaw, experts=3000, rounds=6000).regret
    assert hard > math.sqrt(6000 * math.log(3000))  # the 2 cannot be a 1
    slow = polynomial_weights(constant(1000, 50), 0.005).regret
    assert slow > 0.005 * 1000 + math.log(50)  # ln N must be divided by η


def test_the_bound_outlives_its_proof_down_to_ln_n_rounds():
    """Exercise "Between ln N and 4 ln N": H(η) > 0 on (0, 1), so 2√(T ln N) holds at η = √(ln N/T) for every T > ln N."""
    eta = np.linspace(1e-3, 1 - 1e-9, 5000)
    r = np.arctanh(eta) / eta
    assert (np.log(r) + np.log1p(eta) + 1 - eta**2 - r * (1 - eta) * (1 + 2 * eta) >= 0.499 * eta**2).all()
    for N, T in ((100, 5), (100, 9), (3000, 9), (2, 1), (2, 2)):
        step = math.sqrt(math.log(N) / T)
        for opponent in opponents(T, N):
            assert polynomial_weights(opponent, step, experts=N, rounds=T).regret <= 2 * math.sqrt(T * math.log(N))
    assert polynomial_weights(tables(2, 2, (-1, -0.5, 0.5, 1)), math.sqrt(math.log(2) / 2), repeats=4**4).regret.max() <= 2.3548


# thm-sampled-regret


def grudge(t, p, choices):
    """Adversary that remembers: +1 for the expert drawn most recently, ±1/2 for the others by the parity of all draws."""
    last = choices[..., -1:] if t else np.zeros((*p.shape[:-1], 1), int)
    parity = np.where(choices.sum(axis=-1, keepdims=True) % 2 == 0, -0.5, 0.5)
    return np.where(np.arange(p.shape[-1]) == last, 1.0, parity)


@pytest.mark.claim("thm-sampled-regret", kind="oracle")
def test_expected_loss_over_all_draws_exactly():
    """The tree of all 3^4 draws against an adversary that answers to the past: E L_A = E Σ⟨ℓ, p⟩, and the simulation agrees."""
    eta, N, T = Fraction(1, 3), 3, 4

    def expect(t, w, drawn):
        """E of the drawn losses and E of the paid losses from round t on, given the weights and the draws so far."""
        if t == T:
            return Fraction(0), Fraction(0)
        last, parity = (drawn[-1] if drawn else 0), Fraction(-1, 2) if sum(drawn) % 2 == 0 else Fraction(1, 2)
        losses = [Fraction(1) if i == last else parity for i in range(N)]
        p = [a / sum(w) for a in w]
        after = [expect(t + 1, [a * (1 - eta * l) for a, l in zip(w, losses)], (*drawn, i)) for i in range(N)]
        paid = sum(a * l for a, l in zip(p, losses))
        return (sum(p[i] * (losses[i] + after[i][0]) for i in range(N)), paid + sum(p[i] * after[i][1] for i in range(N)))

    drawn, paid = expect(0, [Fraction(1)] * N, ())
    assert drawn == paid
    game = {"experts": N, "rounds": T, "repeats": 40_000, "rng": np.random.default_rng(0), "sees": "past choices"}
    run = polynomial_weights(grudge, 1 / 3, **game)
    for mine in (run.sampled.sum(axis=1), run.loss):
        assert mine.mean() == pytest.approx(float(drawn), abs=5 * mine.std() / 200)


@pytest.mark.claim("thm-sampled-regret", kind="property")
@given(seeds, st.integers(2, 9), st.integers(15, 60))
@derandomised
def test_moment_generating_function_of_the_martingale(seed, N, T):
    """Step (3): E e^(s(ℓ_i − ⟨ℓ,p⟩)) <= e^(s²/2) under every p^t of a run, and the regret of p is bounded in every run."""
    rng = np.random.default_rng(seed)
    seen = []
    game = {"experts": N, "rounds": T, "rng": rng, "sees": "past choices"}
    run = polynomial_weights(lambda t, p, c: seen.append((grudge(t, p, c), p)) or seen[-1][0], **game)
    for s in (-2.0, -0.3, 0.5, 3.0):
        assert all(p @ np.exp(s * (l - l @ p)) <= math.exp(s**2 / 2) for l, p in seen)
    assert run.regret <= 2 * math.sqrt(T * math.log(N))
    assert run.sampled == pytest.approx([l[i] for (l, _), i in zip(seen, run.choices)])


@pytest.mark.claim("thm-sampled-regret", kind="bound")
@pytest.mark.parametrize("beta", [0.3, 0.05])
def test_sampled_regret_exceeds_the_bound_with_probability_at_most_beta(beta):
    T, N, R = 120, 6, 3000
    for opponent, sees in ((seesaw, "weights"), (grudge, "past choices"), (switching(T, N), "weights")):
        run = polynomial_weights(opponent, experts=N, rounds=T, repeats=R, rng=np.random.default_rng(4), sees=sees)
        limit = 2 * math.sqrt(T * math.log(N)) + math.sqrt(2 * T * math.log(1 / beta))
        assert bounds.sampled_regret(T, N, beta) == pytest.approx(limit)
        assert rate_is_at_most(beta, (run.sampled_regret > limit).sum(), R)
        assert rate_is_at_most(beta, (run.sampled.sum(axis=1) - run.loss > math.sqrt(2 * T * math.log(1 / beta))).sum(), R)
        assert run.sampled_regret.mean() <= 2 * math.sqrt(T * math.log(N))


@pytest.mark.claim("thm-sampled-regret", kind="tight")
def test_two_thirds_of_the_bound_are_reached(witness):
    T, N, beta = 800, 200, 0.05
    run = polynomial_weights(seesaw, experts=N, rounds=T, repeats=1000, rng=np.random.default_rng(0))
    quantile = np.quantile(run.sampled_regret, 1 - beta)
    assert 0.6 < witness("thm-sampled-regret", quantile, bounds.sampled_regret(T, N, beta)) < 0.75
    luck = run.sampled.sum(axis=1) - run.loss
    check_rate((luck > 0.67 * bounds.azuma(T, beta)).sum(), 1000, 0.1, 0.02)  # nearly Gaussian: 1.64 of 2.45 standard deviations


@pytest.mark.claim("thm-sampled-regret", kind="can-fail")
def test_an_adversary_that_sees_the_draw_breaks_it():
    T, N = 400, 10
    game = {"experts": N, "rounds": T, "rng": np.random.default_rng(0), "sees": "this choice"}
    run = polynomial_weights(against_the_choice, **game)
    assert run.sampled_regret > 1.7 * T > 6 * bounds.sampled_regret(T, N, 0.05)
    assert run.regret <= bounds.polynomial_regret(T, N)  # the distributions themselves are still as good as promised
    luck = polynomial_weights(switching(T, N), 0.01, repeats=4000, rng=np.random.default_rng(1))
    off = luck.sampled.sum(axis=1) - luck.loss
    assert not rate_is_at_most(0.05, (off > bounds.azuma(T, 0.05, width=1.0)).sum(), 4000)  # range 1 is not the range of [-1, 1]


# lem-hoeffding


@pytest.mark.claim("lem-hoeffding", kind="oracle")
def test_fair_sign_in_closed_form():
    """X = ±w/2 with equal probability: ln cosh(sw/2), whose series starts s²w²/8 − s⁴w⁴/192."""
    for s, w in ((0.1, 1), (-1.0, 2), (3.0, 0.5)):
        exact = math.log(math.cosh(s * w / 2))
        assert bounds.hoeffding_exponent(s, w) - (s * w) ** 4 / 192 <= exact <= bounds.hoeffding_exponent(s, w) == s * s * w * w / 8


@pytest.mark.claim("lem-hoeffding", kind="property")
@given(seeds, st.integers(1, 12), st.floats(-30, 30), st.floats(0.01, 9))
@derandomised
def test_log_moment_generating_function_of_any_bounded_law(seed, N, s, w):
    rng = np.random.default_rng(seed)
    x, p = w * rng.random(N) ** rng.choice([0.01, 1, 50]), rng.dirichlet(np.full(N, rng.choice([0.1, 1])))
    z = s * (x - p @ x)
    assert z.max() + math.log(p @ np.exp(z - z.max())) <= bounds.hoeffding_exponent(s, w) + 1e-12


@pytest.mark.claim("lem-hoeffding", kind="bound")
def test_it_bounds_every_normaliser_of_hedge():
    """ln W^(t+1) − ln W^t + η⟨ℓ^t,p^t⟩ is the log moment generating function of the losses under p^t."""
    for opponent, eta in itertools.product(opponents(80, 9), (0.05, 0.7, 4.0)):
        run = hedge(opponent, eta, width=2, experts=9, rounds=80)
        assert (np.diff(run.log_total) + eta * run.paid <= eta**2 / 2 + 1e-9).all()


@pytest.mark.claim("lem-hoeffding", kind="tight")
def test_a_fair_sign_reaches_it_for_small_steps(witness):
    assert witness("lem-hoeffding", math.log(math.cosh(0.1)), bounds.hoeffding_exponent(0.1, 2)) > 0.99


@pytest.mark.claim("lem-hoeffding", kind="can-fail")
def test_a_ninth_or_half_the_width_is_too_little():
    exact = math.log(math.cosh(0.25))  # X = ±1/2, s = 1/2
    assert exact > 0.5**2 / 9 and exact > bounds.hoeffding_exponent(0.5, 0.5) and exact <= bounds.hoeffding_exponent(0.5, 1)


# thm-hedge


@pytest.mark.claim("thm-hedge", kind="oracle")
def test_hedge_in_exact_arithmetic():
    """At η = ln 2 and whole losses the weights are powers of one half."""
    table = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]]
    paid, p = exactly(table, lambda l: Fraction(1, 2) ** l)
    run = hedge(table, math.log(2))
    assert run.paid == pytest.approx([float(x) for x in paid], abs=1e-14) and run.p == pytest.approx([float(x) for x in p])
    assert run.regret == pytest.approx(float(sum(paid)) - 2)
    assert bounds.hedge_regret(1000, 50) == pytest.approx(44.2266, abs=1e-3)
    assert bounds.hedge_step(1000, 50) == pytest.approx(0.176908, abs=1e-6)


@pytest.mark.claim("thm-hedge", kind="oracle")
def test_hedge_on_every_table_of_bits():
    for eta in (0.3, math.sqrt(8 * math.log(2) / 5), 6.0):
        assert hedge(tables(5, 2, (0, 1)), eta, repeats=2**10).regret.max() <= eta * 5 / 8 + math.log(2) / eta


@pytest.mark.claim("thm-hedge", kind="property")
@given(seeds, st.integers(1, 50), st.integers(1, 30), st.floats(0.01, 8), st.floats(0.1, 5))
@derandomised
def test_hedge_regret_for_losses_in_moving_intervals(seed, T, N, eta, w):
    """The interval of each round may lie anywhere; any η, any T, any N."""
    rng = np.random.default_rng(seed)
    table = 100 * rng.normal(size=(T, 1)) + w * rng.random((T, N)).round(rng.integers(0, 4))
    assert hedge(table, eta, width=w).regret <= eta * w**2 * T / 8 + math.log(N) / eta + 1e-8
    assert hedge(table, width=w).regret <= w * math.sqrt(T * math.log(N) / 2) + 1e-8
    assert hedge(table, width=w).p == pytest.approx(hedge(table - table.min(axis=1, keepdims=True), width=w).p, abs=1e-9)


@pytest.mark.claim("thm-hedge", kind="bound")
@pytest.mark.parametrize("T, N", [(3, 400), (100, 2), (500, 60)])
def test_no_opponent_gets_more_than_the_sharp_bound(T, N):
    """T = 3 with 400 experts: no condition on T."""
    for opponent in opponents(T, N):
        game = {"experts": N, "rounds": T, "width": 2}
        assert hedge(opponent, **game).regret <= math.sqrt(2 * T * math.log(N)) == pytest.approx(bounds.hedge_regret(T, N, 2))
        for eta in (0.02, 0.3, 2.0):
            limit = bounds.hedge_regret_at(T, N, eta, 2)
            assert hedge(opponent, eta, **game).regret <= limit == pytest.approx(eta * T / 2 + math.log(N) / eta)


@pytest.mark.claim("thm-hedge", kind="tight")
def test_the_seesaw_reaches_the_constant(witness):
    run = hedge(lambda t, p: (seesaw(t, p) + 1) / 2, experts=5000, rounds=8000)
    assert 0.94 < witness("thm-hedge", run.regret, bounds.hedge_regret(8000, 5000)) <= 1


@pytest.mark.claim("thm-hedge", kind="can-fail")
def test_a_tenth_less_or_losses_of_width_two_break_it():
    run = hedge(lambda t, p: (seesaw(t, p) + 1) / 2, experts=5000, rounds=8000)
    assert run.regret > math.sqrt(8000 * math.log(5000) / 2.5) and run.regret > 0.9 * bounds.hedge_regret(8000, 5000)
    twice = hedge(seesaw, bounds.hedge_step(8000, 5000), width=2, experts=5000, rounds=8000).regret
    assert twice > bounds.hedge_regret(8000, 5000)  # the bound for losses in [0, 1] is not one for [-1, 1]
    slow = hedge(lambda t, p: (seesaw(t, p) + 1) / 2, bounds.hedge_step(8000, 5000) / 8, experts=5000, rounds=8000)
    assert slow.regret > bounds.hedge_regret(8000, 5000)


# thm-fair-coins


@pytest.mark.claim("thm-fair-coins", kind="oracle")
@pytest.mark.parametrize("T, N", [(1, 1), (1, 4), (2, 3), (4, 2), (3, 3), (6, 2)])
def test_exact_expectation_over_all_coins(T, N):
    totals = tables(T, N, (0, 1)).sum(axis=1)
    exact = Fraction(T, 2) - Fraction(int(totals.min(axis=1).sum()), 2 ** (T * N))
    assert bounds.fair_coin_regret(T, N) == pytest.approx(float(exact), abs=1e-13)


@pytest.mark.claim("thm-fair-coins", kind="property")
@given(st.sampled_from([(1, 4), (2, 3), (4, 2), (3, 3), (6, 2)]), st.floats(0.01, 0.9), st.sampled_from(["hedge", "poly", "doubling"]))
@derandomised
def test_every_algorithm_has_the_same_expected_regret(size, eta, kind):
    """The mean over all 2^(TN) tables does not depend on the algorithm or its step size."""
    plays = {"hedge": lambda t, **k: hedge(t, eta, **k), "poly": lambda t, **k: polynomial_weights(t, eta, **k), "doubling": doubling}
    regret = plays[kind](tables(*size, (0, 1)), repeats=2 ** math.prod(size)).regret.mean()
    assert regret == pytest.approx(bounds.fair_coin_regret(*size), abs=1e-12)


@pytest.mark.claim("thm-fair-coins", kind="bound")
@pytest.mark.parametrize("T, N", [(100, 2), (60, 40)])
def test_measured_regret_is_the_exact_value_and_below_the_upper_bound(T, N, witness):
    regrets = hedge(fair_coins(T, N, np.random.default_rng(2), repeats=2000), repeats=2000).regret
    exact, error = bounds.fair_coin_regret(T, N), regrets.std() / math.sqrt(2000)
    witness("thm-fair-coins", regrets.mean(), exact)
    assert abs(regrets.mean() - exact) < 5 * error and exact <= math.sqrt(T * math.log(N) / 2)
    assert regrets.max() <= bounds.hedge_regret(T, N)


@pytest.mark.claim("thm-fair-coins", kind="tight")
def test_the_two_limits():
    """Divided by √T it tends to half the Gaussian maximum; that over √(2 ln N) rises to 1, slowly. 71.09 is D2.2's value."""
    assert 2 * bounds.fair_coin_regret(1000, 50) == pytest.approx(71.09, abs=0.01)
    assert bounds.fair_coin_regret(10**6, 50) / 1000 == pytest.approx(bounds.gaussian_maximum(50) / 2, rel=1e-4)
    exact = [0, 1 / math.sqrt(math.pi), 1.5 / math.sqrt(math.pi)]
    assert [bounds.gaussian_maximum(N) for N in (1, 2, 3)] == pytest.approx(exact, abs=1e-9)
    shares = [bounds.gaussian_maximum(N) / math.sqrt(2 * math.log(N)) for N in (2, 10, 10**3, 10**6, 10**12)]
    assert shares == pytest.approx([0.4792, 0.7170, 0.8721, 0.9251, 0.9568], abs=1e-4) and shares == sorted(shares)


@pytest.mark.claim("thm-fair-coins", kind="can-fail")
def test_biased_coins_or_one_expert_less_are_noticed():
    T, N, R = 60, 8, 4000
    exact = bounds.fair_coin_regret(T, N)
    biased = (np.random.default_rng(3).random((R, T, N)) < 0.4).astype(float)
    regrets = hedge(biased, repeats=R).regret
    assert abs(regrets.mean() - exact) > 3 * regrets.std() / math.sqrt(R)
    coins = fair_coins(T, N, np.random.default_rng(3), repeats=R)
    regrets, fewer = hedge(coins, repeats=R).regret, bounds.fair_coin_regret(T, N - 1)
    assert abs(regrets.mean() - fewer) > 4 * regrets.std() / math.sqrt(R) > abs(regrets.mean() - exact)
    remembered = hedge(np.repeat(coins[:, :1], T, axis=1), repeats=R).regret  # one toss for the whole game can be learnt
    assert remembered.mean() < 0.7 * exact


# prop-doubling


@pytest.mark.claim("prop-doubling", kind="oracle")
def test_doubling_is_hedge_on_each_epoch():
    table = np.random.default_rng(0).random((25, 4))
    run = doubling(table)
    cuts, lengths = [0, 1, 3, 7, 15, 25], [1, 2, 4, 8, 16]
    parts = [hedge(table[a:b], math.sqrt(8 * math.log(4) / n)) for a, b, n in zip(cuts, cuts[1:], lengths)]
    assert run.paid == pytest.approx(np.concatenate([part.paid for part in parts])) and run.p == pytest.approx(parts[-1].p)
    assert run.expert_losses == pytest.approx(table.sum(axis=0))
    assert math.sqrt(2) / (math.sqrt(2) - 1) == pytest.approx(3.41421, abs=1e-5)
    limit = sum(part.step_size * len(part.paid) / 8 + math.log(4) / part.step_size for part in parts)
    assert bounds.doubling_regret_by_epoch(25, 4) == pytest.approx(limit)
    whole = bounds.hedge_regret(1, 4) * (2**24.5 - 1) / (math.sqrt(2) - 1)  # 49 whole epochs, and no 50th
    assert bounds.doubling_regret_by_epoch(2**49 - 1, 4) == pytest.approx(whole)
    totals = [part.log_total[:-1] for part in parts] + [parts[-1].log_total[-1:]]
    assert run.log_total == pytest.approx(np.concatenate(totals))
    assert doubling(np.tile([1.0, 0], (3, 1))).log_total[1] == pytest.approx(math.log(2))  # after the restart, not before it


@pytest.mark.claim("prop-doubling", kind="oracle")
def test_anytime_hedge_from_its_formula():
    table = np.random.default_rng(1).random((9, 3))
    run = anytime_hedge(table)
    for t in range(9):
        weights = [math.exp(-2 * math.sqrt(math.log(3) / (t + 1)) * table[:t, i].sum()) for i in range(3)]
        assert run.paid[t] == pytest.approx(sum(w * l for w, l in zip(weights, table[t])) / sum(weights))
    last = np.exp(-2 * math.sqrt(math.log(3) / 10) * table.sum(axis=0))
    assert run.p == pytest.approx(last / last.sum())


@pytest.mark.claim("prop-doubling", kind="property")
@given(seeds, st.integers(1, 3000), st.integers(2, 20), st.floats(0.2, 4))
@derandomised
def test_no_horizon_is_needed(seed, T, N, w):
    table = w * np.random.default_rng(seed).integers(2, size=(min(T, 300), N))
    limit = w * math.sqrt(len(table) * math.log(N) / 2)
    assert doubling(table, width=w).regret <= bounds.doubling_regret_by_epoch(len(table), N, w) + 1e-9
    assert anytime_hedge(table, width=w).regret <= math.sqrt(2) * limit + 1e-9
    full, by_epoch, sharp = (f(T, N, w) for f in (bounds.doubling_regret, bounds.doubling_regret_by_epoch, bounds.hedge_regret))
    assert by_epoch <= (math.sqrt(2) + 1.5) * sharp <= full == pytest.approx(3.4142136 * sharp)


@pytest.mark.claim("prop-doubling", kind="bound")
@pytest.mark.parametrize("T", [1, 2, 63, 64, 300])
def test_no_opponent_gets_more_than_the_price_of_not_knowing(T):
    for opponent in opponents(T, 30):
        game = {"experts": 30, "rounds": T, "width": 2}
        sharp = math.sqrt(2 * T * math.log(30))
        assert doubling(opponent, **game).regret <= bounds.doubling_regret_by_epoch(T, 30, 2) <= 3.4142136 * sharp
        assert anytime_hedge(opponent, **game).regret <= bounds.anytime_regret(T, 30, 2) == pytest.approx(math.sqrt(2) * sharp)


@pytest.mark.claim("prop-doubling", kind="tight")
def test_epoch_by_epoch_the_bound_is_nearly_reached(witness):
    run = doubling(seesaw, experts=3000, rounds=8191, width=2)
    assert 0.9 < run.regret / bounds.doubling_regret_by_epoch(8191, 3000, 2) <= 1
    assert 0.6 < witness("prop-doubling", run.regret, bounds.doubling_regret(8191, 3000, 2)) < 0.7
    anytime = anytime_hedge(seesaw, experts=3000, rounds=8191, width=2)
    assert 0.45 < anytime.regret / bounds.anytime_regret(8191, 3000, 2) < 0.6


@pytest.mark.claim("prop-doubling", kind="can-fail")
def test_without_restarts_a_step_for_too_few_rounds_loses():
    T, N = 8191, 100
    stuck = hedge(seesaw, bounds.hedge_step(4, N, 2), experts=N, rounds=T, width=2)
    assert stuck.regret > bounds.doubling_regret(T, N, 2)
    assert doubling(seesaw, experts=N, rounds=T, width=2).regret > 2 * bounds.hedge_regret(T, N, 2)  # it is not free
