"""What the calls of a user become that are more than one operation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from krohn.program import At, LookBack, Match, Position, PrefixSum
from krohn.program.expressions import Expression, argument, gate, greater, number
from krohn.sources.sequence_functions.errors import ProgramError
from krohn.sources.sequence_functions.meaning import Meaning, Value, code_of, offset
from krohn.sources.sequence_functions.realisation import Known, Realisation

SMALL = 64
"""Two numbers with so few joint values are compared by one table, others by a sum."""
Test = Callable[..., Any]


def with_constant(test: Test, constant: Value) -> Callable[..., Known]:
    """1 where a channel compares so with a constant, which must be one of its values."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        (x,) = read
        named = isinstance(x.meaning, tuple)
        if named and code_of(x.meaning, constant) is None:
            some = ", ".join(repr(v) for v in (x.meaning or ())[:12])
            raise ProgramError(f"{constant!r} is no value of {x.name!r}: {some}")
        return r.table(name, lambda v: int(test(v, constant)), read)

    return make


def compared(test: Test) -> Callable[..., Known]:
    """1 where two channels compare so; large numbers by two or four ReLUs."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        count = np.prod([len(x.values.later) for x in read], dtype=float)
        if count <= SMALL or any(offset(x.meaning) is None for x in read):
            return r.table(name, lambda x, y: int(test(x, y)), read)
        x, y = _numbers(read)
        above, below = greater(x, y), greater(y, x)
        equal = 1 - above - below
        signs = zip((above, equal, below), (1, 0, -1), strict=True)
        shown = [sign for sign, apart in signs if test(apart, 0)]
        return r.piecewise(name, sum(shown, number(0)), read)

    return make


def gated(r: Realisation, name: str, read: list[Known]) -> Known:
    """The second channel where the first one is 1, else 0: a ReLU.

    The flag is rounded by a table before, since its noise is multiplied by the largest
    value.
    """
    if _starts(read) != 0:
        return r.table(name, lambda bit, v: v if bit else 0, read)
    clean = r.table(f"{name}.flag", int, read[:1])
    most = max(read[1].values.domain)
    flag, value = _numbers([clean, read[1]])
    return r.piecewise(name, gate(value, flag, most), [clean, read[1]])


def _numbers(read: list[Known]) -> list[Expression]:
    """What each channel stands for, as an expression of their codes."""
    return [argument(i) + _starts([x]) for i, x in enumerate(read)]


def summed(constant: int) -> Callable[..., Known]:
    """The sum of different channels and a constant."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        return r.summed(name, read, _counting(_starts(read) + constant))

    return make


def difference(r: Realisation, name: str, read: list[Known]) -> Known:
    """The first number minus the second one: as a code with the largest code added."""
    most = max(read[1].values.domain)
    start = _starts(read[:1]) - _starts(read[1:]) - most
    shifted = argument(0) - argument(1) + most
    return r.piecewise(name, shifted, read, _counting(start))


def prefix_sum(r: Realisation, name: str, read: list[Known]) -> Known:
    """The sum so far; of negative numbers −m…, m for each letter to come is added."""
    (x,) = read
    least, length = _starts(read), r.frame.length
    if least == 0:
        return r.add(name, PrefixSum(r.at_start(x, 0).name))
    total = r.add(f"{name}.codes", PrefixSum(r.at_start(x, 0).name))
    left = tuple(-least * (length - t) for t in range(length + 1))
    ahead = r.add(f"{name}.ahead", Position(left))
    return r.summed(name, [total, ahead], _counting(least * length))


def match(kind: type[Match]) -> Callable[..., LookBack]:
    """A look-back to where a key is a query: both by one code."""

    def operation(r: Realisation, name: str, read: list[Known]) -> LookBack:
        source, key, query = read
        taken = key.values.domain
        asked = r.recoded(query, key.meaning, f"{name}.query", taken)
        return kind(source.name, key.name, asked.name)

    return operation


def fetch(kind: type[At]) -> Callable[..., LookBack]:
    """A look-back to the position that a number says, by its binary digits."""

    def operation(r: Realisation, name: str, read: list[Known]) -> LookBack:
        source, position = read
        _starts([position])
        digits, bits = [], r.frame.length.bit_length()
        for b in range(bits):
            digit = _digit(b, r.frame.length)
            digits.append(r.table(f"{name}.digit{b}", digit, [position]).name)
        return kind(source.name, tuple(digits))

    return operation


def _digit(bit: int, length: int) -> Callable[[int], int]:
    """A binary digit of a position; of what is none that of 0, which is BOS."""
    return lambda x: x >> bit & 1 if 0 <= x <= length else 0


def _starts(read: list[Known]) -> int:
    """What all codes 0 stand for together.

    Raises:
        ProgramError: If a channel holds no numbers.
    """
    found = 0
    for x in read:
        start = offset(x.meaning)
        if start is None:
            raise ProgramError(f"{x.name!r} holds no numbers")
        found += start
    return found


def _counting(start: int) -> Meaning:
    return None if start == 0 else range(start, start + 2**31)
