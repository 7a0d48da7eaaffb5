"""The interface of the operations of the Program language."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from krohn.program.domains import (
    LARGEST,
    BoolArray,
    ChannelDomain,
    FloatArray,
    IntArray,
    PossibleValues,
    Values,
)
from krohn.program.errors import demand


class Frame(NamedTuple):
    """The alphabet's size and the longest word, which all channels of a Program share.

    Attributes:
        letters: How many letters there are; also the token value of BOS.
        length: The longest word (T).
    """

    letters: int
    length: int


class Memory(NamedTuple):
    """The memory of a channel: the cells that it keeps from one position to the next.

    Attributes:
        domain: The values that a cell can hold, ascending.
        start: The value of every cell at BOS.
        cells: How many cells there are.
    """

    domain: IntArray
    start: int
    cells: int


@dataclass(frozen=True, slots=True)
class Operation(ABC):
    """How a channel is computed.

    A field that is a string names a channel, a tuple of strings several; the others are
    numbers. They stand in a model file under their own names, beside `wire`.

    Attributes:
        wire: Its name in a model file.
        is_attention: Whether it looks at other positions.
        causal: Whether it looks at no position after its own. One that does looks at all
            positions of the word, whatever its own is; BOS looks at itself only.
        linear: Whether its head weighs positions by products of features (elu + 1), and
            not by a softmax.
        on_matrices: Whether it may read channels that hold matrices.
        check: The module of the checker that has the rule of its head, or of the MLP that
            computes it; a map names that of its function.
    """

    wire: ClassVar[str]
    is_attention: ClassVar[bool] = True
    causal: ClassVar[bool] = True
    linear: ClassVar[bool] = False
    on_matrices: ClassVar[bool] = False
    check: ClassVar[str] = ""
    named: ClassVar[dict[str, "type[Operation]"]] = {}

    def __init_subclass__(cls) -> None:
        if "wire" in vars(cls):
            Operation.named[cls.wire] = cls

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The channels that it reads, in order, repeated where it repeats them."""

    @property
    def numbers(self) -> FloatArray | None:
        """``(values,)``: the number that stands in the stream for each, if not itself."""
        return None

    @abstractmethod
    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values that it takes, given the values of the channels that it reads.

        Raises:
            Refused: If these do not suit it.
        """

    def memory(
        self, own: ChannelDomain, read: Sequence[ChannelDomain]
    ) -> Memory | None:
        """The cells that it keeps; None if it cannot be followed letter by letter."""
        return None

    def step(
        self, own: ChannelDomain, read: Sequence[PossibleValues], cells: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """The values that it may have at a position, and its cells after that.

        Args:
            own: Its own domain.
            read: The values there of the channels that it reads.
            cells: ``(rows, cells, values of a cell)``: which values they may hold before.

        Returns:
            ``(rows, values)`` and the cells after.
        """
        raise NotImplementedError

    def rename_channels(self, names: Mapping[str, str]) -> Self:
        """The operation on channels that have other names."""
        changes: dict[str, Any] = {}
        for name, kind in _fields(type(self)):
            value = getattr(self, name)
            if kind is str and value in names:
                changes[name] = names[value]
            elif kind is not str and kind == tuple[str, ...]:
                renamed = tuple(map(names.get, value, value))
                changes |= {} if renamed == value else {name: renamed}
        return replace(self, **changes) if changes else self

    @classmethod
    def from_wire(cls, entry: Mapping[str, Any]) -> Self:
        """The operation that a model file states.

        Raises:
            Refused: If a field has another type than it must have.
            KeyError: If a field is missing.
        """
        values = {name: _read_field(entry[name], kind) for name, kind in _fields(cls)}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class LookBack(Operation):
    """An operation that fetches a channel from one position.

    Which one is said twice, by `position` and, as an order of positions, by `candidates`:
    it is the last candidate whose key is right, or the first one, of those that are rated
    highest; else BOS. All keys are right if there are none.

    Attributes:
        first: Whether it is the first candidate with a right key, not the last.
        grows: Whether the candidates of a longer word, if the same is asked, are those of
            a shorter one and perhaps others behind them.
        source: The channel that it fetches.
    """

    check: ClassVar[str] = "fetches"
    first: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    source: str

    @property
    def compared_channel(self) -> str | None:
        """The channel that is compared where it looks; None if all positions are right."""
        return None

    @property
    def rated_channel(self) -> str | None:
        """The channel by which right keys are ranked before their positions, if any."""
        return None

    def suits(self, keys: IntArray, asked: int) -> BoolArray:
        """Which values of the compared channel are right where a value is asked for."""
        right: BoolArray = keys == asked
        return right

    @property
    def asks(self) -> tuple[str, ...]:
        """The channels whose values at t decide where it looks."""
        return ()

    @abstractmethod
    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """Where it may look; and whether it is BOS if no key there is right.

        Args:
            t: ``(rows,)``: the position that looks, or the length of the word if it
                looks at the whole.
            asked: ``(rows,)`` for each channel of `asks`.

        Returns:
            ``(rows,)``: the first and the last position, none if the last comes first.
        """

    @abstractmethod
    def position(self, read: Sequence[IntArray], t: IntArray) -> IntArray:
        """``(batch, length + 1)``: from which position each position t fetches.

        Args:
            read: ``(batch, length + 1)`` for each channel that it reads but the first.
            t: ``(length + 1,)``: 0, 1, ….
        """

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source; at later positions also the value at BOS."""
        return read[0].anywhere


@dataclass(frozen=True, slots=True)
class Flagged(LookBack):
    """A look-back to a position where a flag is 1.

    Attributes:
        where: The flag, a channel with values 0 and 1.
        at_bos: The value of the flag at BOS.
    """

    at_bos: ClassVar[int] = 1
    where: str

    @property
    def compared_channel(self) -> str:
        """The flag, which must be 1."""
        return self.where

    @property
    def reads(self) -> tuple[str, ...]:
        """The source and the flag."""
        return (self.source, self.where)

    def infer(self, read: Sequence[Values], frame: Frame) -> Values:
        """The values of its source."""
        demand_flag(read[1], self.at_bos)
        return LookBack.infer(self, read, frame)


@runtime_checkable
class Comparing(Protocol):
    """An operation that compares a channel everywhere with a channel at t."""

    @property
    def key(self) -> str:
        """The channel that is compared."""

    @property
    def query(self) -> str:
        """The channel with which it is compared."""


@dataclass(frozen=True, slots=True)
class Match(LookBack):
    """A look to a position whose key equals the query here.

    Attributes:
        key: The channel that is compared there.
        query: The channel that the key there must equal, read here.
    """

    grows: ClassVar[bool] = True
    key: str
    query: str

    @property
    def compared_channel(self) -> str:
        """The key."""
        return self.key

    @property
    def asks(self) -> tuple[str, ...]:
        """The query, which the key must equal."""
        return (self.query,)

    def candidates(
        self, t: IntArray, asked: Sequence[IntArray]
    ) -> tuple[IntArray, IntArray, bool]:
        """All positions from 1 on."""
        return np.ones_like(t), t, True

    @property
    def reads(self) -> tuple[str, ...]:
        """The source, the key and the query."""
        return (self.source, self.key, self.query)


def last(flags: BoolArray) -> IntArray:
    """``(batch, positions)``: the last flagged position up to each; 0 if there is none."""
    marked = np.where(flags, np.arange(flags.shape[1]), 0)
    return np.asarray(np.maximum.accumulate(marked, axis=1))


def demand_flag(where: Values, bos: int) -> None:
    """Refuse a flag that has other values than 0 and 1, or another one at BOS.

    Raises:
        Refused: If it does.
    """
    demand(
        where.within(0, 1) and where.bos == bos,
        f"a flag has values other than 0 and 1, or is not {bos} at BOS",
    )


@cache
def _fields(kind: type[Operation]) -> tuple[tuple[str, Any], ...]:
    return tuple((each.name, each.type) for each in fields(kind))


def _read_field(value: Any, kind: Any) -> Any:
    each = {tuple[str, ...]: str, tuple[int, ...]: int}.get(kind)
    if each:
        demand(type(value) is list, "a list is missing")
        return tuple(_read_field(one, each) for one in value)
    demand(type(value) is kind, f"{str(value)[:40]!r} is of the wrong type")
    demand(kind is str or 0 <= value < LARGEST, "a number is negative or too large")
    return value
