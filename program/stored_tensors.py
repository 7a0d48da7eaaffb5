"""Tensors of compact files: entries that are not zero, and position tables by formulas.

A compact file states in its header, under ``stored``, what it holds instead of tensors.
``entries`` has the shape of each tensor X that is held as X.places and X.values: all other
entries are 0. ``positions`` has the number of rows of ``embed.position`` and a formula of
each column. From this all tensors follow bit by bit, before anything else reads them.
"""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand

POSITION, REST = "embed.position", "embed.position.rest"
"""The position table, and its columns that have no formula."""
LARGEST = 2**27
"""The most entries that are made of all tensors together: a GiB, however small the file."""
MOST_BITS = 24
"""Of the period 2^bits of an angle."""


def expand_tensors(
    stored: Any, tensors: Mapping[str, FloatArray], dtype: str
) -> dict[str, FloatArray]:
    """All tensors of a compact file; other errors than `Refused` mean that it is damaged.

    Args:
        stored: What its header states.
        tensors: The tensors that it holds.
        dtype: The format of its numbers, to which those of formulas are rounded.

    Raises:
        Refused: If they are not what it states.
    """
    whole_tensors, room = dict(tensors), LARGEST
    demand(stored.keys() <= {"entries", "positions"}, "it stores something unknown")
    for name, shape in stored["entries"].items():
        places, values = (
            whole_tensors.pop(f"{name}.{part}") for part in ("places", "values")
        )
        right = type(shape) is list and all(type(n) is int and n >= 0 for n in shape)
        demand(right, f"tensor {name!r} has no shape")
        room -= prod(shape)
        demand(room >= 0, "its tensors have too many entries to be made")
        ascend = (np.diff(places) > 0).all() and places.ndim == values.ndim == 1
        inside = ((places >= 0) & (places < prod(shape))).all()
        alike = ascend and inside and places.shape == values.shape
        demand(alike, f"tensor {name!r} has entries at wrong places")
        demand(name not in whole_tensors, f"tensor {name!r} is there twice")
        whole = np.zeros(prod(shape))
        whole[places.astype(np.int64)] = values
        whole_tensors[name] = whole.reshape(shape)
    if "positions" in stored:
        demand(POSITION not in whole_tensors, f"tensor {POSITION!r} is there twice")
        rest = whole_tensors.pop(REST, None)
        whole_tensors[POSITION] = _table(stored["positions"], rest, dtype, room)
    return whole_tensors


def _table(told: Any, rest: FloatArray | None, dtype: str, room: int) -> FloatArray:
    """``(positions, d)``: the position table by its formulas."""
    count, columns = told["rows"], told["columns"]
    right = type(count) is int and 0 < count * len(columns) <= room
    demand(right and dtype in ("float32", "float64"), "no such position table")
    left = [] if rest is None else list(rest.T)
    whole = rest is None or len(rest) == count
    full = whole and len(left) == columns.count(None)
    demand(full, "a column of positions has no place")
    raw, t = iter(left), np.arange(count)
    table = [next(raw) if c is None else _column(c, t, dtype) for c in columns]
    return np.stack(table, axis=1)


def _column(told: Any, t: IntArray, dtype: str) -> FloatArray:
    """A column: a number at BOS, and a formula of t everywhere else."""
    first, kind, *numbers = told
    right = all(type(n) in (int, float) and abs(n) < 2**62 for n in (first, *numbers))
    demand(right, "a formula of positions has no sensible numbers")
    # A circle has at most eight times as many points as there are rows, or takes long.
    fits = kind not in ("cosine", "sine") or max(numbers) <= len(t).bit_length() + 2
    demand(fits, "the period of an angle is too long")
    values = np.asarray(formula(kind, numbers, t), np.float64)
    values[0] = first
    return values.astype(dtype).astype(np.float64)


def formula(kind: str, numbers: Any, t: IntArray) -> FloatArray:
    """The values of a formula at positions t, in float64."""
    if kind == "affine":
        start, slope = map(float, numbers)
        return np.asarray(start + slope * t)
    if kind == "bit":
        bit, low, high = numbers
        demand(type(bit) is int and 0 <= bit <= MOST_BITS, "no such bit")
        return np.asarray(np.where((t >> bit) & 1, high, low))
    demand(kind in ("cosine", "sine"), f"no formula is called {kind!r}")
    (bits,) = numbers
    demand(type(bits) is int and 2 <= bits <= MOST_BITS, "an angle without a period")
    side = circle(bits)[kind == "sine"]
    return np.asarray(side[t & ((1 << bits) - 1)])


def circle(bits: int) -> tuple[FloatArray, FloatArray]:
    """Cosines and sines of all multiples of a turn through 2^bits, bits ≥ 2.

    By sums, products, quotients and roots alone, each rounded as IEEE 754 says, so that
    they are the same everywhere. Multiples are doubled: half the smallest angle is added.
    They are exact at quarters of a turn, and elsewhere off by less than 2^-49.
    """
    cosine, sine = np.array([1.0, 0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0, -1.0])
    for _ in range(2, bits):
        c = np.sqrt((1 + cosine[1]) / 2)
        s = sine[1] / (2 * c)
        turned = c * cosine - s * sine, s * cosine + c * sine
        cosine = np.stack([cosine, turned[0]], axis=1).ravel()
        sine = np.stack([sine, turned[1]], axis=1).ravel()
    return cosine, sine
