"""A matrix, divided by the sum of the entries of its product with a vector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from krohn.program.domains import Matrices, Values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Operation
from krohn.program.strict_json import reals


@dataclass(frozen=True, slots=True)
class Normalised(Operation):
    """``source`` divided by its *mass*, the sum of the entries of ``source`` · ``vector``.

    Attributes:
        source: The matrix.
        vector: The vector, which has no negative entry.
    """

    wire: ClassVar[str] = "normalised"
    is_attention: ClassVar[bool] = False
    on_matrices: ClassVar[bool] = True
    check: ClassVar[str] = "normaliser"
    source: str
    vector: tuple[float, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The matrix."""
        return (self.source,)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Matrices of the same size."""
        (source,) = read
        demand(isinstance(source, Matrices), "a channel that holds no matrices")
        assert isinstance(source, Matrices)
        demand(len(self.vector) == source.size, "a vector of another size")
        return source

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any]) -> Self:
        """The normalised matrix that a model file states, read strictly."""
        vector = reals(entry["vector"], 1)
        demand((vector >= 0).all() and vector.any(), "a vector without a mass")
        demand(type(entry["source"]) is str, "it does not say what it reads")
        return cls(entry["source"], tuple(vector.tolist()))
