"""The interface of strategies, and helpers that several of them share."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray

BoolArray = npt.NDArray[np.bool_]

Strategy = Callable[[np.random.Generator, Automaton, int, int], IntArray]
"""From a source of chance, a machine, a count and a length: words (count, length).

A strategy that finds nothing in the machine to make use of gives no words at all.
"""


def none(length: int) -> IntArray:
    """``(0, length)``: no words."""
    return np.empty((0, length), dtype=np.int64)


def uniform(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: every letter by itself, all equally likely."""
    return rng.integers(len(machine.letters), size=(count, length))


def scales(length: int) -> int:
    """How many of 2, 4, 8, … are needed to reach the length."""
    return max(1, (length - 1).bit_length())


def distances(rng: np.random.Generator, count: int, length: int) -> IntArray:
    """``(count, 1)``: how far before the last letter: 0, 1, 3, 7, … or ``length − 1``."""
    far: IntArray = 2 ** rng.integers(scales(length) + 1, size=(count, 1)) - 1
    return np.minimum(far, length - 1)


def choose(
    rng: np.random.Generator, rank: npt.NDArray[np.integer | np.bool_]
) -> IntArray:
    """A random letter ``(count,)`` of the highest rank ``(count, letters)``."""
    chosen: IntArray = (rng.random(rank.shape) + rank).argmax(axis=1)
    return chosen


def pack(words: list[tuple[int, ...]]) -> tuple[IntArray, IntArray]:
    """Words of several lengths as one table ``(words, longest)``, and their lengths."""
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    table = np.zeros((len(words), max(1, lengths.max(initial=0))), dtype=np.int64)
    for row, word in zip(table, words, strict=True):
        row[: len(word)] = word
    return table, lengths


def repeat(words: list[tuple[int, ...]], chosen: IntArray, at: IntArray) -> IntArray:
    """Letters of words over and over.

    Args:
        words: The words, none of them empty.
        chosen: ``(count,)``: which of them each row repeats.
        at: ``(count, length)``: which letter of the endless word, from 0 on; letters
            before it are counted backwards.
    """
    table, lengths = pack(words)
    found: IntArray = table[chosen[:, None], at % lengths[chosen][:, None]]
    return found
