"""Cascades of counters, memories and scans: the search, the channels, the Program."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import NORMAL, Budget, BudgetExceeded
from krohn.algebra.cascade import INVALID, Cascade, Component, trivial
from krohn.algebra.decomposition.diagrams import (
    Dependency,
    Step,
    dependency,
    restrict_to_reachable,
)
from krohn.algebra.decomposition.methods import decompose
from krohn.algebra.decomposition.simplify import simplify
from krohn.algebra.minimisation import reachable
from krohn.algebra.structure import as_counter, as_memory, clock
from krohn.compiler import CompileError
from krohn.compiler.constructions.pointers import latest_before
from krohn.compiler.constructions.scan import compose
from krohn.compiler.cost import Bound, Steps, levels
from krohn.compiler.machine_programs import machine_program, of_letter, of_sum
from krohn.program import (
    Latest,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Shift,
    Token,
    table,
)

# The search for a cascade that a network can be made of, once for each machine.


MOST_IMAGES = 200_000
MOST_COORDINATES = 50_000


def find_cascade(
    machine: Automaton, method: str = "auto", budget: Budget | None = None
) -> Cascade:
    """A cascade, cut down to the coordinates that the start reaches.

    Args:
        machine: Any machine.
        method: One of `krohn.algebra.decomposition.methods`; ``auto`` takes the cheapest.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If none was found within the budget.
    """
    return search_cascade(machine, method, budget or Budget(NORMAL)).cascade


@dataclass(frozen=True, eq=False)
class FoundCascade:
    """A decomposition for a network.

    Attributes:
        cascade: The cascade; the machine itself if there is a failure.
        exact: Whether all its valid coordinates are reached from the start.
        cut: What was left out because the budget was spent.
        failure: Why there is no cascade; empty if there is one.
    """

    cascade: Cascade
    exact: bool
    cut: tuple[str, ...]
    failure: str = ""


def search_cascade(machine: Automaton, method: str, budget: Budget) -> FoundCascade:
    """A cascade for a machine, with its names.

    Raises:
        CompileError: If none was found within the budget.
    """
    shape, table = machine.transitions.shape, machine.transitions.tobytes()
    search = _cheapest(shape, table, machine.start, method, budget.steps)
    for what in search.cut:
        budget.leave_out(what)
    if search.failure:
        raise CompileError(
            f"{machine.name} was not decomposed ({search.failure}); a higher "
            "--effort searches longer"
        )
    named = replace(search.cascade, letters=machine.letters, states=machine.states)
    return replace(search, cascade=named)


@lru_cache(maxsize=32)
def _cheapest(
    shape: tuple[int, int], table: bytes, start: int, method: str, steps: float
) -> FoundCascade:
    """The cascade found for transitions; a search is not done twice."""
    transitions = np.frombuffer(table, dtype=np.int64).reshape(shape)
    letters, states = (tuple(map(str, range(n))) for n in shape)
    machine = Semiautomaton(transitions, letters, states)
    budget = Budget(steps, MOST_IMAGES)
    try:
        smallest = decompose(machine, method, budget).cascade
    except BudgetExceeded as reason:
        return FoundCascade(trivial(machine), False, budget.cut, str(reason))
    limit = Budget(steps, MOST_COORDINATES)
    try:
        smallest = simplify(restrict_to_reachable(smallest, limit, start), limit)
    except BudgetExceeded as reason:
        what = f"values that no word needs may be left in the network ({reason})"
        return FoundCascade(smallest, False, (*budget.cut, what))
    return FoundCascade(smallest, True, (*budget.cut, *limit.cut))


# The channels of a cascade: each component says its state before and after the letter.


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
        wiring = dependency(self.cascade, i)
        *steps, last = wiring.steps or (None,)
        channel, count = self._first_node(i, wiring)
        for step in steps:
            name = f"{channel}.{step.component}"
            after = int(step.follow.max()) + 1
            self._step(name, channel, count, step, (np.arange(after + 1), after))
            channel, count = name, after
        for name, (numbers, at_bos) in values.items():
            emitted = np.array(numbers)[wiring.emit]
            if last is not None:
                self._step(name, channel, count, last, (emitted, at_bos))
                continue
            rows: dict[Row, int] = {(n,): int(v) for n, v in enumerate(emitted)}
            self.operations[name] = Map(table({**rows, (count,): at_bos}), (channel,))

    def _first_node(self, i: int, found: Dependency) -> tuple[str, int]:
        """The first node of a dependency, and the number that stands for BOS."""
        count = int(found.entry.max()) + 1
        self.operations[f"node{i}"] = of_letter(found.entry, count)
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
        after = says[complete_rows(step.follow)]
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
        self._letter(i, {f"increment{i}": (list(increments), 0)})
        self.operations[f"sum{i}"] = PrefixSum(f"increment{i}")
        state = {label: q for q, label in enumerate(labels)}
        self.operations[f"now{i}"] = of_sum(
            f"sum{i}", max(increments) * self.length, lambda s: state[s % modulus]
        )

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
            self.operations["state"] = of_letter([0] * len(self.cascade.letters), 0)
            return "state"
        channel = "now0"
        first = self.cascade.projection.follow[0][0]
        rows: dict[Row, int] = {
            (s,): int(v) for s, v in enumerate(first) if v != INVALID
        }
        self.operations["at0"] = Map(table(rows), (channel,))
        for i, follow in enumerate(self.cascade.projection.follow[1:], start=1):
            led: dict[Row, int] = {
                (n, s): int(v) for (n, s), v in np.ndenumerate(complete_rows(follow))
            }
            self.operations[f"at{i}"] = Map(table(led), (f"at{i - 1}", f"now{i}"))
        return f"at{len(self.cascade.components) - 1}"


def complete_rows(follow: IntArray) -> IntArray:
    """Every row completed by a node to which it leads; such entries never occur."""
    return np.where(follow == INVALID, follow.max(axis=1, keepdims=True), follow)


# Cascades of counters, memories and scans: of constant depth but for unsolvable groups.
#
# The thesis puts the levels of a decomposition one after another, with a wiring layer
# that copies the states of the position before (Lemma 21, erratum E21). Here every
# component says its state after the letter *and* before it, so that the next one can
# begin at once: a counter's state before is a function of its state after and the letter,
# because it can be turned back; a memory fetches the last value written strictly before.
# A component whose group is not solvable is scanned (Theorem 10), alone, so that only it
# takes log T layers. Solvable machines have none (Theorem 11).


MOST_STATES = 300
# To lay out tables of n nodes takes about n² steps of five microseconds by so many.
PAIRS_PER_STEP = 25
# A decomposition counts letters one by one: a level for each, where a scan takes log T.
LONGEST_CLOCK = 16


def cascade(
    machine: Automaton, length: int, budget: Budget | None = None
) -> Steps[Program]:
    """The cascade of a machine all of whose groups are solvable.

    Args:
        machine: Any machine.
        length: T.
        budget: How much work each search may do; it notes what they left out.

    Raises:
        CompileError: If a group is not solvable, states count many letters, no
            decomposition was found within the budget, or only one that is too large.
    """
    budget = budget or Budget(NORMAL)
    alive = reachable(machine)
    counted = clock(alive)
    if counted > LONGEST_CLOCK:
        raise CompileError(
            f"{machine.name} counts its letters up to {counted}, and a cascade needs "
            "a layer for each of them; use a scan, or a construction that reads the "
            "position"
        )
    if len(alive.states) > MOST_STATES:
        raise CompileError(
            f"no machine of more than {MOST_STATES} states is decomposed for a network"
        )
    moving = int(len(alive.states) > 1)
    yield Bound(depth=moving, layers=moving)
    search = search_cascade(alive, "auto", budget)
    levels = search.cascade
    _check_size(levels, alive.name, budget)
    if search.exact and length > 1:
        least = least_depth(levels, length)
        yield Bound(depth=least, layers=least)
    builder = CascadeChannels(levels, levels.lift[alive.start], length)
    for i, component in enumerate(levels.components):
        builder.add(i, component, alive.name)
    decode: dict[Row, int] = {
        (q,): machine.states.index(name) for q, name in enumerate(alive.states)
    }
    state = builder.project()
    return machine_program(machine, length, builder.operations, (state,), decode)


def _check_size(found: Cascade, name: str, budget: Budget) -> None:
    nodes = sum(map(len, found.wiring.emit))
    if nodes**2 > PAIRS_PER_STEP * budget.steps:
        budget.leave_out(f"a cascade with {nodes:,} nodes of wiring was not laid out")
        raise CompileError(
            f"the cascade of {name} that was found has {nodes:,} nodes of wiring, "
            "which would make a large network; say a higher --effort to build it"
        )


def least_depth(found: Cascade, length: int) -> int:
    """Layers that the components take that must wait for each other, or fewer.

    A counter sums, a memory looks back and a scan composes, after the components whose
    states the letter depends on, and before those that read the state.

    Args:
        found: A cascade in which all valid coordinates are reached.
        length: T, at least 2: one letter has nothing before it.
    """
    after: list[int] = []
    for i, component in enumerate(found.components):
        alone = Automaton(component.machine)
        scanned = as_counter(alone) is None and as_memory(alone) is None
        waits = [after[step.component] for step in dependency(found, i).steps]
        after.append(max(waits, default=0) + (levels(length, 2) if scanned else 1))
    return max(after, default=0)
