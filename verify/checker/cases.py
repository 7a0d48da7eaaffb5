"""Cases: sets of stored values on which a map has one value (docs/proofs/mlps.md)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, IntArray, PossibleValues
from krohn.program.errors import demand
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
            which = np.repeat(np.arange(len(of)), count[number])
            ends, start = count[number].cumsum(), (count.cumsum() - count)[number]
            at = np.arange(len(which)) + (start - ends + count[number])[which]
            of, columns = of[which], [c[which] for c in columns]
            columns.append(chosen.nonzero()[1][at])
        return np.array(columns, np.int64).reshape(len(named), len(of)), of


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
    each = np.zeros((1 + len(said), len(sets)), np.int64)
    divided = dict[int, tuple[int, BoolArray]]()
    for j, (case, source, number) in enumerate(whole(said, 2).tolist() if said else []):
        by, covered = divided.get(case, (source, np.zeros_like(sets[source][0])))
        demand(case <= j and by == source, "a case is no part of one before it")
        divided[case] = source, covered | sets[source][number]
        each[j + 1] = each[case]
        each[j + 1, source] = number
    for case, (source, covered) in divided.items():
        left = sets[source][each[case, source]] & ~covered
        demand(~left, "the parts of a case do not hold all of it")
    return np.delete(each, list(divided), axis=0)


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
