"""Which coordinates words really reach, and cascades cut down to those."""

from dataclasses import replace

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.cascade import INVALID, Cascade, Projection
from krohn.algebra.hashing import RowTable
from krohn.algebra.rows import distinct
from krohn.algebra.semiautomaton import IntArray

PIECE = 2**16  # pairs of coordinates and a letter that are followed at a time
PASSES = 5  # over each of their coordinates, and array operations for each component


def reachable_coordinates(
    cascade: Cascade, budget: Budget, lifts: IntArray | None = None
) -> IntArray:
    """All coordinates ``(count, components)`` that words reach from the lifts.

    Args:
        cascade: Any cascade.
        budget: How many coordinates there may be, and how much work to do.
        lifts: ``(count, components)`` coordinates to begin with; all lifts by default.

    Raises:
        BudgetExceeded: If there are too many coordinates, or no step remains.
    """
    letters, depth = np.arange(len(cascade.letters)), len(cascade.components)
    found = RowTable(depth, max(cascade.sizes, default=1))
    found.add(cascade.lift if lifts is None else lifts)
    piece = max(1, PIECE // len(letters))
    done = 0
    while done < found.size:
        rows = found.rows[done : done + piece].astype(np.int64)
        budget.spend(PASSES * len(rows) * len(letters) * depth, PASSES * depth)
        before = np.repeat(rows, len(letters), axis=0)
        found.add(cascade.step(before, np.tile(letters, len(rows))))
        budget.check(found.size, "reachable coordinates")
        done += len(rows)
    return found.rows.astype(np.int64)


def restrict_to_reachable(
    cascade: Cascade, budget: Budget, start: int | None = None
) -> Cascade:
    """The cascade in which only reachable coordinates are valid.

    Everything else becomes free, so that ``simplify`` finds more that is alike and fewer
    real dependencies.

    Args:
        cascade: Any cascade.
        budget: How many coordinates there may be, and how much work to do.
        start: If given, only coordinates that words reach from this state's lift count; all
            states must be reachable from it. The other states get reachable lifts.

    Raises:
        BudgetExceeded: If too many coordinates are reachable, or no step remains.
    """
    if not cascade.components:
        return cascade
    first = cascade.lift if start is None else cascade.lift[[start]]
    rows = reachable_coordinates(cascade, budget, first)
    lift = cascade.lift
    if start is not None:
        _, some = np.unique(cascade.state_of(rows), return_index=True)
        lift = rows[some]
        lift[start] = cascade.lift[start]
    return replace(cascade, projection=_trie(cascade, rows), lift=lift)


def _trie(cascade: Cascade, rows: IntArray) -> Projection:
    """The diagram of some coordinates, with equal futures shared."""
    states = cascade.state_of(rows)
    prefix = np.zeros(len(rows), dtype=np.int64)
    layers = []
    for i, size in enumerate(cascade.sizes):
        nodes, after = distinct(np.stack([prefix, rows[:, i]], axis=1))
        layer = np.full((int(prefix.max()) + 1, size), INVALID, dtype=np.int64)
        layer[nodes[:, 0], nodes[:, 1]] = np.arange(len(nodes))
        layers.append(layer)
        prefix = after
    leaves = np.empty(len(rows), dtype=np.int64)
    leaves[prefix] = states
    layers[-1] = np.where(layers[-1] == INVALID, INVALID, leaves[layers[-1]])
    for i in range(len(layers) - 1, 0, -1):
        merged, index = distinct(layers[i] + 1)
        layers[i] = merged - 1
        layers[i - 1] = np.where(
            layers[i - 1] == INVALID, INVALID, index[layers[i - 1]]
        )
    return Projection(tuple(layers))
