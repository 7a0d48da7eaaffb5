"""Passes that recode channels: one-hot, rounded before reading, shallow tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from krohn.compiler.passes import PassError, check_frame, check_order
from krohn.program import (
    LookBack,
    Map,
    Operation,
    Program,
    Table,
    Token,
    is_embedded,
    is_sum,
)
from krohn.program.operations.base import Comparing

SUMS = ("prefix-sum", "marked-sum", "block-sum", "mean")
"""The operations that add up, by their names on file."""

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
        n: op.rename_channels(copies)
        for n, op in target.operations.items()
        if n not in copies
    }
    first = _first_equal(source)
    canonical = {n: op.rename_channels(first) for n, op in back.items()}
    expected = {n: op.rename_channels(first) for n, op in source.operations.items()}
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


# Passes that make channels one-hot: keys and queries, and outputs with many values.


@dataclass(frozen=True)
class OneHotMatches:
    """Keys and queries of a latest match are one-hot: their inner product is 0 or 1."""

    name: ClassVar[str] = "one-hot keys and queries"

    def apply(self, source: Program) -> Program:
        """Recode keys and queries, but not what is fetched."""
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


@cache
def _is_comparing(kind: type[Operation]) -> bool:
    """What is asked of each channel, and takes long of a protocol."""
    return hasattr(kind, "key") and hasattr(kind, "query")


def _keys_and_queries(program: Program, operation: Operation) -> tuple[str, ...]:
    if not _is_comparing(type(operation)):
        return ()
    assert isinstance(operation, Comparing)
    pair = (operation.key, operation.query)
    return tuple(n for n in dict.fromkeys(pair) if n not in program.one_hot)


def _again(program: Program, name: str) -> Operation:
    """A channel with the same value: a table once more, which costs no block."""
    operation = program.operations[name]
    if isinstance(operation, Map) and isinstance(operation.function, Table):
        return operation
    return identity(name, program.domains[name])


def _with_recoded(operation: Operation, names: Mapping[str, str]) -> Operation:
    if not _is_comparing(type(operation)):
        return operation
    assert isinstance(operation, Comparing)
    read = {"key": operation.key, "query": operation.query}
    changes: dict[str, Any] = {f: names.get(n, n) for f, n in read.items()}
    return replace(operation, **changes)


def _repeated_channels(source: Program, target: Program) -> Iterator[tuple[str, str]]:
    for name, operation in target.operations.items():
        if name in source.operations:
            continue
        read = name.removesuffix(".one-hot")
        again = source.operations.get(read) == operation
        if not again and not (is_identity(operation) and operation.reads == (read,)):
            raise PassError(f"the new channel {name!r} is not a copy")
        yield name, read


# A pass: a value that a head has read is rounded before a head reads it again.


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
            operations[name] = operation.rename_channels({n: names[n] for n in chosen})
        return with_identities(source, operations, names, one_hot=False)

    def check(self, source: Program, target: Program) -> None:
        """Check that only identities are new, and no head reads an unrounded channel."""
        check_identities(source, target)
        if any(self._unrounded_reads(target, op) for op in target.operations.values()):
            raise PassError("a head reads an unrounded head")

    def _unrounded_reads(
        self, program: Program, operation: Operation
    ) -> tuple[str, ...]:
        if not operation.is_attention or operation.wire in ("at", "at-anywhere"):
            return ()
        reads = {n: program.operations[n] for n in operation.reads}
        return tuple(
            name
            for name, read in reads.items()
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


# A pass for the strict form: every table fits one hidden layer.


@dataclass(frozen=True)
class SplitDeepTables:
    """Make every table fit one hidden layer, as the strict form of a network needs.

    A table of several integers needs two hidden layers: one to recognise each value, one
    to recognise each combination. One-hot channels are recognised already, and steps
    along a sum of integers (`krohn.compiler.table_forms`) are not joint at all. What a
    head copies is one-hot if its source is, so that only sums need an MLP to become it.
    But a table of one-hot channels passes their noise on; where that grows too large,
    integers must be recognised anew, which removes it.

    Attributes:
        anew: Whether all integers are recognised anew, by tables of their own.
    """

    anew: bool = False
    name: ClassVar[str] = "split deep tables"

    def apply(self, source: Program) -> Program:
        """Recode the inputs of every deep table as one-hot channels."""
        return _Recoding(source, self.anew).program()

    def check(self, source: Program, target: Program) -> None:
        """Channels are computed as before, in both codes, and no table is deep."""
        check_order(target)
        check_frame(source, target)
        known = source.operations
        of = {n: n if n in known else _plain(n) for n in target.operations}
        for name, operation in target.operations.items():
            same = operation.rename_channels(of) == known.get(of[name])
            copy = is_identity(operation) and operation.reads == (of[name],)
            if not same and not copy:
                raise PassError(f"the new channel {name!r} is not a copy")
        lost = source.one_hot & target.operations.keys() - target.one_hot
        if target.outputs != source.outputs or lost:
            raise PassError("splitting tables changed the outputs or a code")
        if any(_deep_inputs(target, name) for name in target.operations):
            raise PassError("a table still needs two hidden layers")


@dataclass
class _Recoding:
    """Channels of a Program in the code in which they are wanted.

    Attributes:
        source: The Program.
        anew: Whether one-hot channels are read from integer ones.
        operations: The channels so far.
        wide: The channels that are one-hot.
    """

    source: Program
    anew: bool
    operations: dict[str, Operation] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)

    def program(self) -> Program:
        """The Program with the channels that its outputs need."""
        for name in self.source.outputs:
            self._add(name, name in self.source.one_hot)
        kept = {n: d for n, d in self.source.domains.items() if n in self.operations}
        domains = {
            n: kept.get(n) or self.source.domains[_plain(n)] for n in self.operations
        }
        return replace(
            self.source,
            operations=self.operations,
            domains=domains,
            one_hot=frozenset(self.wide),
        )

    def _add(self, name: str, one_hot: bool) -> None:
        """Make a channel in a code, after all that it needs and that is not there."""
        todo = [self._recode(name, one_hot)]
        while todo:
            made, before, codes = todo[-1]
            names = {n: self._name_in_code(n, code) for n, code in codes.items()}
            missing = [n for n in codes if names[n] not in self.operations]
            if made not in self.operations and missing:
                todo.append(self._recode(missing[0], codes[missing[0]]))
                continue
            todo.pop()
            self.operations.setdefault(made, before.rename_channels(names))

    def _name_in_code(self, name: str, one_hot: bool) -> str:
        plain = not one_hot or name in self.source.one_hot
        return name if plain else f"{name}.one-hot"

    def _recode(
        self, name: str, one_hot: bool
    ) -> tuple[str, Operation, Mapping[str, bool]]:
        """A channel in a code: its name, its operation, and the codes of its reads."""
        operation, made = (
            self.source.operations[name],
            self._name_in_code(name, one_hot),
        )
        one_hot = one_hot or name in self.source.one_hot
        if one_hot:
            self.wide.add(made)
        embedded = isinstance(operation, Map) and is_embedded(self.source, operation)
        adds_up = operation.wire in SUMS
        counted = adds_up or is_sum(operation)
        if made != name and (counted or (self.anew and not embedded)):
            return made, identity(name, self.source.domains[name]), {name: False}
        codes = dict.fromkeys(self._plain_reads(operation), False)
        if isinstance(operation, Map) and len(operation.inputs) > 1:
            from krohn.compiler.table_forms import linear

            summed = is_sum(operation) or linear(self.source, name)
            codes |= dict.fromkeys(operation.inputs, not summed)
        elif isinstance(operation, LookBack):
            codes[operation.source] = one_hot
        return made, operation, codes

    def _plain_reads(self, operation: Operation) -> tuple[str, ...]:
        """Channels read as they are: single inputs of tables, flags, keys and queries."""
        read = operation.reads
        if isinstance(operation, Map):
            return read if len(read) == 1 else ()
        return read[1:] if isinstance(operation, LookBack) else read


def _deep_inputs(program: Program, name: str) -> tuple[str, ...]:
    operation = program.operations[name]
    match operation:
        case Map(_, inputs) if len(inputs) > 1:
            from krohn.compiler.table_forms import linear

            deep = () if is_sum(operation) or linear(program, name) else inputs
        case _:
            deep = ()
    return tuple(n for n in deep if n not in program.one_hot)


def _plain(name: str) -> str:
    return name.removesuffix(".one-hot")
