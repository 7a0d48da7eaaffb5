"""The channels of a cascade: each component says its state before and after the letter."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.cascade import INVALID, Cascade, Component
from krohn.algebra.dependency import Dependency, Step, dependency
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.structure import as_counter, as_memory
from krohn.compiler.constructions.counter import LARGEST_SUM
from krohn.compiler.constructions.latest_before import latest_before
from krohn.compiler.constructions.scan import compose
from krohn.compiler.errors import CompileError
from krohn.program import Latest, Map, Operation, PrefixSum, Row, Shift, Token, table


@dataclass
class CascadeChannels:
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
        elif len(self.cascade.components) > 1:
            self._scan(i, component)
        else:
            raise CompileError(
                f"{machine} is one component with a group that is not solvable, or too "
                "large to be taken apart; use the scan"
            )

    def _letter(self, i: int, values: Mapping[str, tuple[list[int], int]]) -> None:
        """Channels with a number for each letter that component ``i`` reads.

        Args:
            i: The component.
            values: For each channel, the number of each letter, and the one at BOS.
        """
        found = dependency(self.cascade, i)
        *steps, last = found.steps or (None,)
        channel, count = self._first_node(i, found)
        for step in steps:
            name = f"{channel}.{step.component}"
            after = int(step.follow.max()) + 1
            self._step(name, channel, count, step, (np.arange(after + 1), after))
            channel, count = name, after
        for name, (numbers, at_bos) in values.items():
            emitted = np.array(numbers)[found.emit]
            if last is not None:
                self._step(name, channel, count, last, (emitted, at_bos))
                continue
            rows: dict[Row, int] = {(n,): int(v) for n, v in enumerate(emitted)}
            self.operations[name] = Map(table({**rows, (count,): at_bos}), (channel,))

    def _first_node(self, i: int, found: Dependency) -> tuple[str, int]:
        """The first node of a dependency, and the number that stands for BOS."""
        count = int(found.entry.max()) + 1
        rows: dict[Row, int] = {(a,): int(n) for a, n in enumerate(found.entry)}
        rows[self.bos,] = count
        self.operations[f"node{i}"] = Map(table(rows), ("token",))
        return f"node{i}", count

    def _step(
        self,
        name: str,
        channel: str,
        count: int,
        step: Step,
        values: tuple[IntArray, int],
    ) -> None:
        """A channel from a node and the state before of the component that it reads.

        Args:
            name: The new channel.
            channel: The node.
            count: Its number at BOS.
            step: What the state makes of the node.
            values: What to say at each next node, and at BOS.
        """
        says, at_bos = values
        before, states = self._before(step.component)
        after = says[_fill(step.follow)]
        rows: dict[Row, int] = {
            (n, shown): int(after[n, state])
            for n in range(len(after))
            for shown, state in states.items()
        }
        for shown in states:
            rows[count, shown] = at_bos
        self.operations[name] = Map(table(rows), (channel, before))

    def _before(self, i: int) -> tuple[str, Mapping[int, int]]:
        """A channel of a component's state before the letter, and its values' meaning."""
        size = self.cascade.components[i].size
        made: dict[str, Operation]
        if f"scan{i}.map0[0]" in self.operations:
            name, states = f"before{i}", {q: q for q in range(size)}
            made = {name: Shift(f"now{i}", 1)}
        elif f"increment{i}" in self.operations:
            name, states = f"before{i}", {q: q for q in range(size)}
            made = {name: self._turned_back(i)}
        else:
            name, states = f"earlier{i}", self._states_of_memory(i)
            values, flags = f"written{i}", f"writes{i}"
            made = latest_before(name, values, flags, range(size + 1), self.length)
        if name not in self.operations:
            self.operations |= made
        return name, states

    def _states_of_memory(self, i: int) -> dict[int, int]:
        """The state of each value of a memory; 0, before any write, is the start."""
        size = self.cascade.components[i].size
        return {0: int(self.start[i]), **{q + 1: q for q in range(size)}}

    def _counter(
        self,
        i: int,
        modulus: int,
        increments: tuple[int, ...],
        labels: tuple[int, ...],
    ) -> None:
        if max(increments) * self.length > LARGEST_SUM:
            raise CompileError("a counter would need too large a table of sums")
        self._letter(i, {f"increment{i}": (list(increments), 0)})
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
        written = [1 if q is None else q + 1 for q in writes]
        flags = [int(q is not None) for q in writes]
        self._letter(i, {f"written{i}": (written, 0), f"writes{i}": (flags, 1)})
        self.operations[f"stored{i}"] = Latest(f"written{i}", f"writes{i}")
        rows: dict[Row, int] = {(v,): q for v, q in self._states_of_memory(i).items()}
        self.operations[f"now{i}"] = Map(table(rows), (f"stored{i}",))

    def _scan(self, i: int, component: Component) -> None:
        """Compose the maps of a component that is no sum and no memory (Theorem 10)."""
        prefix, points = f"scan{i}.", range(component.size)
        table_of_letters = component.machine.transitions
        self._letter(
            i,
            {
                f"{prefix}map0[{p}]": (table_of_letters[:, p].tolist(), p)
                for p in points
            },
        )
        levels, images = compose(prefix, self.length, 2, component.size)
        self.operations |= levels
        same: dict[Row, int] = {(q,): q for q in points}
        self.operations[f"now{i}"] = Map(table(same), (images[self.start[i]],))

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
                (n, s): int(v) for (n, s), v in np.ndenumerate(_fill(follow))
            }
            self.operations[f"at{i}"] = Map(table(led), (f"at{i - 1}", f"now{i}"))
        return f"at{len(self.cascade.components) - 1}"


def _fill(follow: IntArray) -> IntArray:
    """Every row completed by a node to which it leads; such entries never occur."""
    return np.where(follow == INVALID, follow.max(axis=1, keepdims=True), follow)
