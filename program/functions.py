"""Functions of channels at one position: tables, selections and sums."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from importlib import import_module
from math import prod
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np

from krohn.program.domains import (
    LARGEST,
    MOST,
    BoolArray,
    ChannelDomain,
    IntArray,
    PossibleValues,
    Values,
    among,
    beside,
    distinct_values,
    locate_values,
    mark_values,
    places,
    sums,
)
from krohn.program.errors import Refused, demand
from krohn.program.strict_json import whole

MOST_NUMBERED = 2**62
Row: TypeAlias = tuple[int, ...]


class Function(Protocol):
    """A function that a Map applies to its inputs.

    Attributes:
        wire: Its name in a model file.
        check: The module of the checker that has the rule of MLPs that compute it.
        listed: Whether every joint value of its inputs is listed to follow it.
    """

    wire: ClassVar[str]
    check: ClassVar[str]
    listed: ClassVar[bool]

    def __call__(self, columns: Sequence[IntArray]) -> IntArray:
        """The value for each tuple of inputs, arrays of one shape."""
        ...

    def infer(self, read: Sequence[Values]) -> Values:
        """The values that occur, given the values of the inputs."""
        ...

    def step(self, own: ChannelDomain, read: Sequence[PossibleValues]) -> BoolArray:
        """``(rows, values)``: whether the result may have the value in the row."""
        ...

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any], inputs: int) -> "Function":
        """The function of so many inputs that a model file describes, read strictly.

        Raises:
            Refused: If it is malformed.
        """
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """A function given by its rows.

    Attributes:
        rows: ``(rows, inputs)`` the argument tuples that occur, in lexicographic order.
        values: ``(rows,)`` the value of each.
    """

    wire: ClassVar[str] = "table"
    check: ClassVar[str] = "maps"
    listed: ClassVar[bool] = False
    rows: IntArray
    values: IntArray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(
            self.values, other.values
        )

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.values.tobytes()))

    @cached_property
    def _levels(self) -> list[tuple[IntArray, IntArray]]:
        """For each input its values, and the codes of the tuples that occur up to there.

        The code of a tuple is the place of its last value, plus the number of its values
        for each place of the tuple before in the codes before.
        """
        levels, node = [], np.zeros(len(self.rows), np.int64)
        for column in self.rows.T:
            values, place = np.unique(column, return_inverse=True)
            codes, node = np.unique(node * len(values) + place, return_inverse=True)
            levels.append((values, codes))
        return levels

    def place(self, columns: Sequence[IntArray]) -> IntArray:
        """The row of each tuple; −1 where it has none."""
        at = np.zeros(np.shape(columns[0]), np.int64)
        there = np.ones(at.shape, np.bool_)
        for column, (values, codes) in zip(columns, self._levels, strict=True):
            place, known = locate_values(values, column)
            at, follows = locate_values(codes, at * len(values) + place)
            there &= known & follows
        return np.where(there, at, -1)

    def __call__(self, columns: Sequence[IntArray]) -> IntArray:
        """The value of each tuple.

        Raises:
            Refused: If a tuple has no row.
        """
        at = self.place(columns)
        if (at < 0).any():
            row = [int(column[at < 0][0]) for column in columns]
            raise Refused(f"a table has no row for the values {row}")
        return self.values[at]

    @cached_property
    def _weights_and_numbers(self) -> dict[Row, tuple[IntArray, IntArray]]:
        return {}

    def _numbering(self, largest: Row) -> tuple[IntArray, IntArray]:
        """Each input's weight in the number of a row, and the numbers, which ascend."""
        if largest not in self._weights_and_numbers:
            most = np.maximum(self.rows.max(axis=0), largest)
            weights = factors([[each] for each in most])
            self._weights_and_numbers[largest] = weights, self.rows @ weights
        return self._weights_and_numbers[largest]

    def items(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """The rows with their values, as Python integers."""
        for row, value in zip(self.rows.tolist(), self.values.tolist(), strict=True):
            yield tuple(row), value

    @property
    def with_values(self) -> IntArray:
        """``(rows, inputs + 1)``: its rows, the value last."""
        return np.column_stack([self.rows, self.values])

    @property
    def is_identity(self) -> bool:
        """Whether it is a function of one input that changes nothing."""
        return self.rows.shape[1] == 1 and np.array_equal(self.rows[:, 0], self.values)

    def occurring(self, read: Sequence[Values]) -> "Table":
        """The rows that can occur.

        Raises:
            Refused: If one that can occur is not there, or one is there twice.
        """
        inputs = zip(self.rows.T, read, strict=True)
        later = np.all([among(x, v.later) for x, v in inputs], axis=0)
        start = np.all(self.rows == [v.bos for v in read], axis=1)
        kept = later | start
        number = self.rows[kept] @ factors([v.domain for v in read])
        order = np.argsort(number, kind="stable")
        demand(np.diff(number[order]) > 0, "a table has a row twice")
        rows = prod(len(v.later) for v in read)
        demand(rows <= MOST, f"a table would need more than {MOST} rows")
        if later.sum() < rows or not start.any():
            raise Refused(f"a table has no row for {self._missing(read)}")
        if kept.all() and np.array_equal(order, np.arange(len(order))):
            return self
        return Table(self.rows[kept][order], self.values[kept][order])

    def _missing(self, read: Sequence[Values]) -> list[int]:
        """The first tuple that occurs and has no row."""
        bos = [v.bos for v in read]
        if not (self.rows == bos).all(axis=1).any():
            return bos
        inputs = list(zip(self.rows.T, read, strict=True))
        known = np.all([among(x, v.later) for x, v in inputs], axis=0)
        at = np.stack([np.searchsorted(v.later, x[known]) for x, v in inputs], axis=1)
        weights = factors([np.arange(len(v.later)) for v in read])
        number = distinct_values(at @ weights)
        gap = np.flatnonzero(np.append(number, -1) != np.arange(len(number) + 1))[0]
        missing = ((v.later, gap // w) for v, w in zip(read, weights, strict=True))
        return [int(later[i % len(later)]) for later, i in missing]

    def infer(self, read: Sequence[Values]) -> Values:
        """The results of the rows that occur."""
        bos = np.flatnonzero((self.rows == [v.bos for v in read]).all(axis=1))
        demand(len(bos) == 1, "a table has not one row for the values at BOS")
        inputs = zip(self.rows.T, read, strict=True)
        later = np.all([among(x, v.later) for x, v in inputs], axis=0)
        start, values = int(self.values[bos[0]]), self.values[later]
        most = _highest(self.rows[later], values, start, read)
        return Values(start, distinct_values(values), most=most)

    def step(self, own: ChannelDomain, read: Sequence[PossibleValues]) -> BoolArray:
        """The results that may occur: every joint value of the inputs is looked up."""
        weights, numbers = self._numbering(tuple(int(m.domain[-1]) for m in read))
        at, number = _weighted_sums(read, weights)
        there, hit = locate_values(numbers, number)
        sets = np.zeros((len(read[0].sets), len(own.domain)), np.bool_)
        sets[at[hit], places(own.domain, self.values[there[hit]])] = True
        return sets

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any], inputs: int) -> Self:
        """A table from a model file, read strictly.

        Raises:
            Refused: If it is malformed.
        """
        rows = whole(entry["rows"], 2)
        demand(rows.shape[1] == inputs + 1, "a table has rows of another length")
        return cls(rows[:, :-1], rows[:, -1])


@dataclass(frozen=True, slots=True)
class Select:
    """``(i, v_0, …, v_{n-1}) ↦ v_i``: how transition maps are composed (Lemma 14)."""

    wire: ClassVar[str] = "select"
    check: ClassVar[str] = "maps"
    listed: ClassVar[bool] = False

    def __call__(self, columns: Sequence[IntArray]) -> IntArray:
        """The chosen value."""
        chosen = np.stack(columns[1:], axis=-1)
        return np.take_along_axis(chosen, columns[0][..., None], axis=-1)[..., 0]

    def infer(self, read: Sequence[Values]) -> Values:
        """The values of all that can be chosen."""
        index, *rest = read
        demand(index.within(0, len(rest) - 1), "a selection of nothing")
        chosen = [rest[i].later for i in index.later]
        demand(sum(map(len, chosen)) <= MOST, "a selection has too many values")
        return Values(rest[index.bos].bos, distinct_values(np.concatenate(chosen)))

    def step(self, own: ChannelDomain, read: Sequence[PossibleValues]) -> BoolArray:
        """The values of all inputs that the index may choose."""
        index, *rest = read
        sets = np.zeros((len(index.sets), len(own.domain)), np.bool_)
        for i in np.flatnonzero(index.sets.any(axis=0) & (index.domain < len(rest))):
            sets |= index.sets[:, i, None] & rest[index.domain[i]].in_domain(own.domain)
        return sets

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any], inputs: int) -> Self:
        """A selection; a model file states no more of it."""
        return cls()


@dataclass(frozen=True, slots=True)
class Sum:
    """``(v_0, …, v_{n-1}) ↦ v_0 + … + v_{n-1}`` of different channels."""

    wire: ClassVar[str] = "sum"
    check: ClassVar[str] = "passed_sums"
    listed: ClassVar[bool] = False

    def __call__(self, columns: Sequence[IntArray]) -> IntArray:
        """The sum."""
        return np.asarray(sum(columns))

    def infer(self, read: Sequence[Values]) -> Values:
        """All sums of one value of each."""
        later = reduce(sums, (v.later for v in read))
        return Values(sum(v.bos for v in read), later)

    def step(self, own: ChannelDomain, read: Sequence[PossibleValues]) -> BoolArray:
        """All sums of one value of each that are in the domain."""
        at, total = _weighted_sums(read, np.ones(len(read), np.int64), own.domain[-1])
        return mark_values(own.domain, len(read[0].sets), at, total)

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any], inputs: int) -> Self:
        """A sum; a model file states no more of it."""
        return cls()


FUNCTIONS: Mapping[str, str] = {
    "table": "krohn.program.functions",
    "select": "krohn.program.functions",
    "sum": "krohn.program.functions",
    "piecewise": "krohn.program.piecewise",
}
"""The module of each function, which is imported where a Program has it."""


def function_named(name: str) -> type[Function] | None:
    """The function that has a name on file; None if there is none."""
    if type(name) is not str or name not in FUNCTIONS:
        return None
    function: type[Function] = getattr(
        import_module(FUNCTIONS[name]), name.capitalize()
    )
    return function


def table(mapping: Mapping[Row, int]) -> Table:
    """A `Table` from a dictionary, in the canonical order of rows."""
    rows = sorted(mapping)
    return Table(
        np.array(rows, dtype=np.int64).reshape(len(rows), -1),
        np.array([mapping[row] for row in rows], dtype=np.int64),
    )


def factors(domains: Sequence[Any]) -> IntArray:
    """The weight of each input of a table in the number of a row.

    Raises:
        Refused: If numbers of rows would be too large.
    """
    sizes = [int(domain[-1]) + 1 for domain in domains]
    demand(prod(sizes) < MOST_NUMBERED, "there are too many rows to number")
    return np.array([prod(sizes[i + 1 :]) for i in range(len(sizes))], np.int64)


def _highest(
    rows: IntArray, values: IntArray, start: int, read: Sequence[Values]
) -> IntArray | None:
    """The largest value of a table at each position, if the position decides some inputs.

    Args:
        rows: ``(rows, inputs)``: every row that occurs at later positions.
        values: ``(rows,)``: their values.
        start: The value at BOS.
        read: The values of the inputs.
    """
    given = [(i, v.given) for i, v in enumerate(read) if v.given is not None]
    if not given:
        return None
    at = np.stack([positions[1:] for _, positions in given], axis=1)
    both = np.concatenate([at, rows[:, [i for i, _ in given]]])
    _, kind = np.unique(both, axis=0, return_inverse=True)
    largest = np.full(len(both), values.min())
    np.maximum.at(largest, kind.reshape(-1)[len(at) :], values)
    return np.concatenate([[start], largest[kind.reshape(-1)[: len(at)]]])


def _weighted_sums(
    read: Sequence[PossibleValues], weights: IntArray, most: int | None = None
) -> tuple[IntArray, IntArray]:
    """All weighted sums of one value of each input, at most so large, row by row."""
    at = np.arange(len(read[0].sets))
    total = np.zeros(len(at), np.int64)
    for may, weight in zip(read, weights, strict=True):
        which, value = beside(at, may.sets)
        at, total = at[which], total[which] + weight * may.domain[value]
        if most is not None:  # the same sum once
            small = total <= most
            pairs = distinct_values(at[small] * LARGEST + total[small])
            at, total = np.divmod(pairs, LARGEST)
    return at, total
