"""Piecewise linear expressions over whole numbers: sums of terms max(e, 0)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations, pairwise
from math import gcd
from typing import Any, TypeAlias, TypeVar

import numpy as np

from krohn.program.domains import LARGEST, IntArray
from krohn.program.errors import demand

MOST_TERMS, DEEPEST = 4096, 16


@dataclass(frozen=True, eq=False)
class Atom:
    """A part that an expression adds up: an argument, max(e, 0), or e as one value.

    Attributes:
        kind: ``"argument"``, ``"rectified"`` (max(e, 0)) or ``"value"``: e itself, which
            a network computes as a channel of its own.
        inside: The number of the argument; or e.
    """

    kind: str
    inside: "int | Expression"

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that no other atom has; keys can be ordered."""
        inside = self.inside
        return self.kind, inside if isinstance(inside, int) else inside.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def expression(self) -> "Expression":
        """The expression inside of a rectified atom or of a value."""
        assert isinstance(self.inside, Expression)
        return self.inside


@dataclass(frozen=True, eq=False)
class Expression:
    """``constant + Σ weight · atom`` with whole numbers, in a canonical order.

    Attributes:
        constant: What is added.
        terms: Each atom once with its weight, which is not 0, in the order of the keys.
    """

    constant: int
    terms: tuple[tuple[Atom, int], ...]

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that no other expression has; keys can be ordered."""
        return self.constant, tuple((atom.key, weight) for atom, weight in self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __add__(self, other: "Expression | int") -> "Expression":
        if isinstance(other, int):
            return Expression(self.constant + other, self.terms)
        return sum_of_terms(
            self.constant + other.constant, chain(self.terms, other.terms)
        )

    def __mul__(self, factor: int) -> "Expression":
        scaled = tuple((atom, weight * factor) for atom, weight in self.terms)
        return Expression(self.constant * factor, scaled if factor else ())

    __rmul__ = __mul__
    __radd__ = __add__

    def __neg__(self) -> "Expression":
        return self * -1

    def __sub__(self, other: "Expression | int") -> "Expression":
        return self + (-other)

    def __rsub__(self, other: int) -> "Expression":
        return -self + other

    def __call__(self, arguments: Sequence[IntArray]) -> IntArray:
        """Its value for each tuple of arguments, arrays of one shape."""
        total = np.full(np.shape(arguments[0]), self.constant, np.int64)
        for atom, weight in self.terms:
            if isinstance(atom.inside, int):
                value = arguments[atom.inside]
            else:
                value = atom.inside(arguments)
            if atom.kind == "rectified":
                value = np.maximum(value, 0)
            total = total + weight * value
        return total

    @cached_property
    def size(self) -> int:
        """How many atoms it has, and those inside have."""
        inner = (
            a.inside.size for a, _ in self.terms if isinstance(a.inside, Expression)
        )
        return len(self.terms) + sum(inner)

    @cached_property
    def arguments(self) -> frozenset[int]:
        """The arguments that it reads."""
        arguments = set[int]()
        for atom, _ in self.terms:
            inside = atom.inside
            arguments |= {inside} if isinstance(inside, int) else inside.arguments
        return frozenset(arguments)

    def with_atoms(self, made: "Callable[[Atom], Expression]") -> "Expression":
        """The sum in which an expression stands in place of each atom."""
        constant, terms = self.constant, list[tuple[Atom, int]]()
        for atom, weight in self.terms:
            one = weight * made(atom)
            constant += one.constant
            terms += one.terms
        return sum_of_terms(constant, terms)

    @cached_property
    def expansion(self) -> "Expression":
        """This expression, with the inside of each value in its place."""

        def expand(atom: Atom) -> Expression:
            if isinstance(atom.inside, int):
                return argument(atom.inside)
            inside = atom.inside.expansion
            return rectify(inside) if atom.kind == "rectified" else inside

        return self.with_atoms(expand)

    def with_arguments(self, by: "Callable[[int], Expression]") -> "Expression":
        """This expression, with another expression in place of each argument."""

        def substitute(atom: Atom) -> Expression:
            if isinstance(atom.inside, int):
                return by(atom.inside)
            inside = atom.inside.with_arguments(by)
            return rectify(inside) if atom.kind == "rectified" else value(inside)

        return self.with_atoms(substitute)

    def to_wire(self) -> list[Any]:
        """As a model file states it: the constant, then weight, kind and inside."""
        terms = []
        for atom, weight in self.terms:
            inside = atom.inside
            inner = inside if isinstance(inside, int) else inside.to_wire()
            terms.append([weight, atom.kind, inner])
        return [self.constant, terms]


def sum_of_terms(constant: int, terms: Iterable[tuple[Atom, int]]) -> Expression:
    """A sum of terms, in which each atom occurs once."""
    total: dict[Atom, int] = {}
    for atom, weight in terms:
        total[atom] = total.get(atom, 0) + weight
    kept = [(atom, weight) for atom, weight in total.items() if weight]
    return Expression(constant, tuple(sorted(kept, key=lambda term: term[0].key)))


def number(value: int) -> Expression:
    """A constant."""
    return Expression(value, ())


def argument(place: int) -> Expression:
    """The argument of a number."""
    return Expression(0, ((Atom("argument", place), 1),))


def rectify(inside: Expression) -> Expression:
    """max(inside, 0); a common factor of all weights stands before it."""
    if not inside.terms:
        return number(max(inside.constant, 0))
    factor = gcd(inside.constant, *(weight for _, weight in inside.terms))
    terms = tuple((atom, weight // factor) for atom, weight in inside.terms)
    atom = Atom("rectified", Expression(inside.constant // factor, terms))
    return Expression(0, ((atom, factor),))


def value(inside: Expression) -> Expression:
    """An expression as one value: a network computes it as a channel of its own.

    A sum of arguments and values needs none.
    """
    affine = all(atom.kind != "rectified" for atom, _ in inside.terms)
    return inside if affine else Expression(0, ((Atom("value", inside), 1),))


def greater(left: Expression, right: Expression) -> Expression:
    """1 where left > right, else 0, on whole numbers."""
    gap = left - right
    return rectify(gap) - rectify(gap - 1)


def read_expression(told: Any, arguments: int, deep: int = DEEPEST) -> Expression:
    """An expression as a model file states it.

    Raises:
        Refused: If it is none of so many arguments, is nested too deep, or has too many
            terms or too large a number.
    """
    demand(deep > 0, "an expression is nested too deep")
    demand(type(told) is list and len(told) == 2, "this is no expression")
    constant, listed = told
    demand(type(listed) is list and len(listed) <= MOST_TERMS, "too many terms")
    terms = [_term(one, arguments, deep - 1) for one in listed]
    keys = [atom.key for atom, _ in terms]
    ordered = all(low < high for low, high in pairwise(keys))
    demand(ordered, "the terms of an expression are not in their order")
    return Expression(_small(constant), tuple(terms))


def _term(told: Any, arguments: int, deep: int) -> tuple[Atom, int]:
    demand(type(told) is list and len(told) == 3, "this is no term")
    weight, kind, inside = told
    demand(kind in ("argument", "rectified", "value"), f"no term is a {kind!r}")
    demand(_small(weight) != 0, "a term has the weight 0")
    if kind != "argument":
        return Atom(kind, read_expression(inside, arguments, deep)), weight
    demand(type(inside) is int and 0 <= inside < arguments, "there is no such argument")
    return Atom(kind, inside), weight


def _small(told: Any) -> int:
    demand(type(told) is int and abs(told) < LARGEST, "a number is too large")
    assert isinstance(told, int)
    return told


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
                unit = (weight, slope, atom.expression.constant)
                ridges.setdefault(along, []).append(unit)
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
    values = [
        slope * z + sum(w * max(s * z + b, 0) for w, s, b in units) for z in places
    ]
    return min(values), max(values)


def subsets(items: Sequence[T]) -> list[tuple[T, ...]]:
    """All subsets, as tuples."""
    sizes = range(len(items) + 1)
    return list(chain.from_iterable(combinations(items, size) for size in sizes))
