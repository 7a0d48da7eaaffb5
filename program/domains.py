"""Sets of whole numbers: which values a channel takes, and which it may have in a case."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krohn.program.errors import demand

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
AnyArray = npt.NDArray[Any]

LARGEST = 2**31
"""All numbers of a Program are less: sums of a few fit 64 bits, products of two too."""
LARGEST_MATRIX = 256
"""The most rows of a matrix."""
FEW = 1_000
"""Up to so many values are searched for one by one."""
MOST = 4_000_000
"""How many values, or joint values of some channels, are listed at once."""


@dataclass(frozen=True, eq=False)
class Values:
    """The values that a channel takes in all words.

    BOS is one known symbol, so each channel has one known value there. It is kept apart
    from the later positions, which keeps start values out of the tables.

    Attributes:
        bos: The value at BOS.
        later: The values at later positions, ascending.
        given: ``(T + 1,)``: the value at each position, if the position decides it.
        most: ``(T + 1,)``: the largest value at each position, if that depends on it.
    """

    bos: int
    later: IntArray
    given: IntArray | None = None
    most: IntArray | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[int, bytes, bytes, bytes]:
        given = b"" if self.given is None else self.given.tobytes()
        most = b"" if self.most is None else self.most.tobytes()
        return self.bos, self.later.tobytes(), given, most

    @cached_property
    def domain(self) -> tuple[int, ...]:
        """All values, ascending."""
        return tuple(distinct_values(np.append(self.later, self.bos)).tolist())

    @cached_property
    def anywhere(self) -> "Values":
        """The values of a channel that fetches it: later ones, or that at BOS."""
        return Values(self.bos, distinct_values(np.append(self.later, self.bos)))

    def within(self, low: int, high: int) -> bool:
        """Whether all values lie in ``low..high``."""
        least = min(self.bos, int(self.later[0]))
        return low <= least and max(self.bos, int(self.later[-1])) <= high


@dataclass(frozen=True, eq=False)
class Matrices(Values):
    """Real ``(size, size)`` matrices: products of the matrices of letters; 1 at BOS.

    The fields about numbers (`bos`, `later`) mean nothing here: only operations that say
    so (`Operation.on_matrices`) read such a channel.

    Attributes:
        size: How many rows and columns.
    """

    size: int = 0

    @classmethod
    def of(cls, size: int) -> "Matrices":
        """All matrices of a size.

        Raises:
            Refused: If they have no rows, or too many to be laid out.
        """
        demand(0 < size <= LARGEST_MATRIX, "a matrix has no rows, or too many")
        return cls(0, np.zeros(1, np.int64), size=size)


class ChannelDomain(NamedTuple):
    """The domain of a channel, ascending, and its value at BOS."""

    domain: IntArray
    bos: int


@dataclass(frozen=True)
class PossibleValues:
    """The values that a channel may have, row by row.

    Attributes:
        domain: ``(values,)``, ascending.
        sets: ``(rows, values)``: whether it may have the value in the row.
    """

    domain: IntArray
    sets: BoolArray

    def can_be(self, value: int) -> BoolArray:
        """``(rows, 1)``: whether it may have a value."""
        matches = (self.sets & (self.domain == value)).any(axis=1, keepdims=True)
        return np.asarray(matches)

    def in_domain(self, domain: IntArray) -> BoolArray:
        """``(rows, len(domain))``: the same in another domain, where that has the value."""
        if np.array_equal(self.domain, domain):
            return self.sets
        sets = np.zeros((len(self.sets), len(domain)), np.bool_)
        at, both = locate_values(domain, self.domain)
        sets[:, at[both]] = self.sets[:, both]
        return sets


def beside(rows: IntArray, sets: BoolArray) -> tuple[IntArray, IntArray]:
    """Each value that a channel may have in some rows.

    Args:
        rows: ``(count,)`` of them.
        sets: ``(rows, values)``: whether it may have the value in the row.

    Returns:
        Which of the given rows, and the place of the value in the domain.

    Raises:
        Refused: If there are too many.
    """
    if np.count_nonzero(sets) == len(sets):
        only = sets.argmax(axis=1)
        if sets[np.arange(len(sets)), only].all():  # one value in each row
            return np.arange(len(rows)), only[rows]
    row, values = sets.nonzero()
    count = np.bincount(row, minlength=len(sets))
    each = count[rows]
    demand(each.sum() <= MOST, "too many values are possible at once")
    which = np.repeat(np.arange(len(rows)), each)
    within = np.arange(len(which)) - np.repeat(each.cumsum() - each, each)
    return which, values[(count.cumsum() - count)[rows[which]] + within]


def joint_values(read: Sequence[PossibleValues]) -> tuple[IntArray, list[IntArray]]:
    """Every joint value that channels may have: its row, and the value of each channel.

    Raises:
        Refused: If there are too many.
    """
    at, columns = np.arange(len(read[0].sets)), list[IntArray]()
    for each in read:
        which, value = beside(at, each.sets)
        columns = [*(column[which] for column in columns), each.domain[value]]
        at = at[which]
    return at, columns


def mark_values(
    domain: IntArray, rows: int, at: IntArray, values: IntArray
) -> BoolArray:
    """``(rows, len(domain))``: the values of a domain that some rows ``at`` have."""
    sets = np.zeros((rows, len(domain)), np.bool_)
    there, hit = locate_values(domain, values)
    sets[at[hit], there[hit]] = True
    return sets


def places(domain: IntArray, values: IntArray) -> IntArray:
    """Where values stand in an ascending domain.

    Raises:
        Refused: If one is not there.
    """
    at, there = locate_values(domain, values)
    demand(there, "a channel takes values outside its domain")
    return at


def locate_values(domain: IntArray, values: IntArray) -> tuple[IntArray, BoolArray]:
    """Where values stand in an ascending domain, if they do, and whether they do."""
    at = np.minimum(np.searchsorted(domain, values), len(domain) - 1)
    return at, domain[at] == values


def among(values: IntArray, ascending: IntArray) -> BoolArray:
    """Which values are among others; for few of them in a tenth of `np.isin`'s time."""
    if len(values) > FEW:
        return np.isin(values, ascending)
    first = ascending.searchsorted(values)
    return np.asarray(ascending.searchsorted(values, "right") > first)


def sums(some: IntArray, others: IntArray) -> IntArray:
    """All sums of two numbers, ascending; sums of runs without gaps are a run.

    Raises:
        Refused: If there are too many.
    """
    if all(v[-1] - v[0] == len(v) - 1 for v in (some, others)):
        return np.arange(some[0] + others[0], some[-1] + others[-1] + 1)
    demand(len(some) * len(others) <= MOST, "a sum has too many values")
    return distinct_values(np.add.outer(some, others))


def distinct_values(values: AnyArray) -> AnyArray:
    """The values of an array once each, ascending.

    `np.unique` does the same, and imports masked arrays for it.
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def joint(values: list[IntArray]) -> IntArray:
    """``(rows, len(values))``: all tuples, in lexicographic order.

    Raises:
        Refused: If there are too many.
    """
    shape = [len(one) for one in values]
    demand(prod(shape) <= MOST, f"a table would need more than {MOST} rows")
    at = np.indices(shape).reshape(len(shape), -1)
    return np.stack([one[i] for one, i in zip(values, at, strict=True)], axis=1)
