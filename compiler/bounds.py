"""Lower bounds of a network's sizes, known before it is laid out: planning prunes by them.

A construction, and every later stage of planning, may be a generator that yields bounds,
each at least as tight as those before, and returns its result. Planning goes on with it
only as long as the result can still win.
"""

from collections.abc import Generator
from dataclasses import dataclass, fields
from typing import Protocol, TypeAlias, TypeVar

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.compiler.errors import CompileError
from krohn.network.modelfile import LARGEST_HEADER

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Bound:
    """Sizes that are not above the sizes of any network that may follow.

    The names are those of `krohn.compiler.cost.Cost`; 0 where nothing is known.

    Attributes:
        depth: Attention layers.
        layers: Blocks; at least the depth.
        d_model: Dimensions of the residual stream.
        mlp_width: The widest hidden layer.
        parameters: Entries of all tensors.
        flops_per_token: Multiplications and additions for one position at full length.
        latency: Microseconds for one word of full length (`krohn.compiler.cost`).
    """

    depth: int = 0
    layers: int = 0
    d_model: int = 0
    mlp_width: int = 0
    parameters: int = 0
    flops_per_token: int = 0
    latency: float = 0.0

    @property
    def width(self) -> int:
        """The widest vector: residual stream or hidden layer."""
        return max(self.d_model, self.mlp_width)

    @property
    def area_time(self) -> int:
        """Parameters times blocks squared (Thompson 1979)."""
        return self.parameters * self.layers**2

    def and_also(self, other: "Bound") -> "Bound":
        """The bound that holds if both do."""
        sizes = (f.name for f in fields(Bound))
        return Bound(*(max(getattr(self, n), getattr(other, n)) for n in sizes))


class Priced(Protocol):
    """A construction or plan with exact sizes."""

    @property
    def construction(self) -> str:
        """Its name."""

    @property
    def cost(self) -> Bound:
        """Its exact sizes."""


def looking_back(machine: Automaton, length: int, layers: int) -> Bound:
    """A network that looks back in each of so many layers.

    Nothing is said of machines with outputs or with one state: their output may be the
    same after every word.

    Args:
        machine: The machine that it computes.
        length: T.
        layers: How many blocks have a head that looks back.
    """
    if machine.output is not None or len(reachable(machine).states) == 1:
        return Bound()
    code = 2  # a circle; the dyadic code has more
    d = code + 3  # a constant, a flag for BOS, and a channel
    rows = len(machine.letters) + 1 + length + 1 + len(machine.states)
    heads = layers * 2 * d * (code + 1 + 1)
    total = rows * d + len(machine.states) + heads
    return Bound(depth=layers, layers=layers, d_model=d, parameters=total)


def check_written(length: int) -> None:
    """Functions of the position are written into a file value by value.

    Raises:
        CompileError: If a digit and a comma for each position are more than a header may
            have.
    """
    if 2 * (length + 1) > LARGEST_HEADER:
        raise CompileError(
            f"a file would have to state a value for each of {length + 1} positions; "
            "choose a shorter length or another construction"
        )


Steps: TypeAlias = Generator[Bound, None, Result]
"""Bounds, and then the result."""


def result_of(steps: Steps[Result]) -> Result:
    """The result, whatever the bounds."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
