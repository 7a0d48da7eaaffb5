"""Compact files: what they hold instead of whole tensors."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from krohn.network.architecture import is_index
from krohn.network.precision import FloatArray, Precision
from krohn.program.stored_tensors import LARGEST, MOST_BITS, POSITION, REST, formula

BITS = 20
"""Periods of bits and angles that are tried go up to 2^BITS."""


def compact(
    tensors: Mapping[str, FloatArray], precision: Precision
) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """The header's ``stored`` of a compact file, and the arrays that the file holds.

    A tensor is held by its entries where that takes fewer bytes, and all that are made
    of others together have no more than `LARGEST` entries.
    """
    stored, held, room = dict[str, Any](), dict[str, FloatArray](), LARGEST
    table = tensors.get(POSITION, np.zeros((0, 0)))
    if 0 < table.size <= room and precision.name in ("float32", "float64"):
        columns = [_formula(column, precision) for column in table.T]
        rest = table[:, [told is None for told in columns]]
        if rest.shape[1] < table.shape[1]:
            room -= table.size
            stored["positions"] = {"rows": len(table), "columns": columns}
            tensors = {n: t for n, t in tensors.items() if n != POSITION}
            tensors |= {REST: rest} if rest.size else {}
    entries: dict[str, list[int]] = {}
    for name, tensor in tensors.items():
        if is_index(name):
            held[name] = tensor
            continue
        places = np.flatnonzero(tensor)
        size = np.dtype(precision.name).itemsize
        if len(places) * (4 + size) < tensor.size * size and tensor.size <= room:
            room -= tensor.size
            entries[name] = list(tensor.shape)
            held[f"{name}.places"] = places.astype(np.float64)
            held[f"{name}.values"] = tensor.flat[places]
        else:
            held[name] = tensor
    return {"entries": entries, **stored}, held


def _formula(column: FloatArray, precision: Precision) -> list[Any] | None:
    """A formula that gives a column bit by bit, after the number at BOS; None if none."""
    t = np.arange(len(column))
    few = t[: min(len(t), 4096)]
    for kind, numbers in _tried(column):
        for at in (few, t):  # a long column is not looked at for each that is tried
            said = precision.round(formula(kind, numbers, at))
            if not (said[1:] == column[1 : len(at)]).all():
                break
        else:
            return [float(column[0]), kind, *numbers]
    return None


def _tried(column: FloatArray) -> Iterator[tuple[str, list[Any]]]:
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
