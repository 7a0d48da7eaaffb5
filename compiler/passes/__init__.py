"""The passes from a Program as constructed to a Program laid out in a network.

Each pass is a frozen dataclass with a pure ``apply`` and a ``check`` that decides whether
this application kept the meaning (translation validation): a compiler bug stops the
compilation instead of reaching a file.
"""

from collections.abc import Callable
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.compiler import CompileError
from krohn.program import Map, Program, Table, cone
from krohn.program.errors import told_as

Source = TypeVar("Source", contravariant=True)
Target = TypeVar("Target")

Observer = Callable[[str, Program], None]
"""Called with the name of each pass and the Program after it."""
FRAME = ("letters", "states", "length", "decode")


class Pass(Protocol[Source, Target]):
    """One arrow of the compiler."""

    name: ClassVar[str]

    def apply(self, source: Source, /) -> Target:
        """The rewritten program."""
        ...

    def check(self, source: Source, target: Target, /) -> None:
        """Raise `PassError` unless ``target`` and ``source`` have the same meaning."""
        ...


class PassError(CompileError):
    """A pass changed the meaning of a program: a defect of Krohn, never of the input."""


def check_order(program: Program) -> None:
    """Every channel reads only channels that come before it."""
    known: set[str] = set()
    for name, operation in program.operations.items():
        if not known.issuperset(operation.reads):
            raise PassError(f"channel {name!r} reads a channel that comes later")
        known.add(name)
    if not known.issuperset(program.outputs):
        raise PassError("an output channel is missing")


def check_frame(source: Program, target: Program) -> None:
    """Alphabet, states, length and decoding are as before."""
    if any(getattr(source, field) != getattr(target, field) for field in FRAME):
        raise PassError("what the program reads or decodes was changed")


def check_same_channels(source: Program, target: Program) -> None:
    """Check that each channel of ``target`` has the meaning that it had in ``source``.

    Attention operations must be unchanged up to renaming by equal channels; Maps are
    evaluated, in ``source``, on every row that they have in ``target``.
    """
    check_order(target)
    check_frame(source, target)
    if target.outputs != source.outputs:
        raise PassError("the outputs were changed")
    for name, operation in target.operations.items():
        before = source.operations.get(name)
        if before is None or before == operation:
            continue
        if operation.is_attention or not isinstance(operation, Map):
            raise PassError(f"the operation of channel {name!r} was changed")
        if not isinstance(operation.function, Table):
            raise PassError(f"channel {name!r} became a different function")
        columns = dict(zip(operation.inputs, operation.function.rows.T, strict=True))
        expected = evaluate_cone(source, name, columns)
        if not np.array_equal(expected, operation.function.values):
            raise PassError(f"the table of channel {name!r} was changed")


def evaluate_cone(program: Program, name: str, known: dict[str, IntArray]) -> IntArray:
    """The value of a channel from the values of others, through Maps alone.

    Args:
        program: Where the Maps stand.
        name: The channel wanted.
        known: ``(rows,)`` values of the channels where the walk may stop.

    Raises:
        PassError: If the channel depends on something unknown.
    """
    values = dict(known)
    for at in cone(program, name, known):
        operation = program.operations[at]
        if not isinstance(operation, Map):
            raise PassError(f"{at!r} is needed, but it is not a function of the inputs")
        with told_as(PassError, f"channel {at!r}: "):
            values[at] = operation.function([values[n] for n in operation.inputs])
    return values[name]
