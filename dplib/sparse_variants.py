"""Published sparse vector algorithms, right and broken, as rules (numbering of Lyu, Su and Li, 2017).

Two of the six are private at the ε they are run with: `alg1` and `alg2` (Dwork and Roth's Sparse). The other four were
published and used; each name below says what is wrong. Never use a rule whose name starts with `broken_` on data.

    >>> sorted(VARIANTS)
    ['alg1', 'alg2', 'broken_alg3', 'broken_alg4', 'broken_alg5', 'broken_alg6', 'broken_no_threshold_noise', 'broken_unscaled']
"""

from dplib._validate import count, positive
from dplib.sparse_vector import Rule, one_threshold_rule, scales, sparse_rule


def alg1(c, epsilon, sensitivity=1.0):
    """Private. One threshold draw, half of the budget on it: Lap(2Δ/ε) and Lap(4cΔ/ε)."""
    return one_threshold_rule(c, epsilon, sensitivity, share=0.5)


def alg2(c, epsilon, sensitivity=1.0):
    """Private. Dwork and Roth's Sparse: Lap(2cΔ/ε), drawn anew after each ⊤, and Lap(4cΔ/ε)."""
    return sparse_rule(c, epsilon, 0.0, sensitivity)


def broken_alg3(c, epsilon, sensitivity=1.0):
    """Not private for any ε: publishes the noisy answer that was compared. Lap(2Δ/ε) and Lap(2cΔ/ε).

    Claim: lem-reused-noise
    """
    b = 2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return Rule(b, count("c", c) * b, c, refresh=False, publish="compared")


def broken_alg4(c, epsilon, sensitivity=1.0):
    """(1+6c)ε/4-DP only: the query noise does not grow with c. Lap(4Δ/ε) and Lap(4Δ/3ε).

    Claim: lem-broken-variants
    """
    unit = positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return Rule(4 * unit, 4 / 3 * unit, c, refresh=False)


def broken_alg5(c, epsilon, sensitivity=1.0):
    """Not private for any ε: no query noise at all, and no limit on the number of ⊤. Lap(2Δ/ε). `c` is ignored.

    Claim: lem-broken-variants
    """
    return Rule(2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon), 0.0, None, refresh=False)


def broken_alg6(c, epsilon, sensitivity=1.0):
    """Not private for any ε: no limit on the number of ⊤. Lap(2Δ/ε) on threshold and queries. `c` is ignored.

    Claim: lem-broken-variants
    """
    b = 2 * positive("sensitivity", sensitivity) / positive("epsilon", epsilon)
    return Rule(b, b, None, refresh=False)


def broken_no_threshold_noise(c, epsilon, sensitivity=1.0):
    """Not private for any ε: AboveThreshold's query noise against the exact threshold. Lap(4Δ/ε).

    Claim: lem-broken-variants
    """
    return Rule(0.0, scales(epsilon, sensitivity)[1], c, refresh=False)


def broken_unscaled(c, epsilon, sensitivity=1.0):
    """(c+1)ε/2-DP only: AboveThreshold that goes on after ⊤ with the noise of a single one. Lap(2Δ/ε), Lap(4Δ/ε).

    Claim: lem-broken-variants
    """
    return Rule(*scales(epsilon, sensitivity), c, refresh=False)


VARIANTS = {
    rule.__name__: rule
    for rule in (
        alg1, alg2, broken_alg3, broken_alg4, broken_alg5, broken_alg6, broken_no_threshold_noise, broken_unscaled,
    )
}  # fmt: skip
