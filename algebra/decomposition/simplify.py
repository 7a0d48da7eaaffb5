"""The cost of a cascade as a network, and cascades without their superfluous parts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log2
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Component,
    Projection,
    Wiring,
    component_of,
)
from krohn.algebra.decomposition.diagrams import dependencies, letters_of, next_layer
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.rows import distinct

SCANNED_LENGTH = 128
COMPARING_PASSES = (
    10  # over each label of a node that is compared to see who reads whom
)


@dataclass(frozen=True, order=True)
class CascadeCost:
    """The predicted size of the network of a cascade, in order of importance.

    Attributes:
        depth: Attention layers on the longest path of components that read each other:
            one per abelian factor of the derived series and one more for resets (both
            of spec/shallower: sums untwisted by the coordinates above, and a look-up of the
            last reset); a doubling scan for components without this form.
        values: Values of all coordinates together, the width of one-hot channels.
        nodes: Nodes of the wiring, the rows of its tables.
        levels: Components on the longest path; no part of the price.
    """

    depth: int
    values: int
    nodes: int
    levels: int = field(compare=False)


def cost(cascade: Cascade, budget: Budget | None = None) -> CascadeCost:
    """The predicted cost of a cascade; the work of it is counted, not limited."""
    if budget is not None:
        below = range(len(cascade.components), 0, -1)
        layers = zip(cascade.wiring.follow, below, strict=True)
        entries = sum(follow.size * count for follow, count in layers)
        budget.spend(
            COMPARING_PASSES * entries, COMPARING_PASSES * len(cascade.components)
        )
    reads = dependencies(cascade)
    finished: list[int] = []
    level: list[int] = []
    for i, component in enumerate(cascade.components):
        above = np.flatnonzero(reads[i, :i]).tolist()
        waits = max((finished[j] for j in above), default=0)
        finished.append(waits + component_depth(component))
        level.append(1 + max((level[j] for j in above), default=0))
    nodes = sum(len(emit) for emit in cascade.wiring.emit)
    return CascadeCost(
        max(finished, default=0), sum(cascade.sizes), nodes, max(level, default=0)
    )


def component_depth(component: Component) -> int:
    """The attention layers that one component needs."""
    scan = ceil(log2(SCANNED_LENGTH))
    if not component.is_permutation_reset:
        return scan
    return min(scan, group_depth(component.group, scan) + bool(component.resets.any()))


def group_depth(group: PermutationGroup, scan: int) -> int:
    """The derived length; a scan in the place of a perfect core."""
    if group.order == 1:
        return 0
    length = group.derived_length
    if length is not None:
        return length
    # A giant's only perfect core is the alternating group, of index 2 or 1.
    return len(group.derived_series()) - 1 + scan


# Cascades without their superfluous parts.


MOST_COMPARED = 1_000
PASSES = 30  # over each entry of a diagram, and array operations for each layer
COMPARING = 10  # array operations that compare a node with all others

_T = TypeVar("_T")
BoolArray = npt.NDArray[np.bool_]


def simplify(cascade: Cascade, budget: Budget | None = None) -> Cascade:
    """An equivalent cascade without superfluous parts.

    Dead ends become invalid, equal futures one node, nodes, letters and values that never
    occur vanish, and so do components whose value the coordinates above determine.
    The letter of a node to which no valid coordinates lead is free, and is chosen so
    that the node can be merged with others. Components that permute or reset still do.

    Args:
        cascade: Any cascade that covers a machine.
        budget: How much work to do; free letters are not used any more when no step
            remains.
    """
    budget = budget or Budget()
    _count_pass(cascade, budget)
    projection = Projection(_merged_projection(_prune(cascade.projection.follow)))
    wiring = restricted_wiring(cascade.wiring, projection)
    cascade = replace(cascade, projection=projection, wiring=wiring)
    cascade = _drop_determined(cascade)
    if not cascade.components:
        return cascade
    cascade = _merge_wiring_nodes(cascade, budget)
    return _only_occurring(cascade)


def _merge_wiring_nodes(cascade: Cascade, budget: Budget) -> Cascade:
    """The cascade with one node of the wiring for all that are alike, or can be made so."""
    plain = _with_merged_wiring(cascade, None)
    if budget.is_exhausted:
        budget.leave_out("entries of the wiring that never matter were not made alike")
        return plain
    filled = _with_merged_wiring(cascade, budget)
    if list(map(len, plain.wiring.emit)) == list(map(len, filled.wiring.emit)):
        return plain
    # To fill in free entries can make a component read another one that it need not.
    return cheapest([plain, filled], budget)


def cheapest(found: Sequence[Cascade], budget: Budget) -> Cascade:
    """The one of least cost among those with no more levels than the first."""
    costs = [cost(cascade, budget) for cascade in found]
    fitting = [i for i, c in enumerate(costs) if c.levels <= costs[0].levels]
    return found[min(fitting, key=lambda i: costs[i])]


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
        above[-1] = _compose(above[-1], across)
        projection[-1] = _compose(projection[-1], led)
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


def _compose(first: IntArray, second: IntArray) -> IntArray:
    return np.where(first == INVALID, INVALID, second[first])


def _prune(layers: tuple[IntArray, ...]) -> tuple[IntArray, ...]:
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
        led = merged[i] if below is None else _compose(merged[i], below)
        rows, below = distinct(led + 1)
        merged[i] = rows - 1
    return tuple(merged)


def _merged_wiring(cascade: Cascade, fill: Budget | None) -> Wiring:
    """Nodes that emit and lead alike are one; with a budget, also nodes that could be."""
    wiring = cascade.wiring
    emits, follows = list(wiring.emit), list(wiring.follow)
    below: IntArray | None = None
    for i in range(len(follows) - 1, -1, -1):
        led = follows[i] if below is None else _compose(follows[i], below)
        rows, below = distinct(np.concatenate([emits[i][:, None], led + 1], axis=1))
        emits[i], follows[i] = rows[:, 0], rows[:, 1:] - 1
        if fill is not None and len(rows) <= MOST_COMPARED:
            table = cascade.components[i].machine.transitions
            fill.spend(len(rows) * rows.size, COMPARING * len(rows))
            emits[i], follows[i], joined = _compatible(table, emits[i], follows[i])
            below = joined[below]
    entry = wiring.entry if below is None else below[wiring.entry]
    return Wiring(entry, tuple(emits), tuple(follows))


def _compatible(
    table: IntArray, emit: IntArray, led: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Nodes joined, greedily, that agree wherever coordinates are valid for both."""
    fits = _same_ways(led)
    does = _does_for(table, emit, led)
    index = np.empty(len(emit), dtype=np.int64)
    # For each joint node, which nodes agree with all that it stands for.
    open_to = np.empty_like(fits)
    letters, ways = np.empty_like(emit), np.empty_like(led)
    count = 0
    # Nodes that leave little free come first: the others then have something to fit.
    for node in np.argsort((led == INVALID).sum(axis=1), kind="stable").tolist():
        place = int(open_to[:count, node].argmax()) if count else 0
        if count and open_to[place, node]:
            ways[place] = np.where(ways[place] == INVALID, led[node], ways[place])
            open_to[place] &= fits[node]
        else:
            place, count = count, count + 1
            letters[place], ways[place] = emit[node], led[node]
            open_to[place] = fits[node] & does[node]
        index[node] = place
    return letters[:count].copy(), ways[:count].copy(), index


def _same_ways(led: IntArray) -> BoolArray:
    """``(nodes, nodes)``: which lead to the same wherever both are valid."""
    same = np.ones((len(led), len(led)), dtype=bool)
    for way in led.T:
        valid = way != INVALID
        same &= (way[:, None] == way) | ~valid[:, None] | ~valid
    return same


def _does_for(table: IntArray, emit: IntArray, led: IntArray) -> BoolArray:
    """``(nodes, nodes)``: whether the letter of the first does for the second, too."""
    does = np.ones((len(led), len(led)), dtype=bool)
    for moved, way in zip(table[emit].T, led.T, strict=True):
        does &= (moved[:, None] == moved) | (way == INVALID)
    return does


def _reachable_wiring(wiring: Wiring) -> Wiring:
    emits, follows = list(wiring.emit), list(wiring.follow)
    used, entry = np.unique(wiring.entry, return_inverse=True)
    for i in range(len(follows)):
        emits[i], led = emits[i][used], follows[i][used]
        valid = led != INVALID
        follows[i] = np.full_like(led, INVALID)
        used, follows[i][valid] = np.unique(led[valid], return_inverse=True)
    return Wiring(entry.reshape(-1), tuple(emits), tuple(follows))


def _only_occurring(cascade: Cascade) -> Cascade:
    """Components with the values and the letters that occur."""
    wiring, projection = cascade.wiring, cascade.projection
    components, emits, across, downs = [], [], [], []
    lift = cascade.lift.copy()
    layers = zip(
        cascade.components, wiring.emit, wiring.follow, projection.follow, strict=True
    )
    for at, (component, emit, follow, down) in enumerate(layers):
        values, rows = _occurring(component, emit, down)
        table, letter = letters_of(rows)
        names = [component.machine.states[v] for v in values.tolist()]
        components.append(component_of(table, names))
        emits.append(letter)
        across.append(follow[:, values])
        downs.append(down[:, values])
        lift[:, at] = np.searchsorted(values, lift[:, at])
    return replace(
        cascade,
        components=tuple(components),
        wiring=Wiring(wiring.entry, tuple(emits), tuple(across)),
        projection=Projection(tuple(downs)),
        lift=lift,
    )


def _occurring(
    component: Component, emit: IntArray, down: IntArray
) -> tuple[IntArray, IntArray]:
    """The values that occur, and the action on them at each node of the wiring."""
    values = np.flatnonzero((down != INVALID).any(axis=0))
    rows = _moves_among(values, component, emit)
    if component.is_permutation_reset and not _all_permute_or_reset(rows):
        return np.arange(component.size), component.machine.transitions[emit]
    return values, rows


def _moves_among(values: IntArray, component: Component, emit: IntArray) -> IntArray:
    """The action at each node, restricted to some values: ``(nodes, values)``."""
    place = np.full(component.size, INVALID, dtype=np.int64)
    place[values] = np.arange(len(values))
    moved = place[component.machine.transitions[emit][:, values]]
    # A value may leave the others only where it is not valid; it may as well stay.
    return np.where(moved == INVALID, np.arange(len(values)), moved)


def _all_permute_or_reset(rows: IntArray) -> bool:
    constant = (rows == rows[:, :1]).all(axis=1)
    bijective = (np.sort(rows, axis=1) == np.arange(rows.shape[1])).all(axis=1)
    return bool((constant | bijective).all())
