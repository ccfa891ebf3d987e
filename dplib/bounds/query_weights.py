"""Chapter 2, second half: multiplicative weights for linear queries over a universe of m elements.

In the mistake bounds `divergence` is KL(h‖uniform) = ln m − H(h); left out, it is its largest value ln m.
"""

from math import log

from dplib._validate import count, nonnegative, positive
from dplib.bounds.regret import hoeffding_exponent, polynomial_regret

__all__ = ["kl_decrease", "kl_decrease_hedge", "query_regret", "query_step", "query_tangent", "query_updates", "query_updates_hedge"]


def query_tangent(error_here, query, step):
    """f(p) + s⟨φ, p' − p⟩: the tangent at p of the error f(p) = |⟨φ, p − h⟩|, at p'; it lies below f.
    Claim: lem-query-gradient.

    error_here: ⟨φ, p − h⟩, with its sign.   query: φ, shape (m,).   step: p' − p, shape (m,).

    >>> query_tangent(-.25, [1, 0], [.5, -.5])
    -0.25
    """
    s = 1 if error_here >= 0 else -1
    return abs(error_here) + s * sum(float(a) * float(b) for a, b in zip(query, step, strict=True))


def query_regret(rounds, m):
    """2√(T ln m): the errors of T rounds together, for T >= 4 ln m; the regret of m experts. Claim: thm-query-regret.

    >>> round(query_regret(100, 64), 3)
    40.787
    """
    return polynomial_regret(rounds, m)


def kl_decrease(error, step_size):
    """ηg − η²: one polynomial step (0 < η <= 1/2) on a query answered wrongly by g lowers KL(h‖p) by as much.
    Claim: lem-kl-decrease.

    >>> round(kl_decrease(.4, .2), 6)
    0.04
    """
    if positive("step_size", step_size) > 0.5:
        raise ValueError(f"step_size must be <= 1/2 (the inequality ln(1 - y) >= -y - y² is used), got {step_size}")
    return step_size * nonnegative("error", error) - step_size**2


def kl_decrease_hedge(error, step_size):
    """ηg − η²/8: the same for a Hedge step, any η > 0 (query values lie within an interval of length 1). Claim: lem-kl-decrease.

    >>> round(kl_decrease_hedge(.4, 1.6), 6)
    0.32
    """
    return positive("step_size", step_size) * nonnegative("error", error) - hoeffding_exponent(step_size)


def query_step(alpha, update="polynomial"):
    """α/2 for the polynomial update, 4α for Hedge: the step sizes at which the mistake bounds are smallest.
    Claim: thm-query-mistakes.

    >>> query_step(.4), query_step(.4, "hedge")
    (0.2, 1.6)
    """
    return {"polynomial": 0.5, "hedge": 4}[update] * _alpha(alpha)


def query_updates(m, alpha, step_size=None, divergence=None):
    """ln m/(η(α − η)): updates on queries with error >= α, 0 < η <= 1/2, η < α <= 1; 4 ln m/α² if η is left out (α/2).
    Claim: thm-query-mistakes, cor-query-mw.

    >>> round(query_updates(64, .4), 2), round(query_updates(64, .4, .04), 2)
    (103.97, 288.81)
    >>> round(query_updates(64, .4, divergence=log(2)), 2)
    17.33
    """
    step_size = query_step(alpha) if step_size is None else step_size
    decrease = kl_decrease(_alpha(alpha), step_size)
    return _potential(m, divergence) / _positive_decrease(decrease, "step_size < alpha", step_size, alpha)


def query_updates_hedge(m, alpha, step_size=None, divergence=None):
    """ln m/(ηα − η²/8): the same for Hedge, 0 < η < 8α; ln m/(2α²) if η is left out (4α). Claim: thm-query-mistakes.

    >>> round(query_updates_hedge(64, .4), 2)
    13.0
    """
    step_size = query_step(alpha, "hedge") if step_size is None else step_size
    decrease = kl_decrease_hedge(_alpha(alpha), step_size)
    return _potential(m, divergence) / _positive_decrease(decrease, "step_size < 8 alpha", step_size, alpha)


def _alpha(alpha):
    if positive("alpha", alpha) > 1:
        raise ValueError(f"alpha must be in (0, 1]: errors of queries in [0, 1] are at most 1, got {alpha}")
    return alpha


def _potential(m, divergence):
    most = log(count("m", m))
    if divergence is None:
        return most
    if nonnegative("divergence", divergence) > most * (1 + 1e-12):
        raise ValueError(f"divergence from the uniform distribution is at most ln m = {most:.6g}, got {divergence}")
    return divergence


def _positive_decrease(decrease, hypothesis, step_size, alpha):
    if decrease <= 0:
        raise ValueError(f"the bound needs {hypothesis}, got step_size = {step_size} and alpha = {alpha}")
    return decrease
