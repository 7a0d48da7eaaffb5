"""Domain inference: which values each channel can take."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from krohn.compiler.errors import CompileError
from krohn.compiler.passes.base import PassError, check_order, check_same_channels
from krohn.program import Map, Operation, Program, Refused, Table
from krohn.program.domains import Values


@dataclass(frozen=True)
class InferDomains:
    """Annotate every channel with its values and drop table rows that cannot occur."""

    name: ClassVar[str] = "infer domains"

    def apply(self, source: Program) -> Program:
        """Restrict tables to reachable rows and fill in ``domains``."""
        values: dict[str, Values] = {}
        operations: dict[str, Operation] = {}
        tables: Restricted = {}
        for name, operation in source.operations.items():
            read = tuple(values[n] for n in operation.reads)
            try:
                operations[name] = _restrict(operation, read, tables)
                values[name] = operations[name].infer(read, source.frame)
            except Refused as reason:
                raise CompileError(f"channel {name!r}: {reason}") from None
        narrowed = source.with_operations(operations)
        return replace(narrowed, domains={n: v.domain for n, v in values.items()})

    def check(self, source: Program, target: Program) -> None:
        """Rows kept are as before, and the domains are closed under the operations."""
        check_order(target)
        check_same_channels(source, target)
        values: dict[str, Values] = {}
        for name, operation in target.operations.items():
            read = [values[n] for n in operation.reads]
            values[name] = operation.infer(read, target.frame)
            if values[name].domain != target.domains[name]:
                raise PassError(f"the domain of channel {name!r} is not closed")


Restricted: TypeAlias = dict[tuple[int, tuple[Values, ...]], Table]
"""The rows left of a table, by its identity, for some values of its inputs."""


def _restrict(
    operation: Operation, read: tuple[Values, ...], tables: Restricted
) -> Operation:
    """The operation with the rows of its table that occur."""
    if not isinstance(operation, Map) or not isinstance(operation.function, Table):
        return operation
    key = id(operation.function), read
    if key not in tables:
        tables[key] = operation.function.occurring(read)
    return Map(tables[key], operation.inputs)
