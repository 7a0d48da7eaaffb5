"""How small the entries of products of operators are, that are not 0.

All numbers are binary logarithms, estimates from below in float64. Words of few letters
are multiplied out; longer ones are put together of these.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from krohn.program.domains import FloatArray

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
        said, part = [_least(start)], [_least(start)]
        column = row = -np.inf
        for words in _words(letters, length):
            vectors = words @ start
            least.append(_least(words))
            share.append(_least(words / words.sum(axis=(1, 2), keepdims=True)))
            said.append(_least(vectors))
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
            said.append(max((least[a] + said[count - a] for a in parts), default=-1e9))
            share.append(max(least[-1] - np.log2(len(start)), column + row))
            part.append(max(said[-1], column))
        return cls(*(np.array(x[: length + 1]) for x in (least, share, said, part)))

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
