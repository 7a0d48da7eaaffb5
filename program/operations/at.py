"""The position that binary digits say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from krohn.program.domains import IntArray, Values
from krohn.program.errors import demand
from krohn.program.operations.base import Frame, LookBack


@dataclass(frozen=True, slots=True)
class At(LookBack):
    """``source`` at the position x that ``digits`` say, if 1 ≤ x ≤ t; else at BOS.

    x = Σ_b 2^b·digits[b]. Every digit is a channel with values 0 and 1, and there are as
    many as T has binary digits, ``length.bit_length()``: so no table turns a number into
    digits. They come from `Position` channels, one for each digit, which the head that
    finds a position fetches with its number (`krohn.compiler.constructions.pointers`). It
    has no memory: every value so far might be asked for.
    """

    wire: ClassVar[str] = "at"
    grows: ClassVar[bool] = True
    digits: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The source, then the digits, the lowest first."""
        return (self.source, *self.digits)

    @property
    def asks(self) -> tuple[str, ...]:
        """The digits."""
        return self.digits

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """The position that they say, if there is one."""
        x = number(asked)
        return x, np.where((1 <= x) & (x <= t), x, x - 1), True

    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """The number, or 0 if it lies ahead."""
        x = number(read)
        return np.where(x <= t, x, 0)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source."""
        count = frame.length.bit_length()
        demand(
            len(self.digits) == count,
            f"a position of 0..{frame.length} has {count} binary digits, not "
            f"{len(self.digits)}",
        )
        binary = all(digit.within(0, 1) for digit in read[1:])
        demand(binary, "a binary digit has other values than 0 and 1")
        return LookBack.infer(self, read, frame)


def number(digits: Sequence[IntArray]) -> IntArray:
    """The number with these binary digits, the lowest first."""
    return np.asarray(np.sum([digit << b for b, digit in enumerate(digits)], axis=0))
