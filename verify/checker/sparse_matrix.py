"""Matrices by their entries that are not 0."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand

MOST = 2**24  # terms of one product, and entries of some rows


@dataclass(frozen=True)
class Sparse:
    """A matrix by its entries, ascending by row and column: all other numbers are 0.

    Attributes:
        rows: ``(entries,)``.
        columns: ``(entries,)``.
        values: ``(entries,)``.
        shape: Rows and columns.
    """

    rows: IntArray
    columns: IntArray
    values: FloatArray
    shape: tuple[int, int]

    @cached_property
    def offsets(self) -> IntArray:
        """``(rows + 1,)``: where the entries of each row begin, and the last end."""
        return np.append(0, np.bincount(self.rows, minlength=self.shape[0]).cumsum())

    @property
    def fan(self) -> int:
        """The most entries of one row, at least 1."""
        return int(np.diff(self.offsets).max(initial=1))

    def entries(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The entries of some rows: of which of these rows each is, and where it is."""
        count = np.diff(self.offsets)[rows]
        demand(count.sum() <= MOST, "a hidden state drives too many units or logits")
        which = np.repeat(np.arange(len(rows)), count)
        before = self.offsets[rows] - (count.cumsum() - count)
        return which, before[which] + np.arange(len(which))

    def some(self, rows: IntArray) -> "Sparse":
        """Some of the rows."""
        which, at = self.entries(rows)
        shape = len(rows), self.shape[1]
        return Sparse(which, self.columns[at], self.values[at], shape)

    def equals(self, other: "Sparse") -> bool:
        """Whether it is the same matrix, with the same entries."""
        pairs = zip(self._parts, other._parts, strict=True)
        same = self.shape == other.shape and len(self.rows) == len(other.rows)
        return same and all(np.array_equal(*pair) for pair in pairs)

    @property
    def _parts(self) -> tuple[IntArray, IntArray, FloatArray]:
        return self.rows, self.columns, self.values

    def where(self, kept: BoolArray) -> "Sparse":
        """Some of the entries."""
        kept_of = self.rows[kept], self.columns[kept], self.values[kept]
        return Sparse(*kept_of, self.shape)


def added_up(
    places: IntArray, terms: FloatArray, shape: tuple[int, int]
) -> tuple[Sparse, IntArray]:
    """The matrix of the sums of terms at the same place, and to which each one went."""
    place, of = np.unique(places, return_inverse=True)
    sums = np.bincount(of, terms).astype(np.float64)
    return Sparse(place // shape[1], place % shape[1], sums, shape), of


def sparse(whole: FloatArray) -> Sparse:
    """The entries of a matrix that are not 0."""
    rows, columns = whole.nonzero()
    return Sparse(rows, columns, whole[rows, columns], whole.shape)


def by_rows(
    tensors: Mapping[str, FloatArray], name: str, shape: tuple[int, int]
) -> Sparse:
    """A matrix that a file holds by its entries."""
    offsets, columns = (
        tensors[f"{name}.{part}"].astype(int) for part in ("offsets", "columns")
    )
    values, count = tensors[f"{name}.values"], np.diff(offsets)
    demand(offsets.shape == (shape[0] + 1,) and count >= 0, f"{name!r} has no rows")
    ends = offsets[0] == 0 and offsets[-1] == len(columns) == len(values)
    inside = (columns >= 0) & (columns < shape[1])
    demand(ends and np.all(inside), f"{name!r} has entries beside it")
    rows = np.repeat(np.arange(shape[0]), count)
    apart = (np.diff(columns) > 0) | (np.diff(rows) > 0)
    demand(apart, f"{name!r} has entries that do not ascend")
    return Sparse(rows, columns, values, shape)
