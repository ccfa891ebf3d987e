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
    exact = np.array([laplace_quantile(s / epsilon, int(k), beta) for k, s in zip(ks, sensitivity)])
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


def laplace_quantile(scale, k, beta):
    """The largest of k absolute Lap(b) noises is above this with probability β exactly.

    Each |Z|/b is exponential, so the largest is below t with probability (1 - e^-t)^k.

    >>> round(float(laplace_quantile(1, 1, .05)), 4), round(bounds.laplace_error(1, 1, 1, .05), 4)
    (2.9957, 2.9957)
    """
    return -scale * np.log(-np.expm1(np.log1p(-beta) / k))


def laplace_loss(epsilon, half_the_noise):
    """The privacy loss of every output z of one noisy answer, on two neighbours with true answers 0 and Δ = 1."""
    z = np.linspace(-2, 3, 51)
    scale = (.5 if half_the_noise else 1) / epsilon
    loss = (abs(z - 1) - abs(z)) / scale                        # of Lap(scale) around 0 against around Δ = 1
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
    limit = [bounds.exponential_failure(g, .5, 1, k) for g in gaps.tolist()]
    limit_noisy_max = [min(1, bounds.noisy_max_failure(g, .5, 1, k)) for g in gaps.tolist()]
    at = bounds.exponential_gap(.5, 1, k, beta)
    return Plot(
        gaps,
        [
            measured("exponential mechanism, exact", [exponential_misses(g, k) for g in gaps]),
            measured("report noisy max, exact", [noisy_max_misses(g, k) for g in gaps]),
            bound("exponential mechanism: k e^(−g)", limit),
            bound("report noisy max: (k−1)(1+g/2)e^(−g)/2", limit_noisy_max),
        ],
        "gap g to the best score, in units of 2Δ/ε₀",
        "probability to miss by g",
        yscale="log",
        check=Check(exponential_misses(at, k), beta, f"exponential mechanism at g = ln(k/β) = {at:.1f}"),
        marks=[("ln(k/β)", at)],
    )


def exponential_misses(gap, k):
    """Pr[the exponential mechanism misses the best of k by `gap`], all rivals exactly that far behind; unit 2Δ/ε₀.

    >>> round(exponential_misses(np.log(500 / .05), 500), 4)
    0.0475
    """
    return float(exponential_probabilities(np.concatenate([[gap], np.zeros(k - 1)]), .5, 1)[1:].sum())


def noisy_max_misses(gap, k):
    """The same for report noisy max, Lap(1) noise: given the leader's noise z the rivals are independent; integrate over z.

    >>> round(noisy_max_misses(6., 2) / bounds.noisy_max_failure(6., .5, 1, 2), 6)
    1.0
    """
    nodes, weights = np.polynomial.legendre.leggauss(12)
    edges = np.sort(np.concatenate([np.linspace(-44, 44, 89), [-gap]]))     # the integrand has kinks at 0 and -gap
    half = np.diff(edges)[:, None] / 2
    z = edges[:-1, None] + half * (nodes + 1)
    v = gap + z
    log_below = np.where(v > 0, np.log1p(-np.exp(-abs(v)) / 2), -np.log(2) - abs(v))        # ln Pr[Lap(1) <= v]
    some_rival = -np.expm1((k - 1) * log_below)
    return float(np.sum(half * weights * np.exp(-abs(z)) / 2 * some_rival))


def gap_missed_with(probability, misses, k):
    """The gap that `misses(gap, k)` falls short of with the given probability, by bisection: `misses` falls with the gap.

    >>> round(gap_missed_with(.05, exponential_misses, 500), 3)
    9.157
    """
    low, high = 0.0, 60.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if misses(middle, k) > probability else (low, middle)
    return high


def budget(epsilon, delta):
    """The ε₀ that each of T rounds may spend, by accountant."""
    rounds = np.array([1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000])
    allowed = lambda rule: np.array([rule(epsilon, delta, T) for T in rounds.tolist()])
    optimal, advanced = allowed(composition.epsilon0_optimal), allowed(composition.epsilon0_advanced)
    return Plot(
        rounds,
        [
            measured("optimum for pure steps", optimal),
            measured("advanced, solved for ε₀", advanced),
            measured("exponential mechanisms only", allowed(composition.epsilon0_bounded_range)),
            bound("budget lemma", allowed(composition.budget_lemma)),
            truth("basic: ε/T", [composition.epsilon0_basic(epsilon, T) for T in rounds.tolist()]),
        ],
        "rounds T",
        "allowed ε₀ per round",
        xscale="log",
        yscale="log",
        check=Check(advanced[11], optimal[11], "at T = 100, advanced against optimum"),
        marks=[("8 ln(1/δ)", bounds.budget_limit(delta))],
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
