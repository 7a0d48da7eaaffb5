"""Models whose start says the first letter, as models that step before they say it."""

from fractions import Fraction
from math import lcm

import numpy as np

from krohn.program.domains import FloatArray

BEFORE = "start"
"""The state before the first letter, where it is none of the others."""
MOST_STATES = 32
"""Of how many states the law before a step is looked for: in exact arithmetic."""


def law_before(step: FloatArray, first: FloatArray) -> FloatArray | None:
    """``(n,)``: the law s with P s = ``first``; None if there is none, or P is singular.

    It is exact up to a factor near 1, which makes it sum to 1; and then each number is
    rounded to the next one of float64. So entries of P s are off by a relative 2⁻⁵³ at
    most, and the result is the same on every machine.

    Args:
        step: ``(n, n)``: P; columns are laws.
        first: ``(n,)``: a law.
    """
    if len(first) > MOST_STATES:
        return None
    rows = [_whole([*row, x]) for row, x in zip(step.tolist(), first, strict=True)]
    size, last = len(rows), 1
    for k in range(size):  # Gauss and Jordan without fractions (Bareiss 1968)
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        top, lead = rows[k], rows[k][k]
        for i in (i for i in range(size) if i != k):
            by = rows[i][k]
            pairs = zip(rows[i], top, strict=True)
            rows[i] = [(lead * x - by * y) // last for x, y in pairs]
        last = lead
    found = [Fraction(row[-1], last) for row in rows]
    total = sum(found)
    return np.array([float(x / total) for x in found]) if min(found) >= 0 else None


def with_one_before(
    step: FloatArray, say: FloatArray, first: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Transitions and emissions with one more state, from which a step leads to a law.

    Nothing leads to it, so that it says no letter.

    Args:
        step: ``(n, n)``: P.
        say: ``(m, n)``: O.
        first: ``(n,)``: the law.
    """
    size, letters = len(first), len(say)
    onward = np.zeros((size + 1, size + 1))
    onward[:size, :size], onward[:size, size] = step, first
    return onward, np.column_stack([say, np.full(letters, 1 / letters)])


def _whole(row: list[float]) -> list[int]:
    """Numbers in the same ratio, without fractions."""
    parts = [Fraction(x) for x in row]
    common = lcm(*(x.denominator for x in parts))
    return [int(x * common) for x in parts]
