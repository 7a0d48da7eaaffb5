"""The Program of a model file: how it is stated there, and how that is read, strictly."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from krohn.program.domains import (
    BoolArray,
    ChannelDomain,
    FloatArray,
    IntArray,
    Matrices,
    PossibleValues,
    Values,
    among,
    places,
)
from krohn.program.errors import Refused, demand
from krohn.program.functions import Table
from krohn.program.operations import operation_named
from krohn.program.operations.base import Frame, Operation
from krohn.program.operations.map import Map
from krohn.program.operations.token import Token
from krohn.program.strict_json import reals, whole

CODES = ("integer", "one-hot", "matrix", "vector")
MOST_CODES = 2**26
"""How many entries the codes of all values of a channel have at most."""
MOST_CELLS = 2**28
"""How many cases there are at most, each with all values of a channel."""


class StatedPlace(NamedTuple):
    """Where a channel lies.

    Attributes:
        start: Its first residual dimension.
        stop: One past its last.
        born: The first snapshot at which it is there.
        dies: The last one.
        code: How a value is laid out: an ``"integer"`` v as v, ``"one-hot"`` as the v-th
            unit vector, a ``"matrix"`` row by row, as a ``"vector"`` v is the v-th of some.
        head: The head of its block that writes it, if one does.
    """

    start: int
    stop: int
    born: int
    dies: int
    code: str
    head: int | None


@dataclass(frozen=True)
class Channel:
    """A channel of a Program that a file states.

    Attributes:
        name: Its name.
        operation: How it is computed; of a table the rows that occur.
        domain: The values that it is said to take, ascending; none if they are matrices.
        values: The values that it takes.
        stored: Where it lies, if it is stored.
        vectors: ``(more than the largest value, dimensions)``: how each value is laid
            out, if that is as a vector.
    """

    name: str
    operation: Operation
    domain: IntArray
    values: Values
    stored: StatedPlace | None
    vectors: FloatArray | None = None

    @property
    def op(self) -> str:
        """The name of its operation on file; for a map, the name of its function."""
        if isinstance(self.operation, Map):
            return self.operation.function.wire
        return self.operation.wire

    @property
    def inputs(self) -> tuple[str, ...]:
        """The channels that it reads."""
        return self.operation.reads

    @cached_property
    def table(self) -> Table:
        """Its function, if it is a table.

        Raises:
            Refused: If it is none.
        """
        function = self.operation.function if isinstance(self.operation, Map) else None
        if not isinstance(function, Table):
            raise Refused(f"channel {self.name!r} is no table")
        return function

    @property
    def values_by_position(self) -> IntArray:
        """``(T + 1,)``: its value at each position.

        Raises:
            Refused: If it is no function of the position.
        """
        if self.values.given is None:
            raise Refused(f"channel {self.name!r} is no function of the position")
        return self.values.given

    @property
    def bos(self) -> int:
        """Its value at BOS."""
        return self.values.bos

    @property
    def later(self) -> IntArray:
        """Its values at later positions, ascending."""
        return self.values.later

    @property
    def own_domain(self) -> ChannelDomain:
        """Its domain, and its value at BOS."""
        return ChannelDomain(self.domain, self.values.bos)

    @property
    def born(self) -> int:
        """The first snapshot at which it is there; −1 if it is not stored."""
        return self.stored.born if self.stored else -1

    @property
    def dies(self) -> int:
        """The last snapshot at which it is there; −1 if it is not stored."""
        return self.stored.dies if self.stored else -1

    @property
    def head(self) -> int | None:
        """The head of its block that writes it, if one does."""
        return self.stored.head if self.stored else None

    @property
    def code_name(self) -> str:
        """How a value is laid out; nothing if it is not stored."""
        return self.stored.code if self.stored else ""

    @property
    def one_hot(self) -> bool:
        """Whether a value v is laid out as the v-th unit vector, not as v."""
        return self.code_name == "one-hot"

    @property
    def integer(self) -> bool:
        """Whether it is stored, a value v as the number v."""
        return self.code_name == "integer"

    @property
    def says_vectors(self) -> bool:
        """Whether values are laid out as vectors that are stated, for the read-out."""
        return self.vectors is not None and self.operation.numbers is None

    @cached_property
    def span(self) -> range:
        """The dimensions that it occupies."""
        return range(self.stored.start, self.stored.stop) if self.stored else range(0)

    def code(self, values: IntArray) -> FloatArray:
        """``(values, dimensions)``: how values are laid out."""
        if self.vectors is not None:
            return self.vectors[np.asarray(values)]
        column, units = np.asarray(values)[:, None], np.arange(len(self.span))
        return (column == units if self.one_hot else column).astype(np.float64)

    def place(self, values: IntArray) -> IntArray:
        """Where values stand in the domain.

        Raises:
            Refused: If one is not there.
        """
        return places(self.domain, values)


@dataclass(frozen=True)
class Statement:
    """The Program of a model file.

    Attributes:
        channels: By name, each after those that it reads.
        features: Dimensions ``(start, stop)`` of the position features.
        outputs: The channels that say the state.
        decode: The state that each tuple of output values means.
        frame: Letters and length.
        vector: The vector that an output of matrices is multiplied by; else empty.
        near: Look-backs that fetch from no further back than so many positions, in the
            texts that are claimed; nothing is proved of other texts then.
    """

    channels: Mapping[str, Channel]
    features: Mapping[str, tuple[int, int]]
    outputs: tuple[str, ...]
    decode: Mapping[tuple[int, ...], int]
    frame: Frame
    vector: tuple[float, ...] = ()
    near: Mapping[str, int] = field(default_factory=dict)

    @property
    def bos(self) -> int:
        """The token value at position 0."""
        return self.frame.letters

    @property
    def letters(self) -> int:
        """How many letters there are."""
        return self.frame.letters

    @property
    def length(self) -> int:
        """The longest word (T)."""
        return self.frame.length

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """The operation of each channel."""
        return {name: channel.operation for name, channel in self.channels.items()}

    def reads(self, name: str) -> list[Channel]:
        """The channels that one reads."""
        return [self.channels[n] for n in self.channels[name].inputs]

    @cached_property
    def order(self) -> Mapping[str, int]:
        """Where each channel stands in the list."""
        return {name: i for i, name in enumerate(self.channels)}

    @cached_property
    def behind(self) -> Mapping[str, Channel]:
        """The channel that each one copies, through identity tables."""
        originals: dict[str, Channel] = {}
        for name, channel in self.channels.items():
            operation = channel.operation
            below = operation.reads[0] if channel.op == Table.wire else name
            same = channel.op == Table.wire and channel.table.is_identity
            token = isinstance(self.channels[below].operation, Token)
            originals[name] = originals[below] if same and not token else channel
        return originals


def parse(
    said: Mapping[str, Any],
    letters: int,
    length: int,
    matrices: bool = False,
    vectors: bool = False,
) -> Statement:
    """Read the header's ``program``.

    Args:
        said: The object.
        letters: How many letters there are.
        length: The longest word (T).
        matrices: Whether channels may hold matrices: who proves whole numbers only is
            never shown any.
        vectors: Whether values may be laid out as real vectors.

    Raises:
        Refused: If a value could leave its domain, or something cannot be.
        LookupError: If something is missing.
        TypeError: If something is of another type.
        ValueError: If something is malformed.
    """
    frame, channels = Frame(letters, length), dict[str, Channel]()
    for entry in said["channels"]:
        name = entry["name"]
        demand(type(name) is str and name not in channels, f"{name!r} is there twice")
        first = entry["op"] == Token.wire
        demand(first == (not channels), "the first channel is not the token")
        channels[name] = _channel(entry, channels, frame)
    real = any(isinstance(c.values, Matrices) for c in channels.values())
    demand(matrices or not real, "a Program with matrices computes no machine")
    spoken = any(c.says_vectors for c in channels.values())
    demand(vectors or not spoken, "a Program that says vectors computes no machine")
    features = {n: _pair(said["features"][n]) for n in said["features"]}
    outputs = tuple(channels[name].name for name in said["outputs"])
    demand(len(outputs) > 0, "the Program has no outputs")
    decode = {tuple(whole(v, 1).tolist()): int(whole(q, 0)) for v, q in said["decode"]}
    demand(len(decode) == len(said["decode"]), "a tuple is decoded twice")
    vector = tuple(reals(said.get("vector", []), 1).tolist())
    demand(matrices or not vector, "a Program of whole numbers has no vector")
    return Statement(channels, features, outputs, decode, frame, vector)


def _channel(
    entry: Mapping[str, Any], channels: Mapping[str, Channel], frame: Frame
) -> Channel:
    name, kind = entry["name"], operation_named(entry["op"])
    if kind is None:
        raise Refused(f"there is no operation {str(entry['op'])[:40]!r}")
    operation = kind.from_wire(entry)
    read = [channels[n].values for n in operation.reads]
    real = any(isinstance(values, Matrices) for values in read)
    demand(operation.on_matrices or not real, f"{name!r} cannot read matrices")
    real = any(channels[n].says_vectors for n in operation.reads)
    demand(not real, f"{name!r} reads a vector, which only the read-out does")
    table = isinstance(operation, Map) and isinstance(operation.function, Table)
    real = any(channels[n].vectors is not None for n in operation.reads)
    demand(table or not real, f"{name!r} reads a mean, which only tables do")
    if "domain" not in entry:
        return _real(entry, operation, operation.infer(read, frame))
    domain = whole(entry["domain"], 1)
    demand(
        len(domain) > 0 and np.diff(domain) > 0, f"{name!r}: a domain does not ascend"
    )
    if isinstance(operation, Map) and isinstance(operation.function, Table):
        operation = Map(operation.function.occurring(read), operation.inputs)
    values = operation.infer(read, frame)
    demand(not isinstance(values, Matrices), f"{name!r} holds matrices")
    inside = among(np.array(values.domain), domain)
    demand(inside, f"channel {name!r} takes values outside its domain")
    widths = {"integer": 1, "one-hot": int(domain[-1]) + 1}
    demand(table or "vectors" not in entry, f"{name!r} cannot be laid out as vectors")
    vectors = _vectors(entry, operation, int(domain[-1]))
    if vectors is not None:
        widths = {"vector": vectors.shape[1]}
    place = _place(entry, widths)
    demand(
        place is None or len(domain) * widths[place.code] <= MOST_CODES,
        "a channel has too many values to be one-hot",
    )
    return Channel(name, operation, domain, values, place, vectors)


def _vectors(
    entry: Mapping[str, Any], operation: Operation, largest: int
) -> FloatArray | None:
    """The vectors of a channel's values, if it is laid out so."""
    numbers = operation.numbers
    if "vectors" not in entry:
        return None if numbers is None else numbers[:, None]
    vectors = reals(entry["vectors"], 2)
    demand(vectors.shape[1] > 0, "vectors have no width")
    demand(len(vectors) > largest, f"{entry['name']!r} has a value without a vector")
    return vectors


def _real(entry: Mapping[str, Any], operation: Operation, values: Values) -> Channel:
    """A channel of matrices, which has no list of values."""
    demand(isinstance(values, Matrices), f"{entry['name']!r} has no domain")
    assert isinstance(values, Matrices)
    place = _place(entry, {"matrix": values.size**2})
    return Channel(entry["name"], operation, np.zeros(0, np.int64), values, place)


def _place(entry: Mapping[str, Any], widths: Mapping[str, int]) -> StatedPlace | None:
    """Where a channel is said to lie; the dimensions that each code of it would take."""
    if "dims" not in entry:
        return None
    start, stop = _pair(entry["dims"])
    born, dies = _pair(entry["snapshots"])
    code = entry["code"]
    demand(code in CODES and code in widths, f"{entry['name']!r} has another code")
    width = widths[code]
    demand(stop - start == width, f"{entry['name']!r} does not fit its place")
    demand(born <= dies, f"{entry['name']!r} is never there")
    head = int(whole(entry["head"], 0)) if "head" in entry else None
    by_head = born % 2 == 1
    demand((head is not None) == by_head, f"{entry['name']!r} has another writer")
    return StatedPlace(start, stop, born, dies, code, head)


def _pair(value: Any) -> tuple[int, int]:
    low, high = whole(value, 1).tolist()
    return low, high


Sets = dict[str, BoolArray]
"""``(rows, values of the domain)``: what channels may be."""


def possible_map_values(
    statement: Statement, known: Sets, channel: Channel
) -> BoolArray:
    """The values that a map may have in each row, given the values of its inputs."""
    operation = channel.operation
    assert isinstance(operation, Map)
    read = possible_values(statement, known, operation.inputs)
    cells = len(read[0].sets) * len(channel.domain)
    demand(cells <= MOST_CELLS, "too many values in all cases")
    return operation.function.step(channel.own_domain, read)


def possible_values(
    statement: Statement, known: Sets, names: Sequence[str]
) -> list[PossibleValues]:
    """The possible values of some channels, with their domains."""
    return [PossibleValues(statement.channels[n].domain, known[n]) for n in names]


class Runnable(Protocol):
    """A Program, or the statement of one in a model file."""

    @property
    def operations(self) -> Mapping[str, Operation]:
        """The channels, each after those that it reads."""
        ...

    @property
    def bos(self) -> int:
        """The token value at position 0."""
        ...


def cone(program: Runnable, name: str, known: Collection[str]) -> list[str]:
    """The channels that one is computed from, down to known ones: each after its reads."""
    channels: dict[str, None] = {}
    todo = [] if name in known else [(name, iter(program.operations[name].reads))]
    while todo:
        at, rest = todo[-1]
        missing = next((n for n in rest if n not in known and n not in channels), None)
        if missing is None:
            channels[at] = None
            todo.pop()
        else:
            todo.append((missing, iter(program.operations[missing].reads)))
    return list(channels)
