"""The pictures of the foundations chapter. Callbacks of `explore` are functions of their parameters alone: each makes
its generator from a fixed seed, so that a slider moves the curves and not the luck."""

import numpy as np

from dplib import bounds, composition
from dplib.data import ages
from dplib.mechanisms import exponential_probabilities, gaussian, laplace
from dplib.plot import Check, Plot, bound, measured, truth
from dplib.queries import thresholds


def laplace_error(epsilon, n, beta):
    """The largest of k errors of the Laplace mechanism as k grows: twelve runs, the exact quantile, the bound."""
    ks = np.array([2, 5, 10, 20, 50, 100, 200, 500])
    rng = np.random.default_rng(1)
    sensitivity = [bounds.family_sensitivity(int(k), n, 1) for k in ks]
    runs = np.array([abs(laplace(np.zeros(k), s, epsilon, rng, repeats=12)).max(axis=1) for k, s in zip(ks, sensitivity)]).T
    # |Z|/b is exponential, so the largest of k is below t with probability (1 - e^-t)^k
    exact = np.array([-s / epsilon * np.log(-np.expm1(np.log1p(-beta) / k)) for k, s in zip(ks, sensitivity)])
    right = np.array([bounds.laplace_error(s, epsilon, int(k), beta) for k, s in zip(ks, sensitivity)])
    return Plot(
        ks,
        [
            measured("twelve runs and their median", np.median(runs, axis=0), draws=runs),
            truth("exact: exceeded with probability β", exact),
            bound("(Δ₁/ε) ln(k/β), Δ₁ = k/n", right),
        ],
        "queries k",
        "largest error of k answers",
        xscale="log",
        yscale="log",
        check=Check(exact[5], right[5], "at k = 100"),
    )


def laplace_loss(epsilon, half_the_noise):
    """The privacy loss of every output z of one noisy answer, on two neighbours with true answers 0 and Δ = 1."""
    z = np.linspace(-2, 3, 51)
    scale = (.5 if half_the_noise else 1) / epsilon
    loss = (abs(z - 1) - abs(z)) / scale
    return Plot(
        z,
        [measured("ln(density on x / density on x')", loss), bound("promised ε", np.full(len(z), epsilon))],
        "output z, in units of Δ",
        "privacy loss",
        check=Check(loss.max(), epsilon, "at z = 0"),
    )


def gaussian_classical(epsilon, delta):
    """The true δ of the classical formula over the promised one, as ε grows; above 1 the promise is broken."""
    grid = np.concatenate([np.linspace(.25, 7.75, 31), np.linspace(8, 12, 33)])
    true = lambda e: bounds.gaussian_delta(e, bounds.gaussian_classical_formula(1, e, delta), 1)
    return Plot(
        grid,
        [truth("δ of the classical σ / promised δ", [true(float(e)) / delta for e in grid]), bound("1: as promised", np.ones(len(grid)))],
        "privacy ε",
        "true δ / promised δ",
        yscale="log",
        check=Check(true(epsilon), delta, f"at ε = {epsilon:g}"),
        marks=[("proved up to ε = 1", 1), ("chosen ε", epsilon)],
    )


def selection_gap(k, beta):
    """How often two mechanisms miss the best of k candidates by at least g, all rivals exactly g behind.

    In units of 2Δ/ε₀ the picture is the same for every Δ and ε₀.
    """
    gaps = np.linspace(.5, 14, 28)
    scores = np.zeros((len(gaps), k))                           # (gaps, k)
    scores[:, 0] = gaps
    exponential = exponential_probabilities(scores, .5, 1)[:, 1:].sum(axis=1)       # weights e^s
    limit = k * np.exp(-gaps)
    limit_noisy_max = [bounds.noisy_max_failure(float(g), .5, 1, k) for g in gaps]
    at = bounds.exponential_gap(.5, 1, k, beta)
    missed = exponential_probabilities(np.concatenate([[at], np.zeros(k - 1)]), .5, 1)[1:].sum()
    return Plot(
        gaps,
        [
            measured("exponential mechanism, exact", exponential),
            measured("report noisy max, exact", [_noisy_max_misses(g, k) for g in gaps]),
            bound("exponential mechanism: k e^(−g)", np.minimum(1, limit)),
            bound("report noisy max: (k−1)(1+g/2)e^(−g)/2", np.minimum(1, limit_noisy_max)),
        ],
        "gap g to the best score, in units of 2Δ/ε₀",
        "probability to miss by g",
        yscale="log",
        check=Check(missed, beta, f"exponential mechanism at g = ln(k/β) = {at:.1f}"),
        marks=[("ln(k/β)", at)],
    )


def _noisy_max_misses(gap, k):
    """Pr[the best of k-1 rivals' Lap(1) noises beats the noise of the leader by `gap`]: an integral over the latter."""
    z = np.linspace(-40, 40, 4001)
    v = gap + z
    log_below = np.where(v > 0, np.log1p(-np.exp(-abs(v)) / 2), -np.log(2) - abs(v))        # ln Pr[Lap(1) <= v]
    some_rival = -np.expm1((k - 1) * log_below)
    return np.sum(np.exp(-abs(z)) / 2 * some_rival) * (z[1] - z[0])


def budget(epsilon, delta):
    """The ε₀ that each of T rounds may spend, by accountant."""
    rounds = np.array([1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000])
    simple = composition.rho_budget(epsilon, delta, "simple")
    optimal = np.array([composition.epsilon0_optimal(epsilon, delta, int(T)) for T in rounds])
    advanced = np.sqrt(2 * simple / rounds)
    return Plot(
        rounds,
        [
            measured("optimal", optimal),
            bound("basic: ε/T", epsilon / rounds),
            bound("budget lemma", [composition.budget_lemma(epsilon, delta, int(T)) for T in rounds]),
            bound("advanced, solved", advanced),
            bound("bounded range", np.sqrt(8 * simple / rounds)),
        ],
        "rounds T",
        "allowed ε₀ per round",
        xscale="log",
        yscale="log",
        check=Check(advanced[11], optimal[11], "at T = 100, advanced against optimal"),
        marks=[("8 ln(1/δ)", 8 * np.log(1 / delta))],
    )


def error_by_size(epsilon, repeats=60):
    """All 100 thresholds on the running example: the largest error of two mechanisms as the dataset grows."""
    sizes = np.array([100, 300, 1000, 3000, 10_000, 30_000, 100_000])
    F, rng = thresholds(100), np.random.default_rng(3)
    error = {"Laplace, pure": [], "Gaussian, δ = 10⁻⁶": []}
    for n in sizes.tolist():
        answers = F @ ages(n, rng).histogram
        noisy = (laplace(answers, F.diameter(1) / n, epsilon, rng, repeats),
                 gaussian(answers, F.diameter(2) / n, epsilon, 1e-6, rng, repeats=repeats))
        for name, out in zip(error, noisy):
            error[name].append(abs(out - answers).max(axis=1))
    right = [bounds.laplace_error(F.diameter(1) / n, epsilon, F.k, .05) for n in sizes.tolist()]
    bands = {name: np.quantile(e, [.1, .5, .9], axis=1) for name, e in error.items()}
    return Plot(
        sizes,
        [*(measured(name, middle, low, high) for name, (low, middle, high) in bands.items()),
         bound("Laplace, β = 0.05: (Δ₁/ε) ln(k/β)", right)],
        "records n",
        "largest error of 100 thresholds",
        xscale="log",
        yscale="log",
        check=Check(bands["Laplace, pure"][1][4], right[4], "at n = 10000, Laplace, median run"),
    )
