"""JSON that every reader understands alike: no key twice, no number changed in silence."""

import json
from collections import Counter
from itertools import chain
from math import isinf
from typing import Any

import numpy as np

from krohn.program.domains import LARGEST, FloatArray, IntArray
from krohn.program.errors import demand


def read(
    text: str | bytes, finite: bool = True, objects: type[dict[str, Any]] = dict
) -> Any:
    """The value of a JSON text.

    Args:
        text: The text.
        finite: Whether numbers must be; other libraries write logarithms of 0, too.
        objects: The type that objects are read as.

    Raises:
        ValueError: If it is no JSON, has a key twice in one object or a constant that
            JSON does not have or a number that float64 does not reach, or is nested
            too deeply.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: objects(_unique(pairs)),
            parse_constant=_refuse if finite else None,
            parse_float=_finite if finite else None,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def canonical(value: Any) -> str:
    """The one text that stands for a value in a file: keys sorted, no blanks, ASCII.

    Raises:
        ValueError: If a number is not finite.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def alike(said: Any, right: Any) -> bool:
    """Whether two values are the same in a file: in Python 1, 1.0 and true are equal."""
    return canonical(said) == canonical(right)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return members


def _finite(number: str) -> float:
    value = float(number)
    if isinf(value):
        raise ValueError(f"{number[:40]} is beyond the largest float64")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


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
    all_exact = all(type(x) is float or _is_held(x) for x in flat)
    demand(all_exact, "a whole number is rounded by float64")
    array = np.array(flat, np.float64).reshape(shape)
    demand(np.isfinite(array), "a number is not finite")
    return array


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
