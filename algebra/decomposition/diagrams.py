"""The diagrams of a cascade: grown, put into another one, cut down to what is reached."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import INVALID, Cascade, Projection, Wiring
from krohn.algebra.rows import RowTable, distinct

# Growing diagrams layer by layer: nodes are rows of numbers, alike rows one node.


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


# Putting a cascade in the place of a component.


REFINING_PASSES = 30  # over each entry of a layer, and array operations that make it


def refine(
    cascade: Cascade, at: int, inner: Cascade, budget: Budget | None = None
) -> Cascade:
    """Replace component ``at`` by a cascade that covers it.

    Coordinates of the component become coordinates of ``inner``; where the diagrams of
    ``cascade`` read the component's state, they now run through the projection of
    ``inner``. If ``inner`` covers the component and ``cascade`` a machine, the result
    covers the machine.

    Args:
        cascade: Any cascade.
        at: The index of a component.
        inner: A cascade with the component's states and letters, of one component at
            least.
        budget: How many nodes a layer of the wiring may have, and how much work to do.

    Raises:
        BudgetExceeded: If a layer has more, or no step remains.
    """
    components = (
        *cascade.components[:at],
        *inner.components,
        *cascade.components[at + 1 :],
    )
    emits, across = _inner_wiring(cascade, at, inner, budget or Budget())
    down = _inner_projection(cascade.projection.follow[at], inner)
    return Cascade(
        cascade.letters,
        cascade.states,
        components,
        Wiring(
            cascade.wiring.entry,
            (*cascade.wiring.emit[:at], *emits, *cascade.wiring.emit[at + 1 :]),
            (*cascade.wiring.follow[:at], *across, *cascade.wiring.follow[at + 1 :]),
        ),
        Projection(
            (
                *cascade.projection.follow[:at],
                *down,
                *cascade.projection.follow[at + 1 :],
            )
        ),
        np.concatenate(
            [
                cascade.lift[:, :at],
                inner.lift[cascade.lift[:, at]],
                cascade.lift[:, at + 1 :],
            ],
            axis=1,
        ),
    )


def _inner_wiring(
    cascade: Cascade, at: int, inner: Cascade, budget: Budget
) -> tuple[list[IntArray], list[IntArray]]:
    outer = cascade.wiring.follow[at]
    # A node is (node of the outer wiring, node of the inner one, inner state so far).
    nodes = np.zeros((len(outer), 3), dtype=np.int64)
    nodes[:, 0] = np.arange(len(outer))
    nodes[:, 1] = inner.wiring.entry[cascade.wiring.emit[at]]
    emits, follows = [], []
    last = len(inner.components) - 1
    for j, component in enumerate(inner.components):
        budget.spend(REFINING_PASSES * len(nodes) * component.size, REFINING_PASSES)
        budget.check(len(nodes), "nodes of the wiring")
        emits.append(inner.wiring.emit[j][nodes[:, 1]])
        states = np.arange(component.size)
        across = inner.wiring.follow[j][nodes[:, 1:2], states]
        down = inner.projection.follow[j][nodes[:, 2:], states]
        valid = (across != INVALID) & (down != INVALID)
        if j == last:
            follows.append(np.where(valid, outer[nodes[:, :1], down], INVALID))
        else:
            origin = np.broadcast_to(nodes[:, :1], across.shape)
            rows = np.stack([origin, across, down], axis=-1)
            nodes, follow = next_layer(rows, valid)
            follows.append(follow)
    return emits, follows


def _inner_projection(outer: IntArray, inner: Cascade) -> list[IntArray]:
    nodes = np.stack(
        [np.arange(len(outer)), np.zeros(len(outer), dtype=np.int64)], axis=1
    )
    follows = []
    last = len(inner.components) - 1
    for j, component in enumerate(inner.components):
        down = inner.projection.follow[j][nodes[:, 1:], np.arange(component.size)]
        valid = down != INVALID
        if j == last:
            follows.append(np.where(valid, outer[nodes[:, :1], down], INVALID))
        else:
            origin = np.broadcast_to(nodes[:, :1], down.shape)
            nodes, follow = next_layer(np.stack([origin, down], axis=-1), valid)
            follows.append(follow)
    return follows


# Which coordinates words really reach, and cascades cut down to those.


PIECE = 2**16  # pairs of coordinates and a letter that are followed at a time
REACHING_PASSES = (
    5  # over each of their coordinates, and array operations for each component
)


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
        budget.spend(
            REACHING_PASSES * len(rows) * len(letters) * depth, REACHING_PASSES * depth
        )
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
