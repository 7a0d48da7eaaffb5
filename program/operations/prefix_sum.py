"""Sums over all positions so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import (
    MOST,
    BoolArray,
    ChannelDomain,
    IntArray,
    PossibleValues,
    Values,
    joint_values,
    mark_values,
)
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, Memory, Operation


@dataclass(frozen=True, slots=True)
class PrefixSum(Operation):
    """The sum of ``source`` over positions 0..t; ``source`` is 0 at BOS."""

    wire: ClassVar[str] = "prefix-sum"
    check: ClassVar[str] = "sums"
    source: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The source."""
        return (self.source,)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Multiples of the summands' greatest common divisor."""
        return totals(read[0], frame.length, np.sum)

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """The sum."""
        return Memory(own.domain, own.bos, 1)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The sum before and the source; totals outside the domain do not occur."""
        sums = possible_sums(own, read[0], cells[:, 0])
        return sums, sums[:, None]


def totals(
    source: Values, length: int, largest: Callable[[IntArray], np.int64]
) -> Values:
    """The sums of a channel over some positions.

    Args:
        source: The values of the channel.
        length: The longest word (T).
        largest: The largest sum, if the channel has values ``(T,)`` at 1, …, T.

    Raises:
        Refused: If it is not 0 at BOS, or may be negative, or there are too many sums.
    """
    demand(
        source.bos == 0 and source.later[0] >= 0,
        "a sum needs a channel that is 0 at BOS and never negative",
    )
    highest = np.full(length, source.later[-1])
    most = int(largest(highest if source.most is None else source.most[1:]))
    step = int(np.gcd.reduce(source.later)) or 1
    demand(most // step <= MOST, "a sum has too many values")
    return Values(0, np.arange(0, most + 1, step))


def possible_sums(
    own: ChannelDomain, source: PossibleValues, before: BoolArray
) -> BoolArray:
    """The values that a sum may have after one more summand: ``(rows, values)``."""
    at, (total, more) = joint_values([PossibleValues(own.domain, before), source])
    return mark_values(own.domain, len(before), at, total + more)
