"""The interface of passes, and the local relations that check them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.compiler.errors import CompileError
from krohn.program import Map, Operation, Program, Table, Token, cone
from krohn.program.retelling import told_as

# The interface of passes, and the local relation that checks rewrites of Maps.


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


# Identity tables between a channel and who reads it: how they are inserted and checked.


def identity(read: str, domain: tuple[int, ...]) -> Map:
    """The table of a channel that says its own value."""
    values = np.array(domain, dtype=np.int64)
    return Map(Table(values[:, None], values), (read,))


def is_identity(operation: Operation) -> bool:
    """Whether an operation is such a table."""
    return (
        isinstance(operation, Map)
        and isinstance(operation.function, Table)
        and len(operation.inputs) == 1
        and np.array_equal(operation.function.rows[:, 0], operation.function.values)
    )


def with_identities(
    source: Program,
    operations: dict[str, Operation],
    names: Mapping[str, str],
    one_hot: bool,
) -> Program:
    """The Program with new channels, which repeat old ones.

    Args:
        source: The Program before.
        operations: All channels, the new ones among them.
        names: The name of the new channel of each old one.
        one_hot: Whether the new ones are one-hot.
    """
    domains = {new: source.domains[old] for old, new in names.items()}
    return replace(
        source,
        operations=_through_embedding(operations, set(names.values())),
        domains={**source.domains, **domains},
        one_hot=source.one_hot | (set(names.values()) if one_hot else set()),
    )


def _through_embedding(
    operations: dict[str, Operation], new: set[str]
) -> dict[str, Operation]:
    """Let new identities of embedded channels be embedded themselves."""
    done: dict[str, Operation] = {}
    for name, operation in operations.items():
        done[name] = operation
        if name in new and isinstance(operation, Map) and len(operation.inputs) == 1:
            inner = operations[operation.inputs[0]]
            if is_identity(operation) and _is_embedded(operations, inner):
                done[name] = inner
    return done


def _is_embedded(operations: Mapping[str, Operation], operation: Operation) -> bool:
    return (
        isinstance(operation, Map)
        and len(operation.inputs) == 1
        and isinstance(operations[operation.inputs[0]], Token)
    )


def check_identities(source: Program, target: Program) -> None:
    """Nothing is new but identities.

    Raises:
        PassError: If anything else is.
    """
    check_copies(source, target, dict(_new_channels(source, target)))


def check_copies(source: Program, target: Program, copies: Mapping[str, str]) -> None:
    """Nothing is changed but that channels are read through their copies."""
    check_order(target)
    check_frame(source, target)
    back = {
        n: op.renamed(copies) for n, op in target.operations.items() if n not in copies
    }
    first = _first_equal(source)
    canonical = {n: op.renamed(first) for n, op in back.items()}
    expected = {n: op.renamed(first) for n, op in source.operations.items()}
    outputs = tuple(copies.get(n, n) for n in target.outputs)
    if canonical != expected or outputs != source.outputs:
        raise PassError("inserting tables changed something else")


def _new_channels(source: Program, target: Program) -> Iterator[tuple[str, str]]:
    for name, operation in target.operations.items():
        if name in source.operations:
            continue
        equal = [n for n, op in source.operations.items() if op == operation]
        if equal and _is_embedded(source.operations, operation):
            yield name, equal[0]
        elif is_identity(operation):
            yield name, operation.reads[0]
        else:
            raise PassError(f"the new channel {name!r} is not a copy")


def _first_equal(program: Program) -> dict[str, str]:
    """Channels with equal operations, each under the first one's name."""
    first: dict[Operation, str] = {}
    return {n: first.setdefault(op, n) for n, op in program.operations.items()}
