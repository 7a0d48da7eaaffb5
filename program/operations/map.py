"""A function of channels, position by position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from krohn.program.domains import Values
from krohn.program.errors import Refused, demand
from krohn.program.functions import Function, function_named
from krohn.program.operations.base import Frame, Operation


@dataclass(frozen=True, slots=True)
class Map(Operation):
    """A function of channels, position by position."""

    wire: ClassVar[str] = "map"
    is_attention: ClassVar[bool] = False
    function: Function
    inputs: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs of the function."""
        return self.inputs

    def rename_channels(self, names: Mapping[str, str]) -> Self:
        """The same function of channels that have other names."""
        inputs = tuple(map(names.get, self.inputs, self.inputs))
        return self if inputs == self.inputs else type(self)(self.function, inputs)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of the function."""
        return self.function.infer(read)

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any]) -> Self:
        """The map that a model file states, read strictly."""
        kind, inputs = function_named(entry["function"]), entry["inputs"]
        named = type(inputs) is list and all(type(n) is str for n in inputs)
        demand(named and len(inputs) > 0, "a map has no inputs")
        if kind is None:
            raise Refused(f"there is no function {str(entry['function'])[:40]!r}")
        return cls(kind.from_wire(entry, len(inputs)), tuple(inputs))
