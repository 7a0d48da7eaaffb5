"""A linear system and its reference interpreter, in exact arithmetic."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.exact_numbers import reals

KIND = "linear-system"
"""What it is called in the header of a model file."""


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """b_t = A_{o_t} … A_{o_1} b_0: letter o_t applies the matrix A_{o_t}.

    All numbers are float64 and stand for themselves: exact dyadic rationals.

    Attributes:
        name: What it is called.
        letters: The name of each letter.
        matrices: ``(letters, n, n)``: the matrix of each letter; it acts on columns.
        start: ``(n,)``: b_0.
    """

    name: str
    letters: tuple[str, ...]
    matrices: FloatArray
    start: FloatArray

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.start)

    def run(self, words: npt.ArrayLike) -> FloatArray:
        """All states in float64, many words at once.

        Off by at most `rounding`; computed in the widest format of the machine.

        Args:
            words: ``(batch, length)`` letter numbers.

        Returns:
            ``(batch, length, n)``: b_1, b_2, ….
        """
        letters: IntArray = np.asarray(words, np.int64)
        states = np.empty((*letters.shape, self.size))
        wide, start = (x.astype(np.longdouble) for x in (self.matrices, self.start))
        state = np.broadcast_to(start, (len(letters), self.size))
        for t in range(letters.shape[1]):
            state = (wide[letters[:, t]] @ state[:, :, None])[:, :, 0]
            states[:, t] = state
        return states

    def rounding(self, length: int) -> float:
        """How far `run` can be off if no product of letters has an entry above 2.

        A step adds γ_n·|A||b| to a state, entries of at most 4n·γ_n·|b_0|₁, and the later
        letters multiply that by a matrix with rows of at most 2n. The result is rounded.
        """
        size, unit = float(np.abs(self.start).sum()), np.finfo(np.longdouble).eps / 2
        return float(9 * length * self.size**3 * unit + 2.0**-52) * size

    def exactly(self, word: Iterable[int]) -> list[list[Fraction]]:
        """All states b_1, b_2, … of a word, without any error."""
        rows = [[[Fraction(x) for x in r] for r in a] for a in self.matrices.tolist()]
        state = [Fraction(x) for x in self.start.tolist()]
        found = []
        for letter in word:
            pairs = [zip(row, state, strict=True) for row in rows[letter]]
            state = [sum((a * b for a, b in p), Fraction()) for p in pairs]
            found.append(state)
        return found

    def functions(self) -> IntArray | None:
        """``(letters, n)``: where each letter leads from each state, if they are maps.

        A matrix with a single 1 in each column is a map of n states; then the system is
        an automaton, and b_t the unit vector of its state.
        """
        letters = self.matrices.swapaxes(1, 2).reshape(-1, self.size)
        columns = np.vstack([letters, self.start])
        ones = np.isin(columns, (0, 1)).all(axis=1) & (columns.sum(axis=1) == 1)
        return self.matrices.argmax(axis=1) if ones.all() else None

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        return {
            "kind": KIND,
            "name": self.name,
            "letters": list(self.letters),
            "classes": [f"b{i + 1}" for i in range(self.size)],
            "matrices": self.matrices.tolist(),
            "start": self.start.tolist(),
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """From the header of a model file.

        Raises:
            Refused: If it states no linear system.
        """
        letters, start = tuple(said["letters"]), reals(said["start"], 1)
        matrices = reals(said["matrices"], 3)
        demand(said["kind"] == KIND, "this is no linear system")
        demand(len(start) > 0, "it starts nowhere")
        shape = (len(letters), len(start), len(start))
        demand(matrices.shape == shape, "its matrices have another shape")
        demand(len(letters) > 0 and len(set(letters)) == len(letters), "bad letters")
        return cls(str(said["name"]), letters, matrices, start)
