"""Cascades of counters and memories: solvable machines in constant depth (Theorem 11).

The thesis puts the levels of a decomposition one after another, with a wiring layer that
copies the states of the position before (Lemma 21, erratum E21). Here every component
says its state after the letter *and* before it, so that the next one can begin at once: a
counter's state before is a function of its state after and the letter, because it can be
turned back; a memory fetches the last value written strictly before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from algebra.automaton import Automaton
from algebra.budget import Budget, BudgetExceeded
from algebra.cascade import INVALID, Cascade, Component
from algebra.decomposition.methods import decompose
from algebra.decomposition.reach import restricted
from algebra.decomposition.simplify import simplify
from algebra.dependency import Dependency, dependency
from algebra.operations import reachable
from algebra.semiautomaton import IntArray
from algebra.structure import as_counter, as_memory
from compiler.constructions.before import latest_before
from compiler.constructions.counter import LARGEST_SUM
from compiler.errors import CompileError
from compiler.program import (
    Latest,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Token,
    table,
)

NAME = "cascade"
SUMMARY = "counters and memories that steer each other (Theorem 11, shallower)"
SECONDS = 4.0
MOST_COORDINATES = 200_000


def cascade(machine: Automaton, length: int) -> Program:
    """The cascade of a machine all of whose groups are solvable.

    Raises:
        CompileError: If a group is not solvable, or no decomposition was found in time.
    """
    alive = reachable(machine)
    found = decomposed(alive)
    builder = _Builder(found, found.lift[alive.start], length)
    for i, component in enumerate(found.components):
        builder.add(i, component, alive.name)
    names = {name: q for q, name in enumerate(machine.states)}
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=builder.operations,
        outputs=(builder.project(),),
        decode={(q,): names[name] for q, name in enumerate(alive.states)},
    )


def decomposed(machine: Automaton) -> Cascade:
    """The cheapest cascade, cut down to what the start reaches.

    Raises:
        CompileError: If none was found within the budget.
    """
    try:
        best = decompose(machine.semiautomaton, budget=Budget(SECONDS, 200_000)).cascade
    except BudgetExceeded as reason:
        raise CompileError(
            f"{machine.name} was not decomposed in time ({reason})"
        ) from None
    try:
        limit = Budget(SECONDS, MOST_COORDINATES)
        return simplify(restricted(best, limit, machine.start))
    except BudgetExceeded:
        return best


@dataclass
class _Builder:
    """The channels of a cascade, component by component.

    Attributes:
        cascade: What is built.
        start: The coordinates of the start state.
        length: T.
        operations: The channels so far: ``now{i}`` is the state of component i after the
            letter, ``before{i}`` the one before it.
    """

    cascade: Cascade
    start: IntArray
    length: int
    operations: dict[str, Operation] = field(init=False)

    def __post_init__(self) -> None:
        self.operations = {"token": Token()}

    @property
    def bos(self) -> int:
        """The token at position 0."""
        return len(self.cascade.letters)

    def add(self, i: int, component: Component, machine: str) -> None:
        """The channels of component ``i``."""
        alone = Automaton(component.machine, start=int(self.start[i]))
        count, stored = as_counter(alone), as_memory(alone)
        if stored is not None:
            self._memory(i, stored.writes)
        elif count is not None:
            self._counter(i, count.modulus, count.increments, count.labels)
        else:
            raise CompileError(
                f"{machine} has a group that is not solvable, or too large to be taken "
                "apart; use the scan"
            )

    def _letter(
        self, i: int, name: str, values: Mapping[int, int], at_bos: int
    ) -> None:
        """A channel with a value for each letter that component ``i`` reads."""
        found = dependency(self.cascade, i)
        node, channel = self._follow(i, found)
        last: dict[Row, int] = {
            (n,): values[int(letter)] for n, letter in enumerate(found.emit)
        }
        self.operations[name] = Map(table({**last, (node,): at_bos}), (channel,))

    def _follow(self, i: int, found: Dependency) -> tuple[int, str]:
        """The channel of the last node of a dependency, and its value at BOS."""
        channel, count = f"node{i}", int(found.entry.max()) + 1
        rows: dict[Row, int] = {(a,): int(n) for a, n in enumerate(found.entry)}
        self.operations[channel] = Map(table({**rows, (self.bos,): count}), ("token",))
        for step in found.steps:
            count_after = int(step.follow.max()) + 1
            after = _filled(step.follow)
            led: dict[Row, int] = {
                (n, s): int(v) for (n, s), v in np.ndenumerate(after)
            }
            led[count, int(self.start[step.component])] = count_after
            below = f"{channel}.{step.component}"
            inputs = (channel, self._before(step.component))
            self.operations[below] = Map(table(led), inputs)
            channel, count = below, count_after
        return count, channel

    def _before(self, i: int) -> str:
        """The channel of a component's state before the letter, made when first read."""
        name = f"before{i}"
        if name in self.operations:
            return name
        if f"increment{i}" in self.operations:
            self.operations[name] = self._turned_back(i)
        else:
            self.operations |= self._stored_before(i)
        return name

    def _counter(
        self,
        i: int,
        modulus: int,
        increments: tuple[int, ...],
        labels: tuple[int, ...],
    ) -> None:
        if max(increments) * self.length > LARGEST_SUM:
            raise CompileError("a counter would need too large a table of sums")
        self._letter(i, f"increment{i}", dict(enumerate(increments)), 0)
        self.operations[f"sum{i}"] = PrefixSum(f"increment{i}")
        state = {label: q for q, label in enumerate(labels)}
        sums = range(max(increments) * self.length + 1)
        counts: dict[Row, int] = {(s,): state[s % modulus] for s in sums}
        self.operations[f"now{i}"] = Map(table(counts), (f"sum{i}",))

    def _turned_back(self, i: int) -> Operation:
        alone = Automaton(self.cascade.components[i].machine, start=int(self.start[i]))
        count = as_counter(alone)
        assert count is not None
        state = {label: q for q, label in enumerate(count.labels)}
        rows: dict[Row, int] = {
            (q, step): state[(label - step) % count.modulus]
            for q, label in enumerate(count.labels)
            for step in {0, *count.increments}
        }
        return Map(table(rows), (f"now{i}", f"increment{i}"))

    def _memory(self, i: int, writes: tuple[int | None, ...]) -> None:
        # 0 stands for nothing written yet: the start, which BOS holds.
        values = {a: 1 if q is None else q + 1 for a, q in enumerate(writes)}
        flags = {a: int(q is not None) for a, q in enumerate(writes)}
        self._letter(i, f"written{i}", values, 0)
        self._letter(i, f"writes{i}", flags, 1)
        self.operations[f"stored{i}"] = Latest(f"written{i}", f"writes{i}")
        self.operations[f"now{i}"] = self._state_of(i, f"stored{i}")

    def _state_of(self, i: int, stored: str) -> Operation:
        rows: dict[Row, int] = {
            (q + 1,): q for q in range(self.cascade.components[i].size)
        }
        return Map(table({**rows, (0,): int(self.start[i])}), (stored,))

    def _stored_before(self, i: int) -> dict[str, Operation]:
        values = range(self.cascade.components[i].size + 1)
        made = latest_before(
            f"earlier{i}", f"written{i}", f"writes{i}", values, self.length
        )
        return {**made, f"before{i}": self._state_of(i, f"earlier{i}")}

    def project(self) -> str:
        """The channel of the machine's state."""
        if not self.cascade.components:
            self.operations["state"] = Map(
                table({(a,): 0 for a in range(self.bos + 1)}), ("token",)
            )
            return "state"
        channel = "now0"
        first = self.cascade.projection.follow[0][0]
        rows: dict[Row, int] = {
            (s,): int(v) for s, v in enumerate(first) if v != INVALID
        }
        self.operations["at0"] = Map(table(rows), (channel,))
        for i, follow in enumerate(self.cascade.projection.follow[1:], start=1):
            led: dict[Row, int] = {
                (n, s): int(v) for (n, s), v in np.ndenumerate(_filled(follow))
            }
            self.operations[f"at{i}"] = Map(table(led), (f"at{i - 1}", f"now{i}"))
        return f"at{len(self.cascade.components) - 1}"


def _filled(follow: IntArray) -> IntArray:
    """Every row completed by a node that it leads to; such entries never occur."""
    return np.where(follow == INVALID, follow.max(axis=1, keepdims=True), follow)
