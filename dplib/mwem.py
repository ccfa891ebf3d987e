"""Multiplicative weights for linear queries (chapter 2): a distribution that answers a family of queries like the data.

| in the book | here |
|---|---|
| truth h and iterate p^t, distributions on m elements | `h`, `p` |
| family F of k queries φ with values in [0, 1] | `queries` |
| accuracy α, step size η | `alpha`, `step_size` |
| query φ^t and sign s^t of an update, loss ℓ^t = s^t φ^t | `picked`, `signs`, `query_loss` |
| potential KL(h‖p^t) | `divergence` |

Nothing here is private. The data h enter in two places only, the choice of a query and a sign; `replay` computes p from
these two alone.
"""

from dataclasses import dataclass
from math import isnan

import numpy as np

from dplib import bounds
from dplib._validate import count, finite_array, histograms, positive
from dplib.experts.loss_game import HUGE
from dplib.queries import Queries


def right_sign(error):
    """+1 if the query is answered too high (or exactly), −1 if too low: error is ⟨φ, p − h⟩.

    >>> right_sign(.2), right_sign(-.2), right_sign(0.)
    (1, -1, 1)
    """
    if isnan(error):
        raise ValueError(f"error must be a number to have a sign, got {error}")
    return 1 if error >= 0 else -1


def wrong_sign(error):
    """The opposite of `right_sign`: it breaks the algorithm, and is here to be seen breaking it.

    >>> wrong_sign(.2)
    -1
    """
    return -right_sign(error)


def query_loss(query, p, h):
    """ℓ = s φ with s the sign of ⟨φ, p − h⟩: what each element pays for the error of a query, + = bad.

    query: φ, values in [0, 1], shape (m,).   p, h: distributions, shape (m,).

    **Guarantee.** ⟨ℓ, p − h⟩ = |⟨φ, p − h⟩|, and ℓ is a subgradient of that error at p. Claim: lem-query-gradient.

    >>> query_loss([.5, 1, 0], [.2, .2, .6], [.5, .5, 0]).tolist()
    [-0.5, -1.0, -0.0]
    """
    query, p, h = finite_array("query", query), histograms("p", p), histograms("h", h)
    if query.shape != p.shape or query.shape != h.shape:
        raise ValueError(f"query, p and h must have one shape (m,), got {query.shape}, {p.shape} and {h.shape}")
    if query.min() < 0 or query.max() > 1:
        raise ValueError(f"linear queries take values in [0, 1], got {query.min()}..{query.max()}")
    return _signed(query, right_sign(query @ (p - h)))


def query_game(h, queries, choose="largest"):
    """The query player as an opponent of `dplib.experts.polynomial_weights`: a function (t, p) -> ℓ^t = s^t φ^t.

    choose: "largest" (the query with the largest error on p), or a function (t, errors) -> index of a query; errors
    are ⟨φ_i, p − h⟩, shape (k,). Elements of the universe are the experts.

    **Guarantee.** In T >= 4 ln m rounds of polynomial weights with η = √(ln m/T) the errors |⟨φ^t, p^t − h⟩| sum to at
    most 2√(T ln m), for every h and every way to choose. Claim: thm-query-regret.

    >>> from dplib.queries import thresholds
    >>> query_game([0, 0, 1], thresholds(3))(0, [.5, .25, .25]).tolist()
    [1.0, 1.0, 0.0]
    """
    h, answers = _truth(h, queries)
    if choose != "largest" and not callable(choose):
        raise ValueError(f"choose must be 'largest' or a function of (t, errors), got {choose!r}")
    choose = (lambda t, errors: _first_largest(np.abs(errors))) if choose == "largest" else choose

    def losses(t, p):
        if np.shape(p) != (queries.m,):
            raise ValueError(f"query_game plays one game only, with p of shape ({queries.m},), got shape {np.shape(p)}")
        errors = queries @ p - answers  # (k,)
        i = _index(choose(t, errors), queries.k)
        return _signed(queries.row(i), right_sign(errors[i]))

    return losses


@dataclass(frozen=True, eq=False)
class QueryRun:
    """A run of `query_mw`. Entry t of `divergence` and of `max_error` belongs to p after t updates."""

    updates: int
    finished: bool  # every error is below alpha; if False, the run was cut off at max_updates
    p: np.ndarray  # (m,) the last iterate
    picked: np.ndarray  # (updates,) which query
    signs: np.ndarray  # (updates,) +1: it was taken to be answered too high
    divergence: np.ndarray  # (updates + 1,) KL(h‖p)
    max_error: np.ndarray  # (updates + 1,) the largest |⟨φ, p − h⟩| of the family
    step_size: float
    update: str


def query_mw(h, queries, alpha, *, step_size=None, update="polynomial", rule="largest", sign=right_sign, max_updates=None):
    """Start uniform; while some query is off by alpha or more, correct p on one such query.

    h: the truth, a distribution on m elements.   queries: a `Queries` family over them.   alpha: in (0, 1].
    update: "polynomial" multiplies p_u by 1 − ηsφ(u), "hedge" by e^(−ηsφ(u)), then both normalise.
    step_size: η, below 1 if polynomial; None means α/2 if polynomial and 4α if hedge.
    rule: which of the queries with |error| >= alpha: the one with the "largest" error, the "smallest", or a function
    (t, errors) -> index, where t counts updates from 0 and errors are ⟨φ_i, p − h⟩, shape (k,).
    sign: a function of the picked query's error that returns +1 or −1; the theorem needs `right_sign`.
    max_updates: where to cut the run off; None means ten times 4 ln m/α², rounded up.

    **Guarantee.** With right signs and any rule: for 0 < η <= 1/2, η < α at most ln m/(η(α − η)) polynomial updates, which is
    4 ln m/α² at η = α/2, and at most ln m/(2α²) updates of hedge at η = 4α; KL(h‖uniform) may stand for ln m. Then every
    query has error < α. Claim: thm-query-mistakes, lem-kl-decrease, cor-query-mw.

    >>> from dplib.queries import thresholds
    >>> run = query_mw(np.eye(64)[21], thresholds(64), .4)
    >>> run.updates, run.finished, float(run.max_error[-1].round(4))
    (30, True, 0.3924)
    """
    h, answers = _truth(h, queries)
    most = bounds.query_updates(queries.m, alpha)  # also checks alpha
    eta, pick = _step_size(step_size, alpha, update), _picker(rule, queries.k)
    cap = int(10 * most) + 1 if max_updates is None else count("max_updates", max_updates, least=0)
    data = np.flatnonzero(h)  # 0 ln 0 = 0: elsewhere KL(h‖p) has no terms
    h_log_h = h[data] @ np.log(h[data])
    picked, signs, divergence, max_error = [], [], [], []
    log_w = np.zeros(queries.m)  # [QW-1]
    while True:
        p, log_p = _normalised(log_w)
        errors = queries @ p - answers  # (k,)
        sizes = np.abs(errors)
        divergence.append(h_log_h - h[data] @ log_p[data])
        max_error.append(sizes.max())
        finished = bool(max_error[-1] < alpha)  # [QW-2]
        if finished or len(picked) == cap:
            break
        i = pick(len(picked), errors, sizes, alpha)  # [QW-3]
        s = _plus_minus(sign(errors[i]))  # [QW-4]
        log_w += _log_factor(queries.row(i), s, eta, update)  # [QW-5]
        picked.append(i), signs.append(s)
    trajectory = (np.array(a) for a in (divergence, max_error))
    return QueryRun(len(picked), finished, p, np.array(picked, int), np.array(signs, int), *trajectory, eta, update)


def replay(queries, picked, signs, step_size, update="polynomial"):
    """p after updates on the queries `picked` with `signs`: the run again, without the data.

    >>> from dplib.queries import thresholds
    >>> replay(thresholds(2), [0, 0], [-1, -1], .5).round(4).tolist()
    [0.6923, 0.3077]
    """
    log_w, step_size = np.zeros(_family(queries).m), _step_size(step_size, None, update)
    if len(picked) != len(signs):
        raise ValueError(f"picked and signs must have the same length, one of each for an update, got {len(picked)} and {len(signs)}")
    for i, s in zip(picked, signs):
        log_w += _log_factor(queries.row(_index(i, queries.k)), _plus_minus(s), step_size, update)
    return _normalised(log_w)[0]


def _signed(query, s):
    """The loss ℓ = sφ, shape (m,): the one place where a query and its sign become a loss."""
    return s * query


def _log_factor(query, s, eta, update):
    """ln of what p_u is multiplied by, shape (m,)."""
    return np.log1p(-eta * _signed(query, s)) if update == "polynomial" else -eta * _signed(query, s)


def _normalised(log_w):
    """p = w/W and ln p: the largest weight is taken out first, so nothing overflows and W >= 1."""
    log_w = log_w - log_w.max()
    w = np.exp(log_w)
    total = w.sum()
    return w / total, log_w - np.log(total)


def _family(queries):
    if not isinstance(queries, Queries):
        raise ValueError(f"queries must be a `Queries` family (use from_matrix for an array), got {type(queries).__name__}")
    return queries


def _truth(h, queries):
    h = histograms("h", h, _family(queries).m)
    if h.ndim != 1:
        raise ValueError(f"h must be one histogram of shape ({queries.m},), got shape {h.shape}")
    return h, queries @ h


def _step_size(step_size, alpha, update):
    if update not in ("polynomial", "hedge"):
        raise ValueError(f"update must be 'polynomial' or 'hedge', got {update!r}")
    if step_size is None and alpha is not None:
        return bounds.query_step(alpha, update)
    most = 1 if update == "polynomial" else HUGE
    if positive("step_size", step_size) >= most:
        raise ValueError(f"step_size must be below {most}, so that weights stay positive, got {step_size}")
    return float(step_size)


def _picker(rule, k):
    if rule == "largest":
        return lambda t, errors, sizes, alpha: _first_largest(sizes)
    if rule == "smallest":
        return lambda t, errors, sizes, alpha: _first_largest(np.where(sizes >= alpha, -sizes, -np.inf))
    if not callable(rule):
        raise ValueError(f"rule must be 'largest', 'smallest' or a function of (t, errors), got {rule!r}")

    def pick(t, errors, sizes, alpha):
        i = _index(rule(t, errors), k)
        if sizes[i] < alpha:
            raise ValueError(f"the rule must pick a query with error >= alpha = {alpha}, got query {i} with error {sizes[i]:.6g}")
        return i

    return pick


def _first_largest(values):
    """Ties go to the first query, and so do ties that rounding has broken: a run is the same on every machine."""
    return int((values >= values.max() - 1e-12).argmax())


def _index(i, k):
    if count("query index", i, least=0) >= k:
        raise ValueError(f"query index must be below k = {k}, got {i}")
    return int(i)


def _plus_minus(s):
    if s not in (1, -1):
        raise ValueError(f"a sign must be +1 or -1, got {s!r}")
    return int(s)
