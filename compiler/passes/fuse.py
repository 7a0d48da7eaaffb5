"""Fusing: a table of tables is one table where that is no larger."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import ClassVar

import numpy as np

from krohn.compiler.passes.base import check_same_channels, evaluate_cone
from krohn.program import Map, Operation, Program, Table, Token


@dataclass(frozen=True)
class Fuse:
    """Replace tables over tables by tables over the inputs of the inner ones.

    Tables of the letter alone live in the embedding and cost nothing, so a table whose
    whole cone is the letter always becomes one; any other pair is fused when the joint
    table has no more rows than the outer one had. A channel with one value is a table of
    the letter as well.
    """

    name: ClassVar[str] = "fuse maps"

    def apply(self, source: Program) -> Program:
        """Fuse in the order of the channels, so that chains collapse."""
        operations: dict[str, Operation] = {}
        for name, operation in _with_constants(source).operations.items():
            operations[name] = _fuse(
                source.with_operations(operations), name, operation
            )
        return source.with_operations(operations)

    def check(self, source: Program, target: Program) -> None:
        """Every fused table agrees with the cone of tables that it replaces."""
        check_same_channels(_with_constants(source), target)


def _with_constants(program: Program) -> Program:
    """Channels with one value in their inferred domain, as tables of the letter."""
    tokens = [n for n, op in program.operations.items() if isinstance(op, Token)]
    operations = dict(program.operations)
    for name, operation in program.operations.items():
        if isinstance(operation, Map) and len(program.domains[name]) == 1:
            rows = np.arange(program.bos + 1)[:, None]
            values = np.full(len(rows), program.domains[name][0])
            operations[name] = Map(Table(rows, values), (tokens[0],))
    return program.with_operations(operations)


def _fuse(done: Program, name: str, operation: Operation) -> Operation:
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return operation
    atoms = _atoms(done, operation.inputs)
    sizes = [len(done.domains[a]) for a in atoms]
    embedded = all(_is_token(done.operations[a]) for a in atoms)
    smaller = prod(sizes) <= len(operation.function.rows)
    if atoms == operation.inputs or not (embedded or smaller):
        return operation
    grid = np.array(list(product(*(done.domains[a] for a in atoms))), dtype=np.int64)
    known = dict(zip(atoms, grid.T, strict=True))
    whole = done.with_operations({**done.operations, name: operation})
    values = evaluate_cone(whole, name, known)
    return Map(Table(grid, values), atoms)


def _atoms(program: Program, inputs: tuple[str, ...]) -> tuple[str, ...]:
    """The channels that the inputs are tables of; embedded ones count as read."""
    operations = program.operations
    tables = [operations[n] for n in inputs if _is_table(operations[n])]
    below = {r for op in tables for r in op.reads}
    if len(tables) == len(inputs) and all(_is_token(operations[r]) for r in below):
        return tuple(dict.fromkeys(r for op in tables for r in op.reads))
    return tuple(dict.fromkeys(r for n in inputs for r in _inputs_of_table(program, n)))


def _inputs_of_table(program: Program, name: str) -> tuple[str, ...]:
    operation = program.operations[name]
    if not _is_table(operation):
        return (name,)
    below = operation.reads
    embedded = any(_is_token(program.operations[r]) for r in below)
    return (name,) if embedded else below


def _is_table(operation: Operation) -> bool:
    return isinstance(operation, Map) and isinstance(operation.function, Table)


def _is_token(operation: Operation) -> bool:
    return isinstance(operation, Token)
