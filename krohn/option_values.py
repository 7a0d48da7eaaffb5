"""Values of options as Python users have them: formats and whole numbers."""

from operator import index
from typing import Any

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.algebra.near_names import near
from krohn.network.precision import PRECISIONS


def format_name(dtype: object) -> str:
    """The name of a number format: of a name, or of a dtype of torch or numpy.

    Raises:
        KrohnError: If there is no such format here.
    """
    name = dtype if isinstance(dtype, str) else _named(dtype)
    if name not in PRECISIONS:
        raise KrohnError(
            f"there is no dtype {name!r}{near(name, PRECISIONS)}; there are "
            f"{', '.join(PRECISIONS)}"
        )
    return name


def _named(dtype: Any) -> str:
    if isinstance(dtype, type | np.dtype):
        try:
            return str(np.dtype(dtype).name)
        except TypeError:
            return str(dtype)
    return str(dtype).removeprefix("torch.")


def whole(value: Any, called: str, least: int) -> int:
    """A whole number of Python or numpy.

    Args:
        value: What was given.
        called: What it is, for messages.
        least: The smallest number that makes sense.

    Raises:
        KrohnError: If it is none, as True and 2.0 are none, or it is too small.
    """
    try:
        found = None if isinstance(value, bool | np.bool_) else index(value)
    except TypeError:
        found = None
    if found is None:
        raise KrohnError(f"{called} is a whole number, not {value!r}")
    if found < least:
        raise KrohnError(f"{called} must be at least {least}, not {found}")
    return found
