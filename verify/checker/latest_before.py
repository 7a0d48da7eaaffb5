"""The latest value before a position, from siblings at all levels (Theorem 4b)."""

from collections.abc import Sequence

import numpy as np

from krohn.program.domains import BoolArray, PossibleValues
from krohn.program.operations.latest import Latest
from krohn.program.operations.sibling_latest import SiblingLatest
from krohn.program.statement import Channel, Statement


def recognise_channels(program: Statement) -> dict[str, tuple[str, ...]]:
    """The source and the flag of latest values before a position (Theorem 4b)."""
    answers: dict[str, tuple[tuple[str, ...], int, int]] = {}
    for name, channel in program.channels.items():
        parts = [answers[n] for n in channel.inputs if n in answers]
        if isinstance(channel.operation, SiblingLatest):
            level = channel.operation.level
            answers[name] = channel.inputs, level, level + 1
        elif channel.op == "table" and len(parts) == len(channel.inputs):
            what, low, _ = parts[0]
            ends = [low, *(high for _, _, high in parts)]
            joined = [p[:2] for p in parts] == [(what, end) for end in ends[:-1]]
            first = (channel.table.rows != 0).argmax(axis=1)
            taken = channel.table.rows[np.arange(len(first)), first]
            if joined and np.array_equal(taken, channel.table.values):
                answers[name] = what, low, ends[-1]
    sources = {}
    for name, (what, low, high) in answers.items():
        source = program.channels[what[0]]
        if source.bos == 0 < source.later.min() and low == 0 < 2**high > program.length:
            sources[name] = what
    return sources


def update_cell(
    channel: Channel, names: Sequence[str], read: list[PossibleValues], old: BoolArray
) -> BoolArray:
    """The cell after a position: the latest value up to it."""
    return Latest(*names).step(channel.own_domain, read, old)[1]
