"""The loss game of chapter 2: polynomial weights and Hedge, with the horizon T known or not.

| in the book | here |
|---|---|
| rounds T, experts N, step size η | `rounds`, `experts`, `step_size` |
| losses ℓ^t, distribution p^t, weights w^t, total W^t | `losses`, `p`, `log_w`, `log_total` = ln W^t |
| expert drawn i^t, its loss | `choices`, `sampled` |

The opponent is a fixed sequence, an array (T, N) or (..., T, N), or an adversary: a function `opponent(t, p)` of the round
t = 0, 1, … and of the distribution p that is about to be played, which returns the losses (N,) or (..., N). With
`sees="past choices"` it is called as `opponent(t, p, choices)` with the experts drawn so far, and with `sees="this choice"`
with the present one too, which breaks the hypothesis of every theorem on sampled play. Weights are kept as logarithms.
Leading axes `...` are games that are played at once: those of the losses, of the step sizes and (repeats,) broadcast.
"""

from functools import partial
from math import log

import numpy as np

from dplib import bounds
from dplib._validate import finite_array, positive
from dplib.experts.loss_game import HUGE, Game, LossRun, in_interval, in_unit_range

__all__ = ["LossRun", "anytime_hedge", "doubling", "hedge", "polynomial_weights"]


def polynomial_weights(opponent, step_size=None, *, experts=None, rounds=None, repeats=None, rng=None, sees="weights"):
    """Polynomial weights: w_i ← w_i (1 − η ℓ_i), p = w/W; losses in [-1, 1], step size 0 < η < 1.

    opponent: see the head of the module; experts, rounds: needed if it is a function.   step_size: a number, or an array of them,
    whose axes are leading axes of games; None is √(ln N/T), refused for T < 4 ln N.   repeats: None for one game, R for a leading
    axis of R games.   rng: if given, an expert i^t ~ p^t is drawn in each round.

    >>> run = polynomial_weights([[1, 0], [1, 0], [0, 1.0]], step_size=.5)
    >>> run.paid.round(4), round(float(run.regret), 4), run.p.round(4)     # 1/2, 1/3, 4/5; best 1; p = (1/3, 2/3)
    (array([0.5   , 0.3333, 0.8   ]), 0.6333, array([0.3333, 0.6667]))
    >>> polynomial_weights(np.eye(2), step_size=[[.1], [.2], [.3]], repeats=4).regret.shape     # 3 step sizes, 4 games with each
    (3, 4)

    **Guarantee** (every adversary, 0 < η <= 1/2): regret <= ηT + ln N/η, and 2√(T ln N) at the default step size; for every
    adversary that does not see i^t, `sampled_regret` <= 2√(T ln N) + √(2T ln(1/β)) with probability 1−β.
    Claim: thm-regret, thm-sampled-regret, lem-log-inequalities
    """
    eta = None if step_size is None else _step_sizes(step_size, most=1)
    game = Game(opponent, experts, rounds, repeats, rng, sees, in_unit_range, np.shape(eta))
    eta = bounds.polynomial_step(game.T, game.N) if eta is None else eta
    factor = lambda losses: np.log1p(-_per_game(eta) * losses)  # [PW-4]
    return game.play(eta, factor)


def hedge(opponent, step_size=None, *, width=1.0, experts=None, rounds=None, repeats=None, rng=None, sees="weights"):
    """Hedge: w_i ← w_i e^(−η ℓ_i), p = w/W; in each round the losses lie in some interval of length `width`.

    step_size: any η > 0, or an array; None is √(8 ln N/T)/width.   The rest as for `polynomial_weights`.

    >>> run = hedge([[1, 0], [1, 0], [0, 1.0]], step_size=np.log(2))
    >>> run.paid.round(4), round(float(run.regret), 4)
    (array([0.5   , 0.3333, 0.8   ]), 0.6333)

    **Guarantee**: regret <= ηD²T/8 + ln N/η, and D√(T ln N/2) at the default step size, D = width, for every T.
    Claim: thm-hedge, lem-hoeffding, thm-fair-coins
    """
    eta = None if step_size is None else _step_sizes(step_size, most=HUGE)
    game = Game(opponent, experts, rounds, repeats, rng, sees, _within(width), np.shape(eta))
    eta = bounds.hedge_step(game.T, game.N, width) if eta is None else eta
    factor = lambda losses: -_per_game(eta) * losses  # [HG-4]
    return game.play(eta, factor)


def doubling(opponent, *, width=1.0, experts=None, rounds=None, repeats=None, rng=None, sees="weights"):
    """Hedge without knowing T: start anew after 1, 2, 4, … rounds, with the step size for that many rounds.

    `rounds` says only when the game ends; the learner does not use it.

    >>> doubling(np.tile([1.0, 0.0], (7, 1))).paid.round(3)
    array([0.5  , 0.5  , 0.159, 0.5  , 0.236, 0.087, 0.028])

    **Guarantee**: regret <= (√2 + 3/2) · D√(T ln N/2), for every T: 2.914 times the bound of Hedge that knows T, where the simple
    count, every epoch at its full price, gives √2/(√2−1), or 3.414. Claim: prop-doubling
    """
    game = Game(opponent, experts, rounds, repeats, rng, sees, _within(width))
    epochs, start, length = [], 0, 1
    while start < game.T:
        eta = bounds.hedge_step(length, game.N, width)
        part = game.part(start, min(start + length, game.T))
        epochs.append(part.play(eta, lambda losses: -eta * losses))
        start, length = start + length, 2 * length
    joined = lambda name: np.concatenate([getattr(run, name) for run in epochs], axis=-1)
    totals = [run.log_total[..., :-1] for run in epochs] + [epochs[-1].log_total[..., -1:]]
    steps = np.concatenate([np.full(run.paid.shape[-1], run.step_size) for run in epochs])
    drawn = () if rng is None else (joined("choices"), joined("sampled"))
    losses = sum(run.expert_losses for run in epochs)
    return LossRun(joined("paid"), losses, np.concatenate(totals, axis=-1), epochs[-1].p, steps, *drawn)


def anytime_hedge(opponent, *, width=1.0, experts=None, rounds=None, repeats=None, rng=None, sees="weights"):
    """Hedge without knowing T or starting anew: p_i^t ∝ exp(−η_t L_i), L_i the losses before round t, η_t = 2√(ln N/t)/width.

    >>> anytime_hedge(np.tile([1.0, 0.0], (4, 1))).paid.round(3)
    array([0.5  , 0.236, 0.128, 0.076])

    **Guarantee**: regret <= D√(T ln N), for every T. Claim: prop-doubling
    """
    game = Game(opponent, experts, rounds, repeats, rng, sees, _within(width))
    eta = 2 * np.sqrt(log(game.N) / np.arange(1, game.T + 2)) / width  # the last is for the distribution after round T
    return game.play(eta[:-1], np.negative, scale=eta)


def _per_game(eta):
    """A number as it is; one step size for each game as (..., 1, 1), beside the axes of rounds and experts."""
    return eta[..., None, None] if np.ndim(eta) else eta


def _step_sizes(step_size, most):
    eta = positive("step_size", step_size) if np.isscalar(step_size) else finite_array("step_size", step_size)
    if not (np.min(eta) > 0 and np.max(eta) < most):
        wrong = np.max(eta) if np.min(eta) > 0 else np.min(eta)
        raise ValueError(f"step_size must be > 0 and < {most}, so that weights stay positive, got {wrong}")
    return eta


def _within(width):
    """The check that the losses of a round lie in an interval of this length."""
    if not 1 / HUGE < positive("width", width) < HUGE:
        raise ValueError(f"width must be > {1 / HUGE} and < {HUGE}, so that weights stay positive, got {width!r}")
    return partial(in_interval, float(width))
