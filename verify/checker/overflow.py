"""The one guard against overflow: how much room a number needs (docs/soundness.md, 3)."""

from typing import Any, NamedTuple

import numpy as np

from krohn.program.errors import demand
from krohn.verify.checker.model_file import Format

OWN = 1 + 2.0**-40
"""What a bound of this checker may be too small by, through its own rounding."""


class Room(NamedTuple):
    """How often a bound must fit.

    Attributes:
        stored: Into the largest number of the stored format; 0 if nothing is stored.
        inside: Into the largest number of the accumulator.
    """

    stored: float
    inside: float


STORED = Room(1.0, 1.0)
"""One number, which is stored."""
INSIDE = Room(0.0, 4.0)
"""Sums of terms, whose absolute values add up to the bound, in any order, not stored."""
SUM = Room(1.0, 4.0)
"""The same, stored; and scores with the exponents that are made of them."""
STEPS = Room(4.0, 4.0)
"""Up to five operations, each stored, with numbers that add up to the bound."""


def fits(size: Any, form: Format, what: str, room: Room) -> None:
    """Refuse what can overflow on the way or in the end (Lemma 6b).

    Args:
        size: Bounds of absolute values.
        form: The format that is computed in.
        what: Their name.
        room: What becomes of them.

    Raises:
        Refused: If it can, or a bound is not a number.
    """
    most = form.sum_largest / room.inside
    if room.stored:
        most = min(most, form.largest / room.stored)
    demand(np.asarray(size) <= most / OWN, f"{what} can overflow")
