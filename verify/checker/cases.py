"""Cases: sets of stored values on which a map has one value (docs/proofs/mlps.md)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import (
    BoolArray,
    IntArray,
    PossibleValues,
    distinct_values,
)
from krohn.program.errors import demand
from krohn.program.operations.base import Operation
from krohn.program.operations.map import Map
from krohn.program.statement import MOST_CELLS, Channel, Statement, cone
from krohn.program.strict_json import whole

MOST_PARTS, MOST_ROWS = 2**18, 2_000_000


class Cases(NamedTuple):
    """Cases, in one of which every position after BOS lies (Theorem R3).

    Attributes:
        sets: For each source ``(sets, later values)``: sets of the values that it can have
            after BOS, first that of all of them.
        each: ``(cases, sources)``: the set in which each source has its value.
        values: ``(cases,)``: the value of a map.
    """

    sets: Sequence[BoolArray]
    each: IntArray
    values: IntArray

    def some(self, chosen: IntArray) -> "Cases":
        """Some of the cases."""
        return Cases(self.sets, self.each[chosen], self.values[chosen])

    def told_apart(self) -> list[int]:
        """The sources of which a case says something."""
        return np.flatnonzero(self.each.any(axis=0)).tolist()

    def mark_values_in_sets(self, source: int) -> BoolArray:
        """``(sets + 1, values)``: the values of a source in each set, and that at BOS."""
        inside = self.sets[source]
        marks = np.zeros((len(inside) + 1, inside.shape[1] + 1), bool)
        marks[:-1, :-1], marks[-1, -1] = inside, True
        return marks

    def joint(self, named: Sequence[int]) -> float:
        """How many joint values some sources have in all cases."""
        sizes = [self.sets[i].sum(axis=1)[self.each[:, i]] for i in named]
        return float(np.prod(sizes, axis=0, dtype=float).sum())

    def rows(
        self, named: Sequence[int], choices: Callable[[int], BoolArray]
    ) -> tuple[IntArray, IntArray]:
        """Every case once for all combinations of some choices; BOS is the last case.

        Args:
            named: The sources that there is a choice for.
            choices: ``(sets + 1, choices)`` of a source: those that each of its sets
                has, and that of BOS.

        Returns:
            ``(named, rows)`` what is chosen, and ``(rows,)`` the case of each row.
        """
        of, columns = np.arange(len(self.each) + 1), list[IntArray]()
        for i in named:
            chosen = choices(i)
            number = np.append(self.each[:, i], len(chosen) - 1)[of]
            count = chosen.sum(axis=1)
            demand(count[number].sum() <= MOST_ROWS, "too many rows")
            start = (count.cumsum() - count)[number]
            if (count[number] != 1).any():
                which = np.repeat(np.arange(len(of)), count[number])
                start = (start - count[number].cumsum() + count[number])[which]
                start, of = start + np.arange(len(which)), of[which]
                columns = [c[which] for c in columns]
            columns.append(chosen.nonzero()[1][start])
        return np.array(columns, np.int64).reshape(len(named), len(of)), of


def function_of(
    program: Statement, name: str, sources: Collection[str]
) -> tuple[tuple[Operation, ...], list[str]]:
    """What a channel computes of some sources, whatever channels are called.

    Returns:
        Its operations, each with numbers for the channels that it reads, and the sources
        that are read. Each read number that is new is that of the next such source, and
        the next number that of the operation itself: so equal operations are one function
        of the sources that are read.
    """
    numbers, read, operations = dict[str, str](), list[str](), list[Operation]()
    for channel in cone(program, name, sources):
        operation = program.operations[channel]
        new = [n for n in dict.fromkeys(operation.reads) if n not in numbers]
        read += new
        for n in (*new, channel):
            numbers[n] = str(len(numbers))
        operations.append(operation.rename_channels(numbers))
    return tuple(operations), read


def every(channels: Sequence[Channel]) -> Cases:
    """The one case in which each source has any value."""
    sets = [np.ones((1, len(c.later)), bool) for c in channels]
    return Cases(sets, np.zeros((1, len(sets)), np.int64), np.zeros(1, np.int64))


def read_cases(
    program: Statement, sources: Sequence[str], channel: Channel, said: Any
) -> Cases:
    """The cases that evidence names for a map: they hold all, and each decides it.

    Args:
        program: The Program.
        sources: Channels that the map is computed from.
        channel: The map.
        said: ``sets``, for each source some sets of places among its values, and
            ``parts``: a case before, and a source and its set that a part of it has.

    Raises:
        Refused: If some values of the sources are in no case, or a case has two values.
    """
    channels, room = [program.channels[n] for n in sources], MOST_CELLS
    sets = list[BoolArray]()
    for c, listed in zip(channels, said["sets"], strict=True):
        room -= (1 + len(listed)) * len(c.later)
        demand(room >= 0, "there are too many sets")
        sets.append(np.zeros((1 + len(listed), len(c.later)), bool))
        for inside, places in zip(sets[-1], [slice(None), *listed], strict=True):
            inside[places] = True
    each = _leaves(sets, said["parts"])
    known = {
        name: (PossibleValues(c.later, inside), number)
        for name, c, inside, number in zip(sources, channels, sets, each.T, strict=True)
    }
    for name in cone(program, channel.name, known):
        known[name] = _map_values(program.channels[name], known)
    may, row = known[channel.name]
    demand(may.sets.sum(axis=1) == 1, f"a case does not decide {channel.name!r}")
    return Cases(sets, each, may.domain[may.sets.argmax(axis=1)[row]])


def _leaves(sets: Sequence[BoolArray], said: Any) -> IntArray:
    """``(cases, sources)``: the cases that have no parts.

    Raises:
        Refused: If the parts of a case do not hold all of it.
    """
    few = len(said) <= MOST_PARTS
    few &= len(said) * max(one.shape[1] for one in sets) <= MOST_CELLS
    demand(few, "there are too many cases")
    parts = whole(said, 2) if said else np.zeros((0, 3), np.int64)
    case, source, number = parts.T
    by, what = np.zeros(1 + len(parts), np.int64), "a case is no part of one before it"
    demand(case <= np.arange(len(parts)), what)
    by[case] = source
    demand(by[case] == source, what)
    each = np.zeros((1 + len(parts), len(sets)), np.int64)
    for j, (of, i, n) in enumerate(parts.tolist(), start=1):
        each[j] = each[of]
        each[j, i] = n
    for i in distinct_values(source):
        own = np.flatnonzero(source == i)
        own = own[np.argsort(case[own], kind="stable")]
        divided, start = np.unique(case[own], return_index=True)
        covered = np.logical_or.reduceat(sets[i][number[own]], start)
        left = sets[i][each[divided, i]] & ~covered
        demand(~left, "the parts of a case do not hold all of it")
    return np.delete(each, case, axis=0)


Known = tuple[PossibleValues, IntArray]
"""Values that a channel can have in some rows, and the row of each case."""


def _map_values(channel: Channel, known: Mapping[str, Known]) -> Known:
    """Values that a map can have; cases in which its inputs can be the same are one row."""
    operation = channel.operation
    there = isinstance(operation, Map)
    demand(there, f"{channel.name!r} is not there where it is read")
    assert isinstance(operation, Map)
    read, numbers = zip(*(known[n] for n in channel.inputs), strict=True)
    rows, row = np.unique(np.array(numbers), axis=1, return_inverse=True)
    widest = max(len(domain) for domain in (channel.domain, *(x.domain for x in read)))
    small = rows.shape[1] * widest <= MOST_CELLS
    demand(small, "too many values in all cases")
    here = [
        PossibleValues(x.domain, x.sets[at]) for x, at in zip(read, rows, strict=True)
    ]
    possible_sets = operation.function.step(channel.own_domain, here)
    return PossibleValues(channel.domain, possible_sets), row.reshape(-1)
