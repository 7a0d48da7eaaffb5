"""The facts of a machine's algebra that strategies use, computed once for each machine."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.cascade import Cascade
from krohn.algebra.classification.synchronising import synchronising
from krohn.algebra.decomposition.methods import derived
from krohn.algebra.decomposition.reach import reachable_coordinates
from krohn.algebra.errors import KrohnError
from krohn.algebra.monoid import TransformationMonoid
from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.verify.testing.strategies.strategy import BoolArray

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
    found = monoid(machine)
    if found is None:
        keeps = (machine.transitions == np.arange(len(machine.states))).all(axis=1)
        return [(int(a),) for a in np.flatnonzero(keeps)]
    # Elements are in the order of their words, so these are the shortest.
    element, letter = np.nonzero(found.right == 0)
    shortest = slice(MOST_WORDS)
    pairs = zip(element[shortest].tolist(), letter[shortest].tolist(), strict=True)
    return [(*found.word(e), a) for e, a in pairs]


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
    def changed(self) -> BoolArray:
        """``(levels, nodes, letters)``: whether a letter changes a component's state."""
        moved: BoolArray = self.values[self.after] != self.values
        return moved.transpose(2, 1, 0)


@lru_cache(KEPT)
def coordinates(machine: Semiautomaton, start: int) -> Coordinates | None:
    """Coordinates in the cascade of derived series; None if there are too many."""
    if monoid(machine) is None and len(machine.states) > FEW_STATES:
        return None
    try:
        cascade = derived(machine, Budget(size=MOST_ELEMENTS))
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
