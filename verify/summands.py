"""What each channel contributes to the sums inside the last hidden layer of an MLP.

A unit of that layer is a ReLU of a sum to which every channel contributes apart from the
others, because every unit below reads one channel only. Values of a channel with equal
contributions to all units are one *class*; a channel of which nothing is known
contributes an interval. So a sum is bounded on a whole cube at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy, finest, stored_sum, sum_rounding

ANY = -1


@dataclass(frozen=True)
class Summand:
    """The contributions of one channel to some units, for each class of its values.

    The last row stands for any value of the channel.

    Attributes:
        of: ``(values,)``: the class of each value of the domain.
        value: ``(classes + 1, units)`` without noise.
        error: ``(classes + 1, units)``: how far they can be off, before rounding.
        size: ``(classes + 1, units)``: the sum of the absolute values of the terms.
        known: ``(classes + 1, units)``: whether all terms are free of noise.
        heard: ``(classes + 1, units)``: how many terms could be other than 0.
        grid: Without noise, all numbers below are multiples of 2^-grid.
    """

    of: IntArray
    value: FloatArray
    error: FloatArray
    size: FloatArray
    known: BoolArray
    heard: FloatArray
    grid: int


def summand(parts: Iterable[Noisy], weight: FloatArray) -> Summand:
    """The contributions of a channel.

    Args:
        parts: What the units below hold for each of its values, ``(values, width)`` in
            all.
        weight: ``(width, units)``: how the units sum them.
    """
    found = [_contributions(part, weight) for part in parts]
    value, error, size, unknown, heard = (
        np.concatenate(column) for column in zip(*(f[:5] for f in found), strict=True)
    )
    alike, of = np.unique(value, axis=0, return_inverse=True)
    of = np.asarray(of).reshape(-1)
    errors, sizes, unknowns, hearers = (
        _most(a, of, len(alike)) for a in (error, size, unknown, heard)
    )
    middle, spread = _middle(alike, errors)
    return Summand(
        of,
        np.vstack([alike, middle]),
        np.vstack([errors, spread]),
        np.vstack([sizes, sizes.max(axis=0)]),
        np.vstack([unknowns, unknowns.max(axis=0)]) == 0,
        np.vstack([hearers, hearers.max(axis=0)]),
        max(f[5] for f in found),
    )


def _contributions(
    below: Noisy, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, int]:
    """Values, errors and sizes of sums, which terms are noisy or not 0; their grid."""
    magnitude = np.abs(weight)
    error = below.rest @ magnitude
    for slope, noise in zip(below.slopes, below.noises, strict=True):
        error = error + noise * np.abs(slope @ weight)
        error = error + noise * (INFLATION - 1) * (np.abs(slope) @ magnitude)
    size = (np.abs(below.value) + below.total) @ magnitude
    used = weight != 0
    noisy = ((below.total > 0) * 1.0 @ used > 0) * 1.0
    heard = ((below.value != 0) | (below.total > 0)) * 1.0 @ used
    value = below.value @ weight
    return value, error * INFLATION, size, noisy, heard, finest(below.value)


def _most(rows: FloatArray, of: IntArray, classes: int) -> FloatArray:
    """``(classes, units)``: the largest of the rows of each class."""
    most = np.zeros((classes, rows.shape[1]))
    np.maximum.at(most, of, rows)
    return most


def _middle(value: FloatArray, error: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The middle of the interval in which all contributions lie, and half its width."""
    low, high = (value - error).min(axis=0), (value + error).max(axis=0)
    half = (high - low) / 2 + (INFLATION - 1) * (np.abs(low) + np.abs(high))
    return (low + high) / 2, half * (high > low)


@dataclass(frozen=True)
class Sums:
    """Sums of what several channels contribute.

    Attributes:
        domains: The values of each channel, ascending.
        summands: What each contributes; one more, under the empty name, is constant.
        weight: ``(width, units)``: all weights that the sums have.
        bias: ``(units,)``.
        precision: The format that they are computed in.
    """

    domains: Mapping[str, Sequence[int]]
    summands: Mapping[str, Summand]
    weight: FloatArray
    bias: FloatArray
    precision: Precision

    def rows(
        self, cubes: Iterable[Mapping[str, frozenset[int]]], most: int
    ) -> tuple[IntArray, IntArray]:
        """The classes that each cube consists of.

        Args:
            cubes: Channels with sets of values.
            most: How many rows there may be.

        Returns:
            ``(rows, channels)`` the class of each channel, or `ANY`, and ``(rows,)`` the
            number of the cube that a row is part of.

        Raises:
            Rejected: If there are more rows.
        """

        @cache
        def classes(name: str, values: frozenset[int]) -> tuple[int, ...]:
            at = np.searchsorted(self.domains[name], sorted(values))
            return tuple(np.unique(self.summands[name].of[at]).tolist())

        rows: list[tuple[int, ...]] = []
        of: list[int] = []
        for number, cube in enumerate(cubes):
            choices = [
                classes(n, cube[n]) if n in cube else (ANY if n else 0,)
                for n in self.summands
            ]
            before = len(rows)
            rows += product(*choices)
            of += [number] * (len(rows) - before)
            if len(rows) > most:
                raise Rejected("an MLP mixes channels with too many joint values")
        return np.array(rows, dtype=np.int64), np.array(of, dtype=np.int64)

    def add_up(self, rows: IntArray) -> Noisy:
        """``(rows, units)``: the sums, with any rounding, before the last ReLU."""
        summands = tuple(self.summands.values())
        return add_up(summands, rows, self.weight, self.bias, self.precision)


def add_up(
    summands: Sequence[Summand],
    rows: IntArray,
    weight: FloatArray,
    bias: FloatArray,
    precision: Precision,
) -> Noisy:
    """``(rows, units)``: the sums, with any rounding, before the last ReLU.

    Args:
        summands: One for each channel.
        rows: ``(rows, channels)``: the class of each channel, or `ANY`.
        weight: ``(width, units)``: all weights that the sums have.
        bias: ``(units,)``.
        precision: The format that they are computed in.
    """
    pairs = list(zip(summands, rows.T, strict=True))
    shape = (len(rows), len(bias))
    value = sum((s.value[c] for s, c in pairs), np.zeros(shape))
    error = sum((s.error[c] for s, c in pairs), np.zeros(shape))
    size = sum((s.size[c] for s, c in pairs), np.zeros(shape))
    known, heard = np.ones(shape, dtype=np.bool_), np.zeros(shape)
    for s, c in pairs:
        known &= s.known[c]
        heard = heard + s.heard[c]
    finer = max((s.grid for s in summands), default=0) + finest(weight)

    def total(offset: FloatArray) -> Noisy:
        grid = max(finer, finest(offset))
        whole = size + np.abs(offset)
        rounding = sum_rounding(precision, heard, whole, grid, known)
        rest = (error + rounding) * INFLATION
        return Noisy(value + offset, (), (), rest, precision)

    return stored_sum(total, bias)
