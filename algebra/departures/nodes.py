"""Nodes: sets of states in which the state is a function of the parts beside it."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.classification.digraph import components
from krohn.algebra.departures.parts import Part, parts
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable

MOST_PAIRS = 4_000
MOST_NODES = 160
MOST_ENTRIES = 10_000_000
"""Of the states and values that letters lead to, looked at before they are listed."""
NEVER = -1

Flags: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Nodes:
    """A machine as nodes that a run leaves for good.

    A *value* is a tuple of states of the parts. Beside it, the node tells the state.

    Attributes:
        machine: The machine, all states reachable.
        parts: What runs beside it.
        values: ``(values, parts)``: the tuples that occur.
        start: The node of the start.
        state: ``(nodes, values)``: the state in a node beside a value; `NEVER` where
            that does not occur.
        follow: ``(nodes, values, letters)``: the node after a letter, by the value
            before it; `NEVER` likewise.
    """

    machine: Automaton
    parts: tuple[Part, ...]
    values: IntArray
    start: int
    state: IntArray
    follow: IntArray

    def leaves(self, node: int) -> IntArray:
        """``(values, letters)``: 1 where a run leaves a node, 0 where it stays."""
        after = self.follow[node]
        return np.where(after == NEVER, NEVER, after != node).astype(np.int64)

    def successors(self, node: int) -> list[int]:
        """The nodes that a run can go to from a node, ascending."""
        after = np.unique(self.follow[node])
        return [int(n) for n in after if n not in (NEVER, node)]


def nodes(machine: Automaton, tail: bool = False) -> Nodes:
    """The nodes of a machine beside the parts that its components ask for.

    Args:
        machine: Any machine; its outputs do not matter.
        tail: Whether the first positions are told apart: then positions before
            the first state that can be kept cost nothing.

    Raises:
        MachineError: If some component is of no known kind, if parts and
            state do not tell each other's runs apart, or if there are too many pairs.
    """
    part = reachable(machine)
    if len(part.states) > MOST_PAIRS:
        raise MachineError(
            f"{machine.name} has more than {MOST_PAIRS} states, too many to look for "
            "components that are left"
        )
    beside = parts(part, tail)
    if isinstance(beside, str):
        raise MachineError(beside)
    pairs, after = _product(part, beside)
    values, value = np.unique(pairs[:, 1:], axis=0, return_inverse=True)
    table = _Table(pairs[:, 0], value.reshape(-1), after, part, beside, values)
    return table.nodes()


def _product(machine: Automaton, beside: tuple[Part, ...]) -> tuple[IntArray, IntArray]:
    """The tuples (state, value of each part) that words reach, and where letters lead."""
    tables = [machine.transitions, *(p.machine.transitions for p in beside)]
    start = [machine.start, *(p.machine.start for p in beside)]
    known = np.array([start])
    frontier = known
    while len(frontier):
        if len(frontier) * tables[0].shape[0] * len(tables) > MOST_ENTRIES:
            raise MachineError(
                f"{machine.name} has too many letters to look for components that are left"
            )
        after = np.stack([t[:, frontier[:, i]] for i, t in enumerate(tables)], axis=-1)
        merged = np.unique(
            np.concatenate([known, after.reshape(-1, len(tables))]), axis=0
        )
        if len(merged) > MOST_PAIRS:
            raise MachineError(
                f"{machine.name} runs through more than {MOST_PAIRS} pairs with what would "
                "have to run beside it"
            )
        frontier = _without(merged, known)
        known = merged
    after = np.stack([t[:, known[:, i]] for i, t in enumerate(tables)], axis=-1)
    flat = np.concatenate([np.array([start]), known, after.reshape(-1, len(tables))])
    _, number = np.unique(flat, axis=0, return_inverse=True)
    number = number.reshape(-1)
    follow = number[1 + len(known) :].reshape(len(tables[0]), len(known)).T
    first = int(number[0])
    order = np.concatenate([[first], np.delete(np.arange(len(known)), first)])
    rank = np.argsort(order)
    return known[order], np.asarray(rank[follow[order]])


def _without(rows: IntArray, others: IntArray) -> IntArray:
    both, index = np.unique(np.concatenate([others, rows]), axis=0, return_inverse=True)
    fresh = np.ones(len(both), dtype=bool)
    fresh[index.reshape(-1)[: len(others)]] = False
    return both[fresh]


@dataclass
class _Table:
    """Pairs (state, value), the first being the start, on their way to nodes."""

    state: IntArray
    value: IntArray
    after: IntArray
    machine: Automaton
    parts: tuple[Part, ...]
    values: IntArray

    def nodes(self) -> Nodes:
        node = self._merge_nodes(self._strong())
        _, node = np.unique(node, return_inverse=True)
        shape = int(node.max()) + 1, len(self.values)
        state = np.full(shape, NEVER)
        state[node, self.value] = self.state
        follow = np.full((*shape, self.after.shape[1]), NEVER)
        follow[node, self.value] = node[self.after]
        return Nodes(self.machine, self.parts, self.values, int(node[0]), state, follow)

    def _strong(self) -> IntArray:
        names = (
            tuple(map(str, range(n))) for n in (self.after.shape[1], len(self.after))
        )
        node = components(Semiautomaton(self.after.T, *names))
        labels = np.unique(np.stack([node, self.value, self.state]), axis=1)
        if len(np.unique(labels[:2], axis=1).T) < labels.shape[1]:
            raise MachineError(
                f"what runs beside {self.machine.name} does not tell the states of a "
                "component apart"
            )
        return node

    def _merge_nodes(self, node: IntArray) -> IntArray:
        """Nodes joined where that costs nothing: fewer departures, or fewer paths."""
        joining = _Joining(self, node.copy())
        if len(joining.members) <= MOST_NODES:
            joining.run()
        return joining.node


class _Joining:
    """Nodes joined one pair after the other.

    A node may be taken in by one that it leads to, and two nodes may be one if letters do
    the same in both. Each value must go with one state, no cycle may arise, and moves
    that the letter alone decides must stay so, unless clocks are the only parts beside.
    """

    def __init__(self, table: _Table, node: IntArray) -> None:
        self.table = table
        self.node = node
        self.members = {int(n): np.flatnonzero(node == n) for n in np.unique(node)}
        self.free = bool(table.parts) and all(p.kind == "clock" for p in table.parts)

    def run(self) -> None:
        """Join all nodes that can be joined, the last nodes of runs first."""
        rank = self._ranks()
        for n in sorted(self.members, key=lambda n: (rank[n], n)):
            rank = self._ranks()
            after = sorted(self._successors(n), key=lambda m: (-rank[m], m))
            target = next((m for m in after if self._taken_in(n, m)), None)
            if target is None:
                target = next((m for m in self.members if self._alike(n, m)), None)
            if target is not None:
                self._join(n, target)

    def _successors(self, n: int) -> set[int]:
        after = np.unique(self.node[self.table.after[self.members[n]]])
        return {int(m) for m in after} - {n}

    def _ranks(self) -> dict[int, int]:
        """How many nodes a run can still go to from each."""
        graph = {n: self._successors(n) for n in self.members}
        rank: dict[int, int] = {}
        while len(rank) < len(graph):
            for n, successors in graph.items():
                if n not in rank and successors <= rank.keys():
                    rank[n] = 1 + max((rank[m] for m in successors), default=-1)
        return rank

    def _taken_in(self, n: int, other: int) -> bool:
        """Whether a node can be joined to one that it leads to."""
        if self._overlap(n, other) or not self._direct(n, other):
            return False
        mine, theirs = self._stays(n, {n, other}), self._stays(other, {n, other})
        return self.free or bool(((theirs == _MIXED) | (mine == theirs)).all())

    def _alike(self, n: int, other: int) -> bool:
        """Whether all letters do the same in two nodes, whatever stands beside."""
        if other == n or self._overlap(n, other):
            return False
        mine, theirs = self._leads(n), self._leads(other)
        return bool(((mine != _MIXED) & (mine == theirs)).all())

    def _overlap(self, n: int, other: int) -> bool:
        first, second = self.members[n], self.members[other]
        return bool(np.isin(self.table.value[first], self.table.value[second]).any())

    def _direct(self, n: int, other: int) -> bool:
        """Whether no run goes from one node to the other by way of a third."""
        todo, seen = [m for m in self._successors(n) if m != other], set[int]()
        while todo:
            m = todo.pop()
            if m == other:
                return False
            if m not in seen:
                seen.add(m)
                todo += self._successors(m)
        return True

    def _stays(self, n: int, home: set[int]) -> IntArray:
        """``(letters,)``: 1 for letters that stay in these nodes, 0 for the others."""
        after = self.node[self.table.after[self.members[n]]]
        return _common(np.isin(after, list(home)).astype(np.int64))

    def _leads(self, n: int) -> IntArray:
        """``(letters,)``: the node that each leads to, −1 for staying."""
        after = self.node[self.table.after[self.members[n]]]
        return _common(np.where(after == n, -1, after))

    def _join(self, n: int, other: int) -> None:
        self.members[other] = np.union1d(self.members[other], self.members.pop(n))
        self.node[self.members[other]] = other


_MIXED = np.iinfo(np.int64).max


def _common(rows: IntArray) -> IntArray:
    """The common value of all rows in each column, `_MIXED` where they differ."""
    return np.where((rows == rows[:1]).all(axis=0), rows[0], _MIXED)
