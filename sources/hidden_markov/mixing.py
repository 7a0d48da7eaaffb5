"""Mixing time: after how many letters it no longer matters where a model began."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.sources.hidden_markov.model import HiddenMarkovModel

NEAR = 0.1
"""Two beliefs that differ by so much in total variation are said to be mixed."""
LONGEST = 512
"""How many letters are looked at."""
NORMAL = 1.96
"""Standard errors on each side of a mean, for 95 percent."""
MOST_AT_ONCE = 2**22
"""Numbers in memory while pairs of beliefs are compared."""
MOST_WORK = 2**31
"""How many products and comparisons of probabilities are made before it is left open."""


@dataclass(frozen=True, eq=False)
class MixingTime:
    """The mixing time of a model, estimated from random words.

    T_mix is the least t with E max TV(Pr(S_t | o_1 … o_t, μ), Pr(S_t | o_1 … o_t, ν)) at
    most `NEAR`; the expectation is over words, the maximum over priors μ and ν
    (Hu et al. 2024, A.2). The maximum is exact: a posterior is linear-fractional in the
    prior, so the largest distance is between two known states. Only words are sampled.

    Attributes:
        distances: ``(t,)``: the mean of the maximum after 1, 2, … letters.
        errors: ``(t,)``: its standard error.
        samples: How many words there were.
    """

    distances: FloatArray
    errors: FloatArray
    samples: int

    @property
    def time(self) -> int | None:
        """The estimate; None if it is not reached."""
        return _first(self.distances)

    @property
    def interval(self) -> tuple[int | None, int | None]:
        """The times at which an end of the mean's interval of 95 percent is near enough.

        None stands for a time beyond all that were looked at.
        """
        margin = NORMAL * self.errors
        return _first(self.distances - margin), _first(self.distances + margin)

    def capped(self, length: int) -> tuple[int, bool]:
        """The time in words of a length, and whether that is where it was cut."""
        found = self.time
        return (length, True) if found is None or found > length else (found, False)


def _first(distances: FloatArray) -> int | None:
    near = np.flatnonzero(distances <= NEAR)
    return int(near[0]) + 1 if len(near) else None


def mixing_time(
    model: HiddenMarkovModel,
    samples: int = 2000,
    seed: int = 0,
    longest: int = LONGEST,
    work: int = MOST_WORK,
) -> MixingTime:
    """Estimate it; actions, if there are any, are uniform.

    States that nothing leads to are no priors but for the start's own.

    Args:
        model: The model.
        samples: How many words.
        seed: Of the words.
        longest: Stop after so many letters.
        work: Stop after so many products of numbers.

    Raises:
        Refused: If there are no words or letters.
    """
    demand(
        samples > 1 and longest > 0,
        "a mixing time needs two words of at least one letter",
    )
    entered = model.operators.any(axis=(0, 2)) | (model.start > 0)
    priors = np.flatnonzero(entered)
    unifilar = bool(((model.operators > 0).sum(axis=1) <= 1).all())
    each = samples * len(priors) * (1 if unifilar else model.size * len(priors))
    longest = max(1, min(longest, work // each))
    words = model.sample(samples, longest, np.random.default_rng(seed))[0]
    distances = _of_states if unifilar else _of_beliefs
    means, errors = list[float](), list[float]()
    for farthest in distances(model, priors, words):
        means.append(float(farthest.mean()))
        errors.append(float(farthest.std(ddof=1)) / samples**0.5)
        if means[-1] + NORMAL * errors[-1] <= NEAR:
            break
    return MixingTime(np.array(means), np.array(errors), samples)


def _of_states(
    model: HiddenMarkovModel, priors: IntArray, words: IntArray
) -> Iterator[FloatArray]:
    """The largest distances after each letter, where known states stay known: 0 or 1."""
    moves = np.where(model.operators.any(axis=1), model.operators.argmax(axis=1), -1)
    moves = np.pad(
        moves, ((0, 0), (0, 1)), constant_values=-1
    )  # what is impossible stays
    states = np.broadcast_to(priors, (len(words), len(priors)))
    for letters in words.T:
        states = moves[letters[:, None], states]
        least = np.where(states < 0, model.size, states).min(axis=1)
        yield (states.max(axis=1) > least).astype(np.float64)


def _of_beliefs(
    model: HiddenMarkovModel, priors: IntArray, words: IntArray
) -> Iterator[FloatArray]:
    """The largest distances after each letter; impossible beliefs are columns of 0."""
    first = np.eye(model.size)[:, priors]
    columns = np.broadcast_to(first, (len(words), *first.shape))
    for letters in words.T:
        joint = model.operators[letters] @ columns
        total = joint.sum(axis=1, keepdims=True)
        columns = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        yield _farthest(columns)


def _farthest(columns: FloatArray) -> FloatArray:
    """``(batch,)``: the largest total variation between two columns that are beliefs."""
    batch, size, priors = columns.shape
    possible: BoolArray = np.asarray(columns.any(axis=1))
    found = np.zeros(batch)
    step = max(1, MOST_AT_ONCE // (size * priors))
    for first in range(priors - 1):
        for at in range(0, batch, step):
            part = slice(at, at + step)
            one, others = columns[part, :, first, None], columns[part, :, first + 1 :]
            apart = np.abs(one - others).sum(axis=1) / 2
            both = possible[part, first, None] & possible[part, first + 1 :]
            here = np.where(both, apart, 0).max(axis=1)
            found[part] = np.maximum(found[part], here)
    return found
