"""The matrix of the letter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from krohn.program.domains import FloatArray, Matrices, Values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Operation
from krohn.program.strict_json import reals

Matrix: TypeAlias = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class LetterMatrix(Operation):
    """The matrix of the letter at the position; at BOS the identity, or a start.

    Attributes:
        source: The token.
        matrices: For each letter its matrix, row by row: exact binary fractions.
        start: Each column of the matrix at BOS; nothing if that is the identity.
    """

    wire: ClassVar[str] = "letter-matrix"
    is_attention: ClassVar[bool] = False
    source: str
    matrices: tuple[Matrix, ...]
    start: tuple[float, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The token."""
        return (self.source,)

    @property
    def rows(self) -> FloatArray:
        """The matrix of each token, BOS last: ``(letters + 1, n, n)``."""
        letters = np.array(self.matrices, np.float64)
        first = np.eye(letters.shape[1])
        if self.start:
            first[:] = np.array(self.start)[:, None]
        return np.concatenate([letters, first[None]])

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Matrices, one for each letter."""
        every = np.array_equal(read[0].later, np.arange(frame.letters))
        demand(every and read[0].bos == frame.letters, "it reads no token")
        demand(len(self.matrices) == frame.letters, "a letter has no matrix")
        size = len(self.matrices[0])
        demand(len(self.start) in (0, size), "a start of another size")
        return Matrices.of(size)

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any]) -> Self:
        """The matrix of the letter, as a model file states it, read strictly."""
        numbers = reals(entry["matrices"], 3)
        square = numbers.shape[1] == numbers.shape[2] > 0
        demand(square, "no square matrices")
        demand(type(entry["source"]) is str, "it does not say what it reads")
        start = reals(entry.get("start", []), 1)
        return cls(entry["source"], matrices_of(numbers), tuple(start.tolist()))


def matrices_of(numbers: FloatArray) -> tuple[Matrix, ...]:
    """``(letters, n, n)`` as tuples."""
    return tuple(tuple(tuple(row) for row in matrix) for matrix in numbers.tolist())
