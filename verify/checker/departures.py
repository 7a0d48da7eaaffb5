"""Flags that come one after the other, in pointers (docs/proofs/invariants.md)."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray, PossibleValues
from krohn.program.statement import Channel, Statement

Pointed = dict[
    tuple[str, int], tuple[str, ...]
]  # channel, digit: flags that come in turn
WHOLE = -1
MOST_FLAGS = 256  # in one list: lists double


def recognise_channels(program: Statement) -> dict[str, tuple[str, ...]]:
    """The flags of each test: the first one of these, and after it each of the others.

    The test is 1 at t if all have come up to t, in this order, one at a position
    (docs/proofs/invariants.md, Theorem 5f).
    """
    pointed: Pointed = {}
    starts: dict[str, str] = {}
    tests: dict[str, tuple[str, ...]] = {}
    left = np.append(0, np.arange(program.length)[::-1])
    for channel in program.channels.values():
        pointed |= _find_flags(program, channel, pointed)
        read = [program.channels[n] for n in channel.inputs]
        if channel.op == "earliest" and _is_given(read[0], left):
            starts[channel.name] = channel.inputs[1]
        if channel.op == "table" and len(read) == 1 and read[0].op == "sum":
            reached = channel.table.rows[:, 0] >= program.length
            if np.array_equal(channel.table.values, reached):
                tests |= _find_test(channel.name, read[0], pointed, starts)
    return tests


def _find_flags(program: Statement, channel: Channel, known: Pointed) -> Pointed:
    """After which flags a channel points, as a whole or as one of its digits."""
    digits = range(WHOLE, program.length.bit_length())
    if channel.op == "position":
        before = (np.arange(program.length + 1) - 1).clip(min=0)
        columns = [before, *(before >> b & 1 for b in digits[1:])]
        fits = [_is_given(channel, column) for column in columns]
        return {
            (channel.name, d): () for d, fit in zip(digits, fits, strict=True) if fit
        }
    if channel.op not in ("latest", "at"):
        return {}
    source, *where = channel.inputs
    first = {d: known[source, d] for d in digits if (source, d) in known}
    if channel.op == "latest":
        return {(channel.name, d): (where[0],) for d in first if not first[d]}
    after = {known.get((n, b), ()) for b, n in enumerate(where)}
    if len(after) > 1 or () in after:
        return {}
    (second,) = after
    lists = {flags: flags + second for flags in set(first.values()) if flags}
    if any(len(flags) > MOST_FLAGS for flags in lists.values()):
        return {}
    return {(channel.name, d): lists[first[d]] for d in first if first[d]}


def _find_test(
    name: str, added: Channel, pointed: Pointed, starts: dict[str, str]
) -> dict[str, tuple[str, ...]]:
    """The test that a table of a pointer and of what is left after a position is."""
    for pointer, *others in (added.inputs, added.inputs[::-1]):
        flags = pointed.get((pointer, WHOLE))
        if flags and len(others) == 1 and others[0] in starts:
            return {name: (starts[others[0]], *flags)}
    return {}


def _is_given(channel: Channel, values: IntArray) -> bool:
    """Whether a channel is a certain function of the position."""
    given = channel.values.given
    return given is not None and np.array_equal(given, values)


def come(
    channel: Channel, read: list[PossibleValues], old: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Whether some flags have come in turn; how many of them is remembered."""
    new = np.zeros_like(old[:, 0])
    new[:, -1] = old[:, 0, -1]
    for stage, flag in enumerate(read):
        new[:, stage] |= old[:, 0, stage] & flag.can_be(0)[:, 0]
        new[:, stage + 1] |= old[:, 0, stage] & flag.can_be(1)[:, 0]
    some, all_of_them = new[:, :-1].any(axis=1), new[:, -1]
    shown = [all_of_them if value else some for value in channel.domain]
    return np.stack(shown, axis=1), new[:, None]
