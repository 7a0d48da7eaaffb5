"""Recognising gridworlds: machines whose states are cells between two walls."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray


@dataclass(frozen=True)
class Corridor:
    """A machine that walks along a line of cells and stops at walls (thesis, Example 3).

    Attributes:
        cell: The place of each state on the line, 0 at one wall.
        moves: How far each letter moves, negative towards cell 0; a move
            through a wall ends there.
    """

    cell: tuple[int, ...]
    moves: tuple[int, ...]

    @property
    def last(self) -> int:
        """The cell at the other wall."""
        return len(self.cell) - 1


def as_corridor(a: Automaton) -> Corridor | None:
    """The corridor that ``a`` is, or None.

    A machine is a corridor if its states can be put in a line such that every letter
    adds its move and clamps at both ends. Some letter must move by exactly 1; its path
    is the line.
    """
    for letter in a.transitions:
        line = _path(letter)
        if line is not None:
            return _along(line, a.transitions)
    return None


def _path(letter: IntArray) -> list[int] | None:
    """All states in the order in which one letter visits them, if it is a single path.

    The path starts where no arrow ends, and ends at the state that the letter keeps.
    """
    missed = np.setdiff1d(np.arange(len(letter)), letter)
    if len(missed) != 1:
        return None
    line = [int(missed[0])]
    while (after := int(letter[line[-1]])) != line[-1] and len(line) <= len(letter):
        line.append(after)
    return line if len(line) == len(letter) else None


def _along(line: list[int], table: IntArray) -> Corridor | None:
    """The corridor with its cells in this order, if all letters fit it."""
    cells = len(line)
    cell = np.empty(cells, dtype=np.int64)
    cell[line] = np.arange(cells)
    walks = cell[table[:, line]]
    # Where there is room for a move, an end shows how far it goes.
    moves = np.where(walks[:, 0] > 0, walks[:, 0], walks[:, -1] - (cells - 1))
    clamped = np.clip(np.arange(cells) + moves[:, None], 0, cells - 1)
    if not np.array_equal(walks, clamped):
        return None
    return Corridor(tuple(cell.tolist()), tuple(moves.tolist()))
