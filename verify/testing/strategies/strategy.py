"""The interface of strategies, and the facts of a machine's algebra that they use."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade
from krohn.algebra.classification.properties import synchronising
from krohn.algebra.decomposition.diagrams import reachable_coordinates
from krohn.algebra.decomposition.methods import split_by_derived_series
from krohn.algebra.errors import KrohnError
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.rows import distinct

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
    letters: IntArray = table[chosen[:, None], at % lengths[chosen][:, None]]
    return letters


# The facts of a machine's algebra that strategies use, computed once for each machine.


MOST_ELEMENTS = 2000
MOST_COORDINATES = 5000
MOST_STATES = 500
FEW_STATES = 16
"""So many are decomposed even if their monoid is too large to list."""
MOST_WORDS = 64
KEPT = 8


@lru_cache(KEPT)
def monoid(machine: Semiautomaton) -> TransformationMonoid | None:
    """The transformation monoid; None if it is too large to list."""
    if len(machine.states) > MOST_STATES:
        return None
    try:
        return TransformationMonoid.enumerate(machine, Budget(size=MOST_ELEMENTS))
    except BudgetExceeded:
        return None


@lru_cache(KEPT)
def identities(machine: Semiautomaton) -> list[tuple[int, ...]]:
    """Words that keep every state: w·a for the least word w of each element.

    A letter that keeps every state is one of them; so is a letter as often as its order.
    """
    elements = monoid(machine)
    if elements is None:
        keeps = (machine.transitions == np.arange(len(machine.states))).all(axis=1)
        return [(int(a),) for a in np.flatnonzero(keeps)]
    # Elements are in the order of their words, so these are the shortest.
    element, letter = np.nonzero(elements.right == 0)
    shortest = slice(MOST_WORDS)
    pairs = zip(element[shortest].tolist(), letter[shortest].tolist(), strict=True)
    return [(*elements.word(e), a) for e, a in pairs]


@lru_cache(KEPT)
def reset_word(machine: Semiautomaton) -> tuple[int, ...] | None:
    """A short word that leads all states to one; None if none is known."""
    if len(machine.states) > MOST_STATES:
        return None
    shown = synchronising(machine).witness or {}
    word = shown.get("word")
    return tuple(machine.encode(word).tolist()) if word else None


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A machine's coordinates in a cascade that covers it, as a graph.

    Attributes:
        after: ``(letters, nodes)``: where each letter leads.
        values: ``(nodes, levels)``: the state of each component.
        start: The node of the machine's start.
    """

    after: IntArray
    values: IntArray
    start: int

    @property
    def state_changes(self) -> BoolArray:
        """``(levels, nodes, letters)``: whether a letter changes a component's state."""
        moved: BoolArray = self.values[self.after] != self.values
        return moved.transpose(2, 1, 0)


@lru_cache(KEPT)
def coordinates(machine: Semiautomaton, start: int) -> Coordinates | None:
    """Coordinates in the cascade of derived series; None if there are too many."""
    if monoid(machine) is None and len(machine.states) > FEW_STATES:
        return None
    try:
        cascade = split_by_derived_series(machine, Budget(size=MOST_ELEMENTS))
        origin = cascade.lift[[start]]
        limit = Budget(size=MOST_COORDINATES)
        values = distinct(reachable_coordinates(cascade, limit, origin))[0]
    except KrohnError:
        return None
    after = np.stack([_after(cascade, values, a) for a in range(len(machine.letters))])
    return Coordinates(after, values, int((values == origin).all(axis=1).argmax()))


def _after(cascade: Cascade, values: IntArray, letter: int) -> IntArray:
    """The row of where a letter leads from each row; all of them are there."""
    reached = cascade.step(values, np.full(len(values), letter))
    _, number = distinct(np.concatenate([values, reached]))
    row = np.empty(len(values), dtype=np.int64)
    row[number[: len(values)]] = np.arange(len(values))
    return row[number[len(values) :]]
