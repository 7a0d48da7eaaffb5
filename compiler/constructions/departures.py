"""Machines that a run goes through in a bounded number of departures, in few layers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.classification.digraph import j_trivial
from krohn.algebra.departures.nodes import NEVER, Nodes, nodes
from krohn.algebra.departures.subsequences import Subsequences, subsequences
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable
from krohn.compiler import CompileError
from krohn.compiler.constructions import pointers
from krohn.compiler.constructions.first_looks import check_departs
from krohn.compiler.constructions.part_channels import Function, PartChannels
from krohn.compiler.machine_programs import machine_program, of_letter, one_tuple_each
from krohn.program import (
    Earliest,
    Map,
    Operation,
    PrefixSum,
    Program,
    Row,
    Select,
    table,
)

# Channels that say how far along a path of departures a run has come.
#
# A path is a sequence of flags f_1, …, f_k. Its departures are made at the first position
# with f_1, at the first one after it with f_2, and so on. There are two ways to follow
# it. *One by one*: a flag counts where the departure before it was made; a layer for each
# flag, and a sum sees several equal flags in one. *By doubling*: the first departures
# from the left, the others by pointers from the right
# (`krohn.compiler.constructions.pointers`), about half of them each; a layer for each
# power of two.

Path: TypeAlias = tuple[int, ...]
"""Flags by their number."""

ANY = "any-letter"
LONGEST_SUM = 1400
"""T of the longest prefix sum that float32 tells apart, about: 2·T²·2^-24 < 1/4."""


@dataclass(frozen=True)
class ChannelRecipe:
    """A way to make a channel.

    Attributes:
        depth: After how many attention layers it stands.
        make: Makes it and says its name.
    """

    depth: int
    make: Callable[[], str]


MOST_DEPARTURES = 120
"""In a row, on one path. Each is at most six calls deep, and Python allows a thousand: 720
of these, and room for whoever calls."""


class Paths:
    """Channels for paths; each is made when it is first asked for.

    Attributes:
        beside: Where the flags stand and the channels go.
        flags: The flags by their number.
        sums: Whether prefix sums may be used; pointers replace them, in more layers.
    """

    def __init__(self, beside: PartChannels) -> None:
        self.beside = beside
        self.flags: list[Function] = []
        self.sums = beside.length <= LONGEST_SUM
        self._ways: dict[tuple[str, Path], ChannelRecipe] = {}

    def flag(self, flag: Function) -> int:
        """The number of a flag."""
        names = [f.name for f in self.flags]
        if flag.name not in names:
            self.flags.append(flag)
        return names.index(flag.name) if flag.name in names else len(names)

    def has_left(self, path: Path) -> ChannelRecipe:
        """Whether all departures were made; 0 at BOS, and 1 for good once it is 1."""
        return self._first_of("left", path, self._ways_to_tell)

    def completes(self, path: Path) -> ChannelRecipe:
        """A flag that is 1 first where the last departure is made; 0 at BOS."""
        return self._first_of("completes", path, self._completes)

    def value_at_departure(self, path: Path, source: Function) -> ChannelRecipe:
        """The value of a function at the last departure; 0 before it."""
        ends, name = self.completes(path), f"{source.name}.at.{_spell(path)}"
        return ChannelRecipe(
            1 + max(ends.depth, source.depth),
            lambda: self._add(name, Earliest(source.name, ends.make())),
        )

    def _first_of(
        self, kind: str, path: Path, ways: Callable[[Path], Iterable[ChannelRecipe]]
    ) -> ChannelRecipe:
        if len(path) > MOST_DEPARTURES:
            raise CompileError(
                f"a run has {len(path)} departures in a row, and {MOST_DEPARTURES} is the "
                "most"
            )
        if (kind, path) not in self._ways:
            self._ways[kind, path] = min(ways(path), key=lambda way: way.depth)
        return self._ways[kind, path]

    def _add(self, name: str, operation: Operation) -> str:
        self.beside.operations.setdefault(name, operation)
        return name

    def _add_all(self, name: str, operations: Mapping[str, Operation]) -> str:
        for made, operation in operations.items():
            self._add(made, operation)
        return name

    def _ways_to_tell(self, path: Path) -> Iterable[ChannelRecipe]:
        rest, times = _split_repeats(path)
        ends = self._one_by_one(path)
        if times == 1 and ends is not None:
            yield self._ever(path, ends)
        if self.sums:
            yield self._count(rest, path[-1], times)
        yield from self._halves(path)

    def _completes(self, path: Path) -> Iterable[ChannelRecipe]:
        ends = self._one_by_one(path)
        if ends is not None:
            yield ends
        if len(path) > 1:
            yield self.has_left(path)

    def _one_by_one(self, path: Path) -> ChannelRecipe | None:
        """The last flag, where all other departures were made before, if that is known."""
        flag = self.flags[path[-1]]
        if len(path) == 1:
            return ChannelRecipe(flag.depth, lambda: flag.name)
        before = self._before(path[:-1], path[-1])
        if before is None:
            return None
        name = f"departs.{_spell(path)}"
        both: dict[Row, int] = {(a, b): a & b for a, b in product(range(2), repeat=2)}

        def make() -> str:
            return self._add(name, Map(table(both), (flag.name, before.make())))

        return ChannelRecipe(max(before.depth, flag.depth), make)

    def _ever(self, path: Path, ends: ChannelRecipe) -> ChannelRecipe:
        name = f"left.{_spell(path)}"

        def make() -> str:
            self._add(ANY, of_letter([1] * self.beside.letters, 0))
            return self._add(name, Earliest(ANY, ends.make()))

        return ChannelRecipe(ends.depth + 1, make)

    def _before(self, path: Path, after: int) -> ChannelRecipe | None:
        """Whether all departures were made before a position with the flag ``after``."""
        rest, times = _split_repeats(path)
        ways = [self._count(rest, path[-1], times, before=True)] if self.sums else []
        if not (self.flags[path[-1]].shown & self.flags[after].shown).any():
            # The last departure is not made there, so it was made before if it was made.
            ways.insert(0, self.has_left(path))
        return min(ways, key=lambda way: way.depth, default=None)

    def _count(
        self, rest: Path, flag: int, times: int, before: bool = False
    ) -> ChannelRecipe:
        """Whether a flag was there so often since other departures, by a sum."""
        ends = self._one_by_one((*rest, flag))
        assert ends is not None  # a sum says what was so before
        name = f"{'before' if before else 'left'}.{_spell((*rest, *[flag] * times))}"
        most = self.beside.length

        def make() -> str:
            here = ends.make()
            total = self._add(f"{here}.sum", PrefixSum(here))
            if not before:
                enough: dict[Row, int] = {
                    (s,): int(s >= times) for s in range(most + 1)
                }
                return self._add(name, Map(table(enough), (total,)))
            few: dict[Row, int] = {(s,): min(s, times + 1) for s in range(most + 1)}
            upto = self._add(f"{name}.few", Map(table(few), (total,)))
            rows: dict[Row, int] = {
                (s, x): int(s - x >= times) for s in range(times + 2) for x in range(2)
            }
            return self._add(name, Map(table(rows), (upto, here)))

        return ChannelRecipe(ends.depth + 1, make)

    def _halves(self, path: Path) -> Iterable[ChannelRecipe]:
        """From the left up to some departure, from the right for the others."""
        return (self._compare_pointers(path[:i], path[i:]) for i in range(1, len(path)))

    def _compare_pointers(self, done: Path, left: Path) -> ChannelRecipe:
        ends, last = self.completes(done), self._pointer(left)
        start = f"first.{_spell(done)}"
        name, length = f"left.{_spell(done)}-{_spell(left)}", self.beside.length

        def make() -> str:
            self._add_all("", pointers.places(length))
            self._add_all(start, pointers.first(start, ends.make()))
            made = pointers.has_happened(name, start, last.make(), length)
            return self._add_all(name, made)

        return ChannelRecipe(max(ends.depth + 1, last.depth), make)

    def _pointer(self, path: Path) -> ChannelRecipe:
        return self._first_of("pointer", path, self._pointers)

    def _pointers(self, path: Path) -> Iterable[ChannelRecipe]:
        name, length = f"last.{_spell(path)}", self.beside.length
        if len(path) > 1:
            cuts = range(1, len(path))
            yield from (self._compose(name, path[:i], path[i:]) for i in cuts)
            return
        flag = self.flags[path[0]]

        def make() -> str:
            self._add_all("", pointers.places(length))
            where = self.beside.flag_with_bos(flag)
            return self._add_all(name, pointers.last(name, where, length))

        yield ChannelRecipe(flag.depth + 1, make)

    def _compose(self, name: str, first: Path, then: Path) -> ChannelRecipe:
        outer, inner = self._pointer(first), self._pointer(then)

        def make() -> str:
            read = outer.make(), inner.make()
            made = pointers.compose_pointers(name, *read, self.beside.length)
            return self._add_all(name, made)

        return ChannelRecipe(1 + max(outer.depth, inner.depth), make)


def _split_repeats(path: Path) -> tuple[Path, int]:
    """The path without the equal flags at its end, and how many they are."""
    times = next((i for i, f in enumerate(reversed(path)) if f != path[-1]), len(path))
    return path[: len(path) - times], times


def _spell(path: Path) -> str:
    return ".".join(map(str, path))


# Partially ordered machines, lines, and counters and memories behind them.

MOST_PATHS = 256


def departures(machine: Automaton, length: int) -> Program:
    """The machine by the positions at which its run leaves one node for another.

    The nodes are those of `krohn.algebra.departures.nodes`: stay sets of a
    partially ordered machine, lines along which the position alone tells the state, or
    components beside counters, memories and windows. A run follows one path of nodes;
    whether it has left the last one is a test of the path's flags, and the letter at the
    first position that passes says where it went (Brzozowski and Fich 1984 show that
    subsequences of prefixes decide R-trivial languages).

    Raises:
        CompileError: If no run leaves a component for good, if a component is none of
            those that are known, or if there are too many paths.
    """
    check_departs(machine)
    walk = min(_walks(machine, length), key=lambda w: w.depth)
    state = walk.make()
    names = {name: q for q, name in enumerate(machine.states)}
    decode: dict[Row, int] = {
        (q,): names[n] for q, n in enumerate(walk.nodes.machine.states)
    }
    return machine_program(machine, length, walk.beside.operations, (state,), decode)


def _walks(machine: Automaton, length: int) -> list["_Walk"]:
    """With the first positions told apart and without, as far as there are such walks."""
    walks, reasons = list[_Walk](), list[str]()
    for tail in (False, True):
        try:
            walks.append(_Walk(nodes(machine, tail), length))
        except (MachineError, CompileError) as error:
            reasons.append(str(error))
    if not walks:
        raise CompileError(reasons[0])
    return walks


@dataclass(frozen=True)
class _Step:
    """A node at the end of a path.

    Attributes:
        node: The node.
        index: A channel of the run's place after it: 0 for still there, i + 1 for the
            i-th successor; None if no letter leaves the node.
        follows: The step of each successor.
        here: The state in the node, as a channel or a number, with its depth.
    """

    node: int
    index: ChannelRecipe | None
    follows: tuple["_Step", ...]
    here: tuple[str | int, int]

    @property
    def depth(self) -> int:
        """After how many attention layers the state is known from here on."""
        own = max(self.here[1], self.index.depth if self.index else 0)
        return max([own, *(step.depth for step in self.follows)])


class _Walk:
    """All paths of a machine's nodes."""

    def __init__(self, found: Nodes, length: int) -> None:
        letters = len(found.machine.letters)
        self.nodes = found
        self.beside = PartChannels(found.parts, found.values, letters, length)
        self.paths = Paths(self.beside)
        self._count = 0
        self._states: dict[int, tuple[str | int, int]] = {}
        self.first = self._step(found.start, ())

    @property
    def depth(self) -> int:
        """After how many attention layers the state is known."""
        return self.first.depth

    def _step(self, node: int, path: Path) -> _Step:
        self._count += 1
        if self._count > MOST_PATHS:
            raise CompileError(
                f"the runs of {self.nodes.machine.name} take more than {MOST_PATHS} paths "
                "through its components"
            )
        if node not in self._states:
            name = f"state{node}"
            self._states[node] = self.beside.state(name, self.nodes.state[node])
        here = self._states[node]
        after = self.nodes.successors(node)
        if not after:
            return _Step(node, None, (), here)
        leaves = self.beside.function(f"leaves{node}", self.nodes.leaves(node))
        path = (*path, self.paths.flag(leaves))
        follows = tuple(self._step(n, path) for n in after)
        if len(after) == 1:
            return _Step(node, self.paths.has_left(path), follows, here)
        where = self.beside.function(
            f"enters{node}", self._successor_numbers(node, after)
        )
        return _Step(node, self.paths.value_at_departure(path, where), follows, here)

    def _successor_numbers(self, node: int, after: list[int]) -> IntArray:
        """The number of the successor that follows, from 1 on: ``(values, letters)``."""
        follow = self.nodes.follow[node]
        number = np.full(len(self.nodes.state), NEVER)
        number[after] = np.arange(1, len(after) + 1)
        return np.asarray(np.where(follow == NEVER, NEVER, number[follow]))

    def make(self) -> str:
        """The channel of the state."""
        shown = self._show(self.first, "state")
        assert isinstance(shown, str)
        return shown

    def _show(self, step: _Step, name: str) -> str | int:
        if step.index is None:
            return step.here[0]
        index, operations = step.index.make(), self.beside.operations
        after = [self._show(s, f"{name}.{i}") for i, s in enumerate(step.follows)]
        options = [step.here[0], *after]
        values = range(len(options))
        if all(isinstance(option, int) for option in options):
            rows: dict[Row, int] = {(i,): int(options[i]) for i in values}
            operations[name] = Map(table(rows), (index,))
            return name
        inputs = [index]
        for option in options:
            if isinstance(option, int):
                fixed = f"{name}={option}"
                given: dict[Row, int] = {(i,): option for i in values}
                operations[fixed] = Map(table(given), (index,))
                option = fixed
            inputs.append(option)
        operations[name] = Map(Select(), tuple(inputs))
        return name


# Piecewise testable machines: a few subsequences side by side.

# Each of at most sixteen tests doubles the states; machines of hundreds have more tests.
MOST_STATES = 500


def piecewise(machine: Automaton, length: int) -> Program:
    """The machine from subsequences of at most k letters, in max(1, ⌈log2 k⌉) layers.

    Raises:
        CompileError: If no run leaves a state for good, if no subsequences of up to four
            letters decide the state, or if there is too much to tell apart.
    """
    check_departs(machine)
    part = reachable(machine)
    if len(part.states) > MOST_STATES:
        raise CompileError(
            f"machines of more than {MOST_STATES} states are not tried with "
            "subsequences"
        )
    if not j_trivial(part.semiautomaton).holds:
        raise CompileError(
            f"{machine.name} is not piecewise testable: subsequences do not decide its "
            "state"
        )
    deciding = _deciding_tests(part)
    beside = PartChannels(
        (), np.zeros((1, 0), dtype=np.int64), len(part.letters), length
    )
    paths = Paths(beside)
    flags = {
        i: paths.flag(
            beside.function(f"in{i}", deciding.sets[i].astype(np.int64)[None])
        )
        for i in sorted({i for test in deciding.tests for i in test})
    }
    outputs = tuple(
        paths.has_left(tuple(flags[i] for i in test)).make() for test in deciding.tests
    )
    names = {name: q for q, name in enumerate(machine.states)}
    decode = {row: names[part.states[q]] for row, q in deciding.state.items()}
    program = machine_program(machine, length, beside.operations, outputs, decode)
    return one_tuple_each(program, "state")


def _deciding_tests(part: Automaton) -> Subsequences:
    """Tests of two letters at most if these do, because they take one layer."""
    for longest in (2, 3, 4):
        tests = subsequences(part, longest)
        if tests is not None:
            return tests
    raise CompileError(
        "the subsequences of up to four letters do not decide the state of "
        f"{part.name}, or there are too many of them"
    )
