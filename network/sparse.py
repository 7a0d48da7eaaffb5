"""Matrices of which few entries are not zero, as model files of large RNNs hold them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from krohn.network.precision import FloatArray

IntArray = npt.NDArray[np.int64]

INDEX = "I32"
"""How safetensors calls the format of offsets and columns."""


@dataclass(frozen=True)
class Sparse:
    """A matrix by compressed rows.

    Attributes:
        shape: Rows and columns.
        offsets: ``(rows + 1,)``: where each row begins, and where the last one ends.
        columns: ``(entries,)``: ascending within a row.
        values: ``(entries,)``: none is 0.
    """

    shape: tuple[int, int]
    offsets: IntArray
    columns: IntArray
    values: FloatArray

    @classmethod
    def of(
        cls, shape: tuple[int, int], rows: IntArray, columns: IntArray, value: float
    ) -> "Sparse":
        """The matrix with one value at all of these places, each named once."""
        order = np.lexsort((columns, rows))
        offsets = np.concatenate([[0], np.bincount(rows, minlength=shape[0]).cumsum()])
        return cls(shape, offsets, columns[order], np.full(len(order), value))

    @classmethod
    def named(
        cls, tensors: Mapping[str, FloatArray], name: str, columns: int
    ) -> "Sparse":
        """The matrix that a model file holds by this name."""
        offsets, at = (
            tensors[f"{name}.{part}"].astype(np.int64)
            for part in ("offsets", "columns")
        )
        return cls((len(offsets) - 1, columns), offsets, at, tensors[f"{name}.values"])

    @property
    def rows(self) -> IntArray:
        """``(entries,)``: the row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.offsets))

    def moved(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> "Sparse":
        """Row i of the result is row ``rows[i]`` of this one; likewise columns."""
        at, to = self.rows, self.columns
        at = at if rows is None else rows.argsort()[at]
        to = to if columns is None else columns.argsort()[to]
        order = np.lexsort((to, at))
        counts = np.bincount(at, minlength=self.shape[0])
        offsets = np.concatenate([[0], counts.cumsum()])
        return Sparse(self.shape, offsets, to[order], self.values[order])

    def dense(self) -> FloatArray:
        """The matrix with its zeros."""
        whole = np.zeros(self.shape)
        whole[self.rows, self.columns] = self.values
        return whole

    def tensors(self, name: str) -> dict[str, FloatArray]:
        """The tensors of a model file that hold it; places are whole numbers."""
        return {
            f"{name}.offsets": self.offsets.astype(np.float64),
            f"{name}.columns": self.columns.astype(np.float64),
            f"{name}.values": self.values,
        }

    def problem(self) -> str | None:
        """The fault of the matrix; None if there is none."""
        entries, columns = len(self.values), self.shape[1]
        ends = self.offsets[0] == 0 and self.offsets[-1] == entries
        if (
            not ends
            or len(self.columns) != entries
            or (np.diff(self.offsets) < 0).any()
        ):
            return "offsets that are not those of its rows"
        if ((self.columns < 0) | (self.columns >= columns)).any():
            return "a column that it does not have"
        if ((np.diff(self.columns) <= 0) & (np.diff(self.rows) == 0)).any():
            return "a row whose columns do not ascend"
        return "entries that are 0" if (self.values == 0).any() else None
