"""What a model file states of its Program, read strictly: every field is checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray
from verify.effort import Effort
from verify.errors import Rejected

MOST_ROWS = 4_000_000
LARGEST = 2**31
"""All numbers of a Program are less: sums of a few fit 64 bits, products of two too."""
MOST_CODES = 2**26
"""How many entries the codes of all values of a channel have at most."""
SUMS = ("prefix-sum", "marked-sum")
FLAGGED = {"latest": 1, "sibling-latest": 1, "earliest": 0}  # the flag at BOS
ATTENTION = ("shift", *FLAGGED, "latest-match", "at", *SUMS)
_NUMBERS = {"shift": "by", "sibling-latest": "level"}


@dataclass(frozen=True)
class Channel:
    """One channel: what it is computed from, its values, and where it lies.

    Attributes:
        name: Its name.
        op: ``token``, ``position``, ``table``, ``select``, ``sum``, ``shift``, ``latest``,
            ``latest-match``, ``sibling-latest``, ``earliest``, ``at``, ``prefix-sum`` or
            ``marked-sum``.
        inputs: The channels that it reads.
        by: How far a shift looks back; the level of a sibling-latest.
        table: Rows of a table, to its value.
        domain: The values that it can take, ascending.
        one_hot: Whether a value v is laid out as the v-th unit vector, not as v.
        dims: First residual dimension and one past the last; None if not stored.
        born: First snapshot at which it is there.
        dies: Last snapshot at which it is there.
        head: The head of its block that writes it, if one does.
        values: The values at 0, 1, …, T of a function of the position.
    """

    name: str
    op: str
    inputs: tuple[str, ...]
    by: int
    table: Mapping[tuple[int, ...], int]
    domain: tuple[int, ...]
    one_hot: bool
    dims: tuple[int, int] | None
    born: int
    dies: int
    head: int | None
    values: tuple[int, ...] = ()

    @property
    def span(self) -> range:
        """The dimensions that it occupies."""
        return range(*self.dims) if self.dims else range(0)

    def code(self, values: Sequence[int] | IntArray) -> FloatArray:
        """``(values, dimensions)``: how values are laid out."""
        column = np.asarray(values, dtype=np.int64)
        units = np.arange(len(self.span))
        found = column[:, None] == units if self.one_hot else column[:, None]
        return found.astype(np.float64)


def _numbers(channel: Channel) -> int:
    """How many numbers a file states of a channel."""
    rows = len(channel.table) * (1 + len(channel.inputs))
    return rows + len(channel.domain) + len(channel.values)


@dataclass(frozen=True)
class Statement:
    """The Program of a model file.

    Attributes:
        channels: By name, each after those that it reads.
        features: Dimensions ``(start, stop)`` of the position features.
        outputs: The channels that say the state.
        decode: The state that each tuple of output values means.
        letters: How many letters there are; the token value of BOS.
        length: T.
        effort: What may still be spent on it, and on what is made of it.
    """

    channels: Mapping[str, Channel]
    features: Mapping[str, tuple[int, int]]
    outputs: tuple[str, ...]
    decode: Mapping[tuple[int, ...], int]
    letters: int
    length: int
    effort: Effort = field(default_factory=Effort, repr=False, compare=False)

    @cached_property
    def behind(self) -> Mapping[str, Channel]:
        """The channel that each one copies, through identity tables."""
        found: dict[str, Channel] = {}
        for name, channel in self.channels.items():
            copies = channel.op == "table" and len(channel.inputs) == 1
            below = self.channels[channel.inputs[0]] if copies else channel
            same = below.op != "token" and all(
                row == (value,) for row, value in channel.table.items()
            )
            found[name] = found[below.name] if copies and same else channel
        return found

    @cached_property
    def live(self) -> Mapping[int, list[Channel]]:
        """The stored channels that stand at each snapshot.

        Raises:
            Rejected: If there are too many of them.
        """
        found: dict[int, list[Channel]] = {}
        for channel in self.channels.values():
            if channel.dims:
                self.effort.spend(channel.dies - channel.born + 1)
                for snapshot in range(channel.born, channel.dies + 1):
                    found.setdefault(snapshot, []).append(channel)
        return found

    @cached_property
    def readers(self) -> Mapping[str, Sequence[Channel]]:
        """The channels that read each one, in order."""
        found: dict[str, list[Channel]] = {name: [] for name in self.channels}
        for channel in self.channels.values():
            for name in dict.fromkeys(channel.inputs):
                found[name].append(channel)
        return found


def parse(program: Mapping[str, Any], letters: int, length: int) -> Statement:
    """Read the header's ``program``.

    Raises:
        Rejected: If a field is missing, of the wrong type, or refers to nothing.
    """
    try:
        channels: dict[str, Channel] = {}
        for entry in program["channels"]:
            channel = _channel(entry)
            if not channels.keys() >= set(channel.inputs) or channel.name in channels:
                raise Rejected(f"channel {channel.name!r} is out of order")
            channels[channel.name] = channel
        features = {n: _pair(span) for n, span in program["features"].items()}
        outputs = tuple(program["outputs"])
        decode = {tuple(map(_whole, v)): _whole(q) for v, q in program["decode"]}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Rejected(f"the file's program is malformed: {error!r}") from None
    if not outputs or not channels.keys() >= set(outputs):
        raise Rejected("the file's program has no outputs")
    if len(decode) < len(program["decode"]):
        raise Rejected("the file's program decodes a tuple of values twice")
    found = Statement(channels, features, outputs, decode, letters, length)
    found.effort.allow(sum(map(_numbers, channels.values())))
    return found


def _channel(entry: Mapping[str, Any]) -> Channel:
    op = entry["op"]
    if op == "map":
        op = entry["function"]
    stored = "dims" in entry
    dims = _pair(entry["dims"]) if stored else None
    born, dies = _pair(entry["snapshots"]) if stored else (-1, -1)
    domain = tuple(map(_whole, entry["domain"]))
    if not domain or list(domain) != sorted(set(domain)):
        raise Rejected(f"the domain of {entry['name']!r} is not ascending")
    if op not in _REACH:
        raise Rejected(f"there is no operation {op!r}")
    if op == "shift" and entry["by"] == 0:
        raise Rejected(f"channel {entry['name']!r} is shifted by nothing")
    code = entry["code"] if stored else "integer"
    width = domain[-1] + 1 if code == "one-hot" else 1
    if len(domain) * width > MOST_CODES:
        raise Rejected(f"channel {entry['name']!r} has too many values to be one-hot")
    if code not in ("integer", "one-hot") or (dims and dims[1] - dims[0] != width):
        raise Rejected(f"channel {entry['name']!r} has no code that fits its place")
    return Channel(
        name=str(entry["name"]),
        op=op,
        inputs=_inputs(op, entry),
        by=_whole(entry[_NUMBERS[op]]) if op in _NUMBERS else 0,
        table=_table(entry) if op == "table" else {},
        domain=domain,
        one_hot=code == "one-hot",
        dims=dims,
        born=born,
        dies=dies,
        head=_whole(entry["head"]) if "head" in entry else None,
        values=tuple(map(_whole, entry["values"])) if op == "position" else (),
    )


def _inputs(op: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    fields = {
        "shift": ["source"],
        "latest": ["source", "where"],
        "latest-match": ["source", "key", "query"],
        "sibling-latest": ["source", "where"],
        "earliest": ["source", "where"],
        "prefix-sum": ["source"],
        "marked-sum": ["source", "where"],
    }
    if op in ("table", "select", "sum"):
        return tuple(str(n) for n in entry["inputs"])
    if op == "at":
        return tuple(str(n) for n in (entry["source"], *entry["digits"]))
    return tuple(str(entry[f]) for f in fields.get(op, []))


def _table(entry: Mapping[str, Any]) -> dict[tuple[int, ...], int]:
    arity = len(entry["inputs"])
    table = {tuple(map(_whole, row[:-1])): _whole(row[-1]) for row in entry["rows"]}
    if not arity or any(len(row) != arity for row in table):
        raise Rejected(f"the table of {entry['name']!r} has rows of the wrong length")
    if len(table) < len(entry["rows"]):
        raise Rejected(f"the table of {entry['name']!r} has a row twice")
    return table


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a whole number")
    if value >= LARGEST:
        raise Rejected(
            f"the file's program is malformed: a number is {LARGEST} or more"
        )
    return value


def _pair(value: Any) -> tuple[int, int]:
    low, high = value
    return _whole(low), _whole(high)


@dataclass(frozen=True)
class Reach:
    """The values a channel really takes: the one at BOS, and those at later positions."""

    bos: int
    later: frozenset[int]

    @cached_property
    def most(self) -> int:
        """The largest value after BOS."""
        return max(self.later)


def check_domains(statement: Statement) -> dict[str, Reach]:
    """Every value that can occur is in its channel's domain, and tables have its row.

    Returns:
        For each channel the value at BOS and all values at later positions.

    Raises:
        Rejected: If a domain or a table is too small.
    """
    reach: dict[str, Reach] = {}
    for channel in statement.channels.values():
        inputs = [reach[n] for n in channel.inputs]
        found = _REACH[channel.op](channel, inputs, statement)
        if not found.later | {found.bos} <= set(channel.domain):
            raise Rejected(f"channel {channel.name!r} takes values outside its domain")
        reach[channel.name] = found
    return reach


def _reach_token(channel: Channel, _: list[Reach], statement: Statement) -> Reach:
    return Reach(statement.letters, frozenset(range(statement.letters)))


def _reach_position(channel: Channel, _: list[Reach], statement: Statement) -> Reach:
    if len(channel.values) != statement.length + 1:
        raise Rejected(f"{channel.name!r} does not have one value for each position")
    return Reach(channel.values[0], frozenset(channel.values[1:]))


def _reach_read(channel: Channel, inputs: list[Reach], _: Statement) -> Reach:
    bos = FLAGGED.get(channel.op)
    if bos is not None and (inputs[1].bos != bos or not inputs[1].later <= {0, 1}):
        raise Rejected(f"{channel.name!r} has no flag that is {bos} at BOS")
    return Reach(inputs[0].bos, inputs[0].later | {inputs[0].bos})


def _reach_at(channel: Channel, inputs: list[Reach], statement: Statement) -> Reach:
    source, *digits = inputs
    binary = all(digit.later | {digit.bos} <= {0, 1} for digit in digits)
    if not binary or len(digits) != statement.length.bit_length():
        raise Rejected(f"{channel.name!r} has not the binary digits of a position")
    return Reach(source.bos, source.later | {source.bos})


def _reach_sum(channel: Channel, inputs: list[Reach], statement: Statement) -> Reach:
    read = inputs[0]
    if read.bos != 0:
        raise Rejected(f"{channel.name!r} sums a channel that is not 0 at BOS")
    step = gcd(*read.later) or 1
    adds = added(channel, statement) if channel.op != "prefix-sum" else ()
    most = read.most * (sum(adds) if adds else statement.length)
    # Before they are listed: more values than the domain has are outside it.
    if most // step >= len(channel.domain):
        raise Rejected(f"channel {channel.name!r} takes values outside its domain")
    return Reach(0, frozenset(range(0, most + 1, step)))


def added(channel: Channel, statement: Statement) -> tuple[int, ...]:
    """Which positions a sum adds up: 0 or 1 for each.

    Raises:
        Rejected: If that depends on more than the position, or BOS is among them.
    """
    if channel.op == "prefix-sum":
        return (0,) + (1,) * statement.length
    where = statement.channels[channel.inputs[1]]
    if where.op != "position" or not set(where.values) <= {0, 1} or where.values[0]:
        raise Rejected(
            f"{channel.name!r} needs a function of the position that is 0 at BOS and "
            "marks by 1"
        )
    return where.values


def _reach_select(channel: Channel, inputs: list[Reach], _: Statement) -> Reach:
    index, *values = inputs
    if max(index.most, index.bos) >= len(values):
        raise Rejected(f"{channel.name!r} selects a channel that is not there")
    each = {channel.inputs[1 + i]: values[i] for i in index.later}
    chosen = frozenset[int]().union(*(read.later for read in each.values()))
    return Reach(values[index.bos].bos, chosen)


def _reach_added(channel: Channel, inputs: list[Reach], statement: Statement) -> Reach:
    later, work = frozenset({0}), 0
    for read in inputs:
        runs = all(_is_run(values) for values in (later, read.later))
        work += (len(later) + len(read.later)) if runs else len(later) * len(read.later)
        if work > MOST_ROWS:
            raise Rejected(f"the sum {channel.name!r} has too many values to check")
        later = _sums(later, read.later, runs)
    statement.effort.spend(work)
    return Reach(sum(read.bos for read in inputs), later)


def _sums(some: frozenset[int], others: frozenset[int], runs: bool) -> frozenset[int]:
    """All sums of two numbers, of which those of runs are a run."""
    if runs:
        return frozenset(range(min(some) + min(others), max(some) + max(others) + 1))
    return frozenset(a + b for a in some for b in others)


def _is_run(values: frozenset[int]) -> bool:
    """Whether some numbers are all from the least to the largest."""
    return max(values) - min(values) < len(values)


def _reach_table(channel: Channel, inputs: list[Reach], _: Statement) -> Reach:
    if prod(len(r.later) for r in inputs) > MOST_ROWS:
        raise Rejected(f"the table of {channel.name!r} is too large to check")
    if prod(len(r.later) for r in inputs) > len(channel.table):
        raise Rejected(f"the table of {channel.name!r} lacks a row")
    bos = tuple(r.bos for r in inputs)
    later = list(product(*(sorted(r.later) for r in inputs)))
    missing = [row for row in [bos, *later] if row not in channel.table]
    if missing:
        raise Rejected(f"the table of {channel.name!r} has no row {missing[0]}")
    return Reach(channel.table[bos], frozenset(channel.table[row] for row in later))


_REACH = {
    "token": _reach_token,
    "position": _reach_position,
    "table": _reach_table,
    "select": _reach_select,
    "sum": _reach_added,
    "shift": _reach_read,
    "latest": _reach_read,
    "latest-match": _reach_read,
    "sibling-latest": _reach_read,
    "earliest": _reach_read,
    "at": _reach_at,
    "prefix-sum": _reach_sum,
    "marked-sum": _reach_sum,
}
