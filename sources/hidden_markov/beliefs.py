"""The beliefs that can be reached, if they are finitely many: in exact arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.sources.hidden_markov.model import HiddenMarkovModel

MOST_BELIEFS = 4096
"""How many beliefs are looked at; there are 36 of RRXOR, and 76 of Cyclic-HARD5,5."""
MOST_DIGITS = 4096
"""Binary digits of an entry. Where beliefs are without end, each letter adds about 50."""
MOST_WORK = 2**22
"""How many products of entries, each as often as it has words of 64 bits."""
LEAST_BELIEFS = 16
"""Nothing is looked at if there is not enough work for so many."""
IMPOSSIBLE = -1
Weights = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The machine of all beliefs that some possible word leads to.

    Attributes:
        weights: The beliefs in the order in which they are found, the start first: whole
            numbers without a common divisor, in the proportion of the probabilities.
        following: ``(letters, beliefs)``: where a letter leads; `IMPOSSIBLE` if it has
            probability 0.
    """

    weights: tuple[Weights, ...]
    following: IntArray

    @property
    def laws(self) -> FloatArray:
        """``(beliefs, n)``: the probabilities, each rounded once."""
        return np.array([[w / sum(each) for w in each] for each in self.weights])


def reachable(
    model: HiddenMarkovModel,
    most: int = MOST_BELIEFS,
    digits: int = MOST_DIGITS,
    work: int = MOST_WORK,
) -> Beliefs | None:
    """All beliefs that can be reached from the start; None if they are too many.

    A belief is a ray: it is the same however the operators are scaled, so whole numbers
    are enough, and nothing is rounded. None does not say that they are infinitely many.

    Args:
        model: The model, whose numbers stand for themselves.
        most: Give up beyond so many beliefs.
        digits: Give up beyond so many binary digits of an entry.
        work: Give up after so many products of words of 64 bits.
    """
    if np.count_nonzero(model.operators) > work // LEAST_BELIEFS:
        return None
    edges = [_edges(operator) for operator in model.operators]
    first = _reduced(_whole(model.start))
    assert first is not None
    weights, number = [first], {first: 0}
    following: list[list[int]] = []
    while len(following) < len(weights):
        belief, row = weights[len(following)], []
        size = max(belief).bit_length()
        work -= (1 + size // 64) * sum(map(len, edges))
        if size > digits or work < 0:
            return None
        for letter in edges:
            after = _reduced(_applied(letter, belief))
            if after is not None and after not in number:
                number[after] = len(weights)
                weights.append(after)
                if len(weights) > most:
                    return None
            row.append(IMPOSSIBLE if after is None else number[after])
        following.append(row)
    return Beliefs(tuple(weights), np.array(following, np.int64).T)


def _edges(operator: FloatArray) -> list[tuple[int, int, int]]:
    """Of each entry that is not 0: where it leads, whence, and a whole number."""
    into, outof = np.nonzero(operator)
    whole = _whole(operator[into, outof])
    return list(zip(into.tolist(), outof.tolist(), whole, strict=True))


def _whole(numbers: FloatArray) -> list[int]:
    """Floats times the power of two that makes them whole."""
    ratios = [x.as_integer_ratio() for x in numbers.tolist()]
    scale = max((below for _, below in ratios), default=1)
    return [above * (scale // below) for above, below in ratios]


def _applied(letter: list[tuple[int, int, int]], belief: Weights) -> list[int]:
    after = [0] * len(belief)
    for into, outof, weight in letter:
        after[into] += weight * belief[outof]
    return after


def _reduced(weights: Sequence[int]) -> Weights | None:
    """Without a common divisor; None if all are 0."""
    divisor = gcd(*weights)
    return tuple(w // divisor for w in weights) if divisor else None
