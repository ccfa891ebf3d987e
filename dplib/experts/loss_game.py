"""The loop that all algorithms for the loss game share, and what it returns. `dplib.experts.losses` has the algorithms."""

from dataclasses import dataclass
from math import prod

import numpy as np

from dplib._validate import count, finite_array, generator

__all__ = ["HUGE", "Game", "LossRun", "in_interval", "in_unit_range"]

BLOCK = 2**17  # numbers worked on at once when the losses are known beforehand
HUGE = 1e100  # losses and step sizes beyond this are refused: sums of their products would overflow
SEES = ("weights", "past choices", "this choice")


@dataclass(frozen=True, eq=False)
class LossRun:
    """What a game left behind; `...` is nothing for one game, else the axes of the games, such as (repeats,)."""

    paid: np.ndarray  # (..., T): ⟨ℓ^t, p^t⟩ of each round
    expert_losses: np.ndarray  # (..., N): L_i, the sum of expert i's losses
    log_total: np.ndarray  # (..., T+1): ln W^1, …, ln W^(T+1); where weights restart, of the weights in use
    p: np.ndarray  # (..., N): the distribution after the last update
    step_size: np.ndarray  # broadcasts to (...): the step size; (T,) if it changes from round to round
    choices: np.ndarray | None = None  # (..., T): the experts drawn, if experts were drawn
    sampled: np.ndarray | None = None  # (..., T): their losses

    @property
    def loss(self):
        """L_A: what playing the distributions cost."""
        return self.paid.sum(axis=-1)

    @property
    def best(self):
        """The loss of the best expert in hindsight."""
        return self.expert_losses.min(axis=-1)

    @property
    def regret(self):
        """loss − best."""
        return self.loss - self.best

    @property
    def sampled_regret(self):
        """The regret of the experts drawn, whose losses are `sampled`."""
        if self.sampled is None:
            raise ValueError("no experts were drawn: the game was played without rng")
        return self.sampled.sum(axis=-1) - self.best


class Game:
    """One game, or many as one array program, against an array or an adversary.

    check: refuses losses that break the hypothesis of the theorem.   shape: of the step sizes, one for each game.
    """

    def __init__(self, opponent, experts, rounds, repeats, rng, sees, check, shape=()):
        if sees not in SEES:
            raise ValueError(f"sees must be one of {SEES}, got {sees!r}")
        shapes = [shape] if repeats is None else [shape, (count("repeats", repeats),)]
        self.rng = None if rng is None else generator(rng)
        self.opponent, self.sees, self.start, self.adversary, self.check = opponent, sees, 0, callable(opponent), check
        if self.adversary:
            self.N, self.T = count("experts", experts), count("rounds", rounds)
            if sees != "weights" and rng is None:
                raise ValueError(f"an adversary that sees {sees!r} needs rng=: without it no expert is drawn")
        else:
            self.opponent = losses = finite_array("losses", opponent)
            if losses.ndim < 2:
                raise ValueError(f"losses must have shape (T, N) or (..., T, N), got {losses.shape}")
            self.T, self.N = losses.shape[-2:]
            shapes.append(losses.shape[:-2])
            for name, given, found in (("experts", experts, self.N), ("rounds", rounds, self.T)):
                if given is not None and given != found:
                    raise ValueError(f"{name} must be {found}, as the losses have it, got {given!r}")
            if sees != "weights":
                raise ValueError(f"sees={sees!r} needs an adversary, got a fixed sequence")
            check(losses)
        try:
            self.lead = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(f"step sizes, repeats and losses must broadcast to one shape of games, got {shapes}") from None
        self.choices = np.zeros((*self.lead, self.T), int)

    def part(self, start, stop):
        """The rounds from `start` up to `stop` as a game of their own; an adversary goes on counting."""
        rest = object.__new__(Game)
        rest.__dict__.update(self.__dict__, start=start, T=stop - start)
        return rest

    def play(self, step_size, factor, scale=None):
        """The one loop. It goes by blocks of rounds: one round against an adversary, many if the losses are known.

        factor(ℓ): what a round adds to the log weights.   scale: if given, round t plays with scale[t] times the log weights.
        """
        T, N, lead, start = self.T, self.N, self.lead, self.start
        block = 1 if self.adversary else max(1, BLOCK // (N * prod(lead)))
        paid, log_total, sampled = (np.empty((*lead, T + extra)) for extra in (0, 1, 0))
        L, log_w = np.zeros((*lead, N)), np.zeros((*lead, 1, N))  # [PW-1] [HG-1]
        for t in range(0, T, block):
            now = slice(t, min(t + block, T))
            if self.adversary:
                before = log_w
            else:
                losses = np.broadcast_to(self.opponent[..., start + t : start + now.stop, :], (*lead, now.stop - t, N))
                steps = np.broadcast_to(factor(losses), losses.shape)[..., :-1, :]
                before = np.cumsum(np.concatenate([log_w, steps], axis=-2), axis=-2)  # (..., block, N)
            p, log_total[..., now] = _normalise(before if scale is None else scale[now, None] * before)  # [PW-2] [HG-2]
            if self.rng is not None:
                i = self.choices[..., start + now.start : start + now.stop] = _draw(p, self.rng)
            if self.adversary:
                losses = np.broadcast_to(self._ask(start + t, p[..., 0, :]), (*lead, 1, N))
            paid[..., now] = np.einsum("...n,...n->...", losses, p)  # [PW-3] [HG-3]
            if self.rng is not None:
                sampled[..., now] = np.take_along_axis(losses, i[..., None], -1)[..., 0]
            log_w = before[..., -1:, :] + factor(losses[..., -1:, :])
            L += losses[..., 0, :] if self.adversary else losses.sum(axis=-2)
        p, log_total[..., T:] = _normalise(log_w if scale is None else scale[T] * log_w)
        drawn = () if self.rng is None else (self.choices[..., start : start + T], sampled)
        return LossRun(paid, L, log_total, p[..., 0, :], np.asarray(step_size, float), *drawn)

    def _ask(self, t, p):
        """The adversary's losses of round t as an array (..., 1, N)."""
        past = self.choices[..., : t + (self.sees == "this choice")].view()
        for shown in (p, past):
            shown.flags.writeable = False  # an adversary looks and does not touch
        answer = self.opponent(t, p, past) if self.sees != "weights" else self.opponent(t, p)
        try:
            losses = finite_array("the adversary's losses", answer)
            if losses.shape not in ((self.N,), (*self.lead, self.N)):
                raise ValueError(f"the adversary's losses must have shape {(*self.lead, self.N)}, got {losses.shape}")
            self.check(losses)
        except ValueError as error:
            raise ValueError(f"{error} in round {t}") from None
        return losses[..., None, :]


def _normalise(log_w):
    """Weights e^log_w (..., N) as distributions, and ln of their sum (...)."""
    top = log_w.max(axis=-1, keepdims=True)
    p = np.exp(log_w - top)
    total = p.sum(axis=-1, keepdims=True)
    p /= total
    return p, (top + np.log(total))[..., 0]


def _draw(p, rng):
    """One expert (...) from each distribution (..., N)."""
    u = rng.random((*p.shape[:-1], 1))
    cumulative = p.cumsum(axis=-1)
    return (cumulative < u * cumulative[..., -1:]).sum(axis=-1)


def in_unit_range(losses):
    if losses.max() > 1 or losses.min() < -1:
        raise ValueError(f"losses must lie in [-1, 1], got max |loss| = {np.abs(losses).max()}")


def in_interval(width, losses):
    if max(losses.max(), -losses.min()) > HUGE:
        raise ValueError(f"losses must be at most {HUGE} in size, so that their sums are finite, got {np.abs(losses).max()}")
    spread = (losses.max(axis=-1) - losses.min(axis=-1)).max()
    if spread > width * (1 + 1e-12):
        raise ValueError(f"the losses of a round must lie in an interval of length width = {width}, got one of {spread}")
