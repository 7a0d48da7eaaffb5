"""Few points on which letters act if the last letters are known: smaller than the states.

A machine is a shift register of the last k letters, and beside it a machine on points
whose letters act as the register says: a cascade with a definite first component. How
many points are needed is a matter of colouring: states that the same last letters may
lead to must differ. Words may be forbidden; those need nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from krohn.algebra.semiautomaton import IntArray

BoolArray = npt.NDArray[np.bool_]
MOST_CONTEXTS, MOST_READ = 2**22, 3
"""States times contexts that are looked at; letters of the longest context."""


@dataclass(frozen=True)
class ContextPoints:
    """Points, and how many letters say how they move, and which states they are.

    Attributes:
        of: ``(states,)``: the point of each state.
        moved: The map of a letter on points depends on so many letters before it.
        read: A point and so many last letters are one state at most.
        before: ``(states, (letters + 1) ** moved)``: the last letters in each state; the
            last one counts most, and the number of letters stands for before the first.
        behind: ``(states, (letters + 1) ** read)``: the same of ``read`` letters.
    """

    of: IntArray
    moved: int
    read: int
    before: BoolArray
    behind: BoolArray

    @property
    def points(self) -> int:
        """How many points there are."""
        return int(self.of.max()) + 1


def context_points(transitions: IntArray, start: int) -> ContextPoints:
    """The fewest points that are found; all states are points if none are fewer.

    Args:
        transitions: ``(letters, states)``: where a letter leads; −1 if it cannot come.
        start: The first state; others in the order in which they are best looked at.
    """
    letters, states = transitions.shape
    found = list[ContextPoints]()
    for read in range(MOST_READ + 1):
        if states * (letters + 1) ** (read + 1) > MOST_CONTEXTS:
            break
        behind = _contexts(transitions, start, read)
        for moved in range(read + 1):
            before = _contexts(transitions, start, moved)
            of = _colouring(transitions, before, behind)
            found.append(ContextPoints(of, moved, read, before, behind))
    return min(found, key=lambda one: (one.points, one.moved, one.read))


def _contexts(transitions: IntArray, start: int, length: int) -> BoolArray:
    """Which last letters there can be in each state."""
    letters, states = transitions.shape
    base, size = letters + 1, (letters + 1) ** length
    there = np.zeros((states, size), np.bool_)
    there[start, size - 1] = True
    todo = [(start, size - 1)]
    while todo:
        q, context = todo.pop()
        for letter in np.flatnonzero(transitions[:, q] >= 0).tolist():
            after = (context + letter * size) // base if length else 0
            to = int(transitions[letter, q])
            if not there[to, after]:
                there[to, after] = True
                todo.append((to, after))
    return there


def _colouring(transitions: IntArray, before: BoolArray, behind: BoolArray) -> IntArray:
    """Each state is given the first point that fits, with the mergers that this forces."""
    of = np.arange(len(behind))
    for q in range(1, len(of)):
        if of[q] == q:
            for point in np.unique(of[:q]).tolist():
                joined = _merge_points(of, (point, q), transitions, before, behind)
                if joined is not None:
                    of = joined
                    break
    return np.unique(of, return_inverse=True)[1].astype(np.int64)


def _merge_points(
    of: IntArray,
    pair: tuple[int, int],
    transitions: IntArray,
    before: BoolArray,
    behind: BoolArray,
) -> IntArray | None:
    """Two points made one, with all mergers that letters force; None if that cannot be.

    A point is called like the least of its states.
    """
    of, todo = of.copy(), [pair]
    while todo:
        first, second = sorted(int(of[q]) for q in todo.pop())
        if first == second:
            continue
        of[of == second] = first
        members = np.flatnonzero(of == first)
        if behind[members].sum(axis=0).max() > 1:
            return None
        todo += _forced_pairs(members, transitions, before)
    return of


def _forced_pairs(
    members: IntArray, transitions: IntArray, before: BoolArray
) -> Iterator[tuple[int, int]]:
    """States that letters lead to from one point, where the letters before are alike."""
    for context in np.flatnonzero(before[members].sum(axis=0) > 1):
        for row in transitions[:, members[before[members, context]]]:
            yield from pairwise(row[row >= 0].tolist())
