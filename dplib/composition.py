"""What many private steps cost together, and the inverse: the ε₀ each of T rounds may spend.

Accountants for T adaptively chosen ε₀-DP mechanisms, each a theorem of the foundations chapter. They hold for
whatever neighbouring relation the single steps are private for; in this book that is replace-one.
"""

from dataclasses import dataclass
from math import exp, log, sqrt

from dplib import bounds
from dplib._validate import count, delta_or_zero, positive, probability


def basic(rounds, epsilon0):
    """T ε₀: the sum.

    >>> basic(100, .05)
    5.0

    **Guarantee.** (this, 0)-DP. Claim: thm-basic-composition.
    """
    return bounds.basic_composition([positive("epsilon0", epsilon0) * count("rounds", rounds)])[0]


def advanced(rounds, epsilon0, delta):
    """T ε₀²/2 + ε₀ √(2T ln(1/δ)).

    >>> round(advanced(100, .05, 1e-6), 3)
    2.753

    **Guarantee.** (this, delta)-DP, for every delta in (0, 1). Claim: thm-advanced-composition.
    """
    return bounds.advanced_composition(rounds, epsilon0, delta)


def bounded_range(rounds, epsilon0, delta):
    """T ε₀²/8 + ε₀ √(T ln(1/δ)/2): only if every step is an exponential mechanism run at ε₀.

    >>> round(bounded_range(100, .05, 1e-6), 3)
    1.345

    **Guarantee.** (this, delta)-DP. Claim: thm-bounded-range.
    """
    return bounds.bounded_range_composition(rounds, epsilon0, delta)


def optimal(rounds, epsilon0, delta):
    """The least ε such that every T adaptive ε₀-DP mechanisms are (ε, δ)-DP: no accountant can do better.

    >>> round(optimal(100, .05, 1e-6), 3), optimal(1, .5, 0)
    (2.208, 0.5)

    **Guarantee.** (this, delta)-DP. Claim: thm-optimal-composition.
    """
    delta = delta_or_zero(delta)
    total = basic(rounds, epsilon0)
    if delta == 0:
        return total
    if bounds.optimal_composition_delta(rounds, epsilon0, 0) <= delta:
        return 0.0
    return _bisect(lambda eps: bounds.optimal_composition_delta(rounds, epsilon0, eps) <= delta, total, 0)


def zcdp(rho, delta, conversion="tight"):
    """The ε of (ε, delta)-DP that ρ-zCDP implies.

    "simple": ρ + 2√(ρ ln(1/δ)). "tight": the least ε over all orders a > 1 of the Rényi divergence. The function of
    a that is minimised falls and then rises, so a golden-section search finds it; any a gives a valid ε.

    >>> round(zcdp(.125, 1e-6, "simple"), 4), round(zcdp(.125, 1e-6), 4)
    (2.7533, 2.4191)

    **Guarantee.** Claim: lem-zcdp-conversion.
    """
    if conversion == "simple":
        return bounds.zcdp_epsilon(rho, delta)
    if conversion != "tight":
        raise ValueError(f'conversion must be "simple" or "tight", got {conversion!r}')
    rho, L = positive("rho", rho), -log(probability("delta", delta))
    epsilon = lambda log_gap: bounds.zcdp_epsilon_at_order(rho, delta, 1 + exp(log_gap))
    centre = log(L / rho) / 2                                   # near the best order of the simple conversion
    return max(0.0, epsilon(_minimise(epsilon, centre - 8, centre + 8)))


def rho_pure(epsilon0):
    """ε₀²/2: the zCDP parameter of one ε₀-DP step.

    >>> rho_pure(.5)
    0.125

    **Guarantee.** Claim: lem-bounded-loss, with a loss in [-ε₀, ε₀].
    """
    return bounds.renyi_divergence(2, 2 * positive("epsilon0", epsilon0)) / 2


def rho_bounded_range(epsilon0):
    """ε₀²/8: the zCDP parameter of one exponential mechanism run at ε₀.

    >>> rho_bounded_range(1)
    0.125

    **Guarantee.** Claim: lem-bounded-loss, with a loss in an interval of length ε₀; thm-bounded-range.
    """
    return bounds.renyi_divergence(2, positive("epsilon0", epsilon0)) / 2


def rho_budget(epsilon, delta, conversion="tight"):
    """The largest ρ whose conversion to approximate DP stays within (epsilon, delta).

    >>> round(rho_budget(1, 1e-6, "simple"), 5), round(rho_budget(1, 1e-6), 5)
    (0.01747, 0.02436)

    **Guarantee.** Claim: lem-zcdp-conversion.
    """
    epsilon, L = positive("epsilon", epsilon), -log(probability("delta", delta))
    simple = (epsilon / (sqrt(L + epsilon) + sqrt(L))) ** 2     # the root of ρ + 2√(ρL) = ε, without cancellation
    if conversion == "simple":
        return simple
    high = 2 * simple
    while zcdp(high, delta, conversion) <= epsilon:
        high *= 2
    return _bisect(lambda rho: zcdp(rho, delta, conversion) <= epsilon, simple, high)


def budget_lemma(epsilon, delta, rounds):
    """ε / √(8 T ln(1/δ)): the ε₀ that a chapter can carry in its head. Refuses ε > 8 ln(1/δ).

    >>> round(budget_lemma(1, 1e-6, 100), 5)
    0.00951

    **Guarantee.** T rounds at this ε₀ are (epsilon, delta)-DP. Claim: lem-budget.
    """
    return bounds.budget_epsilon0(epsilon, delta, rounds)


def epsilon0_basic(epsilon, rounds):
    """ε / T: the ε₀ with basic(T, ε₀) = ε.

    >>> epsilon0_basic(1, 100)
    0.01

    **Guarantee.** T rounds at this ε₀ are (epsilon, 0)-DP. Claim: thm-basic-composition.
    """
    return positive("epsilon", epsilon) / count("rounds", rounds)


def epsilon0_advanced(epsilon, delta, rounds):
    """The ε₀ with advanced(T, ε₀, δ) = ε.

    >>> round(epsilon0_advanced(1, 1e-6, 100), 5)
    0.01869

    **Guarantee.** T rounds at this ε₀ are (epsilon, delta)-DP. Claim: thm-advanced-composition.
    """
    return sqrt(2 * rho_budget(epsilon, delta, "simple") / count("rounds", rounds))


def epsilon0_bounded_range(epsilon, delta, rounds, conversion="simple"):
    """The ε₀ with bounded_range(T, ε₀, δ) = ε; with conversion="tight" more, by the tight conversion of ρ.

    >>> round(epsilon0_bounded_range(1, 1e-6, 100), 5), round(epsilon0_bounded_range(1, 1e-6, 100, "tight"), 5)
    (0.03738, 0.04414)

    **Guarantee.** T exponential mechanisms at this ε₀ are (epsilon, delta)-DP. Claim: thm-bounded-range.
    """
    return sqrt(8 * rho_budget(epsilon, delta, conversion) / count("rounds", rounds))


def epsilon0_optimal(epsilon, delta, rounds):
    """The largest ε₀ such that every T adaptive ε₀-DP mechanisms are (epsilon, delta)-DP.

    >>> round(epsilon0_optimal(1, 1e-6, 100), 5)
    0.02401

    **Guarantee.** Claim: thm-optimal-composition.
    """
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta)
    fits = lambda e0: bounds.optimal_composition_delta(rounds, e0, epsilon) <= delta
    good = max(epsilon0_basic(epsilon, rounds), epsilon0_advanced(epsilon, delta, rounds))
    bad = 2 * good
    while fits(bad):
        good, bad = bad, 2 * bad
    return _bisect(fits, good, bad)


@dataclass(frozen=True)
class Allowance:
    """The ε₀ that each round may spend, and the accountant that allows it."""

    epsilon0: float
    accountant: str


def allowances(epsilon, delta, rounds, exponential=False):
    """The ε₀ each of T rounds may spend so that all are (epsilon, delta)-DP together, by accountant: a dict.

    With exponential=True every round is an exponential mechanism and two more accountants apply. With delta = 0 only
    basic composition does. The budget lemma is left out where its hypothesis ε <= 8 ln(1/δ) fails.

    >>> {name: round(e0, 4) for name, e0 in allowances(1, 1e-6, 100).items()}
    {'basic': 0.01, 'budget lemma': 0.0095, 'advanced': 0.0187, 'optimal': 0.024}

    **Guarantee.** Claim: thm-basic-composition, lem-budget, thm-advanced-composition, thm-optimal-composition,
    thm-bounded-range.
    """
    epsilon, delta, T = positive("epsilon", epsilon), delta_or_zero(delta), count("rounds", rounds)
    found = {"basic": epsilon0_basic(epsilon, T)}
    if delta > 0:
        if epsilon <= bounds.budget_limit(delta):
            found["budget lemma"] = budget_lemma(epsilon, delta, T)
        found["advanced"] = epsilon0_advanced(epsilon, delta, T)
        found["optimal"] = epsilon0_optimal(epsilon, delta, T)
        if exponential:
            found["bounded range"] = epsilon0_bounded_range(epsilon, delta, T)
            found["bounded range, tight"] = epsilon0_bounded_range(epsilon, delta, T, "tight")
    return found


def best_epsilon0(epsilon, delta, rounds, exponential=False):
    """The largest of the allowances, with the name of the accountant that gives it.

    >>> best_epsilon0(1, 0, 10)
    Allowance(epsilon0=0.1, accountant='basic')

    **Guarantee.** T rounds at this ε₀ are (epsilon, delta)-DP together; every accountant is valid, so is the best.
    """
    found = allowances(epsilon, delta, rounds, exponential)
    name = max(found, key=found.get)                            # the first of equals: the simplest
    return Allowance(found[name], name)


def _bisect(holds, good, bad):
    """A point where `holds` is true, next to one where it is not: the safe end of the bracket."""
    while abs(bad - good) > 1e-13 * max(abs(good), abs(bad)):
        middle = (good + bad) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good


def _minimise(f, low, high):
    """Golden-section search for the minimum of a function that falls and then rises."""
    shrink = (sqrt(5) - 1) / 2
    while high - low > 1e-9:
        left, right = high - shrink * (high - low), low + shrink * (high - low)
        low, high = (low, right) if f(left) < f(right) else (left, high)
    return (low + high) / 2
