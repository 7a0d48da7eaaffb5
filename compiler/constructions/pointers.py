"""Channels about positions: pointers, and the latest value before a position."""

from collections.abc import Sequence
from itertools import product

from krohn.compiler.cost import check_written
from krohn.program import (
    At,
    Earliest,
    Latest,
    Map,
    Operation,
    Position,
    Row,
    SiblingLatest,
    Sum,
    table,
)

# Pointers: channels that hold a position, and how two positions are compared.
#
# Let ``leaves`` be a flag, and R(t) = (the last j ≤ t where it is 1) − 1, or −1 if there
# is none: the last position from which one does not get to t without the flag. Then the
# first flagged position after i is ≤ t if and only if i ≤ R(t); and R∘S belongs to two
# flags that come one after the other, as R = R_u, S = R_v. These maps look backwards, so
# that they compose by doubling; the maps "the first flagged position after i" look
# forwards and do not (spec/shallow-aperiodic, section 2).
#
# A pointer is a channel ``name`` with the value max(R(t), 0), and a channel ``name[b]``
# for each binary digit of it. (−1 and 0 need not be told apart: both are before every
# letter.) Channels that nothing reads are dropped by the passes, so all of them may be
# asked for.


BEFORE, LEFT = "before", "left"
"""The channels of `places`: max(t − 1, 0), and T − t (0 at BOS)."""


def digits(pointer: str, length: int) -> tuple[str, ...]:
    """The channels of a pointer's binary digits, the lowest first."""
    return tuple(f"{pointer}[{b}]" for b in range(length.bit_length()))


def places(length: int) -> dict[str, Operation]:
    """The channels that pointers fetch: the position before with its digits, and the rest.

    Raises:
        CompileError: If there are too many positions to state.
    """
    check_written(length)
    before = [max(t - 1, 0) for t in range(length + 1)]
    channels: dict[str, Operation] = {BEFORE: Position(tuple(before))}
    for b, name in enumerate(digits(BEFORE, length)):
        channels[name] = Position(tuple(t >> b & 1 for t in before))
    left = (length - t for t in range(1, length + 1))
    return channels | {LEFT: Position((0, *left))}


def last(name: str, leaves: str, length: int) -> dict[str, Operation]:
    """The pointer max(R(t), 0) of a flag; it needs the channels of `places`.

    Args:
        name: The name of the pointer.
        leaves: The flag, 1 at BOS, as for every `Latest`.
        length: T.
    """
    read = (BEFORE, *digits(BEFORE, length))
    made = (name, *digits(name, length))
    return {new: Latest(old, leaves) for new, old in zip(made, read, strict=True)}


def compose_pointers(
    name: str, outer: str, inner: str, length: int
) -> dict[str, Operation]:
    """The pointer R_outer(R_inner(t)): first the outer flag, then the inner one.

    Args:
        name: The name of the pointer.
        outer: A pointer: to the first departures.
        inner: A pointer: to the departures after them.
        length: T.
    """
    at = digits(inner, length)
    read = (outer, *digits(outer, length))
    made = (name, *digits(name, length))
    return {new: At(old, at) for new, old in zip(made, read, strict=True)}


def first(name: str, where: str) -> dict[str, Operation]:
    """T − p at and after the first flagged position p ≥ 1, 0 before it.

    Args:
        name: The name of the channel.
        where: The flag, 0 at BOS, as for every `Earliest`.
    """
    return {name: Earliest(LEFT, where)}


def has_happened(
    name: str, start: str, pointer: str, length: int
) -> dict[str, Operation]:
    """Whether p ≤ R(t): all departures of a pointer have happened after p, up to t.

    One step of R(t) + (T − p); without p, R(t) + 0 is below T.

    Args:
        name: The name of the channel, which is 0 or 1.
        start: The channel of `first` for p.
        pointer: The channel of R.
        length: T.
    """
    sums = range(2 * length - 1)
    return {
        f"{name}.sum": Map(Sum(), (pointer, start)),
        name: Map(table({(s,): int(s >= length) for s in sums}), (f"{name}.sum",)),
    }


# The latest value strictly before a position, in one layer.
#
# No head can leave out its own position and keep the order of the others. But the blocks
# that t's binary digits 1 point back to cover 0..t−1, one head finds the latest value in
# each, and the first that found one, from the nearest block on, is the latest before t.


def latest_before(
    name: str, source: str, where: str, values: Sequence[int], length: int
) -> dict[str, Operation]:
    """Channels that end in ``name``: ``source`` at the last flagged j < t, 0 if none.

    Args:
        name: What to call the last channel.
        source: A channel that is 0 at BOS and at no other flagged position.
        where: The flag, 1 at BOS.
        values: All values of the source.
        length: T.
    """
    levels = range(length.bit_length())
    operations: dict[str, Operation] = {
        f"{name}@{level}": SiblingLatest(source, where, level) for level in levels
    }
    rows: dict[Row, int] = {(a, b): a or b for a, b in product(values, repeat=2)}
    first, layer = table(rows), list(operations)
    while len(layer) > 1:
        joined = []
        for i in range(0, len(layer) - 1, 2):
            both = f"{name}@{len(operations)}"
            operations[both] = Map(first, (layer[i], layer[i + 1]))
            joined.append(both)
        layer = joined + layer[len(joined) * 2 :]
    operations[name] = Map(table({(v,): v for v in values}), (layer[0],))
    return operations
