"""Program: a small typed language for causal sequence functions.

A Program is a list of named *channels*. Every channel has a value at every position
0, 1, …, T. Position 0 holds the symbol BOS (beginning of sequence), so that start values
need no special case: whatever lies before the start is the value at BOS. All channels of
this version are integers from a finite domain; an operation on real channels would bring
its own domain class beside `Domain` (docs/architecture.md says where).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from algebra.semiautomaton import IntArray

Domain: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """The letter at the position; at position 0 the symbol BOS, one past the letters."""


@dataclass(frozen=True, slots=True)
class Position:
    """A given function of the position alone.

    Attributes:
        values: Its value at 0, 1, …, T.
    """

    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A function given by its rows.

    Attributes:
        rows: ``(rows, inputs)`` the argument tuples that occur, in lexicographic order.
        values: ``(rows,)`` the value of each.
    """

    rows: IntArray
    values: IntArray

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(
            self.values, other.values
        )

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.values.tobytes()))


@dataclass(frozen=True, slots=True)
class Select:
    """``(i, v_0, …, v_{n-1}) ↦ v_i``: how transition maps are composed (Lemma 14)."""


@dataclass(frozen=True, slots=True)
class Sum:
    """``(v_0, …, v_{n-1}) ↦ v_0 + … + v_{n-1}`` of different channels."""


@dataclass(frozen=True, slots=True)
class Map:
    """A function of channels, position by position."""

    function: Table | Select | Sum
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shift:
    """``source`` at position ``max(t - by, 0)``."""

    source: str
    by: int


@dataclass(frozen=True, slots=True)
class Latest:
    """``source`` at the last position j ≤ t where ``where`` is 1; it is 1 at BOS."""

    source: str
    where: str


@dataclass(frozen=True, slots=True)
class LatestMatch:
    """``source`` at the last j ≤ t, j ≥ 1, whose ``key`` is ``query`` at t.

    If there is none, ``source`` at BOS: BOS is what is found when nothing else is. Its
    own key therefore means nothing; whether or not it equals the query, the value is
    the same.
    """

    source: str
    key: str
    query: str


@dataclass(frozen=True, slots=True)
class SiblingLatest:
    """``source`` at the last flagged position of the block just before t's block.

    Positions fall into blocks of 2^level. If t's block is the second of a pair, this is
    ``source`` at the last j of the first one where ``where`` is 1; otherwise, or if
    there is none, ``source`` at BOS. ``where`` is 1 at BOS.

    The siblings of t's blocks at all levels partition 0..t−1, those of lower levels
    lying later: so the first of them that answers is the latest position *before* t,
    which no single head can find (spec/shallower, section 3, with fewer comparisons).
    """

    source: str
    where: str
    level: int


@dataclass(frozen=True, slots=True)
class Earliest:
    """``source`` at the first position j, 1 ≤ j ≤ t, where ``where`` is 1.

    If there is none, ``source`` at BOS. ``where`` is 0 at BOS, unlike that of `Latest`.
    """

    source: str
    where: str


@dataclass(frozen=True, slots=True)
class At:
    """``source`` at the position x that ``digits`` say, if 1 ≤ x ≤ t; else at BOS.

    x = Σ_b 2^b·digits[b]. Every digit is a channel with values 0 and 1, and there are as
    many as T has binary digits, ``length.bit_length()``: so no table turns a number into
    digits. They come from `Position` channels, one for each digit, which the head that
    finds a position fetches with its number (`compiler.constructions.pointers`).
    """

    source: str
    digits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrefixSum:
    """The sum of ``source`` over positions 0..t; ``source`` is 0 at BOS."""

    source: str


@dataclass(frozen=True, slots=True)
class MarkedSum:
    """The sum of ``source`` over the positions of 0..t that ``where`` marks.

    ``where`` is a `Position` with values 0 and 1, so that which positions are added up
    is the same for every word. Both are 0 at BOS.
    """

    source: str
    where: str


Operation: TypeAlias = (
    Token
    | Position
    | Map
    | Shift
    | Latest
    | LatestMatch
    | SiblingLatest
    | Earliest
    | At
    | PrefixSum
    | MarkedSum
)


@dataclass(frozen=True)
class Program:
    """Channels in the order in which they can be computed, and how to read the result.

    Attributes:
        letters: The names of the letters; token values are their indices, then BOS.
        states: How many states, or outputs of the machine, there are to decode to.
        length: The longest word the Program is for (T).
        operations: Channel name to operation; each reads earlier channels only.
        outputs: The channels whose values together say the state or output.
        decode: Which state or output each tuple of output values means.
        domains: The values that each channel can take, where already inferred.
        one_hot: Channels to be laid out as one-hot vectors instead of integers.
    """

    letters: tuple[str, ...]
    states: int
    length: int
    operations: Mapping[str, Operation]
    outputs: tuple[str, ...]
    decode: Mapping[tuple[int, ...], int]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    one_hot: frozenset[str] = frozenset()

    @property
    def bos(self) -> int:
        """The token value at position 0."""
        return len(self.letters)

    def with_operations(self, operations: Mapping[str, Operation]) -> "Program":
        """The same Program with other operations; annotations of lost channels go."""
        return replace(
            self,
            operations=operations,
            domains={n: d for n, d in self.domains.items() if n in operations},
            one_hot=self.one_hot & operations.keys(),
        )


def reads(operation: Operation) -> tuple[str, ...]:
    """The channels that an operation reads, in order, repeated where it repeats them."""
    match operation:
        case Token() | Position():
            return ()
        case Map(_, inputs):
            return inputs
        case (
            Latest(source, where)
            | SiblingLatest(source, where)
            | Earliest(source, where)
            | MarkedSum(source, where)
        ):
            return (source, where)
        case At(source, digits):
            return (source, *digits)
        case LatestMatch(source, key, query):
            return (source, key, query)
        case Shift(source) | PrefixSum(source):
            return (source,)


def cone(program: Program, name: str, known: Collection[str]) -> list[str]:
    """What a channel is computed from, down to known ones: each after what it reads."""
    found: dict[str, None] = {}
    todo = [] if name in known else [(name, iter(reads(program.operations[name])))]
    while todo:
        at, rest = todo[-1]
        missing = next((n for n in rest if n not in known and n not in found), None)
        if missing is None:
            found[at] = None
            todo.pop()
        else:
            todo.append((missing, iter(reads(program.operations[missing]))))
    return list(found)


def rename(operation: Operation, names: Mapping[str, str]) -> Operation:
    """The operation with the channels that it reads renamed."""
    read = [names.get(n, n) for n in reads(operation)]
    match operation:
        case Token() | Position():
            return operation
        case Map(function):
            return Map(function, tuple(read))
        case LatestMatch():
            return LatestMatch(*read)
        case At():
            return At(read[0], tuple(read[1:]))
        case Shift() | PrefixSum():
            return replace(operation, source=read[0])
        case _:
            return replace(operation, source=read[0], where=read[1])


Row: TypeAlias = tuple[int, ...]


def table(mapping: Mapping[Row, int]) -> Table:
    """A `Table` from a dictionary, in the canonical order of rows."""
    rows = sorted(mapping)
    return Table(
        np.array(rows, dtype=np.int64).reshape(len(rows), -1),
        np.array([mapping[row] for row in rows], dtype=np.int64),
    )


def rows_of(function: Table) -> Iterator[tuple[tuple[int, ...], int]]:
    """The rows of a table with their values, as Python integers."""
    for row, value in zip(
        function.rows.tolist(), function.values.tolist(), strict=True
    ):
        yield tuple(row), value


def is_sum(operation: Operation) -> bool:
    """Whether the operation adds up channels, which paths cannot decide."""
    return isinstance(operation, Map) and isinstance(operation.function, Sum)


def is_attention(operation: Operation) -> bool:
    """Whether the operation looks at other positions."""
    return not isinstance(operation, (Token, Position, Map))


def is_embedded(program: Program, operation: Operation) -> bool:
    """Whether a channel is a function of the letter alone."""
    return isinstance(operation, Map) and all(
        isinstance(program.operations[n], Token) for n in operation.inputs
    )
