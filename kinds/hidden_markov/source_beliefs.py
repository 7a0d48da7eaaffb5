"""The beliefs that can be reached, and how small entries of products get."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple, Self

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import FloatArray, IntArray
from krohn.program.patterns import letters_until_rectangles

# The beliefs that can be reached, if they are finitely many: in exact arithmetic.


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
    first = _reduce_weights(_whole(model.start))
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
            after = _reduce_weights(_apply_letter(letter, belief))
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


def _apply_letter(letter: list[tuple[int, int, int]], belief: Weights) -> list[int]:
    after = [0] * len(belief)
    for into, outof, weight in letter:
        after[into] += weight * belief[outof]
    return after


def _reduce_weights(weights: Sequence[int]) -> Weights | None:
    """Without a common divisor; None if all are 0."""
    divisor = gcd(*weights)
    return tuple(w // divisor for w in weights) if divisor else None


# How small the entries of products of operators are, that are not 0.
#
# All numbers are binary logarithms, estimates from below in float64. Words of few letters
# are multiplied out; longer ones are put together of these.


MOST_WORDS, LONGEST, FARTHEST = 2**10, 12, 900
"""Words of a length that are multiplied out, their letters, and how far entries of them
may be apart."""


class Sizes(NamedTuple):
    """Of products of 0, 1, …, T operators, and of these applied to the start.

    Attributes:
        least: ``(T + 1,)``: the least entry of a product that is not 0.
        share: ``(T + 1,)``: the same in units of the sum of its product.
        said: ``(T + 1,)``: the least entry of a vector that is not 0.
        part: ``(T + 1,)``: the same in units of the sum of its vector.
    """

    least: FloatArray
    share: FloatArray
    said: FloatArray
    part: FloatArray

    @classmethod
    def of(cls, letters: FloatArray, start: FloatArray, length: int) -> Self:
        """Those of operators ``(letters, n, n)`` whose columns add up to 1 at most.

        Where all products of k operators are positive in a rectangle and 0 elsewhere,
        a column of a longer one is a mean of columns of these, and a row one of rows. So
        what share an entry has of the sum is bounded for all lengths.
        """
        least, share = [0.0], [-np.log2(len(start))]
        vector_least, part = [_least(start)], [_least(start)]
        column = row = -np.inf
        alike = letters_until_rectangles(letters, length)
        for words in _words(letters, length):
            vectors = words @ start
            least.append(_least(words))
            share.append(_least(words / words.sum(axis=(1, 2), keepdims=True)))
            vector_least.append(_least(vectors))
            total = vectors.sum(axis=1, keepdims=True)
            part.append(_least(vectors[total[:, 0] > 0] / total[total[:, 0] > 0]))
            column = max(column, _alike(words))
            row = max(row, _alike(words.transpose(0, 2, 1)))
        known = len(least)
        for count in range(known, length + 1):
            parts = range(1, known)
            least.append(
                max((least[a] + least[count - a] for a in parts), default=-1e9)
            )
            vector_least.append(
                max((least[a] + vector_least[count - a] for a in parts), default=-1e9)
            )
            if alike is not None and count >= alike:
                column = max(column, least[alike])
                row = max(row, least[alike] - np.log2(len(start)))
            share.append(max(least[-1] - np.log2(len(start)), column + row))
            part.append(max(vector_least[-1], column))
        return cls(
            *(np.array(x[: length + 1]) for x in (least, share, vector_least, part))
        )

    def window(self, letters: int) -> tuple[float, float]:
        """The least entry and share of a product of so many operators.

        Or of fewer, applied to the start and written into each column.
        """
        size = 2.0 ** -self.share[0]
        beside = self.part[:letters].min() - np.log2(size)
        least = min(self.least[letters], self.said[:letters].min())
        return float(least), float(min(self.share[letters], beside))


def _words(letters: FloatArray, length: int) -> Iterator[FloatArray]:
    """The products of each length that are not 0, while they are few."""
    digits = -np.log2(letters[letters > 0].min(initial=1.0))
    words = np.eye(letters.shape[1])[None]
    for count in range(1, min(length, LONGEST) + 1):
        if len(words) * len(letters) > MOST_WORDS or count * digits > FARTHEST:
            return
        words = (words[:, None] @ letters).reshape(-1, *letters.shape[1:])
        words = words[words.any(axis=(1, 2))]
        yield words


def _least(numbers: FloatArray) -> float:
    return float(np.floor(np.log2(numbers[numbers > 0].min(initial=1.0))))


def _alike(words: FloatArray) -> float:
    """The least share of an entry in its column, if each word is a rectangle."""
    there = words > 0
    some = there.any(axis=2, keepdims=True) & there.any(axis=1, keepdims=True)
    if not len(words) or (there != some).any():
        return -np.inf
    total = words.sum(axis=1, keepdims=True)
    return _least(np.divide(words, total, out=np.zeros_like(words), where=total > 0))
