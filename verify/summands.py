"""What each channel contributes to the sums inside the last hidden layer of an MLP.

A unit of that layer is a ReLU of a sum to which every channel contributes apart from the
others, because every unit below reads one channel only. Values of a channel with equal
contributions to all units are one *class*; a channel of which nothing is known
contributes an interval. So a sum is bounded on a whole cube at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy, Products, finest, stored_sum, sum_rounding

ANY = -1


@dataclass(frozen=True)
class Terms:
    """Sums of some of the terms inside units.

    Attributes:
        value: ``(rows, units)`` without noise.
        error: ``(rows, units)``: how far they can be off, before rounding.
        size: ``(rows, units)``: the sum of the absolute values of the terms.
        known: ``(rows, units)``: whether all terms are free of noise.
        heard: ``(rows, units)``: how many terms could be other than 0.
    """

    value: FloatArray
    error: FloatArray
    size: FloatArray
    known: BoolArray
    heard: FloatArray

    def at(self, rows: IntArray | BoolArray | slice) -> "Terms":
        """Some of the rows."""
        value, error, size = self.value[rows], self.error[rows], self.size[rows]
        return Terms(value, error, size, self.known[rows], self.heard[rows])

    def worst(self) -> "Terms":
        """``(1, units)``: the widest bounds of all rows; the value is that of the first."""
        error, size = self.error.max(axis=0), self.size.max(axis=0)
        known, heard = self.known.min(axis=0), self.heard.max(axis=0)
        return Terms(self.value[:1], error[None], size[None], known[None], heard[None])

    @staticmethod
    def joined(parts: Sequence["Terms"]) -> "Terms":
        """The rows of all parts, one below the other."""
        return Terms(
            np.concatenate([p.value for p in parts]),
            np.concatenate([p.error for p in parts]),
            np.concatenate([p.size for p in parts]),
            np.concatenate([p.known for p in parts]),
            np.concatenate([p.heard for p in parts]),
        )

    def added(self, chosen: FloatArray) -> "Terms":
        """``(sums, units)``: the sums of some of the rows.

        Args:
            chosen: ``(sums, rows)``: 1 where a row is part of a sum, 0 elsewhere.
        """
        return Terms(
            chosen @ self.value,
            chosen @ self.error,
            chosen @ self.size,
            chosen @ ~self.known == 0,
            chosen @ self.heard,
        )

    def plus(self, constant: "Terms") -> "Terms":
        """The sums of each row and one constant row."""
        return Terms(
            self.value + constant.value,
            self.error + constant.error,
            self.size + constant.size,
            self.known & constant.known,
            self.heard + constant.heard,
        )

    def add(self, rows: IntArray, other: "Terms") -> None:
        """Add other rows to some of these, of which none is named twice."""
        self.value[rows] += other.value
        self.error[rows] += other.error
        self.size[rows] += other.size
        self.known[rows] &= other.known
        self.heard[rows] += other.heard


def terms(below: Noisy, weight: FloatArray) -> Terms:
    """What units that hold ``below`` contribute to sums.

    Args:
        below: ``(rows, width)``.
        weight: ``(width, units)``: how the units sum them.
    """
    found = Products.of(below, weight)
    error = found.rest
    for slope, noise in zip(found.slopes, found.noises, strict=True):
        error = error + noise * np.abs(slope)
    return Terms(found.value, error * INFLATION, found.size, found.known, found.heard)


@dataclass(frozen=True)
class Summand:
    """What one channel contributes to sums.

    Attributes:
        of: ``(values,)``: the class of each value of the domain.
        terms: ``(classes + 1, units)`` the contribution of each class; the last row
            stands for any value of the channel.
    """

    of: IntArray
    terms: Terms


def summand(each: Terms) -> Summand:
    """What a channel contributes, from what each of its values does."""
    numbers: dict[bytes, int] = {}
    rows = (row.tobytes() for row in each.value + 0.0)  # −0 is 0
    of = np.array([numbers.setdefault(row, len(numbers)) for row in rows])
    classes = each
    if len(numbers) < len(of):
        alike = [each.at(of == index).worst() for index in range(len(numbers))]
        classes = Terms.joined(alike)
    return Summand(of, Terms.joined([classes, _anywhere(each)]))


def _anywhere(each: Terms) -> Terms:
    """One row that covers all: the middle of an interval, and half its width.

    The middle is no number of the network: it may lie between two multiples of its grid.
    """
    low, high = (each.value - each.error).min(axis=0), (each.value + each.error).max(0)
    one = (each.value == each.value[0]).all(axis=0) & (each.error == 0).all(axis=0)
    half = (high - low) / 2 + (INFLATION - 1) * (np.abs(low) + np.abs(high))
    worst = each.worst()
    return Terms(
        np.where(one, worst.value, (low + high)[None] / 2),
        np.where(one, 0.0, half[None]),
        worst.size,
        worst.known & one,
        worst.heard,
    )


@dataclass(frozen=True)
class Sums:
    """Sums of what several channels contribute.

    Attributes:
        domains: The values of each channel, ascending.
        summands: What each channel contributes, in the same order.
        constant: ``(1, units)``: what depends on no channel.
        grid: All terms without noise are multiples of 2^-grid.
        bias: ``(units,)``.
        precision: The format that they are computed in.
    """

    domains: Mapping[str, Sequence[int]]
    summands: Sequence[Summand]
    constant: Terms
    grid: int
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
        place = {name: i for i, name in enumerate(self.domains)}

        of_value = {
            name: dict(zip(domain, found.of.tolist(), strict=True))
            for (name, domain), found in zip(
                self.domains.items(), self.summands, strict=True
            )
        }

        @cache
        def classes(name: str, values: frozenset[int]) -> tuple[int, ...]:
            return tuple(sorted({of_value[name][value] for value in values}))

        chosen: list[int] = []
        where: list[int] = []
        of: list[int] = []
        for number, cube in enumerate(cubes):
            named = [n for n in cube if n in place]
            choices = [classes(n, cube[n]) for n in named]
            count = prod(map(len, choices))
            if len(of) + count > most:
                raise Rejected("an MLP mixes channels with too many joint values")
            start = len(of) * len(place)
            for row, classes_of in enumerate(product(*choices)):
                chosen += classes_of
                where += [start + row * len(place) + place[n] for n in named]
            of += [number] * count
        rows = np.full(len(of) * len(place), ANY, dtype=np.int64)
        rows[where] = chosen
        return rows.reshape(len(of), len(place)), np.array(of, dtype=np.int64)

    @cached_property
    def _classes(self) -> tuple[Terms, IntArray]:
        """The terms of all classes of all channels, and where those of each begin."""
        parts = [self.constant, *(s.terms for s in self.summands)]
        ends = np.cumsum([len(part.value) for part in parts], dtype=np.int64)
        return Terms.joined(parts), ends[:-1]

    @cached_property
    def _anywhere(self) -> Terms:
        """``(channels, units)``: the terms of each channel if nothing is known of it."""
        last = [s.terms.at(slice(-1, None)) for s in self.summands]
        return Terms.joined(last or [self.constant.at(slice(0, 0))])

    def _added(self, rows: IntArray) -> Terms:
        """``(rows, units)``: the terms of all channels together."""
        free = (rows == ANY).astype(np.float64)
        summed = self._anywhere.added(free).plus(self.constant)
        every, start = self._classes
        row, place = np.nonzero(rows != ANY)
        term = start[place] + rows[row, place]
        # The first class that each row names, then the second, …
        first = np.searchsorted(row, np.arange(len(rows)))
        number = np.arange(len(row)) - first[row]
        for turn in range(int(number.max(initial=-1)) + 1):
            now = number == turn
            summed.add(row[now], every.at(term[now]))
        return summed

    def add_up(self, rows: IntArray) -> Noisy:
        """``(rows, units)``: the sums, with any rounding, before the last ReLU.

        Args:
            rows: ``(rows, channels)``: the class of each channel, or `ANY`.
        """
        summed = self._added(rows)

        def total(offset: FloatArray) -> Noisy:
            grid = max(self.grid, finest(offset))
            whole = summed.size + np.abs(offset)
            rounding = sum_rounding(
                self.precision, summed.heard, whole, grid, summed.known
            )
            rest = (summed.error + rounding) * INFLATION
            return Noisy(summed.value + offset, (), (), rest, self.precision)

        return stored_sum(total, self.bias)
