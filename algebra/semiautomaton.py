"""Semiautomata: transition tables with named letters and states."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import MachineError

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Semiautomaton:
    """A finite set of states on which every letter acts (thesis, section 3.1).

    Attributes:
        transitions: ``(letters, states)`` integers; ``transitions[a, q]`` = δ(q, a).
        letters: The name of each letter.
        states: The name of each state.

    Raises:
        MachineError: If a table entry is no state, a shape does not fit, or a name
            occurs twice.
    """

    transitions: IntArray
    letters: tuple[str, ...]
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        given = np.asarray(self.transitions)
        if given.size and not np.issubdtype(given.dtype, np.integer):
            raise MachineError("a transition table holds whole numbers")
        table = np.array(given, dtype=np.int64)
        table.setflags(write=False)
        object.__setattr__(self, "transitions", table)
        _check_names("letter", self.letters)
        _check_names("state", self.states)
        if table.shape != (len(self.letters), len(self.states)):
            raise MachineError(
                f"the transition table has shape {table.shape}, but there are "
                f"{len(self.letters)} letters and {len(self.states)} states"
            )
        if table.size and not (0 <= table.min() and table.max() < len(self.states)):
            raise MachineError(
                "the transition table names a state that does not exist: entries "
                f"must lie in 0..{len(self.states) - 1}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Semiautomaton):
            return NotImplemented
        return (
            self.letters == other.letters
            and self.states == other.states
            and np.array_equal(self.transitions, other.transitions)
        )

    def __hash__(self) -> int:
        return hash((self.letters, self.states, self.transitions.tobytes()))

    def encode(self, word: Sequence[str]) -> IntArray:
        """The indices ``(length,)`` of the letters of ``word``.

        Raises:
            MachineError: If a letter is not in the alphabet.
        """
        index = {letter: i for i, letter in enumerate(self.letters)}
        unknown = [letter for letter in word if letter not in index]
        if unknown:
            raise MachineError(
                f"{unknown[0]!r} is not a letter of this machine; "
                f"its letters are {shorten(self.letters)}"
            )
        return np.array([index[letter] for letter in word], dtype=np.int64)

    def trace(self, words: npt.ArrayLike, start: npt.ArrayLike) -> IntArray:
        """The states after every letter, for many words at once.

        Args:
            words: ``(..., length)`` letter indices.
            start: A state index, or one for each word, ``(...,)``.

        Returns:
            ``(..., length)`` state indices; the start state is not among them.
        """
        letters = np.asarray(words, dtype=np.int64)
        out = np.empty(letters.shape, dtype=np.int64)
        state = np.broadcast_to(np.asarray(start, dtype=np.int64), letters.shape[:-1])
        for t in range(letters.shape[-1]):
            state = self.transitions[letters[..., t], state]
            out[..., t] = state
        return out

    def run(self, word: Sequence[str], start: int) -> tuple[str, ...]:
        """The names of the states that ``word`` visits from ``start``."""
        return tuple(self.states[q] for q in self.trace(self.encode(word), start))


def shorten(names: Sequence[str], limit: int = 12) -> str:
    """The names in one line for a message, cut after ``limit`` of them."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, … ({len(names)} in all)"


def _check_names(kind: str, names: Sequence[str]) -> None:
    if not names:
        raise MachineError(f"a machine needs at least one {kind}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise MachineError(f"the {kind} {name!r} is named twice")
        seen.add(name)
