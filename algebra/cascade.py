"""Cascades: small machines in a row, who reads whom, and what their values mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.groups.naming import name
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.rows import distinct

# Cascades: small machines in a row, each steered by those above it.
#
# A cascade has components; component i reads a letter that depends on the input letter
# and on the states of the components above it *before* the step (thesis, Definition 6;
# its Lemma 21 reads the states after the step, erratum E21). The joint states are
# called coordinates. A machine is covered by a cascade if a projection takes
# coordinates to states so that both step together.
#
# Written as tables, dependency functions grow with the product of all components above.
# Here they are *diagrams* instead: layered graphs that read one coordinate after
# another, from the top one down, and in which equal futures are shared. The dependency
# functions of the full transformation monoid on 8 points, 86,883 rows as tables, have
# 350 nodes, and whatever one wants to know of all coordinates is found layer by layer.


INVALID = -1


@dataclass(frozen=True, eq=False)
class Component:
    """One machine of a cascade.

    Attributes:
        machine: Its states are the values of the coordinate; its letters are the
            actions that the wiring can ask for.
    """

    machine: Semiautomaton

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.machine.states)

    @cached_property
    def permutes(self) -> npt.NDArray[np.bool_]:
        """``(letters,)``: which letters are bijections."""
        table = self.machine.transitions
        return np.asarray((np.sort(table, axis=1) == np.arange(self.size)).all(axis=1))

    @cached_property
    def resets(self) -> npt.NDArray[np.bool_]:
        """``(letters,)``: which letters are constant maps, but no bijections."""
        table = self.machine.transitions
        return np.asarray((table == table[:, :1]).all(axis=1)) & ~self.permutes

    @cached_property
    def group(self) -> PermutationGroup:
        """The group that the bijective letters generate."""
        return PermutationGroup(self.machine.transitions[self.permutes])

    @property
    def is_permutation_reset(self) -> bool:
        """Whether every letter is a bijection or constant (thesis, Definition 7)."""
        return bool((self.permutes | self.resets).all())


@dataclass(frozen=True, eq=False)
class Wiring:
    """The dependency functions of a cascade, as one diagram.

    Attributes:
        entry: ``(letters,)``: the node of the first layer for each input letter.
        emit: For each component, ``(nodes,)``: the letter that it reads at a node.
        follow: For each component, ``(nodes, states)``: the node of the next layer,
            given the component's state before the step; ``INVALID`` where no valid
            coordinates lead. After the last component there is a single node 0.

    Raises:
        MachineError: If a table holds something other than integers.
    """

    entry: IntArray
    emit: tuple[IntArray, ...]
    follow: tuple[IntArray, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "entry", _read_only_table(self.entry))
        object.__setattr__(self, "emit", tuple(map(_read_only_table, self.emit)))
        object.__setattr__(self, "follow", tuple(map(_read_only_table, self.follow)))


@dataclass(frozen=True, eq=False)
class Projection:
    """The map from coordinates to states, as a diagram.

    Attributes:
        follow: For each component, ``(nodes, states)``: the node of the next layer, or
            ``INVALID`` where the coordinates stand for nothing. The first layer has the
            node 0 alone; after the last component, nodes are states of the machine.

    Raises:
        MachineError: If a table holds something other than integers.
    """

    follow: tuple[IntArray, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "follow", tuple(map(_read_only_table, self.follow)))


@dataclass(frozen=True, eq=False)
class Cascade:
    """A cascade that is meant to cover a machine; ``covering.prove`` decides.

    Attributes:
        letters: The names of the machine's letters.
        states: The names of the machine's states.
        components: The components, top one first.
        wiring: What each component reads.
        projection: What the coordinates stand for.
        lift: ``(states, components)``: coordinates of each state of the machine.

    Raises:
        MachineError: If a shape or an index does not fit.
    """

    letters: tuple[str, ...]
    states: tuple[str, ...]
    components: tuple[Component, ...]
    wiring: Wiring
    projection: Projection
    lift: IntArray

    def __repr__(self) -> str:
        parts, states = len(self.components), len(self.states)
        return f"<Cascade: {states} states by {parts} components>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "lift", _read_only_table(self.lift))
        sizes, wiring = self.sizes, self.wiring
        if self.lift.shape != (len(self.states), len(sizes)):
            raise MachineError(f"a lift of shape {self.lift.shape} does not fit")
        if not _within(self.lift, 0, np.array(sizes, dtype=np.int64)):
            raise MachineError("the lift names a coordinate that does not exist")
        _check_diagram(wiring.follow, sizes, 1, "wiring")
        _check_diagram(self.projection.follow, sizes, len(self.states), "projection")
        if sizes and len(self.projection.follow[0]) != 1:
            raise MachineError("the projection must begin with one node")
        first = len(wiring.follow[0]) if sizes else 1
        if wiring.entry.shape != (len(self.letters),):
            raise MachineError("the wiring needs one entry for each letter")
        if not _within(wiring.entry, 0, first):
            raise MachineError("the wiring's entry names a node that does not exist")
        components = self.components
        if len(wiring.emit) != len(components):
            raise MachineError("the wiring needs one layer for each component")
        layers = zip(wiring.emit, wiring.follow, components, strict=True)
        for emit, follow, component in layers:
            count = len(component.machine.letters)
            if emit.shape != (len(follow),) or not _within(emit, 0, count):
                raise MachineError("the wiring emits a letter that does not exist")

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of states of each component."""
        return tuple(component.size for component in self.components)

    def step(self, coordinates: IntArray, letters: IntArray) -> IntArray:
        """Coordinates ``(batch, components)`` after one letter ``(batch,)`` each."""
        after = np.empty_like(coordinates)
        node = self.wiring.entry[letters]
        for i, (moved, follow) in enumerate(self._steps):
            place = node * self.components[i].size + coordinates[:, i]
            after[:, i] = moved.take(place)
            node = follow.take(place)
        return after

    @cached_property
    def _steps(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """For each component, ``(nodes · states,)``: its next state, and the next node."""
        layers = zip(self.components, self.wiring.emit, self.wiring.follow, strict=True)
        return tuple(
            (component.machine.transitions[emit].ravel(), follow.ravel())
            for component, emit, follow in layers
        )

    def state_of(self, coordinates: IntArray) -> IntArray:
        """The states ``(batch,)`` that coordinates stand for, or ``INVALID``."""
        node = np.zeros(len(coordinates), dtype=np.int64)
        for i, follow in enumerate(self.projection.follow):
            below = follow[node, coordinates[:, i]]
            node = np.where(node == INVALID, INVALID, below)
        return node


def trivial(machine: Semiautomaton) -> Cascade:
    """The machine as a cascade of itself alone."""
    letters, states = len(machine.letters), len(machine.states)
    wiring = Wiring(
        np.arange(letters),
        (np.arange(letters),),
        (np.zeros((letters, states), dtype=np.int64),),
    )
    return Cascade(
        machine.letters,
        machine.states,
        (Component(machine),),
        wiring,
        Projection((np.arange(states)[None],)),
        np.arange(states)[:, None],
    )


def component_of(table: npt.ArrayLike, states: Sequence[str]) -> Component:
    """A component whose letters are named after their actions.

    Args:
        table: ``(letters, states)`` transitions, no two letters alike.
        states: The name of each state.
    """
    rows = np.asarray(table, dtype=np.int64).reshape(-1, len(states))
    names = tuple(letter_name(row, states) for row in rows)
    return Component(Semiautomaton(rows, names, tuple(states)))


def letter_name(row: IntArray, states: Sequence[str]) -> str:
    """A transformation in words: ``keep``, ``:= s``, cycles, or its images."""
    if np.array_equal(row, np.arange(len(row))):
        return "keep"
    if (row == row[0]).all():
        return f":= {states[row[0]]}"
    if np.array_equal(np.sort(row), np.arange(len(row))):
        return "".join(_cycles(row, states))
    return "[" + " ".join(states[q] for q in row.tolist()) + "]"


def _cycles(row: IntArray, states: Sequence[str]) -> list[str]:
    cycles, seen = [], set[int]()
    for first in range(len(row)):
        cycle, at = [], first
        while at not in seen:
            seen.add(at)
            cycle.append(states[at])
            at = int(row[at])
        if len(cycle) > 1:
            cycles.append("(" + " ".join(cycle) + ")")
    return cycles


def _check_diagram(
    layers: Sequence[IntArray], sizes: Sequence[int], leaves: int, what: str
) -> None:
    if len(layers) != len(sizes):
        raise MachineError(f"the {what} needs one layer for each component")
    after = [*(len(layer) for layer in layers), leaves][1:]
    for layer, size, count in zip(layers, sizes, after, strict=True):
        if layer.ndim != 2 or layer.shape[1] != size:
            raise MachineError(f"a layer of the {what} has shape {layer.shape}")
        if not _within(layer, INVALID, count):
            raise MachineError(f"the {what} leads to a node that does not exist")


def _within(values: IntArray, low: int, high: int | IntArray) -> bool:
    return bool(((values >= low) & (values < high)).all())


def _read_only_table(values: npt.ArrayLike) -> IntArray:
    """A table that cannot be changed after it has been checked."""
    given = np.asarray(values)
    if given.dtype == np.int64 and given.flags.owndata and not given.flags.writeable:
        return given
    integers = given.dtype.kind in "iu" or not given.size
    table = np.array(given, dtype=np.int64) if integers else None
    # Numbers beyond int64 would come around as others, INVALID among them.
    if table is None or not np.array_equal(table, given):
        raise MachineError("the tables of a cascade hold integers and nothing else")
    table.setflags(write=False)
    return table


# The structure of a cascade: who reads whom, what runs in parallel, what values mean.


BoolArray = npt.NDArray[np.bool_]

MOST_LABELS = 2**20  # labels that are compared at a time


@dataclass(frozen=True, eq=False)
class Reading:
    """The states of the machine that each value of a coordinate leaves possible.

    Attributes:
        possible: ``(states,)``: the states that the coordinates above leave possible.
        refined: ``(values, states)``: which of them each value leaves; no states for a
            value that cannot occur here.
    """

    possible: BoolArray
    refined: BoolArray


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
    _, first = np.unique(flat, axis=0, return_index=True)
    chosen = np.flatnonzero(tells)[np.sort(first)]
    order = np.argsort(-possible[chosen].sum(axis=1), kind="stable")
    return [Reading(possible[u], refined[u]) for u in chosen[order].tolist()]


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
    return _numbered(cascade, label, steps[::-1])


def _numbered(cascade: Cascade, label: IntArray, steps: list[Step]) -> Dependency:
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


def merged(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """The common reading alone if there is one, else all."""
    found = common(readings)
    return tuple(readings) if found is None else (found,)
