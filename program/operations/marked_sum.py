"""Sums over some of the positions so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from krohn.program.domains import (
    BoolArray,
    ChannelDomain,
    PossibleValues,
    Values,
)
from krohn.program.errors import Refused
from krohn.program.operations.base import Frame, Memory, Operation, demand_flag
from krohn.program.operations.prefix_sum import possible_sums, totals


@dataclass(frozen=True, slots=True)
class MarkedSum(Operation):
    """The sum of ``source`` over the positions of 0..t that ``where`` marks.

    ``where`` is a `Position` with values 0 and 1, so that which positions are added up
    is the same for every word. Both are 0 at BOS.
    """

    wire: ClassVar[str] = "marked-sum"
    check: ClassVar[str] = "sums"
    source: str
    where: str

    @property
    def reads(self) -> tuple[str, ...]:
        """The source and the marks."""
        return (self.source, self.where)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """Multiples of the summands' greatest common divisor; marks are 0 and 1."""
        marks = read[1].given
        if marks is None:
            raise Refused(
                "a sum over marked positions needs a function of the position"
            )
        demand_flag(read[1], bos=0)
        return totals(read[0], frame.length, lambda most: (most * marks[1:]).sum())

    def memory(self, own: ChannelDomain, read: Sequence[ChannelDomain]) -> Memory:
        """The sum."""
        return Memory(own.domain, own.bos, 1)

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The sum before; with the source, if the position may be marked."""
        source, marked = read
        more = possible_sums(own, source, cells[:, 0])
        sums = more & marked.can_be(1) | cells[:, 0] & marked.can_be(0)
        return sums, sums[:, None]
