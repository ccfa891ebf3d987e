"""The prediction game of chapter 1: N experts say U or D, so do we, and each wrong word of ours is a mistake.

| in the book | here |
|---|---|
| U, D | `True`, `False` |
| advice p_i^t, outcome s^t | `predictions` (..., T, N), `outcomes` (..., T) |
| penalty η | `penalty` |
| weight w_i = (1-η)^(number of penalties) | `lost`, the number of penalties: the logarithm of the weight, and a whole number |
| OPT, mist | `PredictionRun.opt`, `PredictionRun.mistakes` |

An opponent is a fixed sequence `(predictions, outcomes)` or a function `(t, weights) -> (predictions, outcome)` of the round
t = 0, 1, … and of the weights, scaled so that the largest is 1. Leading axes `...` are games that are played at once.
"""

import numpy as np

from dplib._validate import probabilities
from dplib.experts.prediction_game import Game, PredictionRun, at_start

__all__ = ["PredictionRun", "halving", "randomised_weighted_majority", "weighted_majority"]

TIE = 1e-12  # two sides whose weights differ by less than this share are tied: sums are rounded


def halving(opponent, *, experts=None, rounds=None, repeats=None):
    """The majority of the experts that have never been wrong; a tie is D.

    opponent: fixed sequence or adversary (see the module), which is told 1 for an expert that is left and 0 for others.
    experts, rounds: N and T, for an adversary.   repeats: None for one game, R for a leading axis of R games.

    **Guarantee**: if some expert never errs, at most ⌊log₂ N⌋ mistakes; else `ValueError` once nobody is left.
    Claim: thm-halving

    >>> advice = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)  # two rounds, three experts
    >>> halving((advice, np.array([False, False]))).wrong
    array([ True, False])
    """
    game = Game(opponent, experts, rounds, repeats)
    lost = np.zeros((1, game.N), int)  # [HV-1] everybody is in S
    for p, s in game.rounds(lambda: (lost == 0) * 1.0):
        wrong = p != s[..., None]  # (..., B, N)
        S = at_start(lost, wrong) == 0  # who was never wrong
        up = (S & p).sum(axis=-1)  # [HV-2] |S_U|, |S_D|
        down = (S & ~p).sum(axis=-1)
        forecast = up > down  # [HV-3]
        lost = lost + wrong.sum(axis=-2, keepdims=True)  # [HV-4]
        if (lost > 0).all(axis=-1).any():
            raise ValueError(f"halving needs an expert that never errs, and in {game.t} rounds every one did")
        game.record(forecast, s, forecast != s, wrong, np.log(up + down))
    return game.result(np.log((lost == 0).sum(axis=-1)))


def weighted_majority(opponent, penalty=0.5, only_on_mistakes=False, *, experts=None, rounds=None, repeats=None):
    """The side with more weight, U only if W_U > W_D; then each expert that was wrong has its weight multiplied by 1-η.

    penalty: η in (0, 1), or an array of them, whose axes are leading axes of games.   only_on_mistakes: penalise only in
    rounds in which we err ourselves (another algorithm with the same bound).   Sides whose weights differ by less than 1e-12 of
    the whole count as tied, because sums are rounded.   The rest as for `halving`.

    **Guarantee**: mist <= (OPT ln(1/(1-η)) + ln N) / ln(2/(2-η)), against every opponent.
    Claim: thm-weighted-majority, thm-weighted-majority-tight, prop-deterministic-barrier

    >>> advice = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]], dtype=bool)
    >>> run = weighted_majority((advice, np.array([False, False, True])))
    >>> run.wrong, run.expert_mistakes, np.exp(run.log_total)
    (array([ True, False,  True]), array([2, 3, 1]), array([3.   , 2.   , 1.5  , 0.875]))
    """
    eta = probabilities("penalty", penalty)
    game = Game(opponent, experts, rounds, repeats, eta.shape, by_block=not only_on_mistakes)
    lost = np.zeros((1, game.N), int)  # [WMA-1] w_i = (1-η)^0 = 1
    for p, s in game.rounds(lambda: _weights(lost, eta)):
        wrong = p != s[..., None]  # (..., B, N)
        before = at_start(lost, wrong)
        w = _weights(before, eta)  # (..., B, N), the largest is 1
        W, W_U = w.sum(axis=-1), (w * p).sum(axis=-1)
        forecast = W_U > W / 2 * (1 + TIE)  # [WMA-2] W_U > W_D
        penalised = wrong
        if only_on_mistakes:
            penalised = wrong & (forecast != s)[..., None]
        lost = lost + penalised.sum(axis=-2, keepdims=True)  # [WMA-3]
        game.record(forecast, s, forecast != s, wrong,
                    _log_total(W, before, eta))
    return game.result(_log_total(None, lost, eta))


def randomised_weighted_majority(opponent, penalty=0.5, *, experts=None, rounds=None, repeats=None):
    """U with probability W_U/W; then each expert that was wrong has its weight multiplied by 1-η.

    Nothing is drawn: `wrong` is the probability of a mistake in each round, exactly. An adversary knows the weights and
    not the coin. Parameters as for `weighted_majority`.

    **Guarantee**: E[mist] <= (1+η) OPT + ln N / η for η <= 1/2.
    Claim: prop-randomised-majority

    >>> advice = np.array([[1, 1, 0], [1, 1, 0]], dtype=bool)
    >>> randomised_weighted_majority((advice, np.array([False, False]))).wrong
    array([0.66666667, 0.5       ])
    """
    eta = probabilities("penalty", penalty)
    game = Game(opponent, experts, rounds, repeats, eta.shape)
    lost = np.zeros((1, game.N), int)  # [RWM-1] w_i = 1
    for p, s in game.rounds(lambda: _weights(lost, eta)):
        wrong = p != s[..., None]  # (..., B, N)
        before = at_start(lost, wrong)
        w = _weights(before, eta)
        W = w.sum(axis=-1)
        up = (w * p).sum(axis=-1) / W  # [RWM-2] the probability of U
        lost = lost + wrong.sum(axis=-2, keepdims=True)  # [RWM-3]
        game.record(up, s, np.where(s, 1 - up, up), wrong,
                    _log_total(W, before, eta))
    return game.result(_log_total(None, lost, eta))


def _weights(lost, eta):
    """(1-η)^(lost - the least): only relative weights matter, and so nothing under- or overflows. (..., B, N)"""
    return np.exp((lost - lost.min(axis=-1, keepdims=True)) * np.log1p(-eta)[..., None, None])


def _log_total(W, lost, eta):
    """ln of the total weight, (..., B), from the total W of the relative weights (if it is already known)."""
    W = _weights(lost, eta).sum(axis=-1) if W is None else W
    return np.log(W) + lost.min(axis=-1) * np.log1p(-eta)[..., None]
