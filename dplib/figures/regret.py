"""The pictures of chapter 2, first half. Callbacks of `explore` are functions of their parameters alone: each makes its
generator from a fixed seed, so that a slider moves the curves and not the luck."""

import math

import numpy as np

from dplib import bounds
from dplib.experts import anytime_hedge, constant, doubling, fair_coins, hedge, median, planted, polynomial_weights, switching
from dplib.plot import Check, Plot, bound, measured, truth

STEPS = np.array([0.002, 0.005, 0.01, 0.02, 0.04, 0.0625, 0.1, 0.2, 0.3, 0.5])
UPDATES = ("polynomial weights", "Hedge")
GAMES = ("polynomial weights, losses ±1", "Hedge, losses ±1", "Hedge, losses 0 or 1")


def log_inequalities(eta):
    """ln(1−y) and its two bounds for −η <= y <= η, and where the lower one ends."""
    y = np.linspace(-eta, eta, 41)
    return Plot(
        y,
        [truth("ln(1 − y)", np.log1p(-y)), bound("−y, from above", bounds.log_upper(y)),
         bound("−y − y², from below", bounds.log_lower(y))],
        "y = ηℓ, from −η to η",
        "ln(1 − y) and its bounds",
        check=Check(bounds.log_lower(eta), math.log1p(-eta), "at y = η"),
        marks=[("0.683803", bounds.log_root())],
    )


def learning_rate(N, T, update):
    """Regret of five opponents against the step size, losses in [-1, 1], all step sizes as one array program."""
    rng = np.random.default_rng(2)
    play, at, best = _update(update, T, N)
    steps = np.append(STEPS, best)
    opponents = {"constant": constant(T, N), "median": median, "planted": planted(T, N, rng), "switching": switching(T, N),
                 "fair coins": fair_coins(T, N, rng, low=-1)}
    regrets = [play(opponent, steps, experts=N, rounds=T, repeats=len(steps)).regret for opponent in opponents.values()]
    worst = np.max(regrets, axis=0)
    return Plot(
        STEPS,
        [*(measured(name, y[:-1]) for name, y in zip(opponents, regrets)), truth("largest of the five", worst[:-1]),
         bound("bound of the theorem", [at(float(eta)) for eta in STEPS])],
        "step size η",
        "regret",
        xscale="log",
        yscale="log",
        check=Check(worst[-1], at(best), "at the marked η"),
        marks=[("best η for the bound", best)],
    )


def _update(update, T, N):
    """The algorithm for losses in [-1, 1], its bound as a function of η, and the η at which that is smallest."""
    if update == UPDATES[0]:
        return polynomial_weights, lambda eta: bounds.polynomial_regret_at(T, N, eta), bounds.polynomial_step(T, N)
    if update == UPDATES[1]:
        return _hedge_two, lambda eta: bounds.hedge_regret_at(T, N, eta, 2), bounds.hedge_step(T, N, 2)
    raise ValueError(f"update must be one of {UPDATES}, got {update!r}")


def _hedge_two(*args, **kind):
    return hedge(*args, width=2, **kind)


def growth(N, game):
    """Regret on fair coins against T: a few runs, the exact expectation of every algorithm, and the theorem's bound."""
    Ts = np.array([32, 64, 128, 256, 512])
    width = 1 if game == GAMES[2] else 2
    play = {GAMES[0]: polynomial_weights, GAMES[1]: _hedge_two, GAMES[2]: hedge}[game]
    right = bounds.polynomial_regret if game == GAMES[0] else lambda T, N: bounds.hedge_regret(T, N, width)
    repeats, rng = max(4, 400 // N), np.random.default_rng(5)
    coins = fair_coins(int(Ts[-1]), N, rng, repeats, low=1 - width)
    runs = np.array([play(coins[:, :T], repeats=repeats).regret for T in Ts]).T  # (repeats, len(Ts))
    exact = np.array([width * bounds.fair_coin_regret(int(T), N) for T in Ts])
    limit = np.array([right(int(T), N) for T in Ts])
    return Plot(
        Ts,
        [measured("mean of the runs, and four of them", runs.mean(axis=0), draws=runs[:4]),
         truth("exact, for every algorithm", exact), bound("bound of the theorem", limit)],
        "rounds T",
        "regret on fair coins",
        xscale="log",
        yscale="log",
        check=Check(exact[-1], limit[-1], "at T = 512"),
    )


def short_game(N, drop_the_condition):
    """A two-round attack on polynomial weights with η = √(ln N/T), with and without keeping η at 1/2 or below."""
    Ts = np.arange(1, 31)
    steps, limit = zip(*(bounds.polynomial_formula(int(T), N) for T in Ts))
    regrets = [two_round_attack(N, int(T), eta if drop_the_condition else min(eta, 0.5)) for T, eta in zip(Ts, steps)]
    last = int(math.log(N))  # the last T at which √(ln N/T) is above 1
    return Plot(
        Ts,
        [measured("regret", regrets, joined=False), bound("2√(T ln N)", limit)],
        "rounds T",
        "regret after the attack",
        yscale="log",
        check=Check(regrets[last - 1], limit[last - 1], f"at T = {last}"),
        marks=[("ln N", math.log(N)), ("4 ln N", 4 * math.log(N))],
    )


def two_round_attack(N, T, eta):
    """Regret of the bare update w_i ← w_i (1 − ηℓ_i), p = w/W, without a look at the sign of the weights.

    Round 1 brings the total weight just below zero if η > 1 allows that (mean loss 1.01/η), round 2 collects; then all losses are 0.

    >>> round(two_round_attack(100, 4, 1.073), 1), round(two_round_attack(100, 4, .5), 1)
    (16.1, 2.9)
    """
    mean = 1.01 / eta if eta > 1.01 else 1 - 2 / N
    k = max(1, math.ceil(N * (1 - mean) / 2))  # this many experts share the lower loss
    good = np.arange(N) < k
    table = np.zeros((T, N))
    table[0] = np.where(good, 1 - N * (1 - mean) / k, 1.0)
    table[1:2] = np.where(good, -1.0, 1.0)
    w, paid = np.ones(N), 0.0
    for losses in table[:2]:
        paid += losses @ w / w.sum()
        w = w * (1 - eta * losses)
    return float(paid - table.sum(axis=0).min())


def comparison(N, eta):
    """K of N experts always right, the others always wrong: regret against the uniform distribution on the K, and the form with KL."""
    T, Ks = 200, 2 ** np.arange(7)
    losses = np.where(np.arange(N) < Ks[:, None], -1.0, 1.0)[:, None, :]  # (7, 1, N)
    regret = polynomial_weights(np.broadcast_to(losses, (7, T, N)), eta, repeats=7).regret
    divergence = bounds.kl_from_uniform((np.arange(N) < Ks[:, None]) / Ks[:, None])  # ln(N/K)
    with_kl = np.array([bounds.polynomial_regret_against(T, float(kl), eta) for kl in divergence])
    return Plot(
        Ks,
        [measured("regret", regret), bound("ηT + KL(p‖uniform)/η", with_kl),
         bound("ηT + ln N/η", np.full(7, bounds.polynomial_regret_at(T, N, eta)))],
        "number K of good experts",
        "regret",
        xscale="log",
        check=Check(regret[3], with_kl[3], "at K = 8"),
    )


def unknown_horizon(N, opponent):
    """Regret in units of √(T ln N/2): Hedge that knows T, with doubling, and with shrinking steps η_t = 2√(ln N/t)."""
    Ts, repeats = np.unique(np.geomspace(8, 512, 25).round().astype(int)), max(2, 100 // N)
    coins = lambda T, N: fair_coins(T, N, np.random.default_rng(5), repeats, low=-1)
    make = {"constant": constant, "switching": switching, "fair coins": coins}
    losses = np.broadcast_to((make[opponent](512, N) + 1) / 2, (repeats, 512, N))
    unit = np.array([bounds.hedge_regret(int(T), N) for T in Ts])
    best = losses.cumsum(axis=1).min(axis=2)  # (repeats, 512)
    at_each = lambda run: (run.paid.cumsum(axis=1) - best)[:, Ts - 1].mean(axis=0) / unit
    told = np.array([hedge(losses[:, :T], repeats=repeats).regret.mean() for T in Ts]) / unit
    curves = [("T known", told), ("doubling", at_each(doubling(losses, repeats=repeats))),
              ("shrinking steps", at_each(anytime_hedge(losses, repeats=repeats)))]
    epochs = np.array([bounds.doubling_regret_by_epoch(int(T), N) for T in Ts]) / unit
    worst = curves[1][1].argmax()
    return Plot(
        Ts,
        [*(measured(name, y) for name, y in curves), bound("bound, T known", np.ones(len(Ts))), bound("bound, doubling", epochs),
         bound("bound, shrinking steps", np.array([bounds.anytime_regret(int(T), N) for T in Ts]) / unit)],
        "rounds T, not known beforehand",
        "regret / √(T ln N/2)",
        xscale="log",
        check=Check(curves[1][1][worst], epochs[worst], "for doubling, where it is largest"),
    )
