"""A pass for the strict form: every table fits one hidden layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from krohn.compiler.passes.base import PassError, check_frame, check_order
from krohn.compiler.passes.identity_tables import identity, is_identity
from krohn.compiler.sum_of_steps import linear
from krohn.program import (
    BlockSum,
    LookBack,
    Map,
    MarkedSum,
    Operation,
    PrefixSum,
    Program,
    is_embedded,
    is_sum,
)


@dataclass(frozen=True)
class SplitDeepTables:
    """Make every table fit one hidden layer, as the strict form of a network needs.

    A table of several integers needs two hidden layers: one to recognise each value, one
    to recognise each combination. One-hot channels are recognised already, and steps
    along a sum of integers (`krohn.compiler.sum_of_steps`) are not joint at all. What a
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
            same = operation.renamed(of) == known.get(of[name])
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
            self.operations.setdefault(made, before.renamed(names))

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
        adds_up = isinstance(operation, (PrefixSum, MarkedSum, BlockSum))
        counted = adds_up or is_sum(operation)
        if made != name and (counted or (self.anew and not embedded)):
            return made, identity(name, self.source.domains[name]), {name: False}
        codes = dict.fromkeys(self._plain_reads(operation), False)
        if isinstance(operation, Map) and len(operation.inputs) > 1:
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
            deep = () if is_sum(operation) or linear(program, name) else inputs
        case _:
            deep = ()
    return tuple(n for n in deep if n not in program.one_hot)


def _plain(name: str) -> str:
    return name.removesuffix(".one-hot")
