"""How small entries of products of operators can be, that are not 0 (Theorem W13).

All bounds are binary logarithms. Words of few letters are multiplied out, by intervals;
others are put together of these.
"""

from typing import NamedTuple, Self

import numpy as np

from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.positive_operators import birkhoff, contraction

MOST_WORDS, MOST_WORK, LONGEST = 2**11, 2**26, 12
"""Words of one length whose operators are multiplied out, the work that this is, and how
many letters they have at most."""
FARTHEST = 900.0
"""Entries of what is multiplied out lie between 2 to the power of minus this, and 1."""
NEAR_ONE = 2.0**-20
"""By how much a sum of a column, or of the start, may exceed 1."""
ROUGH = 2.0**-20
"""More than a binary logarithm is off by."""


class Bounds(NamedTuple):
    """Of entries that are not 0: from below, and from below in units of the sum of all."""

    least: float
    share: float


class OperatorWords(NamedTuple):
    """Bounds for products of 0, 1, …, T operators, and for these applied to the start.

    Attributes:
        size: n.
        least: ``(T + 1,)``: of entries of products.
        share: ``(T + 1,)``: of the same, in units of the sum of all entries.
        said: ``(T + 1,)``: of entries of vectors.
        part: ``(T + 1,)``: of the same, in units of their sum.
        contraction: ``(T + 1,)``: what products multiply Hilbert's distances by, at most.
    """

    size: int
    least: FloatArray
    share: FloatArray
    said: FloatArray
    part: FloatArray
    contraction: FloatArray

    @classmethod
    def of(
        cls, letters: FloatArray, start: FloatArray, length: int, spread: Interval
    ) -> Self:
        """Those of operators ``(letters, n, n)``.

        Args:
            letters: The operators that are held.
            start: The start that is held.
            length: T.
            spread: How far logarithms of quotients of an operator and that of the source
                are apart: the contraction is that of the source.

        Raises:
            Refused: If a sum of a column is more than 1, or the start is no law.
        """
        for numbers in (letters, start):
            demand(np.isfinite(numbers) & (numbers >= 0), "a matrix has a wrong entry")
        most = Interval.of(letters).sum(axis=1).high
        demand(most <= 1 + NEAR_ONE, "a sum of a column is more than 1")
        total = Interval.of(start).sum()
        near = total.low >= 1 - NEAR_ONE and total.high <= 1 + NEAR_ONE
        demand(near, "the start does not add up to 1")
        size = len(start)
        none = Bounds(0.0, -float(np.log2(size)) - ROUGH)
        products, vectors = [none], [_bounds(Interval.of(start[None]), (1,))]
        columns, rows, contracted = -np.inf, -np.inf, list[float]()
        for words in _words(letters, length):
            products.append(_bounds(words, (1, 2)))
            vectors.append(_bounds(words @ start, (1,)))
            alike = _alike(words)
            columns = max(columns, alike)
            rows = max(rows, _alike(words.each(lambda x: x.transpose(0, 2, 1))))
            apart = 2 * len(products[1:]) * spread
            contracted.append(birkhoff(words, apart) if np.isfinite(alike) else 1.0)
        least, said = _joined(products, vectors, length)
        share = np.maximum(least - np.log2(size) - ROUGH, columns + rows)
        part = np.maximum(said, columns)
        known = len(products)
        share[:known] = [each.share for each in products[: length + 1]]
        part[:known] = [each.share for each in vectors[: length + 1]]
        tau = contraction(contracted, length)
        return cls(size, least, share - ROUGH, said, part - ROUGH, tau)

    def window(self, letters: int) -> Bounds:
        """Of products of so many letters, and of fewer applied to the start n times."""
        least = min(self.least[letters], self.said[:letters].min())
        beside = self.part[:letters].min() - np.log2(self.size) - ROUGH
        return Bounds(float(least), float(min(self.share[letters], beside)))

    @property
    def vector(self) -> Bounds:
        """Of vectors after up to T letters."""
        return Bounds(float(self.said.min()), float(self.part.min()))


def _words(letters: FloatArray, length: int) -> "list[Interval]":
    """The products of each length that are not 0, while they are few."""
    size = letters.shape[1]
    positive = letters[letters > 0]
    digits = -float(np.log2(positive.min(initial=1.0))) + ROUGH
    words, found = Interval.of(np.eye(size)[None]), list[Interval]()
    for count in range(1, min(length, LONGEST) + 1):
        many = len(words.low) * len(letters)
        few = many <= MOST_WORDS and many * size**3 <= MOST_WORK
        if not few or count * digits > FARTHEST:
            break
        words = (words[:, None] @ letters[None]).each(
            lambda x: x.reshape(-1, size, size)
        )
        words = words[words.high.any(axis=(1, 2))]
        found.append(words)
    return found


def _bounds(words: Interval, axes: tuple[int, ...]) -> Bounds:
    """Of all words; where there are none, any number is a bound."""
    there = words.high > 0
    demand(words.low[there] > 0, "a product is not known")
    if not there.any():
        return Bounds(0.0, 0.0)
    total = words.sum(axis=axes[-1])
    total = total.sum(axis=1) if len(axes) > 1 else total
    shape = (-1, *(1 for _ in axes))
    part = words / total.each(lambda x: x.reshape(shape)).where(
        (total.low > 0).reshape(shape), 1.0
    )
    return Bounds(_log(words.low[there]), _log(part.low[there]))


def _log(numbers: FloatArray) -> float:
    return float(np.log2(numbers.min())) - ROUGH


def _alike(words: Interval) -> float:
    """If columns of a word that are not 0 are positive at the same places: their share.

    The share of an entry in its column, at least; −∞ if they are not.
    """
    there: BoolArray = words.high > 0
    some = there.any(axis=2, keepdims=True)
    column = there.any(axis=1, keepdims=True)
    if not (there == (some & column)).all() or not there.any():
        return -np.inf
    total = words.sum(axis=1).each(lambda x: x[:, None])
    part = words / total.where(total.low > 0, 1.0)
    return _log(part.low[there])


def _joined(
    products: list[Bounds], vectors: list[Bounds], length: int
) -> tuple[FloatArray, FloatArray]:
    """Bounds of entries for all lengths: one of UV is at least a product of two."""
    least, said = np.zeros(length + 1), np.zeros(length + 1)
    known = len(products)
    least[:known] = [each.least for each in products[: length + 1]]
    said[:known] = [each.least for each in vectors[: length + 1]]
    for count in range(known, length + 1):
        first = np.arange(1, known)
        if not len(first):
            return np.full(length + 1, -np.inf), np.full(length + 1, -np.inf)
        least[count] = (least[first] + least[count - first]).max()
        said[count] = (least[first] + said[count - first]).max()
    return least, said
