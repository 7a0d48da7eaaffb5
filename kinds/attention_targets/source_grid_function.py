"""Functions of finitely many encoded inputs, and their form as attention targets."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import Any, TypeAlias

import numpy as np

from krohn.kinds.attention_targets.statement_grid_function import (
    MOST_INPUTS,
    StatedGridFunction,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

# Functions of finitely many encoded inputs, by name, from Python and on file.


Point: TypeAlias = tuple[Fraction, ...]
Vector: TypeAlias = tuple[Fraction, ...]
Inputs: TypeAlias = tuple[Point, ...]
_NAME = re.compile(
    r"(?P<what>Sorted|RanGrid)(?P<length>\d{1,4}),(?P<levels>\d{1,9})(@(?P<seed>\d{1,18}))?"
)


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

    def enumerate_values(self) -> Iterator[tuple[Inputs, int, Fraction]]:
        """All inputs, with each position and its value."""
        for x, outputs in self.values.items():
            for t, value in enumerate(outputs):
                yield x, t, value

    def to_wire(self) -> dict[str, Any]:
        """As a model file states it.

        Raises:
            Refused: If a number is no binary fraction that float64 holds.
        """
        pieces = tuple(map(_as_floats, self.pieces))
        values = _as_floats([self.values[x] for x in product(*self.pieces)])
        return StatedGridFunction(self.name, pieces, values).to_wire()

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> "GridFunction":
        """The function that a header states.

        Raises:
            Refused: If it states none.
        """
        stated = StatedGridFunction.from_wire(said)
        pieces = tuple(map(_as_fractions, stated.pieces))
        pairs = zip(product(*pieces), _as_fractions(stated.values), strict=True)
        return cls(stated.name, pieces, dict(pairs))


def _as_floats(rows: Iterable[Vector]) -> FloatArray:
    return np.array([list(map(_as_float, row)) for row in rows])


def _as_float(x: Fraction) -> float:
    demand(Fraction(float(x)) == x, f"{x} is no binary fraction that float64 holds")
    return float(x)


def _as_fractions(rows: FloatArray) -> tuple[Vector, ...]:
    return tuple(tuple(map(Fraction, row)) for row in rows.tolist())


def levels(length: int, count: int) -> list[list[Point]]:
    """Points k/2^m of a line: position s has those from s·count on."""
    scale = 1 << (length * count - 1).bit_length()
    places = range(length * count)
    points: list[Point] = [(Fraction(k, scale),) for k in places]
    return [points[s * count :][:count] for s in range(length)]


def find_by_name(text: str) -> GridFunction | None:
    """The function of a name; None if it is of another form.

    ``Sorted3,4``: position t says the t-th smallest level, 0 to 3, of three positions.
    ``RanGrid3,4@5``: each value is drawn from −1, −7/8, …, 1.

    Raises:
        Refused: If there are too many inputs, or none.
    """
    match = _NAME.fullmatch(text)
    if match is None or (match["seed"] is None) != (match["what"] == "Sorted"):
        return None
    length, count = int(match["length"]), int(match["levels"])
    demand(length >= 1 and count >= 1, f"{text} has no position or no level")
    demand(count**length <= MOST_INPUTS, f"{text} has more than {MOST_INPUTS:,} inputs")
    pieces = levels(length, count)
    level = {p: Fraction(i) for piece in pieces for i, p in enumerate(piece)}
    random = Random(text)

    def sort_levels(x: Inputs) -> Vector:
        return tuple(sorted(level[point] for point in x))

    def sample_values(x: Inputs) -> Vector:
        return tuple(Fraction(random.randint(-8, 8), 8) for _ in x)

    return GridFunction.of(
        text, pieces, sort_levels if match["seed"] is None else sample_values
    )


# Every function on finitely many encoded inputs has the form of an attention target.
#
# Position s takes its points from a set I⁽ˢ⁾ of its own, so that a point says its
# position (Jiang & Li, section 4.1). With ρ(u, v) = ln 2 if u and v are of one
# set, else 0, position t is weighed 2/(τ + 1) and each other one 1/(τ + 1). Then f
# can be chosen such that the sum says all inputs and t, and F reads them off
# (their Theorem A.3).
#
# As printed the proof fails (erratum A27): it subtracts ψ(x_t) from a sum that does not
# determine x_t. Here f has a block of coordinates for each t that F may be asked about.
# Numbers are fractions, so a triple is checked exactly.


Maps = Mapping[Point, Vector]


@dataclass(frozen=True, eq=False)
class Triple:
    """(F, f, ρ), ρ = ln 2 · [same piece].

    Attributes:
        pieces: As of the function.
        f: Of each point, a vector of [0, 1]^n.
        outer: F, on the aggregates that occur; continued from these finitely many points
            in any continuous way.
    """

    pieces: tuple[tuple[Point, ...], ...]
    f: Maps
    outer: Callable[[Vector], Fraction]

    @property
    def width(self) -> int:
        """N."""
        return len(next(iter(self.f.values())))

    def outputs(self, x: Inputs) -> Vector:
        """H_1 … H_τ."""
        sums = (aggregate(self.pieces, self.f, x, t) for t in range(len(x)))
        return tuple(self.outer(h) for h in sums)

    def check(self, function: GridFunction) -> int:
        """How many values are as wanted: all of them.

        Raises:
            Refused: Naming the first that is not; or if f leaves [0, 1]^n.
        """
        inside = all(0 <= y <= 1 for value in self.f.values() for y in value)
        demand(inside, "f leaves [0, 1]^n")
        for x, wanted in function.values.items():
            demand(self.outputs(x) == wanted, f"another value than wanted at {x}")
        return len(function.values) * function.length


def aggregate(pieces: Sequence[Sequence[Point]], f: Maps, x: Inputs, t: int) -> Vector:
    """Σ_s softmax_s[ρ(x_t, x_s)] f(x_s), where e^ρ is 2 within a piece and else 1."""
    (piece,) = (piece for piece in pieces if x[t] in piece)
    weights = [2 if point in piece else 1 for point in x]
    total = sum(weights)
    columns = zip(*(f[point] for point in x), strict=True)
    return tuple(
        sum((w * y for w, y in zip(weights, column, strict=True)), Fraction(0)) / total
        for column in columns
    )


def read_off(function: GridFunction, f: Maps) -> Triple:
    """The triple whose F is a table of the aggregates that f makes.

    Raises:
        Refused: If two inputs have one aggregate and different values: no F will do.
    """
    table: dict[Vector, Fraction] = {}
    for x, t, value in function.enumerate_values():
        at = aggregate(function.pieces, f, x, t)
        demand(
            table.setdefault(at, value) == value,
            "two inputs with different values have one aggregate: F cannot tell them",
        )
    return Triple(function.pieces, f, table.__getitem__)


def simple(function: GridFunction) -> Triple:
    """N = τd + 1: f puts the point in the block of its position, and adds its code.

    Block s of the aggregate is x_s/(τ + 1), twice that for s = t; the last coordinate is
    (b_t + Σ_s b_s)/(τ + 1), which says t.
    """
    blank, length = (Fraction(0),) * function.dimensions, function.length
    f = {}
    for s, piece in enumerate(function.pieces):
        for point in piece:
            blocks = [point if block == s else blank for block in range(length)]
            f[point] = (*(y for block in blocks for y in block), _code(s, length))
    return read_off(function, f)


def _code(s: int, length: int) -> Fraction:
    """b_s, in [0, 1]: a binary fraction, which networks hold."""
    return Fraction(s, 1 << (length - 1).bit_length())


@dataclass(frozen=True, eq=False)
class Superposition:
    """H̃_t(x) = Σ_q g_q⁽ᵗ⁾(Σ_s ψ_qs(x_s)): sums of functions of one variable.

    Kolmogorov's and Ostrand's theorem on a grid. Inner functions do not depend on H̃: the
    index of a point is a digit, and ψ_qs gives it its place, in an order of positions
    that q turns. So an inner sum says all inputs, and g_q their share of the value.

    Attributes:
        inner: ``inner[q][point]``: ψ_qs of a point of I⁽ˢ⁾, in [0, 1].
        outer: ``outer[t][q][sum]``.
    """

    inner: tuple[Mapping[Point, Fraction], ...]
    outer: tuple[tuple[Mapping[Fraction, Fraction], ...], ...]

    def value(self, x: Inputs, t: int) -> Fraction:
        """H̃_t(x)."""
        sums = (sum((psi[point] for point in x), Fraction(0)) for psi in self.inner)
        pairs = zip(self.outer[t], sums, strict=True)
        return sum((g[at] for g, at in pairs), Fraction(0))


def superposition(function: GridFunction) -> Superposition:
    """The function as 2τd + 1 superpositions (Ostrand 1965), exactly."""
    length = function.length
    families = 2 * length * function.dimensions + 1
    inner = tuple(_digits(function.pieces, q % length) for q in range(families))
    outer: list[tuple[dict[Fraction, Fraction], ...]] = [
        tuple({} for _ in inner) for _ in range(length)
    ]
    for x, t, value in function.enumerate_values():
        for psi, g in zip(inner, outer[t], strict=True):
            g[sum((psi[point] for point in x), Fraction(0))] = value / families
    return Superposition(inner, tuple(outer))


def _digits(pieces: Sequence[Sequence[Point]], turn: int) -> dict[Point, Fraction]:
    """Each point's index times the place of its digit, in the order that begins at turn."""
    whole, place = prod(map(len, pieces)), 1
    digits = {}
    for piece in [*pieces[turn:], *pieces[:turn]]:
        for index, point in enumerate(piece):
            digits[point] = Fraction(index * place, whole)
        place *= len(piece)
    return digits


def superpose_triple(function: GridFunction) -> Triple:
    """N = τ(2τd + 1) + 1, the size of Theorem A.3: f says inner functions, F outer ones.

    In block t' of f(x_s), ψ_qs(x_s) is halved if s = t': then the sum, in which x_t
    counts twice, has Σ_s ψ_qs(x_s)/(τ + 1) in block t. F finds t by the code.
    """
    parts, length = superposition(function), function.length
    f: dict[Point, Vector] = {}
    for s, piece in enumerate(function.pieces):
        for point in piece:
            whole = [psi[point] for psi in parts.inner]
            blocks = (
                y / 2 if block == s else y for block in range(length) for y in whole
            )
            f[point] = (*blocks, _code(s, length))
    codes = [_code(s, length) for s in range(length)]
    position_of_code = {
        (code + sum(codes)) / (length + 1): t for t, code in enumerate(codes)
    }
    size = len(parts.inner)

    def outer(h: Vector) -> Fraction:
        t = position_of_code[h[-1]]
        sums = (y * (length + 1) for y in h[t * size : (t + 1) * size])
        pairs = zip(parts.outer[t], sums, strict=True)
        return sum((g[at] for g, at in pairs), Fraction(0))

    return Triple(function.pieces, f, outer)
