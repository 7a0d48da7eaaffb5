"""Arrays of real numbers from Python: none is changed in silence."""

from typing import Any

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand


def real_array(values: Any, what: str) -> FloatArray:
    """An array of real numbers from Python: of numpy, of torch, or in lists.

    Args:
        values: Any array; true and false are 1 and 0.
        what: The name of the array, for messages.

    Raises:
        Refused: If it is no array of numbers, an imaginary part would be lost, or float64
            would have to round a whole number.
    """
    try:
        found = np.asarray(values)
        imaginary = found.dtype.kind == "c"
        numbers = found if imaginary else found.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise Refused(f"{what} is no array of numbers") from None
    demand(found.dtype.kind in "biufcO", f"{what} is no array of numbers")
    demand(
        not imaginary,
        f"{what} has complex numbers, and real ones are needed; say .real or abs() of "
        "them, whichever is meant",
    )
    if found.dtype.kind in "iu":
        exact = numbers.astype(found.dtype) == found
        demand(exact, f"{what} has a whole number that float64 would round")
    return numbers
