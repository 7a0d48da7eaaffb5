"""What a network has at least, known before it is laid out: what planning prunes by.

A construction, and every later stage of planning, may be a generator that yields bounds,
each at least as tight as those before, and returns its result. Planning goes on with it
only as long as the result can still win.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Bound:
    """Sizes that are not above those of any network that may follow.

    The names are those of `compiler.cost.Cost`; 0 where nothing is known.

    Attributes:
        depth: Attention layers.
        layers: Blocks; at least the depth.
        d_model: Dimensions of the residual stream.
        mlp_width: The widest hidden layer.
        parameters: Entries of all tensors.
    """

    depth: int = 0
    layers: int = 0
    d_model: int = 0
    mlp_width: int = 0
    parameters: int = 0


Steps: TypeAlias = Generator[Bound, None, Result]
"""Bounds, and then the result."""


def finished(steps: Steps[Result]) -> Result:
    """The result, whatever the bounds."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: Result = done.value
            return result
