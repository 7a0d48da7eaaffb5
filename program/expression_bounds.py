"""Bounds of piecewise linear expressions over a box (docs/soundness.md, Lemma 1a)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import gcd
from typing import TypeAlias, TypeVar

from krohn.program.domains import LARGEST
from krohn.program.errors import demand
from krohn.program.expressions import Atom, Expression

T = TypeVar("T")
Interval: TypeAlias = tuple[int, int]
Box: TypeAlias = Mapping[int, Interval]
MOST_PATTERNS = 6
Direction: TypeAlias = tuple[tuple[Atom, int], ...]
Unit: TypeAlias = tuple[int, int, int]
"""Weight w, slope s and constant b of a term w·max(s·z + b, 0)."""


def direction(inside: Expression) -> tuple[Direction, int]:
    """The primitive direction z of an expression s·z + constant, and s."""
    factor = gcd(*(weight for _, weight in inside.terms))
    factor = factor if inside.terms[0][1] > 0 else -factor
    return tuple((atom, weight // factor) for atom, weight in inside.terms), factor


@dataclass(frozen=True)
class Bounds:
    """Bounds of expressions over a box of arguments.

    Two are intersected. (A) Terms max(s·z + b, 0) of one direction z are bounded
    together, and then added up. (B) max(e, 0) is at least 0 and at least e; this is exact
    from below for a concave expression, as a minimum is, and from above for a convex one.

    Attributes:
        box: The least and the greatest value of each argument.
    """

    box: Box
    _known: dict[Expression, Interval] = field(default_factory=dict)

    def of(self, expression: Expression) -> Interval:
        """A lower and an upper bound of an expression.

        Raises:
            Refused: If a number could become too large.
        """
        if expression not in self._known:
            low, high = self._by_direction(expression)
            rectifiers = [t for t in expression.terms if t[0].kind == "rectified"]
            if 0 < len(rectifiers) <= MOST_PATTERNS:
                least, most = self._by_pattern(expression, rectifiers)
                low, high = max(low, least), min(high, most)
            self._known[expression] = low, high
        return self._known[expression]

    def _atom(self, atom: Atom) -> Interval:
        if isinstance(atom.inside, int):
            return self.box[atom.inside]
        low, high = self.of(atom.inside)
        return (max(low, 0), max(high, 0)) if atom.kind == "rectified" else (low, high)

    def _sum(self, constant: int, terms: Iterable[tuple[Atom, int]]) -> Interval:
        low = high = constant
        for atom, weight in terms:
            ends = [weight * end for end in self._atom(atom)]
            low, high = low + min(ends), high + max(ends)
            demand(max(-low, high) < LARGEST, "an expression can become too large")
        return low, high

    def _by_direction(self, expression: Expression) -> Interval:
        ridges: dict[Direction, list[Unit]] = {}
        linear = dict[Atom, int]()
        for atom, weight in expression.terms:
            if atom.kind == "rectified":
                along, slope = direction(atom.expression)
                told = (weight, slope, atom.expression.constant)
                ridges.setdefault(along, []).append(told)
            else:
                linear[atom] = weight
        low = high = expression.constant
        for along, units in ridges.items():
            slope = _share(linear, along)
            ends = _ridge(slope, units, self._sum(0, along))
            low, high = low + ends[0], high + ends[1]
        least, most = self._sum(0, linear.items())
        return low + least, high + most

    def _by_pattern(
        self, expression: Expression, rectifiers: list[tuple[Atom, int]]
    ) -> Interval:
        rest = [t for t in expression.terms if t[0].kind != "rectified"]
        convex = subsets([(a, w) for a, w in rectifiers if w > 0])
        concave = subsets([(a, w) for a, w in rectifiers if w < 0])

        def ends(chosen: tuple[tuple[Atom, int], ...]) -> Interval:
            total = Expression(expression.constant, tuple(rest))
            for atom, weight in chosen:
                total = total + weight * atom.expression
            return self._sum(total.constant, total.terms)

        every = [[ends((*up, *down)) for down in concave] for up in convex]
        low = max(min(low for low, _ in row) for row in every)
        columns = zip(*every, strict=True)
        high = min(max(high for _, high in column) for column in columns)
        return low, high


def _share(linear: dict[Atom, int], along: Direction) -> int:
    """Takes the multiple s·z of a direction out of a linear part, if it is one there."""
    slope = linear.get(along[0][0], 0) // along[0][1]
    if not slope or any(linear.get(a) != slope * weight for a, weight in along):
        return 0
    for atom, _ in along:
        del linear[atom]
    return slope


def _ridge(slope: int, units: list[Unit], ends: Interval) -> Interval:
    """Bounds of slope·z + Σ w·max(s·z + b, 0) for whole z between two ends."""
    places = set(ends)
    for _, s, b in units:
        near = -b // s
        places |= {z for z in (near, near + 1) if ends[0] <= z <= ends[1]}
    found = [
        slope * z + sum(w * max(s * z + b, 0) for w, s, b in units) for z in places
    ]
    return min(found), max(found)


def subsets(items: Sequence[T]) -> list[tuple[T, ...]]:
    """All subsets, as tuples."""
    sizes = range(len(items) + 1)
    return list(chain.from_iterable(combinations(items, size) for size in sizes))
