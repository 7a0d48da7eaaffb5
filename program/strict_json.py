"""JSON that every reader understands alike: no key twice, finite numbers."""

import json
from collections import Counter
from math import isinf
from typing import Any


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
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice[:40]!r} is there twice")
    return found


def _finite(number: str) -> float:
    found = float(number)
    if isinf(found):
        raise ValueError(f"{number[:40]} is beyond the largest float64")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")
