"""What all products of positive operators have in common (Lemma W9a of docs/within.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, UNDERFLOW

MOST_WORDS, MOST_WORK = 2**10, 2**26
"""How many words of one length there are at most whose operators are multiplied out, and
half of those of all lengths; and how many steps those of one length take."""
NEAR = 2.0**128
"""Numbers lie between the inverse and this: then no product or quotient is subnormal."""
EXTREME = "a number is too large or too small to be multiplied"
SLACK = 1 + 2.0**-30
"""Far above what rounding does to their products: positive numbers, few of them."""


@dataclass(frozen=True)
class PositiveOperators:
    """Bounds of every product of at least one operator, divided by its mass.

    The mass of X is the sum of Xb, b the start. The first axis says how many operators are
    multiplied, up to some number, and that many or more. All bounds are rounded outwards.

    Attributes:
        start: ``(n,)``: b.
        least: ``(counts, n, n)``: below each entry.
        most: ``(counts, n, n)``: above it.
        low: ``(counts, n)``: below the sum of each column.
        high: ``(counts, n)``: above it.
        share: ``(2, counts, n)``: below and above what part of a column a row has.
        others: ``(counts,)``: above what the entries of a row are together where b is 0,
            in units of those where it is not.
        contraction: ``(T + 1,)``: what a product of so many operators multiplies
            distances between positive vectors by, at most (Birkhoff).
    """

    start: FloatArray
    least: FloatArray
    most: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    others: FloatArray
    contraction: FloatArray

    @classmethod
    def of(cls, operators: FloatArray, start: FloatArray, length: int) -> Self:
        """Those of operators ``(letters, n, n)``, for words of up to ``length`` of them.

        Raises:
            Refused: If an entry is not positive, or entries are too far apart.
        """
        demand((operators > 0) & np.isfinite(operators), "an operator has an entry 0")
        demand((start >= 0) & (start.sum() > 0), "the start has no mass")
        demand(ordinary(operators) & ordinary(start[start > 0]).all(), EXTREME)
        words = list(_words(operators, length))
        parts = [x / x.sum(axis=1, keepdims=True) for x in words]
        sums = [x / (x @ start)[:, :, None] for x in words]
        low = np.array([x.min(axis=(0, 1)) for x in sums]) / SLACK
        high = np.array([x.max(axis=(0, 1)) for x in sums]) * SLACK
        rare = np.array([x.min(axis=(0, 2)) for x in parts]) / SLACK
        often = np.array([x.max(axis=(0, 2)) for x in parts]) * SLACK
        least, most = rare[:, :, None] * low[:, None], often[:, :, None] * high[:, None]
        near = np.isfinite(most) & (least > UNDERFLOW)
        demand(near, "entries of operators are too far apart")
        zero = start == 0
        beside = [x @ zero / (x @ ~zero) for x in words]
        others = np.array([x.max() for x in beside]) * SLACK
        tau, share = _contraction(words, length), np.array([rare, often])
        return cls(start, least, most, low, high, share, others, tau)

    def at(self, letters: FloatArray) -> IntArray:
        """The place of bounds of products of so many operators; the first one of none."""
        place = np.clip(letters.astype(np.int64) - 1, 0, len(self.least) - 1)
        return np.asarray(place)


def _words(operators: FloatArray, length: int) -> Iterator[FloatArray]:
    """The products of each length, while they are few, divided by numbers."""
    words, size, left = operators, len(operators[0]), 2 * MOST_WORDS
    for _ in range(length):
        yield words
        count, left = len(words) * len(operators), left - len(words)
        if count > min(MOST_WORDS, left) or count * size**3 > MOST_WORK:
            return
        words = (words[:, None] @ operators[None]).reshape(-1, size, size)
        words = words / words.max(axis=(1, 2), keepdims=True)


def _contraction(words: Sequence[FloatArray], length: int) -> FloatArray:
    """``(T + 1,)``: tanh(Δ/4), Δ the largest distance between two columns.

    Of words longer than those given, the parts contract one after the other.
    """
    found, known = np.ones(length + 1), len(words)
    found[1 : known + 1] = [max(map(_tanh, each)) for each in words]
    for count in range(known + 1, length + 1):
        parts = found[1 : known + 1] * found[count - known : count][::-1]
        found[count] = parts.min() * INFLATION
    return found


def ordinary(numbers: FloatArray) -> BoolArray:
    """Which positive numbers are not too large or too small to be multiplied."""
    return (numbers >= 1 / NEAR) & (numbers <= NEAR)


def _tanh(matrix: FloatArray) -> float:
    """Of a positive matrix; the rounding of its products is far below what is added."""
    logs = np.log(matrix)
    apart = logs[:, :, None] - logs[:, None, :]
    widest = float((apart.max(axis=0) - apart.min(axis=0)).max())
    slack = (SLACK - 1) * (1 + np.abs(logs).max())
    return float(np.minimum(np.tanh((widest + slack) / 4) * INFLATION, 1.0))
