"""Partially ordered machines, lines, and counters and memories behind them."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.classification.digraph import components
from krohn.algebra.departures.nodes import NEVER, Nodes, nodes
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import reachable
from krohn.compiler.constructions.departures.channels import PartChannels
from krohn.compiler.constructions.departures.paths import ChannelRecipe, Path, Paths
from krohn.compiler.errors import CompileError
from krohn.program import Map, Program, Row, Select, table

NAME = "departures"
SUMMARY = "find where a run leaves states for good, by doubling (R-trivial, lines)"
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
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=walk.beside.operations,
        outputs=(state,),
        decode={(q,): names[n] for q, n in enumerate(walk.nodes.machine.states)},
    )


def check_departs(machine: Automaton) -> None:
    """Refuse machines in which every state can be entered again.

    Raises:
        CompileError: If it is one.
    """
    if not components(reachable(machine).semiautomaton).any():
        raise CompileError(f"no run of {machine.name} leaves a state for good")


def _walks(machine: Automaton, length: int) -> list["_Walk"]:
    """With the first positions told apart and without, as far as there are such walks."""
    found, reasons = list[_Walk](), list[str]()
    for tail in (False, True):
        try:
            found.append(_Walk(nodes(machine, tail), length))
        except (MachineError, CompileError) as error:
            reasons.append(str(error))
    if not found:
        raise CompileError(reasons[0])
    return found


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
