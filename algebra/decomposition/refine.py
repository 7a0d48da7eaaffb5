"""Putting a cascade in the place of a component, and tidying what comes of it."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from algebra.cascade import (
    INVALID,
    Cascade,
    Projection,
    Wiring,
    component_of,
)
from algebra.decomposition.layers import distinct, letters_of, next_layer
from algebra.semiautomaton import IntArray

_T = TypeVar("_T")


def refine(cascade: Cascade, at: int, inner: Cascade) -> Cascade:
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
    """
    components = (
        *cascade.components[:at],
        *inner.components,
        *cascade.components[at + 1 :],
    )
    emits, across = _inner_wiring(cascade, at, inner)
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
    cascade: Cascade, at: int, inner: Cascade
) -> tuple[list[IntArray], list[IntArray]]:
    outer = cascade.wiring.follow[at]
    # A node is (node of the outer wiring, node of the inner one, inner state so far).
    nodes = np.zeros((len(outer), 3), dtype=np.int64)
    nodes[:, 0] = np.arange(len(outer))
    nodes[:, 1] = inner.wiring.entry[cascade.wiring.emit[at]]
    emits, follows = [], []
    last = len(inner.components) - 1
    for j, component in enumerate(inner.components):
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


def simplify(cascade: Cascade) -> Cascade:
    """The same cascade without what it does not need.

    Dead ends become invalid, equal futures one node, nodes and letters that are never
    reached vanish, and so do components with a single state.
    """
    cascade = _drop_constant(cascade)
    wiring = _reachable_wiring(_merged_wiring(_pruned_wiring(cascade.wiring)))
    projection = _merged_projection(_pruned(cascade.projection.follow))
    components, emits = [], []
    for component, emit in zip(cascade.components, wiring.emit, strict=True):
        rows = component.machine.transitions[emit]
        table, index = letters_of(rows)
        components.append(component_of(table, component.machine.states))
        emits.append(index)
    return replace(
        cascade,
        components=tuple(components),
        wiring=Wiring(wiring.entry, tuple(emits), wiring.follow),
        projection=Projection(projection),
    )


def _drop_constant(cascade: Cascade) -> Cascade:
    """Without the components that have one state."""
    for i in range(len(cascade.components) - 1, -1, -1):
        if cascade.components[i].size == 1:
            cascade = _without(cascade, i)
    return cascade


def _without(cascade: Cascade, at: int) -> Cascade:
    emit, follow = cascade.wiring.emit, cascade.wiring.follow
    down = cascade.projection.follow
    entry, above = cascade.wiring.entry, list(follow[:at])
    if at:
        above[-1] = _composed(above[-1], follow[at][:, 0])
        projection = [*down[:at], *down[at + 1 :]]
        projection[at - 1] = _composed(down[at - 1], down[at][:, 0])
    else:
        entry = follow[0][entry, 0]
        # The first layer must have the root alone, as node 0.
        below = down[1][down[0][:, 0]] if len(down) > 1 else down[0][:, :0]
        projection = [below, *down[2:]] if len(down) > 1 else []
    return replace(
        cascade,
        components=_omit(cascade.components, at),
        wiring=Wiring(entry, _omit(emit, at), (*above, *follow[at + 1 :])),
        projection=Projection(tuple(projection)),
        lift=np.delete(cascade.lift, at, axis=1),
    )


def _omit(items: tuple[_T, ...], at: int) -> tuple[_T, ...]:
    return (*items[:at], *items[at + 1 :])


def _composed(first: IntArray, second: IntArray) -> IntArray:
    return np.where(first == INVALID, INVALID, second[first])


def _pruned(layers: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
    """A diagram whose every path can be completed."""
    kept = list(layers)
    for i in range(len(kept) - 2, -1, -1):
        dead = (kept[i + 1] == INVALID).all(axis=1)
        kept[i] = np.where(dead[kept[i]], INVALID, kept[i])
    return tuple(kept)


def _pruned_wiring(wiring: Wiring) -> Wiring:
    return replace(wiring, follow=_pruned(wiring.follow))


def _merged_wiring(wiring: Wiring) -> Wiring:
    """Nodes that emit alike and lead alike are one."""
    emits, follows = list(wiring.emit), list(wiring.follow)
    below: IntArray | None = None
    for i in range(len(follows) - 1, -1, -1):
        led = follows[i] if below is None else _composed(follows[i], below)
        rows = np.concatenate([emits[i][:, None], led + 1], axis=1)
        found, below = distinct(rows)
        emits[i], follows[i] = found[:, 0], found[:, 1:] - 1
    entry = wiring.entry if below is None else below[wiring.entry]
    return Wiring(entry, tuple(emits), tuple(follows))


def _reachable_wiring(wiring: Wiring) -> Wiring:
    emits, follows = list(wiring.emit), list(wiring.follow)
    used, entry = np.unique(wiring.entry, return_inverse=True)
    for i in range(len(follows)):
        emits[i], led = emits[i][used], follows[i][used]
        valid = led != INVALID
        follows[i] = np.full_like(led, INVALID)
        used, follows[i][valid] = np.unique(led[valid], return_inverse=True)
    return Wiring(entry.reshape(-1), tuple(emits), tuple(follows))


def _merged_projection(layers: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
    merged = list(layers)
    below: IntArray | None = None
    for i in range(len(merged) - 1, -1, -1):
        led = merged[i] if below is None else _composed(merged[i], below)
        found, below = distinct(led + 1)
        merged[i] = found - 1
    return tuple(merged)
