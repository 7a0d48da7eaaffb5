"""Permutations as rows of numbers; everything acts on the right.

A permutation of ``0..n-1`` is a row ``t`` with ``t[x] = x·t``, so that the product
"s then t" is ``t[s]``.
"""

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError


class GroupError(KrohnError):
    """Something that should be a permutation group or lie in one does not."""


def as_permutations(rows: npt.ArrayLike) -> IntArray:
    """The rows as a read-only array ``(k, n)`` of permutations.

    Raises:
        GroupError: If the shape is not ``(k, n)`` or a row is no permutation.
    """
    table = np.array(rows, dtype=np.int64)
    if table.ndim != 2:
        raise GroupError(
            f"permutations must come as rows of an array (k, n), not {table.shape}"
        )
    if not (np.sort(table, axis=1) == np.arange(table.shape[1])).all():
        raise GroupError(f"each row must permute the points 0..{table.shape[1] - 1}")
    table.setflags(write=False)
    return table


def product(first: IntArray, then: IntArray) -> IntArray:
    """Row by row "first then then", for arrays ``(..., n)`` that broadcast."""
    first, then = np.broadcast_arrays(first, then)
    return np.take_along_axis(then, first, axis=-1)


def inverse(rows: IntArray) -> IntArray:
    """The inverse of each row, ``(..., n)``."""
    return np.argsort(rows, axis=-1)


def conjugate(rows: IntArray, by: IntArray) -> IntArray:
    """``by⁻¹ · row · by`` for each row, ``(..., n)``."""
    return product(product(inverse(by), rows), by)


def commutator(first: IntArray, second: IntArray) -> IntArray:
    """``first⁻¹ · second⁻¹ · first · second``, row by row."""
    there = product(inverse(first), inverse(second))
    return product(product(there, first), second)


def power(row: IntArray, exponent: int) -> IntArray:
    """The power of one permutation ``(n,)``; negative exponents are allowed."""
    return np.asarray(powers(row[None], exponent)[0])


def powers(rows: IntArray, exponent: int) -> IntArray:
    """The power of each row ``(m, n)``; negative exponents are allowed."""
    base = rows if exponent >= 0 else inverse(rows)
    result = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    left = abs(exponent)
    while left:
        if left & 1:
            result = product(result, base)
        base = product(base, base)
        left >>= 1
    return result


def cycle_lengths(rows: IntArray) -> IntArray:
    """The length of the cycle through each point, ``(m, n)`` like ``rows``."""
    count, degree = rows.shape
    offset = degree * np.arange(count)[:, None]
    # Each point takes the least point of its cycle, over windows that double.
    step, least = (rows + offset).ravel(), np.arange(rows.size)
    for _ in range(degree.bit_length()):
        least = np.minimum(least, least[step])
        step = step[step]
    return np.bincount(least, minlength=rows.size)[least].reshape(rows.shape)


def orders(rows: IntArray) -> IntArray:
    """The order of each row, ``(m,)``; it must fit in 64 bits."""
    if not rows.shape[1]:
        return np.ones(len(rows), dtype=np.int64)
    return np.asarray(np.lcm.reduce(cycle_lengths(rows), axis=1))


def is_even(rows: IntArray) -> npt.NDArray[np.bool_]:
    """Which rows are even permutations, ``(m,)``."""
    lengths = cycle_lengths(rows)
    # A cycle of length c has c points and counts 1 in the sum of the 1/c.
    cycles = np.rint((1 / lengths).sum(axis=1)).astype(np.int64)
    return np.asarray((rows.shape[1] - cycles) % 2 == 0)


def orbits(rows: IntArray) -> tuple[tuple[int, ...], ...]:
    """The orbits of the points under the rows, in order of their first points."""
    n = rows.shape[1]
    label = np.arange(n)
    while True:
        # Every point takes the least label on its cycle step; that spreads quickly,
        # because labels themselves are followed as pointers.
        least = label
        for row in rows:
            least = np.minimum(least, least[row])
            np.minimum.at(least, row, least.copy())
        least = least[least]
        if np.array_equal(least, label):
            break
        label = least
    return classes(label)


def classes(label: IntArray) -> tuple[tuple[int, ...], ...]:
    """The points of each label, in order of their first points."""
    found: dict[int, list[int]] = {}
    for point, name in enumerate(label.tolist()):
        found.setdefault(name, []).append(point)
    return tuple(tuple(points) for points in found.values())
