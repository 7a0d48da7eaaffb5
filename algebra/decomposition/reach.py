"""Which coordinates words really reach, and cascades cut down to those."""

from dataclasses import replace
from math import prod

import numpy as np

from algebra.budget import Budget
from algebra.cascade import INVALID, Cascade, Projection
from algebra.rows import distinct
from algebra.semiautomaton import IntArray

PIECE = 2**18  # pairs of coordinates and a letter that are followed at a time
PASSES = 10  # over each of their coordinates, and array operations for each component


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
    frontier, _ = distinct(cascade.lift if lifts is None else lifts)
    known = _codes(cascade, frontier)
    order = np.argsort(known)
    found, known = frontier[order], known[order]
    moves = len(cascade.letters) * len(cascade.components)
    while len(frontier):
        budget.spend(PASSES * len(frontier) * moves, PASSES * len(cascade.components))
        after = _after(cascade, frontier)
        codes = _codes(cascade, after)
        place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        new = known[place] != codes
        frontier = after[new]
        known = np.concatenate([known, codes[new]])
        found = np.concatenate([found, frontier])
        order = np.argsort(known, kind="stable")
        known, found = known[order], found[order]
        budget.check(len(found), "reachable coordinates")
    return found


def _after(cascade: Cascade, rows: IntArray) -> IntArray:
    """The distinct coordinates that one letter leads to."""
    letters = np.arange(len(cascade.letters))
    piece = max(1, PIECE // len(letters))
    found = []
    for start in range(0, len(rows), piece):
        before = np.repeat(rows[start : start + piece], len(letters), axis=0)
        read = np.tile(letters, len(before) // len(letters))
        found.append(distinct(cascade.step(before, read))[0])
    return distinct(np.concatenate(found))[0]


def _codes(cascade: Cascade, rows: IntArray) -> IntArray:
    """One number for each row, different for different rows."""
    code = np.zeros(len(rows), dtype=object if prod(cascade.sizes) >= 2**62 else int)
    for i, size in enumerate(cascade.sizes):
        code = code * size + rows[:, i]
    return code


def restricted(cascade: Cascade, budget: Budget, start: int | None = None) -> Cascade:
    """The cascade in which only reachable coordinates are valid.

    Everything else becomes free, so that ``simplify`` finds more that is alike and fewer
    real dependencies.

    Args:
        cascade: Any cascade.
        budget: How many coordinates there may be, and how much work to do.
        start: If given, only what words reach from the lift of this state counts; all
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
