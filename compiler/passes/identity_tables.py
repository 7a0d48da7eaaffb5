"""Identity tables between a channel and who reads it: how they are inserted and checked."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from krohn.compiler.passes.base import PassError, check_frame, check_order
from krohn.program import Map, Operation, Program, Table, Token


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
