"""A pass: a value that a head has read is rounded before a head reads it again."""

from dataclasses import dataclass
from typing import ClassVar

from krohn.compiler.passes.base import PassError
from krohn.compiler.passes.identity_tables import (
    check_identities,
    identity,
    with_identities,
)
from krohn.program import At, Map, Operation, Program, is_sum


@dataclass(frozen=True)
class RoundReads:
    """Round the value that a head has read by a table before a head reads it again (E12).

    But for heads that look where binary digits say: their scores lie a whole step apart
    whatever the position, so that the noise of digits does not grow, and they fetch
    pointers, the noise of which only adds up (docs/numerics.md). And in the strict
    form a comparison of positions, one hidden layer, is rounded before a head reads it.

    Attributes:
        strict: Whether an MLP has one hidden layer.
    """

    strict: bool = False
    name: ClassVar[str] = "round before reading again"

    def apply(self, source: Program) -> Program:
        """Put a table between each unrounded channel and the head that reads it."""
        operations: dict[str, Operation] = {}
        names: dict[str, str] = {}
        for name, operation in source.operations.items():
            chosen = self._unrounded_reads(source, operation)
            for read in chosen:
                if read not in names:
                    names[read] = f"{read}.rounded"
                    operations[names[read]] = identity(read, source.domains[read])
            operations[name] = operation.renamed({n: names[n] for n in chosen})
        return with_identities(source, operations, names, one_hot=False)

    def check(self, source: Program, target: Program) -> None:
        """Check that only identities are new, and no head reads an unrounded channel."""
        check_identities(source, target)
        if any(self._unrounded_reads(target, op) for op in target.operations.values()):
            raise PassError("a head reads an unrounded head")

    def _unrounded_reads(
        self, program: Program, operation: Operation
    ) -> tuple[str, ...]:
        if not operation.is_attention or isinstance(operation, At):
            return ()
        found = {n: program.operations[n] for n in operation.reads}
        return tuple(
            name
            for name, read in found.items()
            if read.is_attention or (self.strict and _compares(program, read))
        )


def _compares(program: Program, operation: Operation) -> bool:
    """Whether the operation is a table of a sum of fetched values."""
    if not isinstance(operation, Map) or len(operation.inputs) != 1:
        return False
    added = program.operations[operation.inputs[0]]
    return is_sum(added) and all(
        program.operations[n].is_attention for n in added.reads
    )
