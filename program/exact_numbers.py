"""The readers of numbers on file: none is changed in silence."""

from itertools import chain
from typing import Any

import numpy as np

from krohn.program.domains import LARGEST, FloatArray, IntArray
from krohn.program.errors import demand


def whole(values: Any, axes: int, least: int = 0) -> IntArray:
    """An array of whole numbers, from the least one on and less than `LARGEST`.

    Raises:
        Refused: If it is anything else; a boolean and 1.0 are no whole numbers.
    """
    shape, flat = _shape_and_numbers(values, axes)
    demand(set(map(type, flat)) <= {int}, "no whole numbers")
    fits = least <= min(flat, default=0) and max(flat, default=0) < LARGEST
    demand(fits, "a number is negative or too large")
    return np.array(flat, np.int64).reshape(shape)


def reals(values: Any, axes: int) -> FloatArray:
    """An array of finite numbers, each a float64 or a whole number that one holds.

    Raises:
        Refused: If it is anything else, or float64 would have to round a number.
    """
    shape, flat = _shape_and_numbers(values, axes)
    demand(set(map(type, flat)) <= {float, int}, "no real numbers")
    held = all(type(x) is float or _is_held(x) for x in flat)
    demand(held, "a whole number is rounded by float64")
    found = np.array(flat, np.float64).reshape(shape)
    demand(np.isfinite(found), "a number is not finite")
    return found


def real(value: Any) -> float:
    """One such number.

    Raises:
        Refused: If it is none.
    """
    return float(reals(value, 0))


def _is_held(number: int) -> bool:
    small = number.bit_length() <= 1023
    return small and int(float(number)) == number


def _shape_and_numbers(values: Any, axes: int) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of lists in lists, and the numbers in the innermost lists."""
    shape, level = list[int](), [values]
    for _ in range(axes):
        lists = {*map(type, level)} <= {list, tuple}
        sizes = {*map(len, level)} if lists else set()
        demand(len(sizes) == 1, "an array has rows of different lengths, or other axes")
        shape.append(sizes.pop())
        level = list(chain.from_iterable(level))
    return tuple(shape), level
