"""Cascades: small machines in a row, each steered by those above it.

A cascade has components; component i reads a letter that depends on the input letter and
on the states of the components above it *before* the step (thesis, Definition 6; its
Lemma 21 reads the states after the step, erratum E21). The joint states are called
coordinates. A machine is covered by a cascade if a projection takes coordinates to
states so that both step together.

Written as tables, dependency functions grow with the product of all components above.
Here they are *diagrams* instead: layered graphs that read one coordinate after another,
from the top one down, and in which equal futures are shared. The dependency functions of
the full transformation monoid on 8 points, 86,883 rows as tables, have 350
nodes, and whatever one wants to know of all coordinates is found layer by layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.errors import MachineError
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

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
        _check_emit(wiring, self.components)

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


def _check_emit(wiring: Wiring, components: Sequence[Component]) -> None:
    if len(wiring.emit) != len(components):
        raise MachineError("the wiring needs one layer for each component")
    layers = zip(wiring.emit, wiring.follow, components, strict=True)
    for emit, follow, component in layers:
        count = len(component.machine.letters)
        if emit.shape != (len(follow),) or not _within(emit, 0, count):
            raise MachineError("the wiring emits a letter that does not exist")


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
