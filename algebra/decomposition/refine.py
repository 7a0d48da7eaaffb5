"""Putting a cascade in the place of a component."""

import numpy as np

from krohn.algebra.budget import Budget
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Projection,
    Wiring,
)
from krohn.algebra.decomposition.layers import next_layer
from krohn.algebra.semiautomaton import IntArray

PASSES = 30  # over each entry of a layer, and array operations that make it


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
        budget.spend(PASSES * len(nodes) * component.size, PASSES)
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
