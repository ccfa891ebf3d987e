"""The pictures of chapter 2, second half: multiplicative weights for queries. Nothing is random but the register of ages,
which has a fixed seed."""

import math
from functools import cache

import numpy as np

from dplib import bounds
from dplib.data import ages
from dplib.mwem import query_mw, right_sign, wrong_sign
from dplib.plot import Check, Plot, bound, measured, truth
from dplib.queries import thresholds

MOST = {"polynomial": bounds.query_updates, "hedge": bounds.query_updates_hedge}
TOP = 1.5  # where the picture of the potential ends


def spike(m):
    """All records equal, a third of the way up: index 21 of 64."""
    return (np.arange(m) == m // 3).astype(float)


def potential(m, alpha, rule, update, wrong=False):
    """KL(h‖p^t) and the largest error of a run on thresholds; time in units of the bound on the number of updates.

    After its end nothing changes any more. With the wrong sign a run is cut off one update after the bound, and its potential
    is drawn up to TOP times ln m.
    """
    most = MOST[update](m, alpha)
    sign = wrong_sign if wrong else right_sign
    run = query_mw(spike(m), thresholds(m), alpha, rule=rule, update=update, sign=sign, max_updates=math.floor(most) + 1)
    made = np.arange(run.updates + 1)
    end = np.interp(TOP * math.log(m), run.divergence, made) if wrong else run.updates  # a wrong potential only rises
    t = np.r_[np.linspace(0, end, 49), np.linspace(end, most, 13)[1:]]  # `end` is a point, so that the corner there is sharp
    between = lambda values: np.interp(t, made, values)
    return Plot(
        t / most,
        [
            measured("potential KL(h‖pᵗ), in units of ln m", np.minimum(between(run.divergence) / math.log(m), TOP)),
            measured("largest error", between(run.max_error)),
            bound("what the potential may be after t updates", 1 - t / most),
            truth("accuracy α", np.full(len(t), alpha)),
        ],
        "updates t, as a share of the bound",
        "potential and error",
        check=Check(run.updates, math.floor(most), "updates" if run.finished else "updates and no end"),
        marks=[("" if wrong else "end of the run", end / most)],  # words would lie on the potential that is cut off here
    )


@cache
def register():
    """The histogram of 2000 ages."""
    return ages(2000, np.random.default_rng(2)).histogram


def approach(updates, alpha, update):
    """p after so many updates (or at the end of the run) beside the histogram of 2000 ages."""
    h, F = register(), thresholds(100)
    run = query_mw(h, F, alpha, update=update, max_updates=updates)
    fall = (bounds.kl_decrease if update == "polynomial" else bounds.kl_decrease_hedge)(alpha, run.step_size)
    allowed = run.divergence[0] - run.updates * fall
    words = f"for KL(h‖p); updates made: {run.updates}, largest error now {run.max_error[-1]:.3f}"
    return Plot(
        np.arange(100),
        [measured("synthetic p", 100 * run.p), truth("data h", 100 * h)],
        "age u",
        "share in %",
        check=Check(run.divergence[-1], allowed, words),
    )


def entropy(m, alpha, update):
    """Updates needed for data spread evenly over r elements, H(h) = ln r, as a share of what ln m allows."""
    supports = np.unique(np.round(m ** (np.arange(7) / 6)).astype(int))
    runs = [query_mw((np.arange(m) < r) / r, thresholds(m), alpha, update=update, rule="smallest") for r in supports]
    most, counts = MOST[update](m, alpha), np.array([run.updates for run in runs])
    shares = np.log(supports) / math.log(m)
    refined = [MOST[update](m, alpha, divergence=math.log(m / r)) for r in supports.tolist()]
    return Plot(
        shares,
        [
            measured("updates made, smallest error first", counts / most),
            bound("bound with ln m", np.ones(7)),
            bound("bound with KL(h‖uniform) = ln m − H(h)", np.array(refined) / most),
        ],
        "entropy of the data H(h)/ln m",
        "updates, as a share of the bound",
        check=Check(int(counts[3]), math.floor(refined[3]), f"updates for data on {supports[3]} of {m} elements"),
    )
