"""How Python values stand for the whole numbers that channels hold."""

from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import TypeAlias

import numpy as np

from krohn.program.domains import LARGEST
from krohn.sources.sequence_functions.errors import ProgramError

Value: TypeAlias = Hashable
Meaning: TypeAlias = range | tuple[Value, ...] | None
"""What code c stands for: itself if None, else the c-th entry."""


def decoded(meaning: Meaning, code: int) -> Value:
    """The Python value that a code stands for."""
    return code if meaning is None else meaning[code]


def offset(meaning: Meaning) -> int | None:
    """What the code 0 stands for if codes count on from there; None if they do not."""
    if meaning is None:
        return 0
    return meaning.start if isinstance(meaning, range) else None


def encoded(values: Sequence[Value]) -> tuple[list[int], Meaning]:
    """Codes for the results of a function: numbers count on, others are numbered.

    Whole numbers from 0 on stand for themselves. If one is negative, the least is 0.

    Raises:
        ProgramError: If numbers are too large.
    """
    if all(isinstance(v, int | np.integer | np.bool_) for v in values):
        whole = [int(v) for v in values]  # type: ignore[call-overload]
        least, most = min(0, *whole), max(whole)
        if most - least >= LARGEST:
            raise ProgramError(f"numbers from {least} to {most} are too many")
        meaning = range(least, most + 1) if least < 0 else None
        return [v - least for v in whole], meaning
    names = _ordered(dict.fromkeys(values))
    place = {name: i for i, name in enumerate(names)}
    return [place[v] for v in values], names


def _ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError:  # values of several types
        return tuple(sorted(values, key=str))


def joined(meanings: Sequence[Meaning]) -> Meaning:
    """One meaning for the values of several channels: that of all, if they agree."""
    if all(m == meanings[0] for m in meanings):
        return meanings[0]
    starts = [offset(m) for m in meanings]
    whole = [s for s in starts if s is not None]
    if len(whole) == len(starts):
        least = min(0, *whole)
        return range(least, LARGEST + least) if least < 0 else None
    every = [v for m in meanings for v in (m or ())]
    if any(m is None for m in meanings):
        raise ProgramError("numbers and names cannot be mixed")
    return tuple(dict.fromkeys(every))


def code_of(meaning: Meaning, value: Value) -> int | None:
    """The code of a value; None if it has none. What is equal has one code."""
    if isinstance(meaning, tuple):
        return meaning.index(value) if value in meaning else None
    if not isinstance(value, Real | np.bool_) or value != value // 1:
        return None
    code = int(value) - (meaning.start if meaning else 0)
    return code if 0 <= code < (len(meaning) if meaning else LARGEST) else None
