"""Decision paths: how a table of tables is decided, for one MLP to do it at once."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, pairwise, product
from math import prod
from typing import NamedTuple

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.program import (
    Map,
    Operation,
    Program,
    Select,
    Sum,
    Table,
    Token,
    cone,
    is_embedded,
    is_sum,
)

# The stored channels from which an MLP decides a Map.


def summands(program: Program, name: str, stored: Container[str]) -> tuple[str, ...]:
    """The channels of a sum, if the table's only input is a sum that nothing stores.

    An MLP makes such a table of steps along the sum: it is not computed for itself.
    """
    operation = program.operations[name]
    if not isinstance(operation, Map) or len(operation.inputs) != 1:
        return ()
    (read,) = operation.inputs
    return program.operations[read].reads if _opens(program, read, stored) else ()


def _opens(program: Program, name: str, stored: Container[str]) -> bool:
    """Whether a channel is a sum of two stored integers that is not stored itself."""
    operation = program.operations[name]
    summed = isinstance(operation, Map) and isinstance(operation.function, Sum)
    if name in stored or not summed:
        return False
    read = operation.reads
    two = len(read) == 2 and all(n in stored for n in read)
    return two and program.one_hot.isdisjoint(read)


def leaves(program: Program, name: str, stored: Container[str]) -> tuple[str, ...]:
    """The channels from which a channel is decided, in the order it reads them.

    These are stored ones, and such as no MLP can compute or decide.
    """
    decided_from: dict[str, None] = {}
    todo = list(
        reversed(summands(program, name, stored) or program.operations[name].reads)
    )
    seen: set[str] = set()
    while todo:
        at = todo.pop()
        operation = program.operations[at]
        if at in stored or operation.is_attention or is_sum(operation):
            decided_from[at] = None
        elif at not in seen:
            seen.add(at)
            below = reversed(operation.reads)
            todo += [n for n in below if n not in decided_from and n not in seen]
    return tuple(decided_from)


def cone_signature(
    program: Program, name: str, stored: tuple[str, ...], number: dict[str, int]
) -> tuple[object, ...]:
    """The facts on which the MLP of a channel depends: its functions and its leaves.

    Channels count by their kinds and not by their names or places.

    Args:
        program: Where the channel stands.
        name: The channel.
        stored: Its leaves.
        number: A number for each leaf so far; grows.
    """
    described: list[object] = []
    for leaf in stored:
        operation = program.operations[leaf]
        known = operation if is_embedded(program, operation) else None
        at = number.setdefault(leaf, len(number))
        described.append((at, program.domains[leaf], leaf in program.one_hot, known))
    inside = {leaf: -1 - i for i, leaf in enumerate(stored)}
    steps: list[object] = []
    for channel in cone(program, name, inside):
        operation = program.operations[channel]
        inputs = tuple(inside[n] for n in operation.reads)
        function = operation.function if isinstance(operation, Map) else None
        inside[channel] = len(steps)
        steps.append((function, inputs, program.domains[channel]))
    return program.code(name), tuple(described), tuple(steps)


# Tables as reduced decision diagrams: no question without consequence.


Values = frozenset[int]


@dataclass(frozen=True, slots=True)
class Node:
    """A question about one input of a table.

    Attributes:
        column: Which input.
        branches: The values of the input that lead to each successor; a successor is the
            index of another node, or −1 − value where the value is decided.
    """

    column: int
    branches: tuple[tuple[int, Values], ...]


@dataclass
class Diagram:
    """A table as a reduced decision diagram: no question without consequence.

    Attributes:
        nodes: The questions.
        root: The first one, or −1 − value for a constant.
    """

    nodes: list[Node] = field(default_factory=list)
    root: int = 0
    known: dict[Node, int] = field(default_factory=dict)

    def node(self, column: int, branches: Mapping[int, list[int]]) -> int:
        """The node with these branches; none if all lead to the same."""
        if len(branches) == 1:
            return next(iter(branches))
        ordered = tuple((to, frozenset(v)) for to, v in sorted(branches.items()))
        made = Node(column, ordered)
        if made not in self.known:
            self.known[made] = len(self.nodes)
            self.nodes.append(made)
        return self.known[made]


def diagram(rows: IntArray, values: IntArray) -> Diagram:
    """The reduced diagram of a table, asking its inputs in order.

    Args:
        rows: ``(rows, inputs)`` in lexicographic order.
        values: ``(rows,)``.
    """
    made = Diagram()
    columns = [rows[:, i].tolist() for i in range(rows.shape[1])]
    leaves = (-1 - values).tolist()

    def below(low: int, high: int, column: int) -> int:
        if column == len(columns):
            return int(leaves[low])
        part, seen = rows[low:high, column], columns[column]
        cuts = np.flatnonzero(part[1:] != part[:-1]) + (low + 1)
        last = column + 1 == len(columns)
        branches: dict[int, list[int]] = {}
        for start, stop in pairwise([low, *cuts.tolist(), high]):
            # Most calls would end at once.
            to = leaves[start] if last else below(start, stop, column + 1)
            branches.setdefault(to, []).append(seen[start])
        return made.node(column, branches)

    made.root = below(0, len(rows), 0)
    return made


@lru_cache(maxsize=512)
def _diagram_of(table: Table, wanted: Values | None) -> Diagram:
    """The diagram of a table, or of the question whether its value is a wanted one."""
    values = table.values
    if wanted is not None:
        values = np.isin(values, list(wanted)).astype(np.int64)
    return diagram(table.rows, values)


# Decision paths: how a table of tables is decided, for one MLP to do it at once.
#
# A Map that reads Maps which the same MLP must compute is *opened*: its value is decided
# by channels that are stored already, its leaves. A path is one way to decide it: a set
# of values for some of the leaves, whatever the others are. Paths exclude each other and
# cover what can occur, so that an MLP needs one unit for each. They are as many as the
# paths of a reduced decision diagram, not as the rows of a joint table.


Given = Mapping[str, frozenset[int]]


class Path(NamedTuple):
    """One way in which a value is decided.

    Attributes:
        given: The leaves that are asked, and the values of each that lead this way.
        value: What is decided; or the leaf whose value it is.
    """

    given: Given
    value: int | str


NO = -1
"""Where the diagram of a question ends if the answer is no."""


class _Goal(NamedTuple):
    """A channel whose value, or whether it is one of those wanted, is to be decided.

    Attributes:
        name: The channel.
        wanted: The values; None if its own value is asked for.
        at: Where in its diagram the decision stands; 0 if it has none.
    """

    name: str
    wanted: Values | None
    at: int


_Goals = tuple[_Goal, "_Goals | None"]


@dataclass(frozen=True)
class Opener:
    """Opens Maps down to their leaves.

    Attributes:
        program: Where the Maps stand.
        leaves: The channels that are stored already.
    """

    program: Program
    leaves: Container[str]
    _diagrams: dict[tuple[str, Values | None], Diagram] = field(default_factory=dict)
    _compositions: dict[str, tuple[int, frozenset[str]] | None] = field(
        default_factory=dict
    )

    def paths(self, name: str, most: int | None = None) -> list[Path] | None:
        """All paths of a channel, or None if there are more than ``most``.

        Integers are asked only whether they lie in an interval, as an MLP can do without
        any noise: a path that allows more falls into several.
        """
        stop = None if most is None else most + 1
        paths = list(islice(self.each(name), stop))
        return None if most is not None and len(paths) > most else paths

    def few(self, name: str, most: int) -> bool:
        """Whether there are at most so many paths."""
        known = self._composition(name)
        if known is not None:
            return known[0] <= most
        count = 0
        for given, _ in self._spelt(name):
            count += prod(len(runs) for _, runs in self._runs_of(given))
            if count > most:
                return False
        return True

    def _composition(self, name: str) -> tuple[int, frozenset[str]] | None:
        """How many paths a composition of maps has, and the leaves that they ask.

        Where each selection asks for an integer that is stored and that nothing below
        asks again, there is one path for each of its values and each path below.
        """
        if name in self._compositions:
            return self._compositions[name]
        composition: tuple[int, frozenset[str]] | None = None
        operations = self.program.operations
        if name in self.leaves:
            plain = not is_embedded(self.program, operations[name])
            composition = (1, frozenset([name])) if plain else None
        elif isinstance(operations[name], Map):
            composition = self._selection(operations[name])
        if self.program.code(name) != "integer":
            composition = None
        self._compositions[name] = composition
        return composition

    def _selection(self, operation: Operation) -> tuple[int, frozenset[str]] | None:
        if not (isinstance(operation, Map) and isinstance(operation.function, Select)):
            return None
        index, *values = operation.inputs
        chosen = [self._composition(values[v]) for v in self.program.domains[index]]
        asked = self._composition(index)
        if asked is None or index not in self.leaves or None in chosen:
            return None
        below = [composition for composition in chosen if composition is not None]
        leaves = frozenset[str]().union(*(composition[1] for composition in below))
        if index in leaves:
            return None
        return sum(composition[0] for composition in below), leaves | {index}

    def each(self, name: str) -> Iterator[Path]:
        """The paths of a channel, one after the other."""
        for given, value in self._spelt(name):
            runs = dict(self._runs_of(given))
            for chosen in product(*runs.values()):
                yield Path(dict(zip(runs, chosen, strict=True)), value)

    def _runs_of(self, given: Given) -> Iterator[tuple[str, list[Values]]]:
        """The leaves that are asked, with the intervals that lead a way."""
        return ((n, self._runs(n, v)) for n, v in given.items() if n != self._token)

    def _spelt(self, name: str) -> Iterator[tuple[Given, int | str]]:
        """The decided value of each path, a leaf value by value where it cannot be copied.

        Start values meet others on some paths, which do not occur: they may lead out of
        the domain.
        """
        domain = self.program.domains[name]
        for given, value in self._decide(name):
            if isinstance(value, int):
                if value in domain:
                    yield given, value
            elif self.program.code(name) == self.program.code(value) == "integer":
                yield given, value
            else:
                for wanted in domain:
                    narrowed = self._narrow(value, frozenset([wanted]), given)
                    if narrowed is not None:
                        yield narrowed, wanted

    def _runs(self, name: str, values: Values) -> list[Values]:
        """The intervals of the channel's domain that make up some values."""
        if name in self.program.one_hot:
            return [values]
        if len(values) == 1:
            return [values]
        runs: list[list[int]] = [[]]
        for value in self.program.domains[name]:
            if value in values:
                runs[-1].append(value)
            elif runs[-1]:
                runs.append([])
        return [frozenset(run) for run in runs if run]

    @cached_property
    def _token(self) -> str:
        operations = self.program.operations
        return next((n for n, op in operations.items() if isinstance(op, Token)), "")

    def _map(self, name: str) -> Map:
        operation = self.program.operations[name]
        assert isinstance(operation, Map)
        return operation

    def _decide(self, name: str) -> Iterator[tuple[Given, int | str]]:
        """The ways to decide a channel: goals, reached one after the other.

        They stand on a stack of their own, since Maps may be nested deeper than calls.
        """
        todo: list[tuple[Given, _Goals | None]] = [({}, (self._goal(name), None))]
        while todo:
            given, goals = todo.pop()
            assert goals is not None
            goal, rest = goals
            if goal.at < 0 and goal.wanted is None:
                yield given, -1 - goal.at
            elif goal.at < 0:
                todo += [(given, rest)] * (goal.at != NO)
            elif goal.name not in self.leaves:
                ways = [(given, (a, (b, rest))) for a, b in self._answers(goal)]
                todo += reversed(ways)
            elif goal.wanted is None:
                yield given, goal.name
            elif (narrowed := self._narrow(goal.name, goal.wanted, given)) is not None:
                todo.append((narrowed, rest))

    def _answers(self, goal: "_Goal") -> Iterator[tuple["_Goal", "_Goal"]]:
        """The answers to the question of a goal, as goals, and the goal after each."""
        operation = self._map(goal.name)
        if isinstance(operation.function, Select):
            index, *values = operation.inputs
            for chosen in self.program.domains[index]:
                asked = self._goal(index, frozenset([chosen]))
                yield asked, self._goal(values[chosen], goal.wanted)
            return
        node = self._diagram(goal.name, goal.wanted).nodes[goal.at]
        for to, wanted in node.branches:
            if goal.wanted is None or to != NO:
                asked = self._goal(operation.inputs[node.column], wanted)
                yield asked, goal._replace(at=to)

    def _goal(self, name: str, wanted: Values | None = None) -> "_Goal":
        """To know a channel, or that it has one of some values."""
        asks = name not in self.leaves and isinstance(self._map(name).function, Table)
        return _Goal(name, wanted, self._diagram(name, wanted).root if asks else 0)

    def _narrow(self, name: str, wanted: Values, given: Given) -> Given | None:
        """``given`` and a leaf among some values; None if that cannot be."""
        values = wanted & given.get(name, frozenset(self.program.domains[name]))
        if not values:
            return None
        operation = self.program.operations[name]
        if not is_embedded(self.program, operation):
            return {**given, name: values}
        letters = _letters(operation, values)
        seen = given.get(self._token, frozenset(range(self.program.bos + 1)))
        if seen <= letters:
            return given
        left = seen & letters
        return {**given, name: values, self._token: left} if left else None

    def _diagram(self, name: str, wanted: Values | None) -> Diagram:
        if (name, wanted) not in self._diagrams:
            function = self._map(name).function
            assert isinstance(function, Table)
            self._diagrams[name, wanted] = _diagram_of(function, wanted)
        return self._diagrams[name, wanted]


@dataclass(frozen=True)
class PathLimit:
    """Whether channels have at most so many paths, asked once for channels that are alike.

    Attributes:
        program: Where the channels stand.
        most: How many paths are few.
    """

    program: Program
    most: int
    _known: dict[object, bool] = field(default_factory=dict)

    def admits(self, name: str, asked: tuple[str, ...], stored: Container[str]) -> bool:
        """Whether a channel has few paths.

        Args:
            name: The channel.
            asked: Its leaves.
            stored: All channels that are stored already.
        """
        alike = cone_signature(self.program, name, asked, {})
        if alike not in self._known:
            self._known[alike] = Opener(self.program, stored).few(name, self.most)
        return self._known[alike]


def _letters(operation: Operation, values: Values) -> Values:
    """The letters at which an embedded channel has some values."""
    assert isinstance(operation, Map)
    assert isinstance(operation.function, Table)
    chosen = np.isin(operation.function.values, list(values))
    return frozenset(operation.function.rows[chosen, 0].tolist())
