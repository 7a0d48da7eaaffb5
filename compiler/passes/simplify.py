"""Passes that leave less: domains inferred, channels shared, fused and dropped."""

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import ClassVar, TypeAlias

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.passes import (
    PassError,
    check_frame,
    check_order,
    check_same_channels,
    evaluate_cone,
)
from krohn.program import Map, Operation, Program, Table, Token
from krohn.program.domains import Values
from krohn.program.errors import told_as
from krohn.program.operations.base import Frame

# Domain inference: which values each channel can take.


@dataclass(frozen=True)
class InferDomains:
    """Annotate every channel with its values and drop table rows that cannot occur."""

    name: ClassVar[str] = "infer domains"

    def apply(self, source: Program) -> Program:
        """Restrict tables to reachable rows and fill in ``domains``."""
        values: dict[str, Values] = {}
        operations: dict[str, Operation] = {}
        tables: Restricted = {}
        known: Inferred = {}
        for name, operation in source.operations.items():
            read = tuple(values[n] for n in operation.reads)
            with told_as(CompileError, f"channel {name!r}: "):
                operations[name] = _restrict(operation, read, tables)
                values[name] = _infer(operations[name], read, source.frame, known)
        narrowed = source.with_operations(operations)
        return replace(narrowed, domains={n: v.domain for n, v in values.items()})

    def check(self, source: Program, target: Program) -> None:
        """Rows kept are as before, and the domains are closed under the operations."""
        check_order(target)
        check_same_channels(source, target)
        values: dict[str, Values] = {}
        known: Inferred = {}
        for name, operation in target.operations.items():
            read = tuple(values[n] for n in operation.reads)
            values[name] = _infer(operation, read, target.frame, known)
            if values[name].domain != target.domains[name]:
                raise PassError(f"the domain of channel {name!r} is not closed")


Restricted: TypeAlias = dict[tuple[int, tuple[Values, ...]], Table]
"""The rows left of a table, by its identity, for some values of its inputs."""
Inferred: TypeAlias = dict[tuple[int, tuple[Values, ...]], Values]
"""The values of a function, by its identity, for some values of its inputs."""


def _restrict(
    operation: Operation, read: tuple[Values, ...], tables: Restricted
) -> Operation:
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return operation
    key = id(operation.function), read
    if key not in tables:
        tables[key] = operation.function.occurring(read)
    same = tables[key] is operation.function
    return operation if same else Map(tables[key], operation.inputs)


def _infer(
    operation: Operation, read: tuple[Values, ...], frame: Frame, known: Inferred
) -> Values:
    if not isinstance(operation, Map):
        return operation.infer(read, frame)
    key = id(operation.function), read
    found = known.get(key)
    if found is None:
        found = known[key] = operation.infer(read, frame)
    return found


# Sharing: equal channels are computed once.


@dataclass(frozen=True)
class Share:
    """Replace every channel that repeats an earlier one by that one."""

    name: ClassVar[str] = "share"

    def apply(self, source: Program) -> Program:
        """Number the values; each number keeps its first name."""
        operations, names = number(source)
        shared = source.with_operations(operations)
        return replace(shared, outputs=tuple(names[n] for n in source.outputs))

    def check(self, source: Program, target: Program) -> None:
        """The outputs are equal terms before and after."""
        check_order(target)
        check_frame(source, target)
        first: dict[tuple[Operation, str], int] = {}
        before = _terms(source, first)
        after = _terms(target, first)
        old = [before[n] for n in source.outputs]
        if old != [after[n] for n in target.outputs]:
            raise PassError("sharing changed an output")


def number(program: Program) -> tuple[dict[str, Operation], dict[str, str]]:
    """The distinct operations, and the kept name of every channel."""
    kept: dict[tuple[Operation, str], str] = {}
    names: dict[str, str] = {}
    operations: dict[str, Operation] = {}
    for name, operation in program.operations.items():
        renamed = operation.rename_channels(names)
        names[name] = kept.setdefault((renamed, program.code(name)), name)
        if names[name] == name:
            operations[name] = renamed
    return operations, names


def _terms(program: Program, first: dict[tuple[Operation, str], int]) -> dict[str, int]:
    terms: dict[str, int] = {}
    names: dict[str, str] = {}
    for name, operation in program.operations.items():
        key = (operation.rename_channels(names), program.code(name))
        terms[name] = first.setdefault(key, len(first))
        names[name] = str(terms[name])
    return terms


# Fusing: a table of tables is one table where that is no larger.


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
        done = replace(source, operations=operations)
        for name, operation in _with_constants(source).operations.items():
            operations[name] = operation
            operations[name] = _fuse(done, name, operation)
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
    """An operation over the inputs of those that it reads, if that is no larger."""
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
    return Map(Table(grid, evaluate_cone(done, name, known)), atoms)


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


# Dead channels: a channel on which no output depends is dropped.


@dataclass(frozen=True)
class DropDead:
    """Keep the channels that an output needs, and the token, which a file states first."""

    name: ClassVar[str] = "drop dead channels"

    def apply(self, source: Program) -> Program:
        """Walk back from the outputs."""
        tokens = [n for n, op in source.operations.items() if isinstance(op, Token)]
        alive = {*source.outputs, *tokens}
        for name in reversed(list(source.operations)):
            if name in alive:
                alive.update(source.operations[name].reads)
        kept = {n: op for n, op in source.operations.items() if n in alive}
        return source.with_operations(kept)

    def check(self, source: Program, target: Program) -> None:
        """Check that the remaining channels are unchanged and complete."""
        check_order(target)
        check_frame(source, target)
        if target.outputs != source.outputs or any(
            source.operations[n] != op for n, op in target.operations.items()
        ):
            raise PassError("dropping dead channels changed a live one")
