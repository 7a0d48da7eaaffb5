"""Sums that may be lowered since no reader sees it: periods, tails and levels."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.program.statement import Channel
from krohn.verify.checker.followed import Step
from krohn.verify.checker.lowered_sums import SUMS

Rule = list[list[Any]]
"""The sums, what may be taken from each at once, and what must be left."""


def reductions(steps: Sequence[Step], outputs: Sequence[str]) -> list[Rule]:
    """The rules by which the sums of a part may be lowered."""
    sums = [c for c, kind, _ in steps if kind in SUMS and c.name not in outputs]
    open_, rules = list[Channel](), list[Rule]()
    for channel in sums:
        readers = [(c, kind, r) for c, kind, r in steps if channel.name in r]
        if any(kind != "table" or len(channel.later) < 2 for _, kind, _ in readers):
            continue
        step = int(channel.later[1])
        sequence = _classes_of_values(channel, [c for c, _, _ in readers])
        start, period = repeats(sequence)
        if period:
            rules.append([[channel.name], [period * step], [start * step]])
        else:
            open_.append(channel)
    return rules + [
        [[first.name, second.name], [int(first.later[1])] * 2, [0, 0]]
        for first, second in _pairs(open_)
        if _only_difference(first, second, steps)
    ]


def _classes_of_values(channel: Channel, readers: Sequence[Channel]) -> IntArray:
    """``(values,)``: equal numbers for later values that no reader tells apart."""
    columns = []
    for reader in readers:
        at = reader.inputs.index(channel.name)
        rows = reader.table.rows
        inside = np.isin(rows[:, at], channel.later)
        others = np.unique(np.delete(rows, at, axis=1), axis=0, return_inverse=True)[1]
        seen = np.full((len(channel.later), others.max() + 1), -1)
        place = np.searchsorted(channel.later, rows[inside, at])
        seen[place, others.ravel()[inside]] = reader.table.values[inside]
        columns.append(seen)
    return np.unique(np.hstack(columns), axis=0, return_inverse=True)[1].ravel()


def repeats(sequence: IntArray) -> tuple[int, int]:
    """From where on a sequence repeats itself every how many; 0 if it does not."""
    back = sequence[::-1]
    same = overlaps(back.tolist())
    starts = len(back) - same - np.arange(len(back))
    periodic = np.flatnonzero(starts[1:] == 0) + 1
    if len(periodic):
        return 0, int(periodic[0])
    last = len(back) // 2
    if last < 1:
        return 0, 0
    period = 1 + int((starts + np.arange(len(back)))[1 : last + 1].argmin())
    start = int(starts[period])
    return (start, period) if same[period] else (0, 0)


def overlaps(sequence: Sequence[int]) -> IntArray:
    """``(length,)``: how long the sequence agrees with itself from each place on.

    The Z algorithm (Gusfield 1997, section 1.3); the first entry is the whole length.
    """
    found = [len(sequence)] + [0] * (len(sequence) - 1)
    low = high = 0
    for i in range(1, len(sequence)):
        length = max(0, min(high - i, found[i - low])) if i < high else 0
        while i + length < len(sequence) and sequence[length] == sequence[i + length]:
            length += 1
        if i + length > high:
            low, high = i, i + length
        found[i] = length
    return np.array(found[: len(sequence)], dtype=np.int64)


def _pairs(sums: Sequence[Channel]) -> Iterator[tuple[Channel, Channel]]:
    taken = set[str]()
    for i, second in enumerate(sums):
        for first in sums[:i]:
            alike = np.array_equal(first.later, second.later)
            if alike and taken.isdisjoint({first.name, second.name}):
                yield first, second


def _only_difference(first: Channel, second: Channel, steps: Sequence[Step]) -> bool:
    """Whether every reader sees the same one step down in both."""
    pair, step = (first.name, second.name), int(first.later[1])
    for reader, _, reads in steps:
        if set(pair) & set(reads):
            table = dict(
                zip(
                    map(tuple, reader.table.rows.tolist()),
                    reader.table.values,
                    strict=True,
                )
            )
            up = [step * (name in pair) for name in reads]
            moved = map(tuple, (reader.table.rows + up).tolist())
            old = reader.table.values.tolist()
            if any(table.get(r, v) != v for r, v in zip(moved, old, strict=True)):
                return False
    return True
