"""Diagrams of cascades: grown, put into others, cut down; and read: what values mean."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import INVALID, Cascade, Component, Projection, Wiring
from krohn.algebra.groups.naming import name
from krohn.algebra.rows import RowTable, distinct
from krohn.program.quoting import on_a_line

_T = TypeVar("_T")
BoolArray = npt.NDArray[np.bool_]
MOST_OF_NAME = 8
"""Characters of the name of a value where it is said what holds at it."""


# Growing diagrams layer by layer: nodes are rows of numbers, alike rows one node.


def next_layer(
    rows: IntArray, valid: BoolArray | None = None
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
    maps, index = distinct(rows)
    bijective = (np.sort(maps, axis=1) == np.arange(maps.shape[1])).all(axis=1)
    still = (maps == np.arange(maps.shape[1])).all(axis=1)
    order = np.lexsort([~bijective, ~still])
    return maps[order], np.argsort(order)[index]


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
    emits, across = _inner_wiring(cascade, at, inner, budget or Budget())
    down = _inner_projection(cascade.projection.follow[at], inner)
    return Cascade(
        cascade.letters,
        cascade.states,
        _put(cascade.components, at, inner.components),
        Wiring(
            cascade.wiring.entry,
            _put(cascade.wiring.emit, at, emits),
            _put(cascade.wiring.follow, at, across),
        ),
        Projection(_put(cascade.projection.follow, at, down)),
        np.stack(_put(cascade.lift.T, at, inner.lift[cascade.lift[:, at]].T), axis=1),
    )


def _put(items: Iterable[_T], at: int, inner: Iterable[_T]) -> tuple[_T, ...]:
    """Some items, others in the place of one."""
    before = tuple(items)
    return (*before[:at], *inner, *before[at + 1 :])


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
    coordinates = RowTable(depth, max(cascade.sizes, default=1))
    coordinates.add(cascade.lift if lifts is None else lifts)
    piece = max(1, PIECE // len(letters))
    done = 0
    while done < coordinates.size:
        rows = coordinates.rows[done : done + piece].astype(np.int64)
        budget.spend(
            REACHING_PASSES * len(rows) * len(letters) * depth, REACHING_PASSES * depth
        )
        before = np.repeat(rows, len(letters), axis=0)
        coordinates.add(cascade.step(before, np.tile(letters, len(rows))))
        budget.check(coordinates.size, "combinations of states of its components")
        done += len(rows)
    return coordinates.rows.astype(np.int64)


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
        merge_readings, index = distinct(layers[i] + 1)
        layers[i] = merge_readings - 1
        layers[i - 1] = np.where(
            layers[i - 1] == INVALID, INVALID, index[layers[i - 1]]
        )
    return Projection(tuple(layers))


# The structure of a cascade: who reads whom, what runs in parallel, what values mean.


MOST_LABELS = 2**20  # labels that are compared at a time


@dataclass(frozen=True, eq=False)
class Reading:
    """The states of the machine that each value of a coordinate leaves possible.

    Attributes:
        possible: ``(states,)``: the states that the coordinates above leave possible.
        refined: ``(values, states)``: which of them each value leaves; no states for a
            value that cannot occur here.
        nodes: The nodes of the projection's layer at which this is so, its contexts; none
            of a reading that stands for several.
    """

    possible: BoolArray
    refined: BoolArray
    nodes: tuple[int, ...] = ()


def dependencies(cascade: Cascade) -> BoolArray:
    """``(components, components)``: [i, j] says that component i reads component j.

    Component i reads j if at some node of the wiring two states of j lead to different
    letters of i in the end. The coordinates in between may make up for the difference,
    in which case one dependency too many is reported, never one too few.
    """
    count = len(cascade.components)
    reads = np.zeros((count, count), dtype=bool)
    labels = np.empty((1, 0), dtype=np.int64)
    for j in range(count - 1, -1, -1):
        above, reads[j + 1 :, j] = _labels_above(labels, cascade.wiring.follow[j])
        labels = np.concatenate([cascade.wiring.emit[j][:, None], above], axis=1)
    return reads


def _labels_above(labels: IntArray, follow: IntArray) -> tuple[IntArray, BoolArray]:
    """The labels one layer further up, from the labels of the nodes below.

    Args:
        labels: ``(nodes below, m)``: for each of m components, equal numbers for nodes
            from which it reads alike.
        follow: ``(nodes, states)``: the layer.

    Returns:
        Such labels ``(nodes, m)``, and ``(m,)`` whether the state matters.
    """
    piece = max(1, MOST_LABELS // follow.size)
    starts = range(0, max(1, labels.shape[1]), piece)
    parts = [_some_labels(labels[:, at : at + piece], follow) for at in starts]
    above, matters = zip(*parts, strict=True)
    return np.concatenate(above, axis=1), np.concatenate(matters)


def _some_labels(labels: IntArray, follow: IntArray) -> tuple[IntArray, BoolArray]:
    valid = (follow != INVALID)[:, :, None]
    below = np.where(valid, labels[follow], INVALID)
    above = below.max(axis=1)
    alike = (~valid | (below == above[:, None])).all(axis=1)
    node, column = np.nonzero(~alike)
    if len(node):
        rows = below[node, :, column] - INVALID
        _, index = distinct(np.concatenate([column[:, None], rows], axis=1))
        above[node, column] = index + int(labels.max()) + 1
    return above, ~alike.all(axis=0)


def levels(cascade: Cascade) -> tuple[tuple[int, ...], ...]:
    """The components by level: each lies one below the lowest that it reads.

    Components of one level do not read each other, so that they run in parallel.
    """
    reads = dependencies(cascade)
    level: list[int] = []
    for i, row in enumerate(reads):
        level.append(max((level[j] + 1 for j in range(i) if row[j]), default=0))
    deepest = max(level, default=-1)
    return tuple(
        tuple(i for i, at in enumerate(level) if at == number)
        for number in range(deepest + 1)
    )


def meaning(cascade: Cascade) -> tuple[tuple[Reading, ...], ...]:
    """For each component, the meaning of its values in each context where they matter."""
    possible = np.eye(len(cascade.states), dtype=bool)
    readings: list[tuple[Reading, ...]] = []
    for follow in reversed(cascade.projection.follow):
        refined = possible[follow] & (follow != INVALID)[:, :, None]
        possible = refined.any(axis=1)
        readings.append(tuple(_distinct_readings(possible, refined)))
    return tuple(reversed(readings))


def _distinct_readings(possible: BoolArray, refined: BoolArray) -> list[Reading]:
    """The readings that tell something, contexts with many states first."""
    occurs = np.asarray(refined.any(axis=2))
    fewer = occurs[:, :, None] & (refined != possible[:, None])
    tells = np.asarray(fewer.any(axis=(1, 2)))
    if not tells.any():
        return []
    flat = refined[tells].reshape(int(tells.sum()), -1)
    nodes = np.flatnonzero(tells)
    _, first, alike = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    kinds = np.argsort(first)
    chosen = nodes[first[kinds]]
    order = np.argsort(-possible[chosen].sum(axis=1), kind="stable")
    return [
        Reading(possible[u], refined[u], tuple(nodes[alike == kind].tolist()))
        for u, kind in zip(chosen[order].tolist(), kinds[order].tolist(), strict=True)
    ]


@dataclass(frozen=True)
class Context:
    """Values of the coordinates above at which a reading holds.

    Attributes:
        values: For each coordinate above that matters the values that it may have.
        is_all: Whether it holds for all valid coordinates with these values, and for no
            others; otherwise they are an example, one value of each coordinate.
    """

    values: dict[int, tuple[int, ...]]
    is_all: bool


def context(cascade: Cascade, component: int, reading: Reading) -> Context:
    """The coordinates above a component at which one of its readings holds."""
    follow = cascade.projection.follow[:component]
    inside = [np.zeros(len(rows), dtype=bool) for rows in follow]
    inside.append(np.zeros(1 + max(reading.nodes, default=0), dtype=bool))
    inside[-1][list(reading.nodes)] = True
    for j in range(component - 1, -1, -1):
        room = max(len(inside[j + 1]), int(follow[j].max()) + 1)
        inside[j + 1] = np.pad(inside[j + 1], (0, room - len(inside[j + 1])))
        inside[j] = (inside[j + 1][follow[j]] & (follow[j] != INVALID)).any(axis=1)
    occurring, allowed = [_values_on_paths(follow, which) for which in (None, inside)]
    held = _paths(follow, allowed, inside[-1])
    if held == _paths(follow, allowed, None):
        values = {
            j: tuple(map(int, np.flatnonzero(some)))
            for j, (some, every) in enumerate(zip(allowed, occurring, strict=True))
            if (some != every).any()
        }
        return Context(values, True)
    node, example = 0, dict[int, tuple[int, ...]]()
    for j, rows in enumerate(follow):
        leads = inside[j + 1][rows[node]] & (rows[node] != INVALID)
        value = int(leads.argmax())
        example[j], node = (value,), int(rows[node, value])
    return Context(example, False)


def say_context(cascade: Cascade, component: int, reading: Reading) -> str:
    """The values of components above at which a reading holds, as people say it.

    Nothing is said where they do not matter, or the reading stands for several.
    """
    if not reading.nodes or not component:
        return ""
    found = context(cascade, component, reading)
    if not found.values:
        return ""
    said = []
    for j, values in found.values.items():
        names = cascade.components[j].machine.states
        some = " or ".join(on_a_line(names[v], MOST_OF_NAME) for v in values)
        said.append(f"{j + 1} is {some}")
    if_ = "if" if found.is_all else "for example if"
    return f"{if_} component {', '.join(said)}"


def _values_on_paths(
    follow: Sequence[IntArray], inside: Sequence[BoolArray] | None
) -> list[BoolArray]:
    """For each layer the values on paths from the root, that stay inside if it is given."""
    reached, values = {0}, list[BoolArray]()
    for j, rows in enumerate(follow):
        at = rows[sorted(reached)]
        there = at != INVALID
        if inside is not None:
            there &= inside[j + 1][at]
        values.append(there.any(axis=0))
        reached = set(at[there].tolist())
    return values


def _paths(
    follow: Sequence[IntArray],
    allowed: Sequence[BoolArray],
    ends: BoolArray | None,
) -> int:
    """How many paths with allowed values there are, to some ends or to any."""
    count = {0: 1}
    for rows, values in zip(follow, allowed, strict=True):
        further = dict[int, int]()
        for node, many in count.items():
            for target in rows[node][values].tolist():
                if target != INVALID:
                    further[target] = further.get(target, 0) + many
        count = further
    return sum(many for node, many in count.items() if ends is None or ends[node])


def kind(component: Component) -> str:
    """The kind of a component, in the words of the field."""
    size, group, resets = component.size, component.group, component.resets.any()
    if not component.is_permutation_reset:
        return f"machine of {size} states"
    if group.order == 1:
        if not resets:
            return f"constant of {size} values"
        return "flip-flop" if size == 2 else f"memory of {size} values"
    if resets:
        return f"{name(group)} with resets on {size} values"
    if group.is_abelian and group.order == size and name(group) == f"C{size}":
        return f"counter modulo {size}"
    regular = group.is_transitive and group.order == size
    return f"{name(group)} on itself" if regular else f"{name(group)} on {size} values"


# The dependency function of one component of a cascade, apart from the others.


@dataclass(frozen=True, eq=False)
class Step:
    """How one more coordinate is taken into account.

    Attributes:
        component: The component whose state is read.
        follow: ``(nodes, states)``: the node after it; ``INVALID`` where no valid
            coordinates lead.
    """

    component: int
    follow: IntArray


@dataclass(frozen=True, eq=False)
class Dependency:
    """The dependency function of one component, as a diagram of its own.

    Attributes:
        entry: ``(letters,)``: the first node for each input letter.
        steps: The coordinates that are really read, top one first.
        emit: ``(nodes,)``: the letter of the component at each node after the last step.
    """

    entry: IntArray
    steps: tuple[Step, ...]
    emit: IntArray


def dependency(cascade: Cascade, component: int) -> Dependency:
    """The dependency function of a component, reduced to the coordinates that it reads.

    Nodes of the wiring that lead to the same letters of this component are one, and a
    coordinate whose states make no difference is not read.
    """
    label = cascade.wiring.emit[component]
    steps: list[Step] = []
    for i in range(component - 1, -1, -1):
        follow = cascade.wiring.follow[i]
        below = np.where(follow == INVALID, INVALID, label[follow])
        largest = below.max(axis=1)
        alike = ((below == INVALID) | (below == largest[:, None])).all(axis=1)
        if alike.all():
            label = largest
            continue
        # Where a node does not care, every valid state leads on alike.
        rows, above = distinct(below - INVALID)
        steps.append(Step(i, rows + INVALID))
        label = above
    return _number_nodes(cascade, label, steps[::-1])


def _number_nodes(cascade: Cascade, label: IntArray, steps: list[Step]) -> Dependency:
    """Nodes numbered from 0 where they are reached, layer by layer."""
    used, entry = np.unique(label[cascade.wiring.entry], return_inverse=True)
    kept: list[Step] = []
    for step in steps:
        led = step.follow[used]
        valid = led != INVALID
        follow = np.full_like(led, INVALID)
        used, follow[valid] = np.unique(led[valid], return_inverse=True)
        kept.append(Step(step.component, follow))
    return Dependency(entry.reshape(-1).astype(np.int64), tuple(kept), used)


# The meanings of a coordinate's values, in as few words as are exact.


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


def merge_readings(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The common reading alone if there is one, else all."""
    shared = common(readings)
    return tuple(readings) if shared is None else (shared,)
