"""Indices that depend on the input: what they can be, and tables of given numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np

from krohn.kinds.dynamic_programs.source_terms import (
    MOST_ENTRIES,
    Term,
    Value,
    entry,
    position,
)
from krohn.program.domains import IntArray
from krohn.program.errors import demand

MOST_JOINT = 2**14
"""Values of all cells together for which indices and conditions are computed."""
Fact: TypeAlias = tuple[Term, int]
"""A condition, and whether it holds: 1 or 0."""


def facts(condition: Term, holds: int) -> Iterator[Fact]:
    """Facts that follow where a condition holds, or fails: itself, and its parts."""
    yield condition, holds
    inner = condition.inner
    negated = condition.kind == "sum" and _is_one(inner[1])
    if negated and (inner[0].kind, inner[0].detail) == ("scaled", -1):
        yield from facts(inner[0].inner[0], 1 - holds)
    joined = {("maximum", 1), ("minimum", 0)}
    if (condition.kind, holds) in joined and inner[0].kind == "sum":
        bits = inner[0].inner
        if holds:
            least = _is_one(inner[0].inner[1], -1) and _is_one(inner[1], 0)
            bits = inner[0].inner[0].inner if least else ()
        known = len(bits) == 2 and (holds or _is_one(inner[1]))
        if known and all(0 <= each.low and each.high <= 1 for each in bits):
            for each in bits:
                yield from facts(each, holds)


def _is_one(term: Term, number: int = 1) -> bool:
    return term.kind == "constant" and term.low == number


def cases(terms: Sequence[Value], known: Sequence[Fact]) -> list[tuple[int, ...]]:
    """All that some numbers can be together where conditions hold, in order.

    Conditions count that read no other cells than the numbers. Where the cells have too
    many values together, each number can be all from its least to its greatest.

    Raises:
        Refused: If there are too many.
    """
    unknown_terms = [t for t in terms if isinstance(t, Term)]
    ends = {place: limits for each in unknown_terms for place, limits in _cells(each)}
    joint = prod(high - low + 1 for low, high in ends.values())
    if joint > MOST_JOINT or any(each.has_digits for each in unknown_terms):
        sides = [[t] if isinstance(t, int) else range(t.low, t.high + 1) for t in terms]
        count = prod(map(len, sides))
        rows = list(product(*sides)) if count <= MOST_ENTRIES else []
    else:
        rows = _compute_cases(terms, known, ends)
        count = len(rows)
    demand(
        count <= MOST_ENTRIES,
        f"it depends on the input, and can be over {MOST_ENTRIES} numbers",
    )
    return rows


def _compute_cases(
    terms: Sequence[Value], known: Sequence[Fact], ends: Mapping[int, tuple[int, int]]
) -> list[tuple[int, ...]]:
    sides = [np.arange(low, high + 1) for low, high in ends.values()]
    grids = np.meshgrid(*sides, indexing="ij")
    at = {place: grid.ravel() for place, grid in zip(ends, grids, strict=True)}
    inside = np.ones(prod(map(len, sides)), bool)
    for condition, holds in known:
        if not condition.has_digits and {p for p, _ in _cells(condition)} <= at.keys():
            inside &= _values(condition, at) == holds
    columns = [
        np.full(len(inside), t) if isinstance(t, int) else _values(t, at) for t in terms
    ]
    rows = np.stack([np.broadcast_to(c, inside.shape)[inside] for c in columns], 1)
    return sorted(set(map(tuple, rows.tolist())))


def _cells(term: Term) -> Iterator[tuple[int, tuple[int, int]]]:
    """The places that a term reads, each with the ends of what may stand there."""
    for each in term.nodes():
        if each.cell is not None and each.cell.place:
            yield each.cell.place, (each.low, each.high)


def _values(term: Term, at: Mapping[int, IntArray]) -> IntArray:
    """A term for many values of the cells that it reads, one after the other."""
    if term.cell is not None:
        place = term.cell.place
        return at[place] if place else np.array(term.cell.constant)
    if term.kind == "constant":
        return np.array(term.low)
    values = _FOUND[term.kind](term.detail, *(_values(each, at) for each in term.inner))
    return np.asarray(values, np.int64)


_FOUND: dict[str, Callable[..., Any]] = {
    "sum": lambda detail, x, y: x + y,
    "product": lambda detail, x, y: x * y,
    "scaled": lambda detail, x: x * detail,
    "letter-place": lambda detail, x: x - detail,
    "quotient": lambda detail, x: x // detail,
    "remainder": lambda detail, x: x % detail,
    "entry": lambda detail, x: np.array(detail)[x],
    "minimum": lambda detail, x, y: np.minimum(x, y),
    "maximum": lambda detail, x, y: np.maximum(x, y),
    "greater": lambda detail, x, y: x > y,
    "differs": lambda detail, x, y: x != y,
    "choice": lambda detail, bit, x, y: np.where(bit, x, y),
    "minimum-if": lambda detail, bit, x, y: np.where(bit, np.minimum(x, y), x),
    "maximum-if": lambda detail, bit, x, y: np.where(bit, np.maximum(x, y), x),
}


# A table of numbers that are given: weights, costs of substitution, probabilities.


@dataclass(frozen=True)
class NumberTable:
    """Numbers by indices, which can be letters.

    Attributes:
        name: What it is called.
        sides: Of each index the range, or the letters.
        entries: The numbers, the last index fastest.
    """

    name: str
    sides: tuple[range | tuple[str, ...], ...]
    entries: tuple[int, ...]

    def at(self, indices: Sequence[Value], alphabet: Sequence[str]) -> Value:
        """The number at some indices, each of which may depend on the input.

        Args:
            indices: Numbers and letters.
            alphabet: All letters, in their order.

        Raises:
            Refused: If one can be outside of its range.
        """
        demand(len(indices) == len(self.sides), f"{self.name!r} has other indices")
        places = [
            self._place(index, side, alphabet)
            for index, side in zip(indices, self.sides, strict=True)
        ]
        ranges = [
            [p] if isinstance(p, int) else range(p.low, p.high + 1) for p in places
        ]
        count = prod(map(len, ranges))
        demand(
            count <= MOST_ENTRIES,
            f"{self.name!r} is read at over {MOST_ENTRIES} places",
        )
        strides = [1]
        for side in self.sides[:0:-1]:
            strides.insert(0, strides[0] * len(side))
        chosen = [
            self.entries[sum(x * y for x, y in zip(at, strides, strict=True))]
            for at in product(*ranges)
        ]
        where: Value = 0
        for place, span in zip(places, ranges, strict=True):
            where = where * len(span) + (place - span[0])
        return entry(chosen, where)

    def _place(
        self, index: Value, side: range | tuple[str, ...], alphabet: Sequence[str]
    ) -> Value:
        """The place of an index on its side, from 0."""
        is_letter = isinstance(index, Term) and index.is_letter
        wanted = "a number" if isinstance(side, range) else "a letter"
        fits = is_letter != isinstance(side, range)
        demand(fits, f"an index of {self.name!r} is {wanted}")
        if isinstance(side, range):
            place = index - side.start
            low, high = (
                (place, place) if isinstance(place, int) else (place.low, place.high)
            )
        else:
            assert isinstance(index, Term)
            known = side[0] in alphabet
            demand(known, f"the letters of {self.name!r} are those of no input")
            first = alphabet.index(side[0])
            same = tuple(alphabet[first : first + len(side)]) == side
            demand(same, f"the letters of {self.name!r} are in another order in inputs")
            place = position(index, first)
            low, high = place.low, place.high
        inside = 0 <= low <= high < len(side)
        demand(inside, f"an index of {self.name!r} can be outside of its range")
        return place
