"""Cascades without what they do not need."""

from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from algebra.budget import Budget
from algebra.cascade import (
    INVALID,
    Cascade,
    Component,
    Projection,
    Wiring,
    component_of,
)
from algebra.decomposition.cost import cost
from algebra.decomposition.layers import letters_of, next_layer
from algebra.rows import distinct
from algebra.semiautomaton import IntArray

MOST_COMPARED = 1_000
PASSES = 30  # over each entry of a diagram, and array operations for each layer
COMPARING = 10  # array operations that compare a node with all others

_T = TypeVar("_T")


def simplify(cascade: Cascade, budget: Budget | None = None) -> Cascade:
    """The same cascade without what it does not need.

    Dead ends become invalid, equal futures one node, nodes, letters and values that never
    occur vanish, and so do components whose value the coordinates above determine.
    What a node asks where no valid coordinates lead is free, and is used to merge it
    with others. Components that permute or reset still do.

    Args:
        cascade: Any cascade that covers a machine.
        budget: How much work to do; what is free is not used any more when no step
            remains.
    """
    budget = budget or Budget()
    _count_pass(cascade, budget)
    projection = Projection(_merged_projection(_pruned(cascade.projection.follow)))
    wiring = restricted_wiring(cascade.wiring, projection)
    cascade = replace(cascade, projection=projection, wiring=wiring)
    cascade = _drop_determined(cascade)
    if not cascade.components:
        return cascade
    cascade = _joined(cascade, budget)
    for at in range(len(cascade.components)):
        cascade = _only_occurring(cascade, at)
    return cascade


def _joined(cascade: Cascade, budget: Budget) -> Cascade:
    """The cascade with nodes of the wiring that are alike, or can be made so, as one."""
    plain = _with_merged_wiring(cascade, None)
    if budget.exhausted:
        budget.leave_out("entries of the wiring that never matter were not made alike")
        return plain
    filled = _with_merged_wiring(cascade, budget)
    if list(map(len, plain.wiring.emit)) == list(map(len, filled.wiring.emit)):
        return plain
    # To fill in what is free can make a component read another one that it need not.
    return min(plain, filled, key=partial(cost, budget=budget))


def _count_pass(cascade: Cascade, budget: Budget) -> None:
    """Count one pass through all diagrams of a cascade, in which rows are sorted."""
    layers = (*cascade.wiring.follow, *cascade.projection.follow)
    budget.spend(PASSES * sum(f.size for f in layers), PASSES * len(layers))


def _with_merged_wiring(cascade: Cascade, fill: Budget | None) -> Cascade:
    wiring = _reachable_wiring(_merged_wiring(cascade, fill))
    return replace(cascade, wiring=wiring)


def restricted_wiring(wiring: Wiring, projection: Projection) -> Wiring:
    """The wiring with those coordinates invalid that the projection refuses."""
    if not wiring.follow:
        return wiring
    entries, entry = np.unique(wiring.entry, return_inverse=True)
    nodes = np.stack([entries, np.zeros_like(entries)], axis=1)
    emits, follows = [], []
    layers = zip(wiring.emit, wiring.follow, projection.follow, strict=True)
    for emit, across, down in layers:
        emits.append(emit[nodes[:, 0]])
        led = np.stack([across[nodes[:, 0]], down[nodes[:, 1]]], axis=-1)
        nodes, follow = next_layer(led, (led != INVALID).all(axis=-1))
        follows.append(follow)
    follows[-1] = np.where(follows[-1] == INVALID, INVALID, 0)
    return Wiring(entry.reshape(-1).astype(np.int64), tuple(emits), tuple(follows))


def _drop_determined(cascade: Cascade) -> Cascade:
    """Without the components that have one value at most in each context."""
    for at in range(len(cascade.components) - 1, -1, -1):
        choices = (cascade.projection.follow[at] != INVALID).sum(axis=1)
        if choices.max() == 1:
            cascade = _without(cascade, at)
    return cascade


def _without(cascade: Cascade, at: int) -> Cascade:
    follow, down = cascade.wiring.follow, cascade.projection.follow
    across, led = _only_way(follow[at]), _only_way(down[at])
    entry, above, projection = cascade.wiring.entry, list(follow[:at]), list(down[:at])
    if at:
        above[-1] = _composed(above[-1], across)
        projection[-1] = _composed(projection[-1], led)
        projection += down[at + 1 :]
    else:
        entry = across[entry]
        # The first layer must have the root alone, as node 0.
        projection = [down[1][led], *down[2:]] if len(down) > 1 else []
    return replace(
        cascade,
        components=_omit(cascade.components, at),
        wiring=Wiring(
            entry, _omit(cascade.wiring.emit, at), (*above, *follow[at + 1 :])
        ),
        projection=Projection(tuple(projection)),
        lift=np.delete(cascade.lift, at, axis=1),
    )


def _only_way(follow: IntArray) -> IntArray:
    """Where each node of a layer leads whose values are determined."""
    return np.asarray(follow.max(axis=1))


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


def _merged_projection(layers: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
    merged = list(layers)
    below: IntArray | None = None
    for i in range(len(merged) - 1, -1, -1):
        led = merged[i] if below is None else _composed(merged[i], below)
        found, below = distinct(led + 1)
        merged[i] = found - 1
    return tuple(merged)


def _merged_wiring(cascade: Cascade, fill: Budget | None) -> Wiring:
    """Nodes that emit alike and lead alike are one; also those that could, if paid for."""
    wiring = cascade.wiring
    emits, follows = list(wiring.emit), list(wiring.follow)
    below: IntArray | None = None
    for i in range(len(follows) - 1, -1, -1):
        led = follows[i] if below is None else _composed(follows[i], below)
        found, below = distinct(np.concatenate([emits[i][:, None], led + 1], axis=1))
        emits[i], follows[i] = found[:, 0], found[:, 1:] - 1
        if fill is not None and len(found) <= MOST_COMPARED:
            table = cascade.components[i].machine.transitions
            fill.spend(len(found) * found.size, COMPARING * len(found))
            emits[i], follows[i], joined = _compatible(table, emits[i], follows[i])
            below = joined[below]
    entry = wiring.entry if below is None else below[wiring.entry]
    return Wiring(entry, tuple(emits), tuple(follows))


def _compatible(
    table: IntArray, emit: IntArray, led: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Nodes joined, greedily, that agree wherever coordinates are valid for both."""
    index = np.empty(len(emit), dtype=np.int64)
    letters, ways = np.empty_like(emit), np.empty_like(led)
    count = 0
    # Nodes that leave little free come first: the others then have something to fit.
    for node in np.argsort((led == INVALID).sum(axis=1), kind="stable").tolist():
        fits = _fitting(table, emit[node], led[node], letters[:count], ways[:count])
        found = np.flatnonzero(fits)
        if len(found):
            place = int(found[0])
            ways[place] = np.where(ways[place] == INVALID, led[node], ways[place])
        else:
            place, count = count, count + 1
            letters[place], ways[place] = emit[node], led[node]
        index[node] = place
    return letters[:count].copy(), ways[:count].copy(), index


def _fitting(
    table: IntArray, letter: int, led: IntArray, letters: IntArray, ways: IntArray
) -> IntArray:
    """Which of the nodes so far do for a node, too, without another letter."""
    valid = led != INVALID
    same_way = (~valid | (ways == INVALID) | (ways == led)).all(axis=1)
    same_move = (~valid | (table[letters] == table[letter])).all(axis=1)
    return np.asarray(same_way & same_move)


def _reachable_wiring(wiring: Wiring) -> Wiring:
    emits, follows = list(wiring.emit), list(wiring.follow)
    used, entry = np.unique(wiring.entry, return_inverse=True)
    for i in range(len(follows)):
        emits[i], led = emits[i][used], follows[i][used]
        valid = led != INVALID
        follows[i] = np.full_like(led, INVALID)
        used, follows[i][valid] = np.unique(led[valid], return_inverse=True)
    return Wiring(entry.reshape(-1), tuple(emits), tuple(follows))


def _only_occurring(cascade: Cascade, at: int) -> Cascade:
    """A component with the values and the letters that occur."""
    component, down = cascade.components[at], cascade.projection.follow[at]
    values = np.flatnonzero((down != INVALID).any(axis=0))
    rows = _moves_among(values, component, cascade.wiring.emit[at])
    if component.is_permutation_reset and not _all_permute_or_reset(rows):
        values = np.arange(component.size)
        rows = component.machine.transitions[cascade.wiring.emit[at]]
    table, emit = letters_of(rows)
    names = [component.machine.states[v] for v in values.tolist()]
    wiring, lift = cascade.wiring, cascade.lift.copy()
    lift[:, at] = np.searchsorted(values, lift[:, at])
    return replace(
        cascade,
        components=_put(cascade.components, at, component_of(table, names)),
        wiring=Wiring(
            wiring.entry,
            _put(wiring.emit, at, emit),
            _put(wiring.follow, at, wiring.follow[at][:, values]),
        ),
        projection=Projection(_put(cascade.projection.follow, at, down[:, values])),
        lift=lift,
    )


def _moves_among(values: IntArray, component: Component, emit: IntArray) -> IntArray:
    """``(nodes, values)``: what each node does, told among some of the values."""
    place = np.full(component.size, INVALID, dtype=np.int64)
    place[values] = np.arange(len(values))
    moved = place[component.machine.transitions[emit][:, values]]
    # A value may leave the others only where it is not valid; it may as well stay.
    return np.where(moved == INVALID, np.arange(len(values)), moved)


def _all_permute_or_reset(rows: IntArray) -> bool:
    constant = (rows == rows[:, :1]).all(axis=1)
    bijective = (np.sort(rows, axis=1) == np.arange(rows.shape[1])).all(axis=1)
    return bool((constant | bijective).all())


def _put(items: tuple[_T, ...], at: int, item: _T) -> tuple[_T, ...]:
    return (*items[:at], item, *items[at + 1 :])
