"""Cascades: small machines in a row, and the proof that they cover a machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.errors import KrohnError, MachineError
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
        group = PermutationGroup(self.machine.transitions[self.permutes])
        return _shared_group(group.degree, group.generators.tobytes())

    @property
    def is_permutation_reset(self) -> bool:
        """Whether every letter is a bijection or constant (thesis, Definition 7)."""
        return bool((self.permutes | self.resets).all())


@lru_cache(maxsize=64)
def _shared_group(degree: int, generators: bytes) -> PermutationGroup:
    """A group of some generators: what is found out of it is known in every cascade."""
    rows = np.frombuffer(generators, dtype=np.int64).reshape(-1, degree)
    return PermutationGroup(rows)


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
    """A cascade that is meant to cover a machine; `prove` decides.

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
    names = tuple(letter_name(row, states) for row in rows.tolist())
    return Component(Semiautomaton(rows, names, tuple(states)))


def letter_name(row: Sequence[int], states: Sequence[str]) -> str:
    """A transformation in words: ``keep``, ``:= s``, cycles, or its images."""
    reached = set(row)
    if len(reached) == len(row):
        return "".join(_cycles(row, states)) or "keep"
    if len(reached) == 1:
        return f":= {states[row[0]]}"
    return "[" + " ".join(states[q] for q in row) + "]"


def _cycles(row: Sequence[int], states: Sequence[str]) -> list[str]:
    cycles, seen = [], set[int]()
    for first in range(len(row)):
        cycle, at = [], first
        while at not in seen:
            seen.add(at)
            cycle.append(states[at])
            at = row[at]
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
    if table is None or (given.dtype.kind == "u" and (table != given).any()):
        raise MachineError("the tables of a cascade hold integers and nothing else")
    table.setflags(write=False)
    return table


# Proof that a cascade covers a machine, by code that knows nothing of decompositions.
#
# A cascade covers a machine if, for some set V of coordinates (the valid ones),
# (1) every lift is in V and stands for its state,
# (2) from coordinates in V every letter leads into V, and
# (3) if x in V stands for q, then x after the letter a stands for δ(q, a).
# By induction on the length, coordinates that start at the lift of q and follow any word
# then stand for the states that the machine passes through: all words, all lengths.
#
# V is what the projection's diagram accepts. (2) and (3) speak of all x in V, which may be
# astronomically many; but diagrams read coordinates one by one. So for each letter we walk
# down three diagrams at once: the projection at x, the wiring at x, the projection at x
# after the letter. At each layer only the distinct triples of nodes matter, because what
# is below depends on nothing else.


PIECE = 2**18  # pairs of a triple and a state that are looked at together
PASSES = 30  # over each of them, and array operations in a row


class NotCovering(KrohnError):
    """The cascade does not cover the machine; the message says where it fails."""


@dataclass(frozen=True)
class Covering:
    """The extent of a proof that a cascade covers a machine.

    Attributes:
        triples: How many triples of nodes were visited, over all letters and layers.
        coordinates: How many valid coordinates there are; the proof holds for each.
    """

    triples: int
    coordinates: int


def prove(
    machine: Semiautomaton, cascade: Cascade, budget: Budget | None = None
) -> Covering:
    """Prove that a cascade covers a machine, for words of every length.

    Raises:
        NotCovering: If it does not; or if the invariant V is too large, so that a
            coordinate no word reaches is wrong.
        BudgetExceeded: If there are too many triples, or no step remains.
    """
    budget = budget or Budget()
    if (cascade.letters, cascade.states) != (machine.letters, machine.states):
        raise NotCovering("the cascade has other letters or states than the machine")
    _check_lifts(cascade)
    triples = 0
    for letter in range(len(machine.letters)):
        triples += _check_letter(machine, cascade, letter, budget)
    return Covering(triples, _count(cascade))


def _check_lifts(cascade: Cascade) -> None:
    node = np.zeros(len(cascade.states), dtype=np.int64)
    for i, follow in enumerate(cascade.projection.follow):
        node = follow[node, cascade.lift[:, i]]
        if (node == INVALID).any():
            state = cascade.states[int(np.argmax(node == INVALID))]
            raise NotCovering(
                f"the lift of state {state} is not valid at level {i + 1}"
            )
    wrong = np.flatnonzero(node != np.arange(len(cascade.states)))
    if len(wrong):
        state = cascade.states[wrong[0]]
        raise NotCovering(f"the lift of state {state} stands for another state")


def _check_letter(
    machine: Semiautomaton, cascade: Cascade, letter: int, budget: Budget
) -> int:
    """The number of triples visited for one letter."""
    name = machine.letters[letter]
    triples = np.array([[0, cascade.wiring.entry[letter], 0]])
    visited = 1
    for i in range(len(cascade.components)):
        triples = _descend(cascade, triples, i, name, budget)
        visited += len(triples)
        budget.check(visited, "triples of nodes")
    before, after = triples[:, 0], triples[:, 2]
    wrong = np.flatnonzero(machine.transitions[letter, before] != after)
    if len(wrong):
        state = cascade.states[before[wrong[0]]]
        raise NotCovering(
            f"letter {name} takes coordinates of state {state} to coordinates of state "
            f"{cascade.states[after[wrong[0]]]}, but the machine goes to "
            f"{machine.states[machine.transitions[letter, before[wrong[0]]]]}"
        )
    return visited


def _descend(
    cascade: Cascade, triples: IntArray, i: int, letter: str, budget: Budget
) -> IntArray:
    """The triples of the next layer, over all valid states of component ``i``."""
    rows = max(1, PIECE // cascade.components[i].size)
    pieces = []
    for start in range(0, len(triples), rows):
        part = triples[start : start + rows]
        budget.spend(PASSES * len(part) * cascade.components[i].size, PASSES)
        pieces.append(_triples_below(cascade, part, i, letter))
        budget.check(sum(map(len, pieces)), "triples of nodes")
    return pieces[0] if len(pieces) == 1 else distinct(np.concatenate(pieces))[0]


def _triples_below(
    cascade: Cascade, triples: IntArray, i: int, letter: str
) -> IntArray:
    old, wire, new = triples.T[:, :, None]
    states = np.arange(cascade.components[i].size)
    down = cascade.projection.follow[i][old, states]
    table = cascade.components[i].machine.transitions
    moved = table[cascade.wiring.emit[i][wire], states]
    across = cascade.wiring.follow[i][wire, states]
    down_after = cascade.projection.follow[i][new, moved]
    after = np.stack([down, across, down_after], axis=-1)[down != INVALID]
    if (after == INVALID).any():
        raise NotCovering(
            f"letter {letter} leads from valid coordinates to invalid ones in component "
            f"{i + 1} of {len(cascade.components)}"
        )
    return distinct(after)[0]


def _count(cascade: Cascade) -> int:
    """The number of valid coordinates, exactly."""
    ways = np.ones(len(cascade.states), dtype=object)
    for follow in reversed(cascade.projection.follow):
        below = np.append(ways, 0)  # INVALID is the last entry
        ways = below[follow].sum(axis=1)
    return int(ways[0])
