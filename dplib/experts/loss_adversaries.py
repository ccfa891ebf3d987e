"""Opponents for the loss game: fixed sequences as arrays (T, N), adversaries as functions of the round and the distribution.

| name | what it does | which part of the bound it reaches |
|---|---|---|
| `constant` | expert 1 is always right, the others never | ln N/η |
| `median` | the heavier half of the weight is wrong | ηT/2 |
| `planted` | fair coins, one expert slightly better | between the two |
| `switching` | two experts take turns at being right | ηT/2, for turns of one round |
| `fair_coins` | every loss a coin | what no algorithm can avoid |
| `seesaw` | `median` until two experts are left, then `switching` | both at once |
| `against_the_choice` | sees the expert drawn before it sets the losses | none: it breaks the hypothesis |
"""

from math import inf, log, sqrt

import numpy as np

from dplib._validate import count, generator

__all__ = ["against_the_choice", "constant", "fair_coins", "median", "planted", "seesaw", "switching"]


def constant(rounds, experts):
    """Losses (T, N): -1 for the first expert, +1 for the others, in every round.

    >>> constant(1, 3)
    array([[-1.,  1.,  1.]])
    """
    return np.tile(np.where(np.arange(count("experts", experts)) == 0, -1.0, 1.0), (count("rounds", rounds), 1))


def planted(rounds, experts, rng, gap=None):
    """Losses (T, N): coins ±1, fair but for the first expert, whose mean is -gap (default 2√(ln N/T), at most 1).

    >>> planted(4000, 3, np.random.default_rng(0), gap=.5).mean(axis=0).round(1) + 0.0
    array([-0.5,  0. ,  0. ])
    """
    T, N = count("rounds", rounds), count("experts", experts)
    gap = min(1.0, 2 * sqrt(log(N) / T)) if gap is None else gap
    if not 0 <= gap <= 1:
        raise ValueError(f"gap must be in [0, 1], got {gap!r}")
    u = generator(rng).random((T, N))
    return np.where(u < 0.5 - 0.5 * gap * (np.arange(N) == 0), 1.0, -1.0)


def switching(rounds, experts, turn=1):
    """Losses (T, N): the first two experts take turns of `turn` rounds, one at -1 and the other at +1; the rest at +1.

    >>> switching(3, 3)
    array([[-1.,  1.,  1.],
           [ 1., -1.,  1.],
           [-1.,  1.,  1.]])
    """
    T, N, turn = count("rounds", rounds), count("experts", experts, 2), count("turn", turn)
    right = np.arange(T) // turn % 2
    return np.where(np.arange(N) == right[:, None], -1.0, 1.0)


def fair_coins(rounds, experts, rng, repeats=None, low=0.0, high=1.0):
    """Losses (T, N) or (repeats, T, N): independent fair coins with faces `low` and `high`. Claim: thm-fair-coins

    >>> fair_coins(2, 3, np.random.default_rng(0))
    array([[0., 1., 1.],
           [1., 1., 1.]])
    """
    shape = () if repeats is None else (count("repeats", repeats),)
    if not -inf < low < high < inf:
        raise ValueError(f"the faces of a coin must be finite with low < high, got {low!r} and {high!r}")
    coins = generator(rng).integers(2, size=(*shape, count("rounds", rounds), count("experts", experts)), dtype=np.int8)
    return low + (high - low) * coins.astype(float)


def median(t, p):
    """Adversary: the shortest heaviest-first prefix of mass >= 1/2 gets +1, the other experts -1.

    >>> median(0, np.array([.3, .1, .4, .2]))
    array([ 1., -1.,  1., -1.])
    """
    order = np.argsort(-p, axis=-1, kind="stable")
    mass = np.take_along_axis(p, order, -1)
    wrong = mass.cumsum(axis=-1) - mass < 0.5 - 1e-12  # mass of the heavier ones; the margin is for rounding
    losses = np.empty(p.shape)
    np.put_along_axis(losses, order, np.where(wrong, 1.0, -1.0), -1)
    return losses


def seesaw(t, p):
    """Adversary that makes both terms of the bound bite. While others hold at least 5 % of the mass, the first two experts
    are right and at most half of all mass, among the others, is wrong; after that the others are wrong, the first two take turns.

    >>> seesaw(0, np.full(6, 1 / 6)), seesaw(7, np.array([.49, .49, .02]))
    (array([-1., -1.,  1.,  1.,  1., -1.]), array([-1.,  1.,  1.]))
    """
    if p.shape[-1] < 2:
        raise ValueError(f"seesaw must have at least two experts, who take turns, got {p.shape[-1]}")
    others = p[..., 2:]
    late = others.sum(axis=-1, keepdims=True) < 0.05
    losses = np.full(p.shape, -1.0)
    losses[..., 2:] = np.where(late | (others.cumsum(axis=-1) < 0.5 + 1e-12), 1.0, -1.0)
    losses[..., t % 2] += 2.0 * late[..., 0]
    return losses


def against_the_choice(t, p, choices=None):
    """Adversary that sees the expert just drawn (`sees="this choice"`): +1 for that one, -1 for the others.

    >>> against_the_choice(1, np.array([.5, .3, .2]), np.array([2, 0]))
    array([ 1., -1., -1.])
    """
    if choices is None or choices.shape[-1] <= t:
        raise ValueError(f'against_the_choice needs sees="this choice": the expert drawn in round {t} was not shown')
    return np.where(np.arange(p.shape[-1]) == choices[..., -1:], 1.0, -1.0)
