"""The table on which the prediction game of chapter 1 is played: asks the opponent, checks what it says, keeps the record.

A block of B rounds has advice of shape (..., B, N) and outcomes of shape (..., B); leading axes are games played at once.
"""

from dataclasses import dataclass

import numpy as np

from dplib._validate import count

__all__ = ["PredictionRun"]

BLOCK = 2**16  # numbers in a block of rounds of a fixed sequence


@dataclass(frozen=True, eq=False)
class PredictionRun:
    """What happened in T rounds; leading axes are games.

    forecasts: what we said (True = U), or with randomisation the probability of U.   outcomes: what came true.
    wrong: our mistakes (with randomisation their probability).   best: mistakes of the best expert after 0..T rounds.
    expert_mistakes: of each expert, at the end.   log_total: ln W, the total weight after 0..T updates (None if we had none).
    """

    forecasts: np.ndarray  # (..., T)
    outcomes: np.ndarray  # (..., T)
    wrong: np.ndarray  # (..., T)
    best: np.ndarray  # (..., T + 1)
    expert_mistakes: np.ndarray  # (..., N)
    log_total: np.ndarray | None = None  # (..., T + 1)

    @property
    def mistakes(self):
        """mist: how many mistakes we made (their expectation, with randomisation)."""
        return self.wrong.sum(axis=-1)

    @property
    def opt(self):
        """OPT: mistakes of the best expert."""
        return self.best[..., -1][()]


def at_start(lost, wrong):
    """Penalties of each expert at the start of each round of a block, (..., B, N), from those (..., 1, N) at its start."""
    return lost if wrong.shape[-2] == 1 else lost + wrong.cumsum(axis=-2) - wrong


class Game:
    """Asks the opponent, round after round or, since a fixed sequence listens to nobody, a block at a time; keeps the record."""

    def __init__(self, opponent, experts, rounds, repeats, shape=(), by_block=True):
        shapes = [shape] if repeats is None else [shape, (count("repeats", repeats),)]
        self.adversary = opponent if callable(opponent) else None
        if self.adversary:
            self.N, self.T, self.block = count("experts", experts), count("rounds", rounds), 1
        else:
            self.predictions, self.outcomes = _sequence(opponent, experts, rounds)
            self.T, self.N = self.predictions.shape[-2:]
            shapes += [self.predictions.shape[:-2], self.outcomes.shape[:-1]]
        try:
            self.batch = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ValueError(f"penalties, repeats and sequences must broadcast to one shape of games, got {shapes}") from None
        if not self.adversary:
            self.block = max(1, BLOCK // max(1, self.N * int(np.prod(self.batch)))) if by_block else 1
        self.t, self.kept, self.errors = 0, [], np.zeros((1, self.N), int)

    def rounds(self, weights):
        """Advice (..., B, N) and outcomes (..., B) of the next B rounds; `weights()` is what an adversary gets to see."""
        for start in range(0, self.T, self.block):
            stop = self.t = min(start + self.block, self.T)
            if self.adversary is None:
                yield self.predictions[..., start:stop, :], self.outcomes[..., start:stop]
            else:
                p, s = self._ask(start, np.broadcast_to(weights()[..., 0, :], (*self.batch, self.N)))
                yield p[..., None, :], s[..., None]

    def _ask(self, t, weights):
        """The adversary's advice (..., N) and outcome (...) of round t."""
        answer = self.adversary(t, weights)
        try:
            p, s = _pair("the adversary must return (predictions, outcome)", answer)
            return _advice("predictions", p, (self.N,), self.batch), _advice("outcome", s, (), self.batch)
        except ValueError as error:
            raise ValueError(f"{error} in round {t}") from None

    def record(self, forecasts, outcomes, mistakes, wrong, log_total):
        best = at_start(self.errors, wrong).min(axis=-1)
        self.errors = self.errors + wrong.sum(axis=-2, keepdims=True)
        self.kept.append((forecasts, outcomes, mistakes, best, log_total))

    def result(self, log_total):
        full = lambda a: np.broadcast_to(a, (*self.batch, a.shape[-1]))
        joined = lambda parts: np.concatenate([full(part) for part in parts], axis=-1)
        forecasts, outcomes, mistakes, best, log_totals = zip(*self.kept)
        return PredictionRun(joined(forecasts), joined(outcomes), joined(mistakes), joined([*best, self.errors.min(axis=-1)]),
                             full(self.errors[..., 0, :]).copy(), joined([*log_totals, log_total]))


def _sequence(opponent, experts, rounds):
    """The arrays of a fixed sequence, checked against each other and against N and T where these are given."""
    p, s = _pair("opponent must be (predictions, outcomes) or a function of round and weights", opponent)
    p, s = _booleans("predictions", p), _booleans("outcomes", s)
    if p.size == 0:
        raise ValueError(f"predictions must not be empty, got shape {p.shape}")
    if p.ndim < 2 or s.ndim < 1 or p.shape[-2] != s.shape[-1]:
        raise ValueError(f"predictions (..., T, N) and outcomes (..., T) must have the same rounds, got {p.shape} and {s.shape}")
    for name, given, actual in (("experts", experts, p.shape[-1]), ("rounds", rounds, p.shape[-2])):
        if given is not None and given != actual:
            raise ValueError(f"{name} must be {actual} for this sequence, got {given!r}")
    return p, s


def _pair(hypothesis, a):
    if not isinstance(a, (tuple, list)) or len(a) != 2:
        raise ValueError(f"{hypothesis}, got {type(a).__name__}")
    return a


def _booleans(name, a):
    try:
        array = np.asarray(a)
    except ValueError:
        raise ValueError(f"{name} must be an array of booleans (True = U), got rows of unequal length") from None
    if array.size and array.dtype != bool:
        raise ValueError(f"{name} must be an array of booleans (True = U), got {array.dtype}")
    return array


def _advice(name, a, shape, batch):
    """What an adversary said, as booleans: of this shape for all games of the batch, or for each of them."""
    array = _booleans(f"the adversary's {name}", a)
    if array.shape not in (shape, (*batch, *shape)):
        raise ValueError(f"the adversary's {name} must have shape {(*batch, *shape)}, got {array.shape}")
    return np.broadcast_to(array, (*batch, *shape))
