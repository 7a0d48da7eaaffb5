"""Finding which channels of a file are equal to which of its source.

Nothing here is trusted: `krohn.verify.checker.same_program` checks the classes.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import Refused, demand
from krohn.program.operations.base import Operation
from krohn.program.operations.map import Map
from krohn.program.statement import Channel, Statement, cone
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import program_rule, rule
from krohn.verify.checker.same_program import (
    CALL,
    FILE,
    MOST,
    SOURCE,
    Classes,
    rows_of,
)

Class = int | str
"""Channels of one class have one value, at every position of every word."""
Use = tuple[Operation, Mapping[str, Class], Class]
"""An operation, the classes of what it reads, and its own."""
Letters = dict[str, IntArray]
"""For channels that follow from the token: ``(letters + 1,)``, the values, BOS last."""


def of_model(model: Model, machine: Machine | None) -> list[dict[str, Any]]:
    """The classes of a file, with those of the Program that its source says.

    Raises:
        Refused: If one of the two cannot be read.
    """
    del machine
    return [{"same": find(*rule(program_rule(model)).programs(model))}]


def find(file: Statement, source: Statement) -> list[tuple[int, str, int]]:
    """Every channel of a file and of its source with its class, in an order that shows it.

    What is not shown to be in its class has a class of its own.
    """
    closed, checked = Closure(file, source), Classes(file, source)
    number: defaultdict[Class, int] = defaultdict(count().__next__)
    waiting = [(SOURCE, n, number[c]) for n, c in closed.of_source.items()]
    waiting += [(FILE, n, number[c]) for n, c in closed.of_file.items()]
    ordered = list[tuple[int, str, int]]()
    while waiting:
        left = list[tuple[int, str, int]]()
        for one in waiting:
            try:
                checked.add(*one)
            except (Refused, KeyError):  # or what it reads has no class yet
                left.append(one)
            else:
                ordered.append(one)
        if len(left) == len(waiting):
            side, name, _ = left[0]
            left[0] = side, name, number[f"{name} {side}"]
        waiting = left
    return ordered


class Closure:
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
            if self._root(own) != self._root(named) and self._is_composed(channel):
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
        return operation.rename_channels(
            {n: str(self._root(c)) for n, c in read.items()}
        )

    def _class_of(self, term: Any) -> Class:
        return self._root(self._terms.setdefault(term, len(self._terms)))

    def _root(self, one: Class) -> Class:
        """The representative of all classes that are shown to be equal to one."""
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

    def _is_composed(self, channel: Channel) -> bool:
        """Whether a map agrees with maps of the source of what it reads, in each row."""
        own = self._source.channels.get(channel.name)
        if own is None or not isinstance(channel.operation, Map):
            return False
        if not self._apart(channel.inputs):
            return False
        rows = rows_of(channel, [self._file.channels[n] for n in channel.inputs])
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
        return len({self._root(self.of_file[n]) for n in names}) == len(names)
