"""The Program of a file says what the Program that is its source says (Theorem 5i)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from krohn.program.domains import IntArray, joint
from krohn.program.errors import Refused, demand
from krohn.program.operations.base import Operation
from krohn.program.operations.map import Map
from krohn.program.program import cone
from krohn.program.statement import Channel, Statement

MOST, CALL = 2**28, 2**10
"""Numbers that are compared: seconds; and how many a step in Python is worth."""
Class = int | str
"""Channels of one class have one value, at every position of every word."""
Use = tuple[Operation, Mapping[str, Class], Class]
"""An operation, the classes of what it reads, and its own."""
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
        self._file, self._source, self._left = file, source, MOST
        self._joined: dict[Class, Class] = {}
        self._terms: dict[Any, Class] = {}
        self._uses: dict[Class, list[Use]] = {}
        self._named: dict[Class, list[str]] = {}
        self.of_source: dict[str, Class] = {}
        self.of_file: dict[str, Class] = {}
        letters: Letters = {}
        for channel in source.channels.values():
            own = self._number(channel, self.of_source, letters)
            self.of_source[channel.name] = own
            self._named.setdefault(own, []).append(channel.name)
        letters = {}
        for channel in file.channels.values():
            own = self._number(channel, self.of_file, letters)
            self.of_file[channel.name] = own
            named = self.of_source.get(channel.name, own)
            if self._root(own) != self._root(named) and self._composed(channel):
                self._join(own, named)
        self.of_source = {n: self._root(c) for n, c in self.of_source.items()}
        self.of_file = {n: self._root(c) for n, c in self.of_file.items()}

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
            return self._root(classes[channel.inputs[0]])
        if channel.name in letters and channel.op != "token":
            return self._class_of(tuple(letters[channel.name].tolist()))
        read = {name: classes[name] for name in channel.inputs}
        own = self._class_of(self._term(channel.operation, read))
        for used in {self._root(c) for c in read.values()}:
            self._uses.setdefault(used, []).append((channel.operation, read, own))
        return own

    def _term(self, operation: Operation, read: Mapping[str, Class]) -> Operation:
        """An operation of the classes of what it reads."""
        self._spend(len(read))
        return operation.renamed({n: str(self._root(c)) for n, c in read.items()})

    def _class_of(self, term: Any) -> Class:
        """The class of what is said so."""
        return self._root(self._terms.setdefault(term, len(self._terms)))

    def _root(self, one: Class) -> Class:
        """What stands for all classes that are shown to be equal to one."""
        while (above := self._joined.get(one, one)) != one:
            self._joined[one] = self._joined.get(above, above)
            one = above
        return one

    def _join(self, one: Class, other: Class) -> None:
        """Two classes are equal; so are those of equal operations of the two.

        What reads the class that fewer channels read is looked at again, so that no
        channel is looked at more often than the logarithm of their number.
        """
        equal = [(one, other)]
        while equal:
            pair = {self._root(c) for c in equal.pop()}
            if len(pair) == 1:
                continue
            few, many = sorted(pair, key=lambda c: len(self._uses.get(c, ())))
            self._joined[few] = many
            self._named.setdefault(many, []).extend(self._named.pop(few, ()))
            moved = self._uses.pop(few, [])
            for operation, read, own in moved:
                term = self._term(operation, read)
                equal.append((own, self._terms.setdefault(term, own)))
            self._uses.setdefault(many, []).extend(moved)

    def _spend(self, numbers: int) -> None:
        """Count work; a file that asks for more than any honest one is refused."""
        self._left -= numbers + CALL
        demand(self._left >= 0, "the Program takes too long to compare with its source")

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
            alike = self._named.get(self._root(self.of_file[name]), ())
            self._spend(len(alike))
            columns |= dict.fromkeys(alike, column)
        try:
            result = channel.operation.function(list(rows.T))
            for name in cone(self._source, own.name, columns):
                self._spend(len(rows))
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
        return len({self._root(self.of_file[n]) for n in names}) == len(names)


def _rows(channel: Channel, read: list[Channel]) -> IntArray:
    """``(rows, inputs)``: all values that what a map reads can have together."""
    if channel.op == "table":
        return channel.table.rows
    bos = np.array([[c.bos for c in read]])
    return np.concatenate([joint([c.later for c in read]), bos])
