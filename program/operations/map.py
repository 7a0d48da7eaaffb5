"""A function of channels, position by position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from program.domains import LARGEST, IntArray, Values
from program.errors import demand
from program.functions import FUNCTIONS, Select, Sum, Table
from program.operations.base import Frame, Operation


@dataclass(frozen=True, slots=True)
class Map(Operation):
    """A function of channels, position by position."""

    wire: ClassVar[str] = "map"
    is_attention: ClassVar[bool] = False
    function: Table | Select | Sum
    inputs: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs of the function."""
        return self.inputs

    def evaluate(self, read: Sequence[IntArray], tokens: IntArray) -> IntArray:
        """The function of the values at the position."""
        return self.function(read)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Those of the function."""
        return self.function.infer(read)

    def to_wire(self) -> dict[str, Any]:
        """The name of the function, the inputs, and the rows of a table."""
        told = {"op": self.wire, "inputs": list(self.inputs)}
        told["function"] = self.function.wire
        if isinstance(self.function, Table):
            rows = np.column_stack([self.function.rows, self.function.values])
            told["rows"] = rows.tolist()
        return told

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any]) -> Self:
        """The same, read strictly."""
        kind = FUNCTIONS.get(entry["function"])
        demand(kind is not None, f"there is no function {entry['function']!r}")
        inputs = entry["inputs"]
        named = type(inputs) is list and all(type(n) is str for n in inputs)
        demand(named and len(inputs) > 0, "a map has no inputs")
        if kind is not Table:
            return cls(Sum() if kind is Sum else Select(), tuple(inputs))
        rows = np.array(entry["rows"])
        whole = rows.dtype == np.int64 and rows.ndim == 2
        demand(whole, "a table has rows of different lengths, or no whole numbers")
        demand((rows >= 0) & (rows < LARGEST), "a number is negative or too large")
        demand(rows.shape[1] == len(inputs) + 1, "a table has rows of another length")
        return cls(Table(rows[:, :-1], rows[:, -1]), tuple(inputs))
