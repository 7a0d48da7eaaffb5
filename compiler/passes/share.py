"""Sharing: equal channels are computed once."""

from dataclasses import dataclass, replace
from typing import ClassVar

from krohn.compiler.passes.base import PassError, check_frame, check_order
from krohn.program import Operation, Program


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
        renamed = operation.renamed(names)
        names[name] = kept.setdefault((renamed, program.code(name)), name)
        if names[name] == name:
            operations[name] = renamed
    return operations, names


def _terms(program: Program, first: dict[tuple[Operation, str], int]) -> dict[str, int]:
    terms: dict[str, int] = {}
    names: dict[str, str] = {}
    for name, operation in program.operations.items():
        key = (operation.renamed(names), program.code(name))
        terms[name] = first.setdefault(key, len(first))
        names[name] = str(terms[name])
    return terms
