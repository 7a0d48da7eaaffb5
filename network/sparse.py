"""Tensors with few entries: matrices of large RNNs, and what compact files hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from krohn.network.architecture import is_index
from krohn.network.precision import FloatArray, Precision
from krohn.program.stored_tensors import LARGEST, MOST_BITS, POSITION, REST, formula

# Matrices of which few entries are not zero, as model files of large RNNs hold them.

IntArray = npt.NDArray[np.int64]


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
    def from_tensors(
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

    def permute(
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


# Compact files: what they hold instead of whole tensors.

BITS = 20
"""Periods of bits and angles that are tried go up to 2^BITS."""


def compact(
    tensors: Mapping[str, FloatArray], precision: Precision
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The header's ``stored`` of a compact file, and the arrays that the file holds.

    A tensor is held by its entries where that takes fewer bytes, and all that are made
    of others together have no more than `LARGEST` entries.
    """
    stored, arrays, room = dict[str, Any](), dict[str, FloatArray](), LARGEST
    table = tensors.get(POSITION, np.zeros((0, 0)))
    if 0 < table.size <= room and precision.name in ("float32", "float64"):
        columns = [_formula(column, precision) for column in table.T]
        rest = table[:, [column_formula is None for column_formula in columns]]
        if rest.shape[1] < table.shape[1]:
            room -= table.size
            stored["positions"] = {"rows": len(table), "columns": columns}
            tensors = {n: t for n, t in tensors.items() if n != POSITION}
            tensors |= {REST: rest} if rest.size else {}
    entries: dict[str, list[int]] = {}
    for name, tensor in tensors.items():
        if is_index(name):
            arrays[name] = tensor
            continue
        places = np.flatnonzero(tensor)
        size = np.dtype(precision.name).itemsize
        if len(places) * (4 + size) < tensor.size * size and tensor.size <= room:
            room -= tensor.size
            entries[name] = list(tensor.shape)
            arrays[f"{name}.places"] = places.astype(np.float64)
            arrays[f"{name}.values"] = tensor.flat[places]
        else:
            arrays[name] = tensor
    return {"entries": entries, **stored}, arrays


def _formula(column: FloatArray, precision: Precision) -> list[Any] | None:
    """A formula that gives a column bit by bit, after the number at BOS; None if none."""
    t = np.arange(len(column))
    few = t[: min(len(t), 4096)]
    for kind, numbers in _propose_formulas(column):
        for at in (few, t):  # a long column is not looked at for each that is tried
            values = precision.round(formula(kind, numbers, at))
            if not (values[1:] == column[1 : len(at)]).all():
                break
        else:
            return [float(column[0]), kind, *numbers]
    return None


def _propose_formulas(column: FloatArray) -> Iterator[tuple[str, list[Any]]]:
    slope = float(column[2] - column[1]) if len(column) > 2 else 0.0
    start = float(column[1]) - slope if len(column) > 1 else 0.0
    yield "affine", [start, slope]
    values = np.unique(column[1:])
    if len(values) == 2:
        low, high = map(float, values)
        last = min(MOST_BITS, len(column).bit_length())
        for bit in range(last + 1):
            yield from (("bit", [bit, *x]) for x in ((low, high), (high, low)))
    # The shortest period that fits is that of the column.
    for bits in range(2, min(BITS, len(column).bit_length() + 2) + 1):
        yield from ((kind, [bits]) for kind in ("cosine", "sine"))
