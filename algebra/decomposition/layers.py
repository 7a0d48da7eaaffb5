"""Growing diagrams layer by layer: nodes are rows of numbers, alike rows one node."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from krohn.algebra.cascade import INVALID
from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray


def next_layer(
    rows: IntArray, valid: npt.NDArray[np.bool_] | None = None
) -> tuple[IntArray, IntArray]:
    """The nodes of the next layer and how they are reached.

    Args:
        rows: ``(nodes, states, k)``: for each node and state, the row of numbers that
            all further layers depend on.
        valid: ``(nodes, states)``: False where the state cannot occur at the node.

    Returns:
        The distinct valid rows ``(count, k)`` and ``follow`` ``(nodes, states)``,
        indices of them, ``INVALID`` where not valid.
    """
    if valid is None:
        valid = np.ones(rows.shape[:2], dtype=bool)
    follow = np.full(rows.shape[:2], INVALID, dtype=np.int64)
    nodes, follow[valid] = distinct(rows[valid])
    return nodes, follow


def letters_of(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct transformations ``(letters, states)`` among rows, and each one's index.

    The identity comes first where it occurs, then the other bijections, then the rest.
    """
    found, index = distinct(rows)
    bijective = (np.sort(found, axis=1) == np.arange(found.shape[1])).all(axis=1)
    still = (found == np.arange(found.shape[1])).all(axis=1)
    order = np.lexsort([~bijective, ~still])
    return found[order], np.argsort(order)[index]


def number_names(count: int) -> Sequence[str]:
    """The names ``0``, ``1``, … of the values of a coordinate."""
    return tuple(map(str, range(count)))
