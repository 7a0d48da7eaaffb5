"""How heads look back: a `Lowering` for each operation that looks at other positions.

`Lowering.of` has them by their operations, and imports them when they are asked for: from
the file of the operation's name if there is one, else from all. So a new file is found by
itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar

import numpy as np

from krohn.compiler.layout import Layout
from krohn.compiler.positions import Positions
from krohn.network.precision import FloatArray
from krohn.program import Operation, Program

Matrices = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Head:
    """The four matrices of a head, ``(d, k)``, ``(d, k)``, ``(d, v)``, ``(v, d)``."""

    query: FloatArray
    key: FloatArray
    value: FloatArray
    out: FloatArray


class _Lowerings(dict[type[Operation], "Lowering"]):
    """The lowerings that were imported; others are imported when they are missed."""

    def __missing__(self, operation: type[Operation]) -> "Lowering":
        own = operation.wire.replace("-", "_")
        files = sorted(iter_modules(__path__), key=lambda file: file.name != own)
        for file in files:
            import_module(f"{__name__}.{file.name}")
            if operation in self:
                return self[operation]
        raise KeyError(operation)


class Lowering(ABC):
    """How an operation becomes a head; each has one instance, in `of`.

    Attributes:
        operation: What it lowers.
        features: The position features that its scores read.
        uniform: Whether it has weights that do not depend on the length.
    """

    operation: ClassVar[type[Operation]]
    features: ClassVar[frozenset[str]]
    uniform: ClassVar[bool] = False
    of: ClassVar[dict[type[Operation], "Lowering"]] = _Lowerings()

    def __init_subclass__(cls) -> None:
        Lowering.of[cls.operation] = cls()

    @abstractmethod
    def matrices(self, layout: Layout, positions: Positions, looked: Any) -> Matrices:
        """Queries and keys, ``(d, k)`` each.

        Args:
            layout: Where channels and features lie.
            positions: The position features.
            looked: An operation that looks so; its source does not matter.
        """

    @abstractmethod
    def largest(self, positions: Positions) -> Sequence[float]:
        """Numbers of its queries and keys, the largest among them.

        Raises:
            CompileError: If the format cannot hold them.
        """

    def query_size(self, program: Program, positions: Positions, looked: Any) -> int:
        """How many entries its queries and keys have."""
        return 1

    def gain(self, program: Program, looked: Any) -> float:
        """The factor by which copied values are multiplied."""
        return 1.0


def look(operation: Operation) -> Operation:
    """How an operation looks, whatever it fetches: alike ones share a head."""
    return replace(operation, source="")  # type: ignore[call-arg]


def blank(layout: Layout, entries: int) -> Matrices:
    """Queries and keys of so many entries, all 0."""
    query, key = np.zeros((2, layout.d_model, entries))
    return query, key
