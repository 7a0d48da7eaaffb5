"""What the values of a coordinate say, in as few words as are exact."""

from collections.abc import Sequence

import numpy as np

from krohn.algebra.cascade_structure import BoolArray, Reading


def common(readings: Sequence[Reading]) -> Reading | None:
    """One reading that says the same as all, if there is one.

    Value v says U(v) in every context if what it leaves of a set P of possible states is
    always P ∩ U(v). Then one needs no list of contexts: the value leaves those of the
    states still possible that lie in U(v).

    Returns:
        The reading with U; None where a value says different things in different
        contexts, or where there are no readings.
    """
    if not readings:
        return None
    possible = np.stack([reading.possible for reading in readings])
    refined = np.stack([reading.refined for reading in readings])
    union: BoolArray = np.logical_or.reduce(refined)
    occurs = refined.any(axis=2, keepdims=True)
    same = (refined == (possible[:, None] & union)) | ~occurs
    return Reading(np.logical_or.reduce(possible), union) if same.all() else None


def merged(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The common reading alone if there is one, else all."""
    found = common(readings)
    return tuple(readings) if found is None else (found,)
