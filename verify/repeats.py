"""How long a sequence agrees with itself, shifted: linear in its length."""

from collections.abc import Sequence

import numpy as np

from algebra.semiautomaton import IntArray


def overlaps(sequence: Sequence[int]) -> IntArray:
    """``(length,)``: how long the sequence agrees with itself from each place on.

    The Z algorithm (Gusfield 1997, section 1.3); the first entry is the whole length.
    """
    found = [len(sequence)] + [0] * (len(sequence) - 1)
    low = high = 0
    for i in range(1, len(sequence)):
        length = max(0, min(high - i, found[i - low])) if i < high else 0
        while i + length < len(sequence) and sequence[length] == sequence[i + length]:
            length += 1
        if i + length > high:
            low, high = i, i + length
        found[i] = length
    return np.array(found[: len(sequence)], dtype=np.int64)


def period(sequence: Sequence[int]) -> int:
    """The least shift under which a sequence agrees with itself; 0 if there is none."""
    same = overlaps(sequence)
    whole = np.flatnonzero(same[1:] == len(sequence) - np.arange(1, len(sequence)))
    return 1 + int(whole[0]) if len(whole) else 0


def tail(sequence: Sequence[int]) -> tuple[int, int]:
    """From where on a sequence repeats itself every how many, as early as may be.

    Of all starts and periods the sum is the least; (0, 0) if no end of it repeats.
    """
    size, half = len(sequence), len(sequence) // 2
    if not half:
        return 0, 0
    periods = np.arange(1, half + 1)
    starts = size - periods - overlaps(sequence[::-1])[1 : half + 1]
    ends = np.where(starts + periods < size - periods, starts + periods, size)
    best = int(ends.argmin())
    if ends[best] == size:
        return 0, 0
    return int(starts[best]), int(periods[best])
