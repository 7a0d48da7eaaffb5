"""Passes that insert identity tables: to round what was read, or to change a code."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from compiler.passes.base import PassError, check_frame, check_order
from compiler.sum_of_steps import linear
from program import (
    At,
    LatestMatch,
    LookBack,
    Map,
    MarkedSum,
    Operation,
    PrefixSum,
    Program,
    Table,
    Token,
    is_embedded,
    is_sum,
)

Wanted = Callable[[Program, Operation], tuple[str, ...]]


@dataclass(frozen=True)
class RoundReads:
    """What a head has read is rounded by a table before a head reads it again (E12).

    But for heads that look where binary digits say: their scores lie a whole step apart
    whatever the position, so that the noise of digits does not grow, and what they fetch
    is a pointer, the noise of which only adds up (docs/numerics.md). And in the strict
    form a comparison of positions, one hidden layer, is rounded before a head reads it.

    Attributes:
        strict: Whether an MLP has one hidden layer.
    """

    strict: bool = False
    name: ClassVar[str] = "round before reading again"

    def apply(self, source: Program) -> Program:
        """Put a table between what is not rounded and the head that reads it."""
        return _insert(source, self._unrounded, "rounded", one_hot=False)

    def check(self, source: Program, target: Program) -> None:
        """Only identities are new, and no head reads what is not rounded."""
        _check_identities(source, target)
        if any(self._unrounded(target, op) for op in target.operations.values()):
            raise PassError("a head reads an unrounded head")

    def _unrounded(self, program: Program, operation: Operation) -> tuple[str, ...]:
        if not operation.is_attention or isinstance(operation, At):
            return ()
        found = {n: program.operations[n] for n in operation.reads}
        return tuple(
            name
            for name, read in found.items()
            if read.is_attention or (self.strict and _compares(program, read))
        )


@dataclass(frozen=True)
class OneHotMatches:
    """Keys and queries of a latest match are one-hot: their inner product is 0 or 1."""

    name: ClassVar[str] = "one-hot keys and queries"

    def apply(self, source: Program) -> Program:
        """Recode keys and queries, but not what is fetched."""
        operations: dict[str, Operation] = {}
        names: dict[str, str] = {}
        for name, operation in source.operations.items():
            for read in _matched(source, operation):
                if read not in names:
                    names[read] = f"{read}.one-hot"
                    operations[names[read]] = _again(source, read)
            operations[name] = _rematched(operation, names)
        return _with_identities(source, operations, names, one_hot=True)

    def check(self, source: Program, target: Program) -> None:
        """Only copies are new, and every key and query is one-hot."""
        _check_copies(source, target, dict(_repeated(source, target)))
        if any(_matched(target, op) for op in target.operations.values()):
            raise PassError("a latest match compares codes that are not one-hot")


@dataclass(frozen=True)
class Split:
    """Make every table fit one hidden layer, as the strict form of a network needs.

    A table of several integers needs two hidden layers: one to recognise each value, one
    to recognise each combination. One-hot channels are recognised already, and steps
    along a sum of integers (`compiler.sum_of_steps`) are not joint at all. What a head
    copies is one-hot if its source is, so that only sums need an MLP to become it. But a
    table of one-hot channels passes their noise on; where that grows too large, integers
    must be recognised anew, which removes it.

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
            same = operation.renamed(of) == known.get(of[name])
            copy = _is_identity(operation) and operation.reads == (of[name],)
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
        wide: Those that are one-hot.
    """

    source: Program
    anew: bool
    operations: dict[str, Operation] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)

    def program(self) -> Program:
        """The Program with what its outputs need."""
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
        todo = [self._recoded(name, one_hot)]
        while todo:
            made, before, codes = todo[-1]
            names = {n: self._named(n, code) for n, code in codes.items()}
            missing = [n for n in codes if names[n] not in self.operations]
            if made not in self.operations and missing:
                todo.append(self._recoded(missing[0], codes[missing[0]]))
                continue
            todo.pop()
            self.operations.setdefault(made, before.renamed(names))

    def _named(self, name: str, one_hot: bool) -> str:
        """What a channel is called in a code."""
        plain = not one_hot or name in self.source.one_hot
        return name if plain else f"{name}.one-hot"

    def _recoded(
        self, name: str, one_hot: bool
    ) -> tuple[str, Operation, Mapping[str, bool]]:
        """A channel in a code: its name, its operation, and the codes of its reads."""
        operation, made = self.source.operations[name], self._named(name, one_hot)
        one_hot = one_hot or name in self.source.one_hot
        if one_hot:
            self.wide.add(made)
        embedded = isinstance(operation, Map) and is_embedded(self.source, operation)
        counted = isinstance(operation, (PrefixSum, MarkedSum)) or is_sum(operation)
        if made != name and (counted or (self.anew and not embedded)):
            return made, _identity(name, self.source.domains[name]), {name: False}
        codes = dict.fromkeys(self._plain_reads(operation), False)
        if isinstance(operation, Map) and len(operation.inputs) > 1:
            summed = is_sum(operation) or linear(self.source, name)
            codes |= dict.fromkeys(operation.inputs, not summed)
        elif isinstance(operation, LookBack):
            codes[operation.source] = one_hot
        return made, operation, codes

    def _plain_reads(self, operation: Operation) -> tuple[str, ...]:
        """What is read as it is: single inputs of tables, flags, keys and queries."""
        read = operation.reads
        if isinstance(operation, Map):
            return read if len(read) == 1 else ()
        return read[1:] if isinstance(operation, LookBack) else read


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
        wide = [n for n in source.outputs if self._too_wide(source.domains[n])]
        if not wide:
            return source
        operations: dict[str, Operation] = dict(source.operations)
        names = {n: f"{n}.one-hot" for n in wide}
        operations |= {names[n]: _identity(n, source.domains[n]) for n in wide}
        widened = _with_identities(source, operations, names, one_hot=True)
        outputs = tuple(names.get(n, n) for n in source.outputs)
        return replace(widened, outputs=outputs)

    def check(self, source: Program, target: Program) -> None:
        """Only identities are new."""
        _check_identities(source, target)

    def _too_wide(self, domain: tuple[int, ...]) -> bool:
        return bool(2 * max(domain) ** 2 >= 2**self.digits)


def _compares(program: Program, operation: Operation) -> bool:
    """Whether the operation is a table of a sum of what heads have fetched."""
    if not isinstance(operation, Map) or len(operation.inputs) != 1:
        return False
    added = program.operations[operation.inputs[0]]
    return is_sum(added) and all(
        program.operations[n].is_attention for n in added.reads
    )


def _deep_inputs(program: Program, name: str) -> tuple[str, ...]:
    operation = program.operations[name]
    match operation:
        case Map(_, inputs) if len(inputs) > 1:
            deep = () if is_sum(operation) or linear(program, name) else inputs
        case _:
            deep = ()
    return tuple(n for n in deep if n not in program.one_hot)


def _matched(program: Program, operation: Operation) -> tuple[str, ...]:
    if not isinstance(operation, LatestMatch):
        return ()
    pair = (operation.key, operation.query)
    return tuple(n for n in dict.fromkeys(pair) if n not in program.one_hot)


def _again(program: Program, name: str) -> Operation:
    """A channel with the same value: a table once more, which costs no block."""
    operation = program.operations[name]
    if isinstance(operation, Map) and isinstance(operation.function, Table):
        return operation
    return _identity(name, program.domains[name])


def _rematched(operation: Operation, names: Mapping[str, str]) -> Operation:
    if not isinstance(operation, LatestMatch):
        return operation
    key, query = operation.key, operation.query
    return LatestMatch(operation.source, names.get(key, key), names.get(query, query))


def _insert(source: Program, wanted: Wanted, suffix: str, one_hot: bool) -> Program:
    operations: dict[str, Operation] = {}
    names: dict[str, str] = {}
    for name, operation in source.operations.items():
        chosen = wanted(source, operation)
        for read in chosen:
            if read not in names:
                names[read] = f"{read}.{suffix}"
                operations[names[read]] = _identity(read, source.domains[read])
        operations[name] = operation.renamed({n: names[n] for n in chosen})
    return _with_identities(source, operations, names, one_hot)


def _with_identities(
    source: Program,
    operations: dict[str, Operation],
    names: Mapping[str, str],
    one_hot: bool,
) -> Program:
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
            if _is_identity(operation) and _is_embedded(operations, inner):
                done[name] = inner
    return done


def _is_embedded(operations: Mapping[str, Operation], operation: Operation) -> bool:
    return (
        isinstance(operation, Map)
        and len(operation.inputs) == 1
        and isinstance(operations[operation.inputs[0]], Token)
    )


def _plain(name: str) -> str:
    return name.removesuffix(".one-hot")


def _identity(read: str, domain: tuple[int, ...]) -> Map:
    values = np.array(domain, dtype=np.int64)
    return Map(Table(values[:, None], values), (read,))


def _is_identity(operation: Operation) -> bool:
    return (
        isinstance(operation, Map)
        and isinstance(operation.function, Table)
        and len(operation.inputs) == 1
        and np.array_equal(operation.function.rows[:, 0], operation.function.values)
    )


def _new_channels(source: Program, target: Program) -> Iterator[tuple[str, str]]:
    for name, operation in target.operations.items():
        if name in source.operations:
            continue
        equal = [n for n, op in source.operations.items() if op == operation]
        if equal and _is_embedded(source.operations, operation):
            yield name, equal[0]
        elif _is_identity(operation):
            yield name, operation.reads[0]
        else:
            raise PassError(f"the new channel {name!r} is not a copy")


def _repeated(source: Program, target: Program) -> Iterator[tuple[str, str]]:
    """The channels that a new one-hot channel repeats."""
    for name, operation in target.operations.items():
        if name in source.operations:
            continue
        read = name.removesuffix(".one-hot")
        again = source.operations.get(read) == operation
        if not again and not (_is_identity(operation) and operation.reads == (read,)):
            raise PassError(f"the new channel {name!r} is not a copy")
        yield name, read


def _check_identities(source: Program, target: Program) -> None:
    _check_copies(source, target, dict(_new_channels(source, target)))


def _check_copies(source: Program, target: Program, copies: Mapping[str, str]) -> None:
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


def _first_equal(program: Program) -> dict[str, str]:
    """Channels with equal operations, each under the first one's name."""
    first: dict[Operation, str] = {}
    return {n: first.setdefault(op, n) for n, op in program.operations.items()}
