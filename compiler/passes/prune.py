"""Dead channels: a channel on which no output depends is dropped."""

from dataclasses import dataclass
from typing import ClassVar

from krohn.compiler.passes.base import PassError, check_frame, check_order
from krohn.program import Program, Token


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
