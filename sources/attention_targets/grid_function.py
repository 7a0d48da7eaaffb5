"""Functions of finitely many encoded inputs, by name, from Python and on file."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any, TypeAlias

from krohn.program.errors import demand
from krohn.program.exact_numbers import reals

KIND = "grid-function"
EXAMPLES = {
    "Sorted3,4": "position t gives the t-th smallest of 3 numbers with 4 levels",
    "RanGrid3,4@5": "random values for inputs of 3 points with 4 levels; seed 5",
}
"""An example of each family, with what it is."""
Point: TypeAlias = tuple[Fraction, ...]
Vector: TypeAlias = tuple[Fraction, ...]
Inputs: TypeAlias = tuple[Point, ...]
_NAME = re.compile(
    r"(?P<what>Sorted|RanGrid)(?P<length>\d{1,4}),(?P<levels>\d{1,9})(@(?P<seed>\d{1,18}))?"
)
MOST_INPUTS = 100_000
"""A function is checked on all inputs, which takes some seconds at most."""


@dataclass(frozen=True, eq=False)
class GridFunction:
    """H̃: what each position says, for each choice of points.

    Attributes:
        name: What it is called.
        pieces: I⁽¹⁾, I⁽²⁾, …: disjoint sets of points of [0, 1]^d.
        values: For each of their products' elements, τ numbers.
    """

    name: str
    pieces: tuple[tuple[Point, ...], ...]
    values: Mapping[Inputs, Vector]

    def __post_init__(self) -> None:
        points = [point for piece in self.pieces for point in piece]
        demand(bool(points), "a function has a position and a point at least")
        demand(all(self.pieces), "each position needs a point")
        demand(len(set(points)) == len(points), "a point belongs to two positions")
        demand(len(set(map(len, points))) == 1, "points are of different dimensions")
        inside = all(0 <= x <= 1 for point in points for x in point)
        demand(inside, "points lie in [0, 1]^d")
        count = prod(map(len, self.pieces))
        demand(count <= MOST_INPUTS, f"more than {MOST_INPUTS:,} inputs")
        whole = set(self.values) == set(product(*self.pieces))
        demand(whole, "a value is missing, or one is too many")

    @classmethod
    def of(
        cls,
        name: str,
        pieces: Sequence[Sequence[Point]],
        function: Callable[[Inputs], Vector],
    ) -> "GridFunction":
        """The function of all inputs made of these points."""
        kept = tuple(map(tuple, pieces))
        demand(prod(map(len, kept)) <= MOST_INPUTS, f"more than {MOST_INPUTS:,} inputs")
        return cls(name, kept, {x: tuple(function(x)) for x in product(*kept)})

    @property
    def length(self) -> int:
        """τ."""
        return len(self.pieces)

    @property
    def dimensions(self) -> int:
        """D."""
        return len(self.pieces[0][0])

    def asked(self) -> Iterator[tuple[Inputs, int, Fraction]]:
        """All inputs, with each position and its value."""
        for x, said in self.values.items():
            for t, value in enumerate(said):
                yield x, t, value

    def to_wire(self) -> dict[str, Any]:
        """As a model file states it; values in the order of `itertools.product`.

        Raises:
            Refused: If a number is no binary fraction that float64 holds.
        """
        points = [[list(map(_held, point)) for point in p] for p in self.pieces]
        values = [list(map(_held, self.values[x])) for x in product(*self.pieces)]
        return {"name": self.name, "pieces": points, "values": values}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> "GridFunction":
        """The function that a header states.

        Raises:
            Refused: If it states none.
        """
        demand(said["kind"] == KIND, "this is no function on a grid")
        pieces = tuple(_exactly(piece) for piece in said["pieces"])
        values = _exactly(said["values"])
        shape = prod(map(len, pieces)), len(pieces)
        demand((len(values), len(values[0])) == shape, "a value is missing")
        pairs = zip(product(*pieces), values, strict=True)
        return cls(str(said["name"]), pieces, dict(pairs))


def _held(x: Fraction) -> float:
    demand(Fraction(float(x)) == x, f"{x} is no binary fraction that float64 holds")
    return float(x)


def _exactly(rows: Any) -> tuple[Vector, ...]:
    return tuple(tuple(map(Fraction, row)) for row in reals(rows, 2).tolist())


def levels(length: int, count: int) -> list[list[Point]]:
    """Points k/2^m of a line: position s has those from s·count on."""
    scale = 1 << (length * count - 1).bit_length()
    places = range(length * count)
    points: list[Point] = [(Fraction(k, scale),) for k in places]
    return [points[s * count :][:count] for s in range(length)]


def named(text: str) -> GridFunction | None:
    """The function of a name; None if it is of another form.

    ``Sorted3,4``: position t says the t-th smallest level, 0 to 3, of three positions.
    ``RanGrid3,4@5``: each value is drawn from −1, −7/8, …, 1.

    Raises:
        Refused: If there are too many inputs, or none.
    """
    found = _NAME.fullmatch(text)
    if found is None or (found["seed"] is None) != (found["what"] == "Sorted"):
        return None
    length, count = int(found["length"]), int(found["levels"])
    demand(length >= 1 and count >= 1, f"{text} has no position or no level")
    demand(count**length <= MOST_INPUTS, f"{text} has more than {MOST_INPUTS:,} inputs")
    pieces = levels(length, count)
    level = {p: Fraction(i) for piece in pieces for i, p in enumerate(piece)}
    random = Random(text)

    def ordered(x: Inputs) -> Vector:
        return tuple(sorted(level[point] for point in x))

    def drawn(x: Inputs) -> Vector:
        return tuple(Fraction(random.randint(-8, 8), 8) for _ in x)

    return GridFunction.of(text, pieces, ordered if found["seed"] is None else drawn)
