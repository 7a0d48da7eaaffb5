"""Every function on finitely many encoded inputs has the form of an attention target.

Position s takes its points from a set I⁽ˢ⁾ of its own, so that a point says its position
(Jiang & Li, section 4.1). With ρ(u, v) = ln 2 if u and v are of one set, else 0, position
t is weighed 2/(τ + 1) and each other one 1/(τ + 1). Then f can be chosen such that the sum
says all inputs and t, and F reads them off (their Theorem A.3).

As printed the proof fails (erratum A27): it subtracts ψ(x_t) from a sum that does not
determine x_t. Here f has a block of coordinates for each t that F may be asked about.
Numbers are fractions, so a triple is checked exactly.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from krohn.program.errors import demand
from krohn.sources.attention_targets.grid_function import (
    GridFunction,
    Inputs,
    Point,
    Vector,
)

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
    for x, t, value in function.asked():
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
    for x, t, value in function.asked():
        for psi, g in zip(inner, outer[t], strict=True):
            g[sum((psi[point] for point in x), Fraction(0))] = value / families
    return Superposition(inner, tuple(outer))


def _digits(pieces: Sequence[Sequence[Point]], turn: int) -> dict[Point, Fraction]:
    """Each point's index times the place of its digit, in the order that begins at turn."""
    whole, place = prod(map(len, pieces)), 1
    found = {}
    for piece in [*pieces[turn:], *pieces[:turn]]:
        for index, point in enumerate(piece):
            found[point] = Fraction(index * place, whole)
        place *= len(piece)
    return found


def superposed(function: GridFunction) -> Triple:
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
    told = {(code + sum(codes)) / (length + 1): t for t, code in enumerate(codes)}
    size = len(parts.inner)

    def outer(h: Vector) -> Fraction:
        t = told[h[-1]]
        sums = (y * (length + 1) for y in h[t * size : (t + 1) * size])
        pairs = zip(parts.outer[t], sums, strict=True)
        return sum((g[at] for g, at in pairs), Fraction(0))

    return Triple(function.pieces, f, outer)
