"""The pictures of chapter 6. Callbacks of `explore` are functions of their parameters alone: each makes its generator
from a fixed seed, so that a slider moves the curves and not the luck."""

import math

import numpy as np

from dplib import bounds
from dplib.audit import epsilon_lower_bound
from dplib.figures import GREY, PALETTE, style
from dplib.plot import Check, Plot, bound, measured, truth
from dplib.sparse_law import log_probability, privacy_loss
from dplib.sparse_variants import VARIANTS
from dplib.sparse_vector import AboveThreshold, one_threshold_rule, run_epsilon, run_many, scales, sparse_rule

RULES = {
    "Sparse (private)": "alg2",
    "one threshold draw, halves (private)": "alg1",
    "query noise without c": "broken_unscaled",
    "Algorithm 4": "broken_alg4",
    "Algorithm 6": "broken_alg6",
    "no threshold noise": "broken_no_threshold_noise",
    "publishes what it compared": "broken_alg3",
}


def largest_noises(k, c, run_epsilon, repeats=8000, seed=6):
    """max|Z₀| + max|Z_i| over c threshold and k query noises (Δ = 1): what the proofs bound, `repeats` times.

    |Lap(s)| is exponential with mean s and the largest of k such is −s ln(1 − U^(1/k)): one draw instead of k.
    """
    u = np.random.default_rng(seed).random((2, repeats))
    largest = lambda u, count, scale: -scale * np.log(-np.expm1(np.log(u) / count))
    threshold_scale, query_scale = scales(run_epsilon)
    return largest(u[0], c, threshold_scale) + largest(u[1], k, query_scale)


def comparison_errors(k, epsilon, sensitivity=1.0, repeats=8000, seed=6):
    """How far the k comparisons of one AboveThreshold run are off, max_i |Z_i − Z₀|, `repeats` times.

    Only the largest and the smallest Z_i matter. The share of the law of Z below the largest of k is U^(1/k); below the
    smallest it is that times 1 − V^(1/(k−1)), because the others are independent draws from below the largest.
    """
    u, v, w = np.random.default_rng(seed).random((3, repeats))
    beyond = -np.expm1(np.log(u) / k)  # share of the law above the largest, kept apart: it is tiny
    below = (1 - beyond) * (-np.expm1(np.log(v) / (k - 1)) if k > 1 else np.ones(repeats))
    threshold_scale, query_scale = scales(epsilon, sensitivity)
    upper = lambda tail: np.where(tail < 0.5, -np.log(2 * tail), np.log(2 * (1 - tail)))  # Lap(1) with this much above
    top = query_scale * upper(beyond)
    bottom = top if k == 1 else -query_scale * upper(below)
    z0 = threshold_scale * upper(w)
    return np.maximum(np.abs(top - z0), np.abs(bottom - z0))


def accuracy(epsilon, n=1000, beta=0.05):
    """How far off AboveThreshold's comparisons are, for averages over n records (Δ = 1/n), as k grows."""
    ks, errors, six, eight = _accuracy(epsilon, n, beta)
    quantile, at = np.quantile(errors, 1 - beta, axis=1), ks.tolist().index(1000)
    return Plot(
        ks,
        [
            measured("measured: exceeded with probability β", quantile, *np.quantile(errors, [0.25, 0.75], axis=1)),
            bound("6Δ ln((k+1)/β)/ε", six),
            bound("8Δ(ln k + ln(2/β))/ε", eight),
        ],
        "queries processed k",
        "error α of a comparison",
        xscale="log",
        yscale="log",
        check=Check(quantile[at], six[at], "at k = 1000"),
    )


def first_alarm(epsilon):
    """The front page's figure: error against the number of averages watched, over 1000 people."""
    ks, errors, six, _ = _accuracy(epsilon, 1000, 0.05)
    quantile, at = np.quantile(errors, 0.95, axis=1), ks.tolist().index(1000)
    return Plot(
        ks,
        [measured("error that 95 % of the runs stay below", quantile), bound("what the theorem promises", six)],
        "number of averages watched",
        "error",
        xscale="log",
        check=Check(quantile[at], six[at], "at 1000 averages"),
    )


def _accuracy(epsilon, n, beta):
    ks = np.array([1, 3, 10, 32, 100, 316, 1000, 3162, 10_000])
    delta = bounds.linear_query_sensitivity(n)
    errors = np.stack([comparison_errors(k, epsilon, delta) for k in ks])  # (9, R)
    forms = bounds.above_threshold_error, bounds.above_threshold_error_textbook
    return ks, errors, *([form(int(k), beta, epsilon, delta) for k in ks] for form in forms)


def loss_by_rule(rule, c, epsilon):
    """The exact privacy loss of the output ⊥…⊥ ⊤…⊤ (b times ⊥, c times ⊤) as b grows, for one rule."""
    below = np.array([1, 2, 3, 5, 8, 13, 21, 34, 55, 100])
    losses = [worst_loss(VARIANTS[RULES[rule]](c, epsilon), int(b), c) for b in below]
    return Plot(
        below,
        [measured("exact loss of this output", losses), bound("promised ε", np.full(len(below), epsilon))],
        "number b of ⊥ before the ⊤",
        "privacy loss",
        xscale="log",
        yscale="log",
        check=Check(losses[-1], epsilon, f"at b = 100, c = {c}"),
    )


def worst_loss(rule, b, c):
    """Loss of ⊥^b ⊤^c when x' moves every ⊥ query up and every ⊤ query down by Δ = 1 (τ = 0, all answers of x are 0)."""
    top = True if rule.publish == "flag" else 0.0  # a published number: at the threshold
    return privacy_loss(rule, [0.0] * (b + c), [1.0] * b + [-1.0] * c, 0.0, [False] * b + [top] * c)


def certified(rule, c, runs, epsilon):
    """What an audit with `runs` measured runs on each side certifies on ⊥^b ⊤^c, twelve audits, beside the exact loss.

    How often an outcome occurs in `runs` runs is binomial with the exact probability, so the counts are drawn directly.
    """
    below = np.arange(1, 13)
    rng = np.random.default_rng(6)
    algorithm = VARIANTS[RULES[rule]](c, epsilon)
    exact, draws = [], []
    for b in below.tolist():
        outputs = [False] * b + [True] * c
        pair = [0.0] * (b + c), [1.0] * b + [-1.0] * c
        p, q = (math.exp(log_probability(algorithm, answers, 0.0, outputs)) for answers in pair)
        exact.append(math.log(p / q))
        draws.append(epsilon_lower_bound(rng.binomial(runs, p, 12), rng.binomial(runs, q, 12), runs))
    draws = np.array(draws).T  # (12, len(below))
    middle = np.median(draws, axis=0)
    return Plot(
        below,
        [
            measured("certified, twelve audits", middle, draws=draws),
            truth("exact loss of this output", exact),
            bound("promised ε", np.full(len(below), epsilon)),
        ],
        "number b of ⊥ before the ⊤",
        "ε certified",
        check=Check(middle[3], epsilon, f"at b = 4, c = {c}, the median audit"),
    )


def finding(c, epsilon, repeats=200):
    """The share of c interesting queries among 200 that three algorithms find; interesting τ + gap, the others τ − gap."""
    k, beta, delta = 200, 0.05, 1e-6
    gaps = np.array([5, 20, 40, 80, 130, 200, 400, 900, 2800])
    where = np.random.default_rng(66).permuted(np.tile(np.arange(k) < c, (repeats, 1)), axis=1)  # (R, k)
    rules = {
        "Sparse": sparse_rule(c, epsilon),
        "Sparse, δ = 10⁻⁶": sparse_rule(c, epsilon, delta),
        "one threshold draw": one_threshold_rule(c, epsilon),
    }
    def found(rule, gap):  # (R, k): which queries got ⊤
        return run_many(rule, np.where(where, gap, -gap), 0.0, np.random.default_rng(6), repeats).above

    share = lambda rule, gap: (found(rule, gap) & where).sum() / (c * repeats)
    alpha = bounds.sparse_error(k, beta, run_epsilon(c, epsilon), c)
    wrong = (found(rules["Sparse"], alpha) != where).any(axis=1).mean()
    return Plot(
        gaps,
        [measured(name, [share(rule, gap) for gap in gaps]) for name, rule in rules.items()],
        "gap to the threshold",
        "share found",
        xscale="log",
        check=Check(wrong, beta, "share of Sparse's runs with any error, at gap α"),
        marks=[("α", alpha), ("α with 8", bounds.sparse_error_textbook(k, beta, run_epsilon(c, epsilon), c))],
    )


def budget_split(c, monotone):
    """The spread of Z_i − Z₀ for every split ε₁ : ε₂ of ε = 1, drawn and from the formula, with the best split marked."""
    shares = np.linspace(0.03, 0.93, 31)
    noise = np.random.default_rng(6).laplace(size=(2, 4000))
    spread = []
    for share in shares:
        rule = one_threshold_rule(c, 1.0, share=share, monotone=monotone)
        spread.append(np.std(rule.query_scale * noise[1] - rule.threshold_scale * noise[0]))
    formula = lambda share: math.sqrt(bounds.comparison_variance(c, share, monotone=monotone))
    best = 1 / (1 + (c if monotone else 2 * c) ** (2 / 3))
    return Plot(
        shares,
        [measured("4000 draws", spread), bound("formula", [formula(s) for s in shares])],
        "share ε₁/ε of the threshold",
        "standard deviation of Zᵢ − Z₀",
        yscale="log",
        check=Check(formula(best), formula(0.5), "at the best share, against one half"),
        marks=[("best", best)],
    )


def delta_pays(epsilon, log10_delta):
    """Noise of Sparse with δ = 0 and δ > 0 as the number c of ⊤ grows (k = 1000 queries, β = 0.05)."""
    k, beta, delta = 1000, 0.05, 10.0**log10_delta
    cs = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
    error = lambda d: [np.quantile(largest_noises(k, int(c), run_epsilon(int(c), epsilon, d)), 1 - beta) for c in cs]
    limit = lambda d: [bounds.sparse_error(k, beta, run_epsilon(int(c), epsilon, d), int(c)) for c in cs]
    pure, approximate = error(0.0), error(delta)
    return Plot(
        cs,
        [
            measured("δ = 0", pure),
            measured("δ > 0", approximate),
            bound("6Δ ln((k+c)/β)/ε', δ = 0", limit(0.0)),
            bound("… δ > 0", limit(delta)),
        ],
        "number c of alarms",
        "max|Z₀| + max|Zᵢ|",
        xscale="log",
        yscale="log",
        check=Check(pure[6], limit(0.0)[6], "at c = 100, δ = 0"),
        marks=[("c = 8 ln(1/δ)", bounds.hits_where_delta_pays(delta))],
    )


class _Recording(np.random.Generator):
    """A generator that keeps the Laplace noise it has drawn: for pictures only, since noise that is seen protects nobody."""

    def __init__(self, rng):
        super().__init__(rng.bit_generator)
        self.drawn = []

    def laplace(self, loc=0.0, scale=1.0, size=None):
        self.drawn.append(super().laplace(loc, scale, size))
        return self.drawn[-1]


def twelve_runs(answers, threshold, epsilon, rng):
    """Twelve runs of AboveThreshold on one stream: a figure, and how many halted too early or too late.

    Right is the first query at or above the threshold. Dots are the true answers, crosses what was compared with the
    noisy threshold, until the halt.
    """
    import matplotlib.pyplot as plt

    answers = np.asarray(answers, float)
    number = np.arange(1, len(answers) + 1)
    right = int(np.argmax(answers >= threshold)) + 1
    early = late = 0
    with style():
        fig, axes = plt.subplots(3, 4, figsize=(9.2, 5.6), sharex=True, sharey=True)
        fig.subplots_adjust(left=0.065, right=0.99, bottom=0.09, top=0.95, wspace=0.06, hspace=0.28)
        for run, ax in enumerate(axes.flat, 1):
            recording = _Recording(rng)
            stream = AboveThreshold(threshold, epsilon, rng=recording)
            halt = next((i for i, answer in zip(number, answers) if stream.ask(answer)), len(answers) + 1)
            threshold_noise, *noise = recording.drawn
            noisy = answers[: len(noise)] + noise
            early, late = early + (halt < right), late + (halt > right)
            ax.axhline(threshold, color="black", ls=(0, (6, 3.5)), lw=1)
            ax.axhline(threshold + threshold_noise, color=PALETTE["blue"], lw=1.4)
            ax.plot(number, answers, ".", color=GREY, ms=3)
            ax.plot(number[: len(noise)], noisy, "x", color=PALETTE["vermillion"], ms=3, mew=1)
            if stream.halted:
                ax.plot(halt, noisy[-1], "o", ms=10, mfc="none", mew=2, color=PALETTE["vermillion"])
            verdict = "right" if halt == right else "too early" if halt < right else "too late"
            ax.set_title(f"run {run}: {verdict}", fontsize=9)
        for ax in axes[-1]:
            ax.set_xlabel("query $i$")
        for ax in axes[:, 0]:
            ax.set_ylabel("answer")
    return fig, early, late


def coupling_picture(g, f, g_neighbour, f_neighbour):
    """The event of x and that of x' in the plane of (t, v), and the translation that carries one onto the other."""
    import matplotlib.pyplot as plt

    shift = np.array([g_neighbour - g, g_neighbour - g + f - f_neighbour])
    with style():
        fig, ax = plt.subplots(figsize=(6.2, 4.2))
        fig.subplots_adjust(left=0.1, right=0.98, bottom=0.13, top=0.97)
        t = np.array([0.0, 8.0])
        for left, answer, colour, name, hatch in (
            (g, f, PALETTE["blue"], "noise that gives ⊥…⊥⊤ on x", "//"),
            (g_neighbour, f_neighbour, PALETTE["vermillion"], "noise that gives ⊥…⊥⊤ on x′", "\\\\"),
        ):
            edge = np.maximum(t, left)
            ax.fill_between(edge, edge - answer, 6, facecolor=colour, alpha=0.2, hatch=hatch, edgecolor=colour, label=name)
        for start in ((g + 0.5, g + 0.5 - f + 1), (g + 2.0, g + 2.0 - f + 0.4), (g + 1.2, g + 1.2 - f + 2.6)):
            ax.annotate("", np.add(start, shift), start, arrowprops={"arrowstyle": "->", "lw": 1.6})
        ax.set(xlim=(1, 7), ylim=(-4, 6), xlabel="noisy threshold t", ylabel="noise v of the query that got ⊤")
        ax.legend(loc="lower right")
    return fig
