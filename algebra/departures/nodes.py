"""Nodes: what a run stays in while its state is a function of the parts beside it."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from algebra.automaton import Automaton
from algebra.classification.digraph import components
from algebra.departures.parts import Part, parts
from algebra.errors import MachineError
from algebra.operations import reachable
from algebra.semiautomaton import IntArray, Semiautomaton

MOST_PAIRS = 4_000
MOST_NODES = 160
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
        tail: Whether the first positions are told apart: then what comes before the
            first state that can be kept costs nothing.

    Raises:
        MachineError: If some component is none of those that are known, if parts and
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
        node = self._merged(self._strong())
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
        told = np.unique(np.stack([node, self.value, self.state]), axis=1)
        if len(np.unique(told[:2], axis=1).T) < told.shape[1]:
            raise MachineError(
                f"what runs beside {self.machine.name} does not tell the states of a "
                "component apart"
            )
        return node

    def _merged(self, node: IntArray) -> IntArray:
        """Nodes joined where that costs nothing: fewer departures, or fewer paths."""
        joining = _Joining(self, node)
        if len(joining.members) <= MOST_NODES:
            joining.run()
        return joining.node


class _Joining:
    """Nodes joined one pair after the other.

    A node may take in one that leads to it, and two nodes may be one if letters do the
    same in both. Each value must go with one state, no cycle may arise, and a departure
    that the letter alone decides must stay one.
    """

    def __init__(self, table: _Table, node: IntArray) -> None:
        self.table = table
        self.node = node
        self.members = {int(n): np.flatnonzero(node == n) for n in np.unique(node)}
        # What the position tells is free.
        self.free = bool(table.parts) and all(p.kind == "clock" for p in table.parts)

    def run(self) -> None:
        for n in self._order():
            if n not in self.members:
                continue
            rank = self._ranks()
            for other in sorted(self._successors(n), key=lambda m: (-rank[m], m)):
                if self._direct(n, other) and self._fits(n, other, True):
                    self._join(n, other)
                    break
            else:
                self._alike(n)

    def _order(self) -> list[int]:
        rank = self._ranks()
        return sorted(self.members, key=lambda n: (rank[n], n))

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

    def _fits(self, n: int, other: int, together: bool) -> bool:
        first, second = self.members[n], self.members[other]
        if len(np.intersect1d(self.table.value[first], self.table.value[second])):
            return False
        if self.free and together:
            return True
        home = {n, other} if together else set[int]()
        mine, theirs = self._profile(n, home), self._profile(other, home)
        both = np.stack([mine, theirs])
        mixed = (both == _MIXED).any(axis=0)
        return bool((mixed & together | (both[0] == both[1])).all())

    def _profile(self, n: int, home: set[int]) -> IntArray:
        """``(letters,)``: where each leads, if the letter alone decides it.

        −1 for staying, −2 for elsewhere within ``home``'s terms, `_MIXED` if it depends.
        """
        after = self.node[self.table.after[self.members[n]]]
        stays = np.isin(after, list(home | {n}))
        leaves = -2 if home else after
        shown = np.where(stays, -1, leaves)
        same = (shown == shown[:1]).all(axis=0)
        return np.where(same, shown[0], _MIXED)

    def _alike(self, n: int) -> None:
        """Join a node with another one in which all letters do the same."""
        mine = self._profile(n, set())
        if (mine == _MIXED).any():
            return
        for other in self.members:
            if other == n or not self._fits(n, other, False):
                continue
            if np.array_equal(self._profile(other, set()), mine):
                self._join(n, other)
                return

    def _join(self, n: int, other: int) -> None:
        self.members[other] = np.union1d(self.members[other], self.members.pop(n))
        self.node[self.members[other]] = other


_MIXED = np.iinfo(np.int64).max
