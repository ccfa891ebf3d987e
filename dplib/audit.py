"""Auditing: what runs of a mechanism prove about its ε, with stated confidence.

If a mechanism is (ε, δ)-DP, then P_x[E] ≤ e^ε P_x'[E] + δ for every event E and every pair of neighbours x, x'. Count how
often E happens on each side, put confidence limits around the two frequencies, and the inequality turns into a lower
bound on ε. A mechanism that keeps its promise passes with the stated probability, whatever the event.

    >>> round(float(epsilon_lower_bound(9_000, 1_000, 10_000, confidence=0.99)), 2)
    2.11
"""

import math
from dataclasses import dataclass

import numpy as np

from dplib._validate import count, delta_or_zero, finite_array, generator, positive, probability

CONFIDENCE = 1 - 1e-6  # a right mechanism is accused once in a million audits


def clopper_pearson(hits, runs, confidence):
    """One-sided limits (low, high) for a frequency of `hits` in `runs`: each holds with probability ≥ `confidence`.

    >>> [round(float(limit), 4) for limit in clopper_pearson(0, 100, 0.95)]
    [0.0, 0.0295]
    """
    from scipy.special import betaincinv

    hits, alpha = np.asarray(hits, dtype=float), 1 - probability("confidence", confidence)
    if (hits < 0).any() or (hits > count("runs", runs)).any():
        raise ValueError(f"hits must lie between 0 and runs = {runs}, got {hits}")
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), runs - hits + 1, alpha), 0.0)
    high = np.where(hits < runs, betaincinv(hits + 1, np.maximum(runs - hits, 1), 1 - alpha), 1.0)
    return low, high


def epsilon_lower_bound(hits, neighbour_hits, runs, *, confidence=CONFIDENCE, delta=0.0):
    """ln((p_low − δ)/q_high), or 0 if that is less: no (ε, δ)-DP mechanism with a smaller ε gives these counts, except
    with probability 1 − `confidence` (half of it for each limit). Counts may be arrays."""
    delta, half = delta_or_zero(delta), (1 + probability("confidence", confidence)) / 2
    low, high = clopper_pearson(hits, runs, half)[0], clopper_pearson(neighbour_hits, runs, half)[1]
    with np.errstate(divide="ignore"):
        bound = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
    return np.maximum(bound, 0.0)[()]


@dataclass(frozen=True)
class Certificate:
    """An audit's finding: with the stated confidence the mechanism's ε is at least `epsilon`.

    event: the outcomes counted.   hits, other_hits: how often among `runs` on each side.   swapped: the side that
    gives the event more often is the neighbour's.
    """

    epsilon: float
    event: tuple
    hits: int
    other_hits: int
    runs: int
    confidence: float
    delta: float
    swapped: bool


def audit(sample, neighbour_sample, rng, runs, *, confidence=CONFIDENCE, delta=0.0):
    """A lower bound on ε from `runs` outcomes on each of two neighbours.

    sample(rng, r), neighbour_sample(rng, r): r independent outcomes as a 1-d array (numbers or byte strings).
    One half of the runs chooses the event (a set of outcomes, and a direction), the other half measures it, so that the
    choice costs no confidence.

    >>> coin = lambda p: lambda rng, r: (rng.random(r) < p).astype(int)
    >>> audit(coin(.2), coin(.05), np.random.default_rng(0), 20_000).event
    (1,)
    """
    half = count("runs", runs, least=2) // 2
    rng = generator(rng)
    draws = [np.asarray(draw(rng, 2 * half)) for draw in (sample, neighbour_sample)]
    for draw in draws:
        if draw.shape != (2 * half,):
            raise ValueError(f"a sample of {2 * half} outcomes must be a 1-d array, got shape {draw.shape}")
    outcomes, codes = np.unique(np.concatenate(draws), return_inverse=True)
    chosen, measured = np.split(codes.reshape(2, 2, half), 2, axis=1)  # (side, 1, half) each
    tally = lambda part: np.stack([np.bincount(side.ravel(), minlength=len(outcomes)) for side in part])  # (2, o)
    first, second = tally(chosen), tally(measured)
    best = max((_best_event(first[::step], half, confidence, delta) + (step,) for step in (1, -1)), key=lambda b: b[0])
    _, event, step = best
    hits, other = (int(n) for n in second[::step][:, event].sum(axis=1))
    epsilon = float(epsilon_lower_bound(hits, other, half, confidence=confidence, delta=delta))
    return Certificate(epsilon, tuple(outcomes[event].tolist()), hits, other, half, confidence, delta, step == -1)


def _best_event(tallies, runs, confidence, delta):
    """The set of outcomes with the best bound among those that a likelihood-ratio test would use."""
    order = np.argsort(-(tallies[0] + 0.5) / (tallies[1] + 0.5), kind="stable")
    hits, other = tallies[:, order].cumsum(axis=1)
    bounds = np.atleast_1d(epsilon_lower_bound(hits, other, runs, confidence=confidence, delta=delta))
    size = int(bounds.argmax()) + 1
    return float(bounds[size - 1]), np.sort(order[:size])


def power(p, q, runs, epsilon, *, confidence=CONFIDENCE, delta=0.0):
    """The probability that `runs` measured runs on each side certify more than ε, for an event of probability p and q.

    >>> [round(power(.2, .05, runs, 1.0), 3) for runs in (1000, 3000, 10_000)]
    [0.0, 0.017, 0.966]
    """
    from scipy.special import bdtr, gammaln

    runs, p, q = count("runs", runs), probability("p", p), probability("q", q)
    spread = 10 * math.sqrt(runs * p * (1 - p)) + 50
    hits = np.arange(max(0, math.floor(runs * p - spread)), min(runs, math.ceil(runs * p + spread)) + 1)
    log_choose = gammaln(runs + 1) - gammaln(hits + 1) - gammaln(runs - hits + 1)
    weight = np.exp(log_choose + hits * math.log(p) + (runs - hits) * math.log1p(-p))
    half = (1 + confidence) / 2
    limit = (clopper_pearson(hits, runs, half)[0] - delta) * math.exp(-epsilon)  # q_high must stay below this
    highs = clopper_pearson(np.arange(runs + 1), runs, half)[1]  # increasing
    most = np.searchsorted(highs, limit, side="left") - 1  # largest count on the other side that still certifies
    return float((weight * np.where(most >= 0, bdtr(np.maximum(most, 0), runs, q), 0.0)).sum())


def runs_needed(p, q, epsilon, *, confidence=CONFIDENCE, chance=0.99, most=10**7):
    """The least number of measured runs on each side, to 1 %, that certify more than ε with probability `chance`.

    >>> runs_needed(.2, .05, 1.0)
    11200
    """
    if math.log(p / q) <= positive("epsilon", epsilon):
        raise ValueError(f"ln(p/q) = {math.log(p / q):.4g} is not above epsilon = {epsilon}: no number of runs shows it")
    enough = lambda runs: power(p, q, runs, epsilon, confidence=confidence) >= chance
    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            raise ValueError(f"more than {most} runs are needed for p = {p}, q = {q}, epsilon = {epsilon}")
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def departs_from_law(counts, probabilities, false_alarm=1e-6):
    """Does an outcome occur too often or too rarely for the stated law? The index of the worst one, or None.

    For K ~ Bin(n, p), P[n·kl(K/n, p) > t] ≤ 2e^-t for every n; with M outcomes, t = ln(2M/false_alarm) keeps the
    probability of accusing the right law below `false_alarm`.

    >>> departs_from_law([500, 500], [.5, .5]), departs_from_law([600, 400], [.5, .5])
    (None, 0)
    """
    counts, p = finite_array("counts", counts), finite_array("probabilities", probabilities)
    if counts.shape != p.shape or counts.min() < 0 or p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        raise ValueError(f"one count >= 0 per probability is needed, summing to 1; got {counts} and {p}")
    frequency = counts / counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(a > 0, a * np.log(a / b), 0.0) for a, b in ((frequency, p), (1 - frequency, 1 - p))]
    excess = counts.sum() * (terms[0] + terms[1])
    worst = int(np.argmax(excess))
    return worst if excess[worst] > math.log(2 * len(p) / probability("false_alarm", false_alarm)) else None
