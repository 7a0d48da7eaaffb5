"""A function of finitely many encoded inputs as one attention layer (Theorem A.3).

The triple is the simple one of `krohn.sources.attention_targets.universality`. Its f and
F have values at finitely many places, in the order of one number that tells them apart; a
staircase is constant near each of them: r_k = max((z − a_k)/w_k, 0), then 1 − max(1 −
r_k, 0) is 0 before the ramp of step k and 1 after it, without rounding. So neither
rounding nor the softmax moves the value, as long as they stay on the step.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import log, prod

import numpy as np

from krohn.compiler.errors import CompileError
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.sources.attention_targets.grid_function import GridFunction, Vector
from krohn.sources.attention_targets.universality import aggregate, simple

NAME = "universal"
MOST_STEPS = 1024
"""A staircase has as many weights as the square of its steps."""
DIRECTIONS = 32
"""So many ways are tried to tell places apart by one number."""
Tensors = dict[str, FloatArray]


def grid_function(function: GridFunction, precision: Precision) -> Network:
    """The network of a function.

    Raises:
        CompileError: If it has too many inputs, or inputs that the format does not hold.
    """
    length, count = function.length, prod(map(len, function.pieces))
    if length * count > MOST_STEPS:
        raise CompileError(
            f"{function.name} has {length} values for {count:,} inputs, and a network of "
            f"one layer is made for up to {MOST_STEPS:,} in all"
        )
    triple, n = simple(function), length * function.dimensions + 1
    owner = {point: s for s, piece in enumerate(function.pieces) for point in piece}
    _fits(owner, precision)
    rows = {p: [*triple.f[p], *_unit(owner[p], length)] for p in owner}
    outer = {
        aggregate(function.pieces, triple.f, x, t): [value]
        for x, t, value in function.asked()
    }
    tensors, features = staircase(rows, "features")
    last, output = staircase(outer, "output")
    whole = np.eye(n + length)
    tensors |= last | {
        "attention.query": whole[:, n:],
        "attention.key": log(2) * whole[:, n:],
        "attention.value": whole[:, :n],
    }
    architecture = {
        "kind": "attention-layer",
        "dtype": precision.name,
        "length": length,
        "inputs": function.dimensions,
        "codes": 0,
        "features": n + length,
        "features_units": features,
        "d_qk": length,
        "d_v": n,
        "memory": 0,
        "causal": False,
        "output_units": output,
        "outputs": 1,
    }
    return Network(architecture, tensors, {})


def _unit(s: int, length: int) -> list[Fraction]:
    return [Fraction(k == s) for k in range(length)]


def _fits(points: Iterable[Vector], precision: Precision) -> None:
    numbers = np.array([float(x) for point in points for x in point])
    if not np.array_equal(precision.round(numbers), numbers):
        raise CompileError(f"{precision.name} does not hold these points; say float64")


def staircase(
    values: dict[Vector, list[Fraction]], at: str
) -> tuple[Tensors, list[int]]:
    """A ReLU network with these values at these places, and the widths of its layers."""
    direction = _apart(list(values))
    ordered = sorted((_along(direction, place), said) for place, said in values.items())
    steps = [
        (low + (high - low) / 4, (high - low) / 2, _less(w, v))
        for (low, v), (high, w) in pairwise(ordered)
        if v != w
    ]
    end = ordered[-1]
    steps = steps or [(end[0] + 1, Fraction(1), [Fraction(0)] * len(end[1]))]
    slopes = np.array([float(1 / width) for _, width, _ in steps])
    rises = np.array([[float(r) for r in rise] for *_, rise in steps])
    tensors = {
        f"{at}.0.weight": np.outer([float(x) for x in direction], slopes),
        f"{at}.0.bias": -np.array([float(start / width) for start, width, _ in steps]),
        f"{at}.1.weight": -np.eye(len(steps)),
        f"{at}.1.bias": np.ones(len(steps)),
        f"{at}.2.weight": -rises,
        f"{at}.2.bias": np.array([float(x) for x in end[1]]),
    }
    return tensors, [len(steps)] * 2


def _less(said: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [b - a for a, b in zip(other, said, strict=True)]


def _along(direction: Sequence[int], place: Vector) -> Fraction:
    return sum((w * x for w, x in zip(direction, place, strict=True)), Fraction(0))


def _apart(places: list[Vector]) -> tuple[int, ...]:
    """1, k, k², …: the direction along which the least gap is the largest of the range.

    Some k tells any places apart: two of them agree for fewer k than they have numbers.

    Raises:
        CompileError: If none that is tried does.
    """
    best, chosen = Fraction(-1), None
    for k in range(DIRECTIONS):
        direction = tuple(k**j for j in range(len(places[0])))
        along = sorted(_along(direction, place) for place in places)
        least = min((b - a for a, b in pairwise(along)), default=Fraction(1))
        share = least / max(along[-1] - along[0], least, Fraction(1, 2**64))
        if least > 0 and share > best:
            best, chosen = share, direction
    if chosen is None:
        raise CompileError("its points cannot be told apart by one number; use fewer")
    return chosen
