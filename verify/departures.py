"""Tests whether some flags have come one after the other, recognised in pointers.

For a flag f let R_f(t) = (the last j ≤ t with f_j = 1) − 1, and for a list of flags
R_{f g …} = R_f ∘ R_{g …}. A *pointer* holds max(R(t), 0) or a binary digit of it. Such a
position is more than exploration can remember. But if p is the first one of a flag e, then
p ≤ R_{f g …}(t) says that after p first f, then g, … have come up to t. That follows from
the same test at t − 1 and from the flags at t (docs/soundness.md, section 2.7): how many
of them have come is one small cell of memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from verify.statement import Channel, Statement

Flags = tuple[str, ...]
Pointers = Mapping[int, Flags]
"""Of which pointers a channel is a digit, or the `NUMBER`; () is that of t itself."""

NUMBER = -1
MOST_FLAGS = 256  # in one list: lists double


@dataclass(frozen=True)
class Departures:
    """Whether ``start`` has come, and after it each of ``flags`` in turn."""

    start: str
    flags: Flags

    @property
    def reads(self) -> Flags:
        """The channels that it is followed by."""
        return (self.start, *self.flags)

    def follow(self, stage: int, values: Mapping[str, int]) -> int:
        """How many of them have come: one more if the next one is there now."""
        if stage == len(self.reads):
            return stage
        return stage + values[self.reads[stage]]


def departures(statement: Statement) -> dict[str, Departures]:
    """The channels that are such tests."""
    found: dict[str, Departures] = {}
    pointers: dict[str, Pointers] = {}
    places = _places(statement.length)
    for channel in statement.channels.values():
        if channel.op == "position":
            pointers[channel.name] = places.get(channel.values, {})
        else:
            pointers[channel.name] = _pointer(channel, pointers)
        test = _test(statement, channel, pointers)
        if test is not None:
            found[channel.name] = test
    return found


def _places(length: int) -> Mapping[tuple[int, ...], Pointers]:
    """What position channels with some values are of the pointer of t itself."""
    before = tuple(max(t - 1, 0) for t in range(length + 1))
    found: dict[tuple[int, ...], dict[int, Flags]] = {before: {NUMBER: ()}}
    for b in range(length.bit_length()):
        found.setdefault(tuple(x >> b & 1 for x in before), {})[b] = ()
    return found


def _pointer(channel: Channel, known: Mapping[str, Pointers]) -> Pointers:
    if channel.op == "latest":
        source, where = channel.inputs
        return {k: (where,) for k, flags in known[source].items() if not flags}
    if channel.op == "at":
        source, *digits = channel.inputs
        inner = {known[digit].get(b) for b, digit in enumerate(digits)}
        if len(inner) == 1 and (last := inner.pop()):
            outer = {k: flags for k, flags in known[source].items() if flags}
            lists = {flags: flags + last for flags in set(outer.values())}
            few = all(len(flags) <= MOST_FLAGS for flags in lists.values())
            return {k: lists[flags] for k, flags in outer.items()} if few else {}
    return {}


def _test(
    statement: Statement, channel: Channel, pointers: Mapping[str, Pointers]
) -> Departures | None:
    """Of what a channel is the test, if it compares a pointer with a first position."""
    if channel.op != "table" or len(channel.inputs) != 1:
        return None
    summed = statement.channels[channel.inputs[0]]
    if summed.op != "sum" or len(summed.inputs) != 2:
        return None
    for pointer, first in (summed.inputs, summed.inputs[::-1]):
        flags = pointers[pointer].get(NUMBER)
        start = _first(statement, statement.channels[first])
        if flags and start is not None and _compares(statement, channel):
            return Departures(start, flags)
    return None


def _first(statement: Statement, channel: Channel) -> str | None:
    """The flag whose first position p a channel holds, as T − p, or 0 before it."""
    if channel.op != "earliest":
        return None
    source, where = (statement.channels[n] for n in channel.inputs)
    left = (0, *(statement.length - t for t in range(1, statement.length + 1)))
    return where.name if source.op == "position" and source.values == left else None


def _compares(statement: Statement, channel: Channel) -> bool:
    """Whether a table of R + (T − p) says that p ≤ R."""
    rows = channel.table.items()
    return all(value == int(s >= statement.length) for (s,), value in rows)
