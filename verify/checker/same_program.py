"""The Program of a file says what the Program that is its source says (Theorem 5i)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from program.domains import IntArray, joint
from program.errors import Refused, demand
from program.operations.map import Map
from program.program import cone
from program.statement import Channel, Statement

Class = int | str
"""Channels of one class have one value, at every position of every word."""
Letters = dict[str, IntArray]
"""For channels that follow from the token: ``(letters + 1,)``, the values, BOS last."""


def readings(program: Statement, said: Statement) -> dict[tuple[int, ...], int]:
    """The tuples that the outputs can be, with the classes that the source gives them.

    Args:
        program: The Program of the file.
        said: That of its source.

    Raises:
        Refused: If an output is not shown to be that of the source.
    """
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
        alike: dict[str, str] = {}
        while (found := self._numbered(alike)) is not None:
            roots = {_root(alike, name) for name in found}
            first, second = sorted(roots, key=list(source.channels).index)
            alike[second] = first

    def _numbered(self, alike: Mapping[str, str]) -> tuple[str, str] | None:
        """Number all channels; or else find two of the source that are equal, too.

        Args:
            alike: Channels of the source, each with an earlier one that it equals.
        """
        self._numbers, self._same = {}, dict[Class, Class]()
        self.of_source, self.of_file = {}, {}
        letters: Letters = {}
        for channel in self._source.channels.values():
            own = self._number(channel, self.of_source, letters)
            if channel.name in alike:
                self._same[own] = own = self.of_source[alike[channel.name]]
            self.of_source[channel.name] = own
        letters = {}
        for channel in self._file.channels.values():
            own = self._number(channel, self.of_file, letters)
            named = self.of_source.get(channel.name, own)
            if own != named and self._composed(channel):
                same = [n for n, c in self.of_source.items() if c == own]
                if same:
                    return same[0], channel.name
                own = named
            self.of_file[channel.name] = own
        return None

    def _number(
        self, channel: Channel, classes: Mapping[str, Class], letters: Letters
    ) -> Class:
        """Equal operations of equal channels, and what has one value, are equal.

        So are channels that say the same at each letter, and at BOS, whatever the maps
        are by which they follow from the token.
        """
        self._follow(channel, letters)
        if len(channel.values.domain) == 1:
            return f"always {channel.bos}"
        if channel.op == "table" and channel.table.is_identity:
            return classes[channel.inputs[0]]
        if channel.name in letters and channel.op != "token":
            return self._numbered_as(tuple(letters[channel.name].tolist()))
        names = {name: str(classes[name]) for name in channel.inputs}
        return self._numbered_as(channel.operation.renamed(names))

    def _numbered_as(self, term: Any) -> Class:
        """The class of what is said so."""
        own = self._numbers.setdefault(term, len(self._numbers))
        return self._same.get(own, own)

    def _follow(self, channel: Channel, letters: Letters) -> None:
        """Note the values of a channel that follows from the token by maps alone."""
        operation = channel.operation
        if channel.op == "token":
            letters[channel.name] = np.arange(self._file.letters + 1)
        elif isinstance(operation, Map) and set(operation.reads) <= letters.keys():
            read = [letters[name] for name in operation.reads]
            letters[channel.name] = operation.function(read)

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


def _root(alike: Mapping[str, str], name: str) -> str:
    """The first of all channels that a channel is shown to equal."""
    while name in alike:
        name = alike[name]
    return name


def _rows(channel: Channel, read: list[Channel]) -> IntArray:
    """``(rows, inputs)``: all values that what a map reads can have together."""
    if channel.op == "table":
        return channel.table.rows
    bos = np.array([[c.bos for c in read]])
    return np.concatenate([joint([c.later for c in read]), bos])
