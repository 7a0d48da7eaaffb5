"""Domain inference: which values each channel can take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import gcd, prod
from typing import ClassVar, TypeAlias

import numpy as np

from compiler.errors import CompileError
from compiler.passes.base import PassError, check_order, check_same_channels
from compiler.program import (
    At,
    Earliest,
    Latest,
    LatestMatch,
    Map,
    MarkedSum,
    Operation,
    Position,
    PrefixSum,
    Program,
    Select,
    Shift,
    SiblingLatest,
    Sum,
    Table,
    Token,
    reads,
    rows_of,
    table,
)

LARGEST_TABLE = 2_000_000


@dataclass(frozen=True, slots=True)
class Values:
    """The value of a channel at BOS, and the set of its values at later positions."""

    bos: int
    later: frozenset[int]

    @property
    def domain(self) -> tuple[int, ...]:
        """All values, ascending."""
        return tuple(sorted(self.later | {self.bos}))


@dataclass(frozen=True)
class InferDomains:
    """Annotate every channel with its values and drop table rows that cannot occur.

    BOS is one known symbol, so each channel has one known value there; that is tracked
    apart from the later positions, which keeps start values out of the tables.
    """

    name: ClassVar[str] = "infer domains"

    def apply(self, source: Program) -> Program:
        """Restrict tables to reachable rows and fill in ``domains``."""
        values: dict[str, Values] = {}
        operations: dict[str, Operation] = {}
        tables: Restricted = {}
        for name, operation in source.operations.items():
            operations[name] = _restrict(name, operation, values, tables)
            values[name] = infer(operations[name], values, source)
        narrowed = source.with_operations(operations)
        return replace(narrowed, domains={n: v.domain for n, v in values.items()})

    def check(self, source: Program, target: Program) -> None:
        """Rows kept are as before, and the domains are closed under the operations."""
        check_order(target)
        check_same_channels(source, target)
        values: dict[str, Values] = {}
        for name, operation in target.operations.items():
            values[name] = infer(operation, values, target)
            if values[name].domain != target.domains[name]:
                raise PassError(f"the domain of channel {name!r} is not closed")


def infer(
    operation: Operation, values: Mapping[str, Values], program: Program
) -> Values:
    """The values of an operation from those of the channels it reads."""
    match operation:
        case Token():
            return Values(program.bos, frozenset(range(len(program.letters))))
        case Position(given):
            if len(given) != program.length + 1:
                raise CompileError(
                    f"a function of the position has {len(given)} values, not one for "
                    f"each of the positions 0..{program.length}"
                )
            return Values(given[0], frozenset(given[1:]))
        case PrefixSum(source):
            return _sums(values[source], program.length)
        case MarkedSum(source, where):
            return _sums(values[source], len(marks(program, where)))
        case Map(Select(), inputs):
            index, *rest = (values[n] for n in inputs)
            chosen = (rest[i].later for i in index.later)
            return Values(rest[index.bos].bos, frozenset().union(*chosen))
        case Map(Sum(), inputs):
            added = [values[n] for n in inputs]
            later = reduce(_plus, (v.later for v in added))
            return Values(sum(v.bos for v in added), later)
        case Map(Table() as function, inputs):
            return _table_values(function, [values[n] for n in inputs])
        case _:
            return _fetched(operation, values, program)


def marks(program: Program, where: str) -> tuple[int, ...]:
    """The positions that a flag marks, if it depends on nothing else.

    Raises:
        CompileError: If it is another kind of channel, or marks BOS.
    """
    flag = program.operations[where]
    if not isinstance(flag, Position) or not set(flag.values) <= {0, 1}:
        raise CompileError(
            f"a sum over marked positions needs a function of the position with values 0 "
            f"and 1, not {where!r}"
        )
    if flag.values[0]:
        raise CompileError(f"{where!r} marks BOS, where there is nothing to add")
    return tuple(t for t, marked in enumerate(flag.values) if marked)


def _fetched(
    operation: Operation, values: Mapping[str, Values], program: Program
) -> Values:
    """What a head can fetch: at BOS the value there."""
    match operation:
        case Earliest(_, where):
            _check_flag(where, values[where])
        case At(_, digits):
            _check_digits(digits, values, program.length)
        case Shift() | Latest() | LatestMatch() | SiblingLatest():
            pass
        case _:
            raise CompileError(f"no domain is known for {operation!r}")
    read = values[reads(operation)[0]]
    return Values(read.bos, read.later | {read.bos})


def _check_flag(name: str, where: Values) -> None:
    if where.bos != 0 or not where.later <= {0, 1}:
        raise CompileError(
            f"the earliest position needs a flag with values 0 and 1 that is 0 at BOS, "
            f"which {name!r} is not"
        )


def _check_digits(
    digits: Sequence[str], values: Mapping[str, Values], length: int
) -> None:
    if len(digits) != length.bit_length():
        raise CompileError(
            f"a position of 0..{length} has {length.bit_length()} binary digits, not "
            f"{len(digits)}"
        )
    for name in digits:
        if not {values[name].bos} | values[name].later <= {0, 1}:
            raise CompileError(f"{name!r} is no binary digit: it has other values")


def _plus(one: frozenset[int], other: frozenset[int]) -> frozenset[int]:
    if all(max(v) - min(v) < len(v) for v in (one, other)):  # both without gaps
        return frozenset(range(min(one) + min(other), max(one) + max(other) + 1))
    return frozenset(a + b for a in one for b in other)


def _sums(read: Values, length: int) -> Values:
    if read.bos != 0 or min(read.later, default=0) < 0:
        raise CompileError(
            "a prefix sum needs a channel that is 0 at BOS, never negative"
        )
    step = gcd(*read.later) or 1
    return Values(0, frozenset(range(0, max(read.later) * length + 1, step)))


def _occurring(inputs: list[Values]) -> set[tuple[int, ...]]:
    if prod(len(v.later) for v in inputs) > LARGEST_TABLE:
        raise CompileError(
            "a table would need more than "
            f"{LARGEST_TABLE} rows; choose a construction with smaller tables"
        )
    later = product(*(sorted(v.later) for v in inputs))
    return {tuple(v.bos for v in inputs), *later}


Restricted: TypeAlias = dict[tuple[int, tuple[Values, ...]], Table]
"""What is left of a table, by its identity, where its inputs have some values."""


def _restrict(
    name: str,
    operation: Operation,
    values: Mapping[str, Values],
    tables: Restricted,
) -> Operation:
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return operation
    read = tuple(values[n] for n in operation.inputs)
    key = id(operation.function), read
    if key not in tables:
        tables[key] = _occurring_rows(name, operation.function, read)
    return Map(tables[key], operation.inputs)


def _occurring_rows(name: str, function: Table, read: tuple[Values, ...]) -> Table:
    known = dict(rows_of(function))
    occurring = _occurring(list(read))
    missing = occurring - known.keys()
    if missing:
        raise CompileError(f"channel {name!r} has no row for {min(missing)}")
    if len(occurring) == len(known):
        return function
    return table({row: known[row] for row in occurring})


def _table_values(function: Table, inputs: list[Values]) -> Values:
    bos = np.array([v.bos for v in inputs])
    row = np.flatnonzero((function.rows == bos).all(axis=1))
    if not row.size:
        raise CompileError("a table has no row for the values at BOS")
    later = np.ones(len(function.rows), dtype=bool)
    for column, read in zip(function.rows.T, inputs, strict=True):
        later &= np.isin(column, sorted(read.later))
    return Values(
        int(function.values[row[0]]), frozenset(function.values[later].tolist())
    )
