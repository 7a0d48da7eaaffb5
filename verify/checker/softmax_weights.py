"""How far the weights of softmax heads are off, in any order of keys (A6 to A8).

Lemma 11b of docs/proofs/attention.md. Kernels keep the largest score that they have seen,
and rescale what they have added up when it rises. All rules of softmax heads charge for
that here.
"""

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    AT_ZERO,
    NEAR_ZERO,
    STRETCH,
    Format,
    Interval,
    Operand,
)

MOST_UNITS = 2.0**-11
"""A row has at most so many positions, in units of the format."""
SECOND = 1 + 2.0**-9
"""The most that products of roundings add to a few, in rows of no more positions."""


def factors(higher: IntArray | int, seen: IntArray | int, form: Format) -> FloatArray:
    """How many exponentials a weight is made of at most, beside one of 0 (A8).

    Args:
        higher: How many scores that differ can be computed above its own.
        seen: How many keys the row has.
        form: The format.
    """
    most = np.floor_divide(seen, STRETCH) + 2 if form.narrow else seen
    return np.minimum(higher, most).astype(np.float64)


def at_zero(size: float, form: Format) -> float:
    """How far the exponential of a score less itself is off (A6, A7).

    Args:
        size: The largest score, in absolute value.
        form: The format.
    """
    near = form.narrow and 1.5 * form.sum_unit * size <= NEAR_ZERO
    return AT_ZERO if near else form.exponential


def exponents(sizes: Operand, behind: Operand, form: Format) -> Interval:
    """How far an exponent is off, with those of what rescales it (A7, A8).

    Args:
        sizes: The sum of the absolute values of a score and a maximum that is above it.
        behind: How far the score is below that of the row.
        form: The format.
    """
    return (3 * Interval.of(behind) + sizes) * form.sum_unit * SECOND


def exponentials(several: Operand, form: Format, size: float = np.inf) -> Interval:
    """How far the logarithm of a weight is off by the exponentials that it is made of.

    Args:
        several: How many there are beside one of 0 (`factors`).
        form: The format.
        size: The largest score, in absolute value, if it is known.
    """
    own, xi = Interval.of(at_zero(size, form)), Interval.of(form.exponential)
    each = (xi + form.sum_unit) / (1 - xi - form.sum_unit)
    return own / (1 - own) + several * each


def weight_error(
    score: Operand, top: Operand, several: Operand, form: Format
) -> Interval:
    """How far the logarithm of a weight is off, in any order of keys (Lemma 11b).

    Args:
        score: The score, as it is computed.
        top: The largest of the row, as it is computed.
        several: How many exponentials it is made of beside one of 0 (`factors`).
        form: The format.

    Raises:
        Refused: If there are too many.
    """
    demand(Interval.of(several) * form.sum_unit <= MOST_UNITS, "too long")
    one, most = Interval.of(score), Interval.of(top)
    sizes, behind = abs(one) + abs(most).maximum(abs(one)), abs(most - one)
    return exponents(sizes, behind, form) + exponentials(several, form, sizes.most)
