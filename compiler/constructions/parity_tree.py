"""Parities that say which parity comes next: a decision tree in one layer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.structure import ParityNode, as_parity_tree
from krohn.compiler.constructions.parity import kinds, sum_channels
from krohn.compiler.cost import check_written
from krohn.compiler.errors import CompileError
from krohn.compiler.output_programs import decode_outputs
from krohn.program import Operation, Position, Program, Row, Token

NAME = "parity-tree"
SUMMARY = "compute all parities side by side; a table finds the path that they choose"
MOST_NODES = 32
MOST_ROWS = 2**18


def parity_tree(machine: Automaton, length: int) -> Program:
    """The state after a path through a tree of parities, for words up to ``length``.

    Section 4.2.7.3 of the thesis, for every machine that is such a tree: all nodes are
    added up side by side, each by a head that selects its positions, and nodes off the
    path are ignored by the table that follows it.

    Raises:
        CompileError: If the machine is no tree of two parities or more, or a large one.
    """
    check_written(length)
    found = as_parity_tree(machine, length, MOST_NODES)
    if found is None or len(found) == 1:
        raise CompileError(
            f"{machine.name} is no tree of 2 to {MOST_NODES} parities: the parity of "
            "the next letters must choose between two states, and in each of them "
            "another parity must begin"
        )
    program = _program(machine, length, found)
    if machine.output is not None:
        return program
    shown = Output("states", np.arange(len(machine.states)), machine.states)
    return decode_outputs(program, replace(machine, output=shown))


def _program(machine: Automaton, length: int, nodes: Sequence[ParityNode]) -> Program:
    operations: dict[str, Operation] = {"token": Token()}
    begins: dict[int, int] = {}
    for i, node in enumerate(nodes):
        summands = kinds(node.parity, node.first)
        if summands:
            operations |= sum_channels(length, len(machine.letters), summands, f"@{i}")
            begins[i] = min(places[0] for _, places in summands)
    operations["place"] = Position(tuple(range(length + 1)))
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations=operations,
        outputs=(*(f"parity@{i}" for i in begins), "place"),
        decode=dict(_rows(nodes, begins, length)),
    )


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
