"""Parities in one layer: which letters count depends on the position; trees of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod
from operator import add

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.structure import (
    LayeredParity,
    ParityNode,
)
from krohn.compiler import CompileError
from krohn.compiler.constructions.first_looks import layered_parity, tree_of_parities
from krohn.compiler.machine_programs import (
    decode_outputs,
    machine_program,
    of_letter,
    of_sum,
)
from krohn.program import (
    Map,
    MarkedSum,
    Operation,
    Piecewise,
    Position,
    PrefixSum,
    Program,
    Row,
    table,
)
from krohn.program.expressions import MOST_TERMS, argument, rectify

LARGEST_TABLE = 2**16
BOTH = {row: min(row) for row in product((0, 1), repeat=2)}


def parity(machine: Automaton, length: int) -> Program:
    """The parity of letters at given positions, for words up to ``length``.

    Letters that do not count are 0 before a uniform head adds up all of them. That takes
    a block more than `selected_parity`, and a table with a step for each letter.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart.
    """
    parity_of_sum = of_sum("sum", length, lambda s: s % 2)
    layers = layered_parity(machine, length)
    operations = {
        **_increments(layers),
        "sum": PrefixSum("increment"),
        "parity": parity_of_sum,
    }
    return _program(machine, layers, operations)


def selected_parity(machine: Automaton, length: int) -> Program:
    """The parity of letters at given positions, which a head selects.

    Proposition 9 of the thesis (section 4.2.7), with the repair of F5: the head looks at
    the positions that count, so that the table has one step for each of them.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart, or no position counts.
    """
    layers = layered_parity(machine, length)
    operations = sum_channels(length, kinds(layers))
    return _program(machine, layers, operations)


def by_table(machine: Automaton, length: int) -> Program:
    """The parity of letters that are copied one by one, from a table of all 2^k values.

    Proposition 10 of the thesis (section 4.2.7), with the repair of F6: one uniform head
    adds up each letter that counts, which is 0 at all other positions, and undoes the
    average. A letter and its position are embedded one by one here and not together, so
    a block before keeps the letter at its position.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart, no position counts, or too many do.
    """
    layers = layered_parity(machine, length)
    single = [(kind, (place,)) for kind, places in kinds(layers) for place in places]
    operations: dict[str, Operation] = {}
    for name, operation in sum_channels(length, single).items():
        if isinstance(operation, MarkedSum):
            both = operation.source, operation.where
            operations[f"{name}.summand"] = Map(table(BOTH), both)
            operation = PrefixSum(f"{name}.summand")
        operations[name] = operation
    return _program(machine, layers, operations)


def sawtooth(machine: Automaton, length: int) -> Program:
    """The parity of letters that a head selects, by k ReLUs instead of steps.

    s − 2·ReLU(s − 1) + 2·ReLU(s − 2) − … has no plateau: what a sum is off is passed on,
    and nothing takes it away.

    Raises:
        CompileError: If words of some length reach other than one state or two that all
            letters keep apart, or no position counts, or too many do.
    """
    layers = layered_parity(machine, length)
    operations, sums = _marked_sums(length, kinds(layers))
    most = sum(len(places) for _, places in kinds(layers))
    if most > MOST_TERMS:
        raise CompileError(f"a sawtooth has at most {MOST_TERMS} teeth, not {most}")
    total = reduce(add, map(argument, range(len(sums))))
    teeth = (rectify(total - s) * (2 * (-1) ** s) for s in range(1, most))
    function = Piecewise(reduce(add, teeth, total))
    return _program(machine, layers, {**operations, "parity": Map(function, sums)})


def _program(
    machine: Automaton, found: LayeredParity, operations: dict[str, Operation]
) -> Program:
    shown, outputs, decode = _read_out(found)
    length = len(found.increments)
    return machine_program(machine, length, {**operations, **shown}, outputs, decode)


Summand = tuple[tuple[int, ...], tuple[int, ...]]
"""The increment of each letter, and the positions at which it counts."""


def kinds(found: LayeredParity, first: int = 0) -> list[Summand]:
    """The positions that count, from ``first`` on, by the letters' increments there."""
    places: dict[tuple[int, ...], list[int]] = {}
    for t, kind in enumerate(found.increments, first + 1):
        if any(kind):
            places.setdefault(kind, []).append(t)
    return [(kind, tuple(at)) for kind, at in places.items()]


def sum_channels(
    length: int, summands: Sequence[Summand], suffix: str = ""
) -> dict[str, Operation]:
    """A sum over the positions of each summand, and the parity of all sums."""
    if prod(len(places) + 1 for _, places in summands) > LARGEST_TABLE:
        raise CompileError(
            f"a table of {len(summands)} sums would have more than {LARGEST_TABLE} rows; "
            "the construction parity adds them up"
        )
    operations, sums = _marked_sums(length, summands, suffix)
    grid = product(*(range(len(places) + 1) for _, places in summands))
    parities: dict[Row, int] = {row: sum(row) % 2 for row in grid}
    operations[f"parity{suffix}"] = Map(table(parities), sums)
    return operations


def _marked_sums(
    length: int, summands: Sequence[Summand], suffix: str = ""
) -> tuple[dict[str, Operation], tuple[str, ...]]:
    """A sum over the positions of each summand, and the names of the sums."""
    if not summands:
        raise CompileError(
            "no letter counts at any position; there is nothing to select"
        )
    operations: dict[str, Operation] = {}
    for i, (kind, places) in enumerate(summands):
        here = frozenset(places)
        marks = (int(t in here) for t in range(length + 1))
        operations |= {
            f"bit{i}{suffix}": of_letter(kind, 0),
            f"counts{i}{suffix}": Position(tuple(marks)),
            f"sum{i}{suffix}": MarkedSum(f"bit{i}{suffix}", f"counts{i}{suffix}"),
        }
    return operations, tuple(f"sum{i}{suffix}" for i in range(len(summands)))


def _increments(found: LayeredParity) -> dict[str, Operation]:
    """The letter's step of a parity at positions of its kind; nothing at BOS."""
    kinds = list(dict.fromkeys(found.increments))
    columns = list(dict.fromkeys(zip(*kinds, strict=True)))
    classes = [columns.index(c) for c in zip(*kinds, strict=True)]
    own = len(columns)  # BOS is no letter
    rows: dict[Row, int] = {
        (i, c): column[i] for i in range(len(kinds)) for c, column in enumerate(columns)
    }
    first = kinds.index(found.increments[0])
    return {
        "letter": of_letter(classes, own),
        "kind": Position((first, *(kinds.index(k) for k in found.increments))),
        "increment": Map(table({**rows, (first, own): 0}), ("kind", "letter")),
    }


def _read_out(
    found: LayeredParity,
) -> tuple[dict[str, Operation], tuple[str, ...], dict[Row, int]]:
    """The place that, with the parity, tells the state; a table if it tells it twice."""
    places = list(dict.fromkeys(tuple(sorted(s.items())) for s in found.states))
    place = [places.index(tuple(sorted(s.items()))) for s in found.states]
    shown: dict[str, Operation] = {"place": Position(tuple(place))}
    meant: dict[Row, int] = {(p, i): q for i, s in enumerate(places) for p, q in s}
    if len(set(meant.values())) == len(meant):
        return shown, ("parity", "place"), meant
    some = next(iter(meant.values()))  # where words reach one state only
    grid = product((0, 1), range(len(places)))
    rows: dict[Row, int] = {row: meant.get(row, some) for row in grid}
    shown["state"] = Map(table(rows), ("parity", "place"))
    return shown, ("state",), {(q,): q for q in meant.values()}


# Parities that say which parity comes next: a decision tree.

MOST_ROWS = 2**18


def parity_tree(machine: Automaton, length: int) -> Program:
    """The state after a path through a tree of parities, for words up to ``length``.

    Section 4.2.7.3 of the thesis, for every machine that is such a tree: all nodes are
    added up side by side, each by a head that selects its positions, and nodes off the
    path are ignored by the table that follows it.

    Raises:
        CompileError: If the machine is no tree of two parities or more, or a large one.
    """
    tree = tree_of_parities(machine, length)
    program = _tree_program(machine, length, tree)
    if machine.output is not None:
        return program
    shown = Output("states", np.arange(len(machine.states)), machine.states)
    return decode_outputs(program, replace(machine, output=shown))


def _tree_program(
    machine: Automaton, length: int, nodes: Sequence[ParityNode]
) -> Program:
    operations = dict[str, Operation]()
    begins: dict[int, int] = {}
    for i, node in enumerate(nodes):
        summands = kinds(node.parity, node.first)
        if summands:
            operations |= sum_channels(length, summands, f"@{i}")
            begins[i] = min(places[0] for _, places in summands)
    operations["place"] = Position(tuple(range(length + 1)))
    outputs = (*(f"parity@{i}" for i in begins), "place")
    decode = dict(_rows(nodes, begins, length))
    return machine_program(machine, length, operations, outputs, decode)


def _rows(
    nodes: Sequence[ParityNode], begins: Mapping[int, int], length: int
) -> Iterator[tuple[Row, int]]:
    """The state that the parities at a position mean, whatever those off the path are."""
    free = [[i for i in begins if begins[i] <= t] for t in range(length + 1)]
    if sum(2 ** len(some) for some in free) > MOST_ROWS:
        raise CompileError(
            f"{len(begins)} parities have too many joint values for one table; choose a "
            "smaller tree"
        )
    for t, some in enumerate(free):
        for bits in product((0, 1), repeat=len(some)):
            label = dict.fromkeys(begins, 0) | dict(zip(some, bits, strict=True))
            yield (*label.values(), t), _state_after(nodes, label, t)


def _state_after(nodes: Sequence[ParityNode], label: Mapping[int, int], t: int) -> int:
    i = 0
    while t > nodes[i].last:
        i = nodes[i].children[label.get(i, 0)]
    return nodes[i].parity.states[t - nodes[i].first][label.get(i, 0)]
