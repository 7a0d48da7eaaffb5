"""The Program of a file says what the Program that is its source says (Theorem 5i)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from program.domains import IntArray, joint
from program.errors import Refused, demand
from program.operations.map import Map
from program.program import cone
from program.statement import Channel, Statement, parse

Class = int | str
"""Channels of one class have one value, at every position of every word."""


def readings(program: Statement, source: Any) -> dict[tuple[int, ...], int]:
    """The tuples that the outputs can be, with the classes that the source gives them.

    Args:
        program: The Program of the file.
        source: What the header says of its source.

    Raises:
        Refused: If an output is not shown to be that of the source.
    """
    said = parse(source["program"], program.letters, program.length)
    classes = Classes(program, said)
    demand(len(said.outputs) == len(program.outputs), "the source has other outputs")
    for own, named in zip(program.outputs, said.outputs, strict=True):
        same = classes.of_file[own] == classes.of_source[named]
        demand(same, f"{own!r} is not shown to be {named!r} of the source")
    found = {}
    for row in joint([program.channels[n].later for n in program.outputs]).tolist():
        decoded = said.decode.get(tuple(row))
        if decoded is None:
            raise Refused(f"the source gives {row} no class")
        found[tuple(row)] = decoded
    return found


class Classes:
    """Which channels of a file and of its source are shown to be equal.

    Attributes:
        of_source: The class of each channel of the source.
        of_file: The same of the file.
    """

    def __init__(self, file: Statement, source: Statement) -> None:
        self._file, self._source = file, source
        self._numbers: dict[Any, int] = {}
        self.of_source: dict[str, Class] = {}
        self.of_file: dict[str, Class] = {}
        for channel in source.channels.values():
            self.of_source[channel.name] = self._number(channel, self.of_source)
        known = set(self.of_source.values())
        for channel in file.channels.values():
            own = self._number(channel, self.of_file)
            if own not in known and self._composed(channel):
                own = self.of_source[channel.name]
            self.of_file[channel.name] = own

    def _number(self, channel: Channel, classes: Mapping[str, Class]) -> Class:
        """Equal operations of equal channels, and what has one value, are equal."""
        if len(channel.values.domain) == 1:
            return f"always {channel.bos}"
        if channel.op == "table" and channel.table.is_identity:
            return classes[channel.inputs[0]]
        names = {name: str(classes[name]) for name in channel.inputs}
        term = channel.operation.renamed(names)
        return self._numbers.setdefault(term, len(self._numbers))

    def _composed(self, channel: Channel) -> bool:
        """Whether a map agrees with maps of the source of what it reads, in each row."""
        own = self._source.channels.get(channel.name)
        if own is None or not isinstance(channel.operation, Map):
            return False
        if not self._apart(channel.inputs):
            return False
        rows = _rows(channel, [self._file.channels[n] for n in channel.inputs])
        columns: dict[str, IntArray] = {}
        for column, name in zip(rows.T, channel.inputs, strict=True):
            alike = self.of_file[name]
            columns |= {n: column for n, c in self.of_source.items() if c == alike}
        try:
            result = channel.operation.function(list(rows.T))
            for name in cone(self._source, own.name, columns):
                operation = self._source.operations[name]
                if not isinstance(operation, Map):
                    return False
                columns[name] = operation.function(
                    [columns[n] for n in operation.reads]
                )
        except Refused:
            return False
        return bool(np.array_equal(columns[own.name], result))

    def _apart(self, names: tuple[str, ...]) -> bool:
        """Whether no two of some channels of the file are in one class."""
        return len({self.of_file[n] for n in names}) == len(names)


def _rows(channel: Channel, read: list[Channel]) -> IntArray:
    """``(rows, inputs)``: all values that what a map reads can have together."""
    if channel.op == "table":
        return channel.table.rows
    bos = np.array([[c.bos for c in read]])
    return np.concatenate([joint([c.later for c in read]), bos])
