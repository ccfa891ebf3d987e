"""Opponents for the prediction game that make the bounds of chapter 1 bite.

An adversary is a function `(t, weights) -> (predictions, outcome)`; it may know the rule it plays against, since that is
deterministic, but with randomisation not the coin. `noisy_experts` and `clockwork_experts` are fixed sequences.
"""

from fractions import Fraction

import numpy as np

from dplib._validate import count, finite_array, generator, probability
from dplib.experts.prediction import TIE, PredictionRun

__all__ = ["clockwork_experts", "contradict", "heaviest_alone", "heaviest_first", "heaviest_first_counts", "noisy_experts", "tie_splitter"]


def tie_splitter(t, weights):
    """Of the a experts that have never been wrong, ⌊a/2⌋ say U and all others D; U comes true. The last one says U.

    Against halving each of the first ⌊log₂ N⌋ rounds is a mistake, and one expert stays perfect. Claim: thm-halving

    >>> tie_splitter(0, np.ones(5))
    (array([ True,  True, False, False, False]), array(True))
    """
    alive = weights == weights.max(axis=-1, keepdims=True)
    say_u = np.maximum(alive.sum(axis=-1, keepdims=True) // 2, 1)
    return alive & (alive.cumsum(axis=-1) <= say_u), np.ones(weights.shape[:-1], bool)


def heaviest_first(t, weights):
    """The shortest heaviest-first list of experts with weight >= W/2 says D, the others U; U comes true.

    D then has at least half of the weight, so weighted majority errs in every round. Claim: thm-weighted-majority-tight

    >>> heaviest_first(0, np.array([.5, 1, .5, 1]))
    (array([ True, False,  True, False]), array(True))
    """
    order = np.argsort(-weights, axis=-1, kind="stable")
    sorted_weights = np.take_along_axis(weights, order, axis=-1)
    before = sorted_weights.cumsum(axis=-1) - sorted_weights  # weight of those ahead in the list
    half = weights.sum(axis=-1, keepdims=True) / 2 * (1 - TIE / 4)
    predictions = np.empty(weights.shape, bool)
    np.put_along_axis(predictions, order, before >= half, axis=-1)
    return predictions, np.ones(weights.shape[:-1], bool)


def heaviest_alone(t, weights):
    """The heaviest expert (the first, if several are) says D, all others U; U comes true.

    Against randomised weighted majority the first term of the bound is then used up. Claim: prop-randomised-majority

    >>> heaviest_alone(0, np.array([.5, 1, 1]))
    (array([ True, False,  True]), array(True))
    """
    return np.arange(weights.shape[-1]) != weights.argmax(axis=-1)[..., None], np.ones(weights.shape[:-1], bool)


def heaviest_first_counts(experts, rounds, penalty=0.5):
    """The mistakes of the best expert after 0, 1, …, T rounds of `heaviest_first`, each of which is a mistake of ours.

    Exact, and the cost of a round does not depend on N: no two experts differ by more than one mistake, so the
    state is how many stand at the least number of mistakes. The penalty is the fraction one writes: .1 is 1/10.
    Claim: thm-weighted-majority-tight

    >>> heaviest_first_counts(experts=4, rounds=7)
    array([0, 0, 1, 1, 2, 2, 3, 3])
    """
    N, T = count("experts", experts), count("rounds", rounds)
    probability("penalty", penalty)
    eta = Fraction(str(penalty))
    high, low = eta.denominator, eta.denominator - eta.numerator  # weights 1 and 1-η as whole numbers
    best = np.zeros(T + 1, int)
    least, top = 0, N  # `top` experts have `least` mistakes, the others one more
    for t in range(1, T + 1):
        weight = top * high + (N - top) * low
        wrong = -(-weight // (2 * high))  # so many of the top reach W/2 ...
        if wrong < top:
            top -= wrong
        else:  # ... or all of them and some of the others
            missing = weight - 2 * top * high
            least, top = least + 1, N - max(0, -(-missing // (2 * low)))
        best[t] = least
    return best


def contradict(forecaster, rounds, experts=2):
    """The opposite of whatever a deterministic `forecaster` says comes true: T rounds, T mistakes.

    forecaster: function of the advice (t, N), today's last, and of the outcomes (t-1,) so far; returns True for U.
    The experts that are still perfect are split in halves until two or three are left; two of these then say U and D for ever.
    With T = ⌊log₂ N⌋ + 2m rounds the best expert errs at most m times.

    **Guarantee**: mist = T >= 2 OPT + ⌊log₂ N⌋ for such T. Claim: prop-deterministic-barrier

    >>> run = contradict(lambda advice, outcomes: True, rounds=7)
    >>> int(run.mistakes), int(run.opt)
    (7, 0)
    """
    N, T = count("experts", experts, least=2), count("rounds", rounds)
    if not callable(forecaster):
        raise ValueError(f"forecaster must be a function of advice and outcomes, got {forecaster!r}")
    advice, outcomes, said = np.zeros((T, N), bool), np.zeros(T, bool), np.zeros(T, bool)
    errors, best, pair = np.zeros(N, int), np.zeros(T + 1, int), None
    for t in range(T):
        perfect = np.flatnonzero(errors == 0)
        if pair is None and len(perfect) < 4:
            pair = perfect[:1]
        advice[t, perfect[: len(perfect) // 2] if pair is None else pair] = True
        answer = forecaster(advice[: t + 1].copy(), outcomes[:t].copy())
        if not isinstance(answer, (bool, np.bool_)):
            raise ValueError(f"the forecaster must return True or False, got {answer!r}")
        said[t], outcomes[t] = answer, not answer
        errors += advice[t] != outcomes[t]
        best[t + 1] = errors.min()
    return PredictionRun(said, outcomes, said != outcomes, best, errors)


def noisy_experts(experts, rounds, best=0.1, others=0.5, *, rng, repeats=None):
    """A fixed sequence: outcomes are fair coins, the first expert is wrong with probability `best`, each other with `others`.

    >>> predictions, outcomes = noisy_experts(3, 4, best=0, rng=np.random.default_rng(0))
    >>> predictions.shape, bool((predictions[:, 0] == outcomes).all())
    ((4, 3), True)
    """
    N, T, rng = count("experts", experts), count("rounds", rounds), generator(rng)
    rates = np.full(N, finite_array("others", others))
    rates[0] = finite_array("best", best)
    if rates.min() < 0 or rates.max() > 1:
        raise ValueError(f"best and others must be probabilities, got {best!r} and {others!r}")
    games = () if repeats is None else (count("repeats", repeats),)
    outcomes = rng.random((*games, T)) < 0.5
    return outcomes[..., None] ^ (rng.random((*games, T, N)) < rates), outcomes


def clockwork_experts(rounds=60):
    """Six experts without chance: U comes true at t = 1, 2, … if t² mod 11 < 5, and expert i errs if (a t + b) mod c < d.

    >>> predictions, outcomes = clockwork_experts()
    >>> (predictions != outcomes[:, None]).sum(axis=0)
    array([ 9, 30, 40, 36, 40, 40])
    """
    a, b, c, d = np.array([(3, 1, 7, 1), (1, 0, 2, 1), (5, 2, 3, 2), (2, 1, 5, 3), (1, 0, 3, 2), (4, 3, 9, 6)]).T
    t = np.arange(1, count("rounds", rounds) + 1)
    outcomes = t**2 % 11 < 5
    return outcomes[:, None] ^ ((a * t[:, None] + b) % c < d), outcomes
