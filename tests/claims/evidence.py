"""What counts as evidence in a claim test: exact divergences of finite laws, and honest binomial statements.

When the claim is true, each side of a statistical check errs with probability at most ALARM (a two-sided check with at
most twice that); the seeds are fixed besides.
"""

from math import exp

import numpy as np
from scipy.stats import binom

ALARM = 1e-6


def rate_is_at_most(rate, hits, runs):
    """Do `hits` among `runs` agree with a probability <= rate? A one-sided binomial test."""
    return binom.sf(int(hits) - 1, runs, rate) >= ALARM


def check_rate(hits, runs, at_most, at_least=0.0):
    """`hits` among `runs` agree with a probability between at_least and at_most: two one-sided binomial tests."""
    assert rate_is_at_most(at_most, hits, runs), f"{hits} of {runs} is too often for a rate <= {at_most}"
    assert binom.cdf(hits, runs, at_least) >= ALARM, f"{hits} of {runs} is too rare for a rate >= {at_least}"


def loss(P, Q):
    """The largest privacy loss ln(P/Q) between two finite laws with positive entries."""
    return float(np.max(np.log(P) - np.log(Q)))


def hockey_stick(P, Q, factor):
    """sup over events of P(E) - e^ε Q(E), factor = e^ε: the least δ of the pair. Exact for Fractions."""
    return sum(max(p - factor * q, 0) for p, q in zip(P, Q))


def least_delta(P, Q, epsilon):
    """The same for floats and any ε, without overflow: Σ P (1 - e^(ε - L)) over the outcomes with loss L > ε."""
    P, Q = np.asarray(P, float), np.asarray(Q, float)
    only_P = (P > 0) & (Q == 0)
    both = (P > 0) & (Q > 0)
    L = np.log(P[both]) - np.log(Q[both])
    return float(P[only_P].sum() - np.sum(P[both] * np.expm1(np.minimum(epsilon - L, 0))))


def renyi(P, Q, order):
    """The Rényi divergence of order a > 1 of two finite laws, in the log domain."""
    L = np.log(P) - np.log(Q)
    terms = np.log(Q) + order * L
    return float((terms.max() + np.log(np.sum(np.exp(terms - terms.max())))) / (order - 1))


def randomised_response(epsilon0, rounds=1):
    """The law of the number of lies in `rounds` answers, under two neighbours: truth has odds e^ε₀."""
    j = np.arange(rounds + 1)
    p = 1 / (1 + exp(-epsilon0))
    return binom.pmf(j, rounds, 1 - p), binom.pmf(j, rounds, p)
