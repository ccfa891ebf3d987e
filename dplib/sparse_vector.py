"""The sparse vector technique (chapter 6): which queries are above a threshold, at the price of the few that are.

| in the book | here |
|---|---|
| threshold τ, noisy threshold τ̂ = τ + Z₀ | `threshold`, `_noisy_threshold` |
| answer f_i(x), sensitivity Δ | `answer`, `sensitivity` |
| number of ⊤ allowed c, budget of one run ε' | `c`, `run_epsilon` |
| ⊤ and ⊥ | `True` and `False` |

`AboveThreshold`, `Sparse` and `NumericSparse` are streams: one query at a time, each chosen after the last answer
was seen. `run_many` runs a whole family of such algorithms, given as a `Rule`, many times at once.
"""

import math
from dataclasses import dataclass

import numpy as np

from dplib._validate import count, delta_or_zero, finite_array, generator, nonnegative, positive
from dplib.bounds import budget_epsilon0


class BudgetSpent(RuntimeError):
    """The mechanism has halted: one more answer would not be covered by its guarantee."""


def scales(epsilon, sensitivity=1.0):
    """The Laplace scales of AboveThreshold: 2Δ/ε for the threshold, 4Δ/ε for each query.

    >>> scales(0.5)
    (4.0, 8.0)
    """
    epsilon, sensitivity = positive("epsilon", epsilon), positive("sensitivity", sensitivity)
    return 2 * sensitivity / epsilon, 4 * sensitivity / epsilon


def run_epsilon(c, epsilon, delta=0.0):
    """The budget ε' of each of the c runs inside Sparse: ε/c if δ = 0, else ε/√(8c ln(1/δ)).

    >>> run_epsilon(10, 1.0), round(run_epsilon(10, 1.0, 1e-6), 6)
    (0.1, 0.03008)
    """
    c, epsilon, delta = count("c", c), positive("epsilon", epsilon), delta_or_zero(delta)
    return budget_epsilon0(epsilon, delta, c) if delta > 0 else epsilon / c


class AboveThreshold:
    """Answer ⊥ to every query until one is (noisily) at or above the threshold; answer ⊤ to that one and halt.

    threshold: τ, public.   epsilon: the whole budget, however many queries are asked.
    sensitivity: Δ, the most by which one record can change an answer.   rng: numpy Generator.

    >>> stream = AboveThreshold(0.0, 1.0, rng=np.random.default_rng(0))
    >>> [stream.ask(-100.0), stream.ask(-100.0), stream.ask(+100.0)]
    [False, False, True]

    **Guarantee** (x ~ x': replace one record; adaptively chosen queries of sensitivity Δ): (ε, 0)-DP.
    Accuracy α = 6Δ ln((k+1)/β)/ε over k processed queries.
    Claim: thm-above-threshold-privacy, thm-above-threshold-accuracy
    """

    def __init__(self, threshold, epsilon, *, sensitivity=1.0, rng):
        threshold_scale, self._query_scale = scales(epsilon, sensitivity)
        threshold, self._rng = _number("threshold", threshold), generator(rng)
        noise = self._rng.laplace(scale=threshold_scale)  # [AT-1]
        self._noisy_threshold = threshold + noise
        self.halted = False

    def ask(self, answer):
        """True (⊤, and halt) or False (⊥) for the query with this true answer."""
        if self.halted:
            raise BudgetSpent("AboveThreshold said ⊤: its budget is spent")
        answer = _number("answer", answer)
        noise = self._rng.laplace(scale=self._query_scale)  # [AT-2]
        if answer + noise >= self._noisy_threshold:  # [AT-3]
            self.halted = True
            return True
        return False  # [AT-4]


class Sparse:
    """The first c queries at or above the threshold: AboveThreshold, restarted with fresh noise after each ⊤.

    >>> stream = Sparse(0.0, 2, 100.0, rng=np.random.default_rng(0))
    >>> [stream.ask(answer) for answer in (-9.0, 9.0, -9.0, 9.0)], stream.halted
    ([False, True, False, True], True)

    **Guarantee** (replace-one, adaptive queries of sensitivity Δ): (ε, δ)-DP; δ > 0 needs ε ≤ 8 ln(1/δ).
    Claim: thm-sparse-privacy, thm-sparse-accuracy
    """

    def __init__(self, threshold, c, epsilon, delta=0.0, *, sensitivity=1.0, rng):
        budget = run_epsilon(c, epsilon, delta)  # [SP-1]
        self._fresh_run = lambda: AboveThreshold(threshold, budget, sensitivity=sensitivity, rng=rng)
        self._run, self.c, self.count = self._fresh_run(), c, 0  # [SP-2]

    @property
    def halted(self):
        return self.count == self.c

    def ask(self, answer):
        """True (⊤) or False (⊥) for the next query; raises `BudgetSpent` after the c-th ⊤."""
        if self.halted:
            raise BudgetSpent(f"Sparse has answered ⊤ {self.c} times and halted: its budget is spent")
        above = self._run.ask(answer)  # [SP-3]
        if above:
            self.count += 1  # [SP-4]
        if above and not self.halted:
            self._run = self._fresh_run()  # [SP-5]
        return above


class NumericSparse:
    """Sparse that also publishes the value of each query it reports, with Laplace noise of its own.

    >>> stream = NumericSparse(0.0, 1, 1e4, rng=np.random.default_rng(0))
    >>> stream.ask(-9.0), round(stream.ask(9.0), 1)
    (None, 9.0)

    **Guarantee** (replace-one, adaptive queries of sensitivity Δ): (ε, δ)-DP; δ > 0 needs ε ≤ 9 ln(2/δ).
    Claim: thm-numeric-sparse-privacy, thm-numeric-sparse-accuracy
    """

    def __init__(self, threshold, c, epsilon, delta=0.0, *, sensitivity=1.0, rng):
        sparse_epsilon, self._answer_scale = numeric_split(c, epsilon, delta, sensitivity)  # [NS-1]
        self._sparse = Sparse(threshold, c, sparse_epsilon, delta / 2, sensitivity=sensitivity, rng=rng)  # [NS-2]
        self._rng = rng

    @property
    def halted(self):
        return self._sparse.halted

    def ask(self, answer):
        """A noisy value (⊤) or None (⊥) for the next query; raises `BudgetSpent` after the c-th ⊤."""
        if not self._sparse.ask(answer):  # [NS-3]
            return None
        return float(answer + self._rng.laplace(scale=self._answer_scale))  # [NS-4]


def numeric_split(c, epsilon, delta=0.0, sensitivity=1.0):
    """How NumericSparse spends (ε, δ): (8ε/9, δ/2) to find the queries; each of c answers gets Laplace noise so
    that together they cost (ε/9, δ/2). Returns 8ε/9 and the scale of that noise.

    Claim: thm-numeric-sparse-privacy, thm-numeric-sparse-accuracy

    >>> numeric_split(1, 9.0)
    (8.0, 1.0)
    """
    find, answer = 8 * positive("epsilon", epsilon) / 9, epsilon / 9
    return find, positive("sensitivity", sensitivity) / run_epsilon(c, answer, delta_or_zero(delta) / 2)


@dataclass(frozen=True)
class Rule:
    """One member of the sparse vector family: which Laplace noise goes where, and when it stops.

    threshold_scale, query_scale: scales of Z₀ and of each Z_i (0: no noise).   c: halts after c ⊤ (None: never).
    refresh: draw Z₀ anew after each ⊤.   publish: what goes out with ⊤: nothing ("flag") or the very
    f_i(x) + Z_i that was compared ("compared", which is not private: `dplib.sparse_variants`).
    """

    threshold_scale: float
    query_scale: float
    c: int | None = 1
    refresh: bool = True
    publish: str = "flag"

    def __post_init__(self):
        nonnegative("threshold_scale", self.threshold_scale), nonnegative("query_scale", self.query_scale)
        if self.c is not None:
            count("c", self.c)
        if self.publish not in ("flag", "compared"):
            raise ValueError(f"publish must be 'flag' or 'compared', got {self.publish!r}")
        if self.publish == "compared" and self.query_scale == 0:
            raise ValueError("publish='compared' needs query_scale > 0: what it publishes would be the answer itself")


def sparse_rule(c, epsilon, delta=0.0, sensitivity=1.0):
    """The rule of `Sparse`; with c = 1 and δ = 0 that of `AboveThreshold`. Claim: lem-delta-pays

    >>> sparse_rule(10, 1.0)
    Rule(threshold_scale=20.0, query_scale=40.0, c=10, refresh=True, publish='flag')
    """
    return Rule(*scales(run_epsilon(c, epsilon, delta), sensitivity), c)


def one_threshold_rule(c, epsilon, sensitivity=1.0, *, share=None, monotone=False):
    """One draw of Z₀ for the whole run: Lap(Δ/ε₁) and Lap(2cΔ/ε₂), ε₁ + ε₂ = ε (Lap(cΔ/ε₂) if monotone).

    share: ε₁/ε; if None the split of `lem-budget-split`, ε₁ : ε₂ = 1 : (2c)^(2/3), or 1 : c^(2/3) if monotone.

    **Guarantee**: ε-DP under replace-one; with monotone=True for a relation of neighbours under which all answers move the
    same way, such as adding or removing a record for counting queries.
    Claim: thm-one-threshold, lem-budget-split

    >>> one_threshold_rule(4, 1.0, share=0.5).query_scale
    16.0
    """
    weight = count("c", c) if monotone else 2 * c
    share = 1 / (1 + weight ** (2 / 3)) if share is None else share
    if not 0 < share < 1:
        raise ValueError(f"share must be in the open interval (0, 1), got {share!r}")
    epsilon, sensitivity = positive("epsilon", epsilon), positive("sensitivity", sensitivity)
    return Rule(sensitivity / (share * epsilon), weight * sensitivity / ((1 - share) * epsilon), c, refresh=False)


@dataclass(frozen=True)
class Runs:
    """What R runs put out: `above[r, i]` is ⊤ for query i in run r; queries from `processed[r]` on were not reached.

    published: the numbers that went out with ⊤ (NaN elsewhere), for a rule that publishes what it compared; else None.
    """

    above: np.ndarray  # (R, k) bool
    processed: np.ndarray  # (R,) int
    published: np.ndarray | None = None  # (R, k) float

    def transcripts(self):
        """Each run's string of ⊥ and ⊤ packed into bytes (R,): equal transcripts, equal bytes."""
        packed = np.packbits(self.above, axis=1)
        return packed.view(f"S{packed.shape[1]}").ravel()


def run_many(rule, answers, threshold, rng, repeats=1):
    """Run `rule` on the answers f_1(x), …, f_k(x), fixed beforehand, `repeats` times, as one array program.

    answers: (k,), or (repeats, k) for answers that differ from run to run.

    >>> runs = run_many(Rule(0.0, 0.0, c=2), [1.0, -1.0, 1.0, 1.0], 0.0, np.random.default_rng(0))
    >>> runs.above.astype(int), runs.processed
    (array([[1, 0, 1, 0]]), array([3]))
    """
    answers, threshold = finite_array("answers", answers), _number("threshold", threshold)
    repeats, rng = count("repeats", repeats), generator(rng)
    if answers.ndim not in (1, 2) or (answers.ndim == 2 and len(answers) != repeats):
        raise ValueError(f"answers must have shape (k,) or ({repeats}, k), got {answers.shape}")
    k = answers.shape[-1]
    noisy = answers + rng.laplace(scale=rule.query_scale, size=(repeats, k))  # (R, k)
    thresholds = lambda: threshold + rng.laplace(scale=rule.threshold_scale, size=(repeats, 1))
    limit = k if rule.c is None else rule.c
    if not rule.refresh:
        above = noisy >= thresholds()
        above &= above.cumsum(axis=1) <= limit
    else:
        above = np.zeros((repeats, k), dtype=bool)
        waiting = np.ones((repeats, k), dtype=bool)  # queries that the coming threshold will judge
        for _ in range(limit):
            over = waiting & (noisy >= thresholds())
            first = np.where(over.any(axis=1), over.argmax(axis=1), k)  # (R,)
            above[first < k, first[first < k]] = True
            waiting &= np.arange(k) > first[:, None]
            if not waiting.any():
                break
    hits = above.cumsum(axis=1)
    processed = np.where(hits[:, -1] == limit, (hits < limit).sum(axis=1) + 1, k)
    published = np.where(above, noisy, np.nan) if rule.publish == "compared" else None
    return Runs(above, processed, published)


def _number(name, value):
    """A finite number, as a float; text and booleans are refused."""
    try:
        number = math.nan if isinstance(value, (bool, np.bool_, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number
