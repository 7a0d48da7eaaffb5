"""Passes that make channels one-hot: keys and queries, and outputs with many values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from krohn.compiler.passes.base import PassError
from krohn.compiler.passes.identity_tables import (
    check_copies,
    check_identities,
    identity,
    is_identity,
    with_identities,
)
from krohn.program import Map, Match, Operation, Program, Table


@dataclass(frozen=True)
class OneHotMatches:
    """Keys and queries of a latest match are one-hot: their inner product is 0 or 1."""

    name: ClassVar[str] = "one-hot keys and queries"

    def apply(self, source: Program) -> Program:
        """Recode keys and queries, but not the fetched channels."""
        operations: dict[str, Operation] = {}
        names: dict[str, str] = {}
        for name, operation in source.operations.items():
            for read in _keys_and_queries(source, operation):
                if read not in names:
                    names[read] = f"{read}.one-hot"
                    operations[names[read]] = _again(source, read)
            operations[name] = _with_recoded(operation, names)
        return with_identities(source, operations, names, one_hot=True)

    def check(self, source: Program, target: Program) -> None:
        """Only copies are new, and every key and query is one-hot."""
        check_copies(source, target, dict(_repeated_channels(source, target)))
        if any(_keys_and_queries(target, op) for op in target.operations.values()):
            raise PassError("a latest match compares codes that are not one-hot")


@dataclass(frozen=True)
class WidenOutputs:
    """Recode outputs with many values as one-hot, which any precision can tell apart.

    An integer x is decoded by the largest of 2cx − c²; these numbers must be told apart
    exactly, so c² must stay below the largest integer of the format.

    Attributes:
        digits: Binary digits of the format that the network runs in.
    """

    digits: int
    name: ClassVar[str] = "widen outputs"

    def apply(self, source: Program) -> Program:
        """Recode the output channels that are too wide."""
        wide = [n for n in source.outputs if self._too_wide(source, n)]
        if not wide:
            return source
        operations: dict[str, Operation] = dict(source.operations)
        names = {n: f"{n}.one-hot" for n in wide}
        operations |= {names[n]: identity(n, source.domains[n]) for n in wide}
        widened = with_identities(source, operations, names, one_hot=True)
        outputs = tuple(names.get(n, n) for n in source.outputs)
        return replace(widened, outputs=outputs)

    def check(self, source: Program, target: Program) -> None:
        """Only identities are new."""
        check_identities(source, target)

    def _too_wide(self, program: Program, name: str) -> bool:
        largest = max(program.domains[name])
        return name not in program.vectors and 2 * largest**2 >= 2**self.digits


def _keys_and_queries(program: Program, operation: Operation) -> tuple[str, ...]:
    if not isinstance(operation, Match):
        return ()
    pair = (operation.key, operation.query)
    return tuple(n for n in dict.fromkeys(pair) if n not in program.one_hot)


def _again(program: Program, name: str) -> Operation:
    """A channel with the same value: a table once more, which costs no block."""
    operation = program.operations[name]
    if isinstance(operation, Map) and isinstance(operation.function, Table):
        return operation
    return identity(name, program.domains[name])


def _with_recoded(operation: Operation, names: Mapping[str, str]) -> Operation:
    if not isinstance(operation, Match):
        return operation
    key, query = operation.key, operation.query
    return replace(operation, key=names.get(key, key), query=names.get(query, query))


def _repeated_channels(source: Program, target: Program) -> Iterator[tuple[str, str]]:
    """The channels that a new one-hot channel repeats."""
    for name, operation in target.operations.items():
        if name in source.operations:
            continue
        read = name.removesuffix(".one-hot")
        again = source.operations.get(read) == operation
        if not again and not (is_identity(operation) and operation.reads == (read,)):
            raise PassError(f"the new channel {name!r} is not a copy")
        yield name, read
