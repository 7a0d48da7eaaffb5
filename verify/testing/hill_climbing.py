"""Words made worse step by step: changes that lower a network's margin are kept."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.network.precision import FloatArray
from krohn.verify.testing.strategies.strategy import scales

KEPT = 16
"""How many words are changed side by side."""


def worst(words: IntArray, margins: FloatArray) -> tuple[IntArray, FloatArray]:
    """The `KEPT` words ``(count, length)`` with the least margins ``(count,)``."""
    order = np.argsort(margins, kind="stable")[:KEPT]
    return words[order], margins[order]


def changed(
    rng: np.random.Generator, machine: Automaton, words: IntArray, count: int
) -> IntArray:
    """``(count, length)``: words of those, each changed somewhere.

    Some letters in a row become another letter, or what stands elsewhere in the word, or
    letters by chance; 1, 2, 4, … letters are changed, so that a change may be anything
    from one letter to the whole word.
    """
    length, letters = words.shape[1], len(machine.letters)
    parents = words[np.arange(count) % len(words)]
    size = 2 ** rng.integers(scales(length) + 1, size=(count, 1))
    start = rng.integers(1 - size, length, size=(count, 1))
    at = np.arange(length)
    moved = (at + rng.integers(length, size=(count, 1))) % length
    news = np.stack(
        [
            np.broadcast_to(rng.integers(letters, size=(count, 1)), parents.shape),
            np.take_along_axis(parents, moved, axis=1),
            rng.integers(letters, size=parents.shape),
        ]
    )
    new = news[rng.integers(len(news), size=count), np.arange(count)]
    return np.where((start <= at) & (at < start + size), new, parents)
