"""Linear systems as a header states them, whatever network says their states."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.exact_numbers import reals
from krohn.verify.checker.model_file import names


class Source(NamedTuple):
    """A linear system as a header states it.

    Attributes:
        matrices: ``(letters, n, n)``.
        start: ``(n,)``.
    """

    matrices: FloatArray
    start: FloatArray


def source_of(said: Mapping[str, Any], tokens: int = 0) -> Source:
    """The linear system of a header.

    Args:
        said: The source.
        tokens: How many of its letters, the last ones, have no matrix.

    Raises:
        Refused: If it states none, or names an output otherwise than by its place.
    """
    called = names(said, "classes")
    right = [f"b{i}" for i in range(1, len(called) + 1)]
    demand(called == right, "an output is not named by its place")
    matrices, start = reals(said["matrices"], 3), reals(said["start"], 1)
    shape = (len(names(said, "letters")) - tokens, len(start), len(start))
    demand(matrices.shape == shape, "a linear system has other matrices")
    return Source(matrices, start)
