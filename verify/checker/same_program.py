"""The Program of a file says what the Program that is its source says (Theorem 5i)."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from krohn.program.domains import IntArray, joint
from krohn.program.errors import Refused, demand
from krohn.program.operations.map import Map
from krohn.program.statement import Channel, Statement, cone

MOST, CALL = 2**28, 2**10
"""Numbers that are compared: seconds; and how many a step in Python is worth."""
FILE, SOURCE = 0, 1


def readings(
    program: Statement, said: Statement, classes: "Classes"
) -> dict[tuple[int, ...], int]:
    """The tuples that the outputs can be, with the classes that the source gives them.

    Args:
        program: The Program of the file.
        said: That of its source.
        classes: Which channels of the two are equal.

    Raises:
        Refused: If an output is not shown to be that of the source.
    """
    of_file, of_source = classes.of
    demand(len(said.outputs) == len(program.outputs), "the source has other outputs")
    for own, named in zip(program.outputs, said.outputs, strict=True):
        same = own in of_file and of_file[own] == of_source.get(named)
        demand(same, f"{own!r} is not shown to be {named!r} of the source")
    meanings = {}
    for row in joint([program.channels[n].later for n in program.outputs]).tolist():
        decoded = said.decode.get(tuple(row))
        if decoded is None:
            raise Refused(f"the source gives {row} no class")
        alike = program.decode.get(tuple(row)) == decoded
        demand(alike, "the file says another class of its outputs than the source")
        meanings[tuple(row)] = decoded
    return meanings


class Classes:
    """Channels of a file and of its source in classes: those of one class are equal.

    Attributes:
        of: The class of each channel, of the file and of the source.
    """

    def __init__(
        self, file: Statement, source: Statement, told: Iterable[Any] = ()
    ) -> None:
        self._programs, self._left = (file, source), MOST
        self._letters: tuple[dict[str, IntArray], ...] = ({}, {})
        self._facts = set[tuple[int, Any]]()
        self._named = dict[int, list[str]]()
        self.of: tuple[dict[str, int], ...] = ({}, {})
        for side, name, own in told:
            known = side in (FILE, SOURCE) and type(own) is int
            demand(known, "a channel of no Program, or in no class")
            self.add(side, name, own)

    def add(self, side: int, name: str, own: int) -> None:
        """Put a channel into a class, after those that it reads.

        Raises:
            Refused: If it is not shown to be equal to those that are there.
        """
        demand(name not in self.of[side], f"{name!r} is in two classes")
        facts = {(own, fact) for fact in self._facts_of(side, name)}
        shown = own not in self._named or not facts.isdisjoint(self._facts)
        shown = shown or self._is_composed(side, name, own)
        demand(shown, f"{name!r} is not shown to be in its class")
        self.of[side][name] = own
        self._facts |= {*facts, (own, ("is", own))}
        self._named.setdefault(own, []).extend([name] if side == SOURCE else [])

    def _facts_of(self, side: int, name: str) -> Iterator[Any]:
        """Facts that define a channel; with one fact in common two are equal.

        Its operation, on the classes of what it reads; its value, if it has one; that it
        changes nothing; and its value at each letter, if it follows from the token by
        maps alone.
        """
        channel, letters = self._programs[side].channels[name], self._letters[side]
        operation = channel.operation
        read = {n: self.of[side][n] for n in channel.inputs}
        self._spend(len(read))
        yield operation.rename_channels({n: str(one) for n, one in read.items()})
        if len(channel.values.domain) == 1:
            yield "always", channel.bos
        if channel.op == "table" and channel.table.is_identity:
            yield "is", read[channel.inputs[0]]
        if channel.op == "token":
            letters[name] = np.arange(self._programs[side].letters + 1)
        elif isinstance(operation, Map) and set(operation.reads) <= letters.keys():
            letters[name] = operation.function([letters[n] for n in operation.reads])
        if name in letters:
            yield "at letters", tuple(letters[name].tolist())

    def _spend(self, numbers: int) -> None:
        """Count work; a file that asks for more than any honest one is refused."""
        self._left -= numbers + CALL
        demand(self._left >= 0, "the Program takes too long to compare with its source")

    def _is_composed(self, side: int, name: str, own: int) -> bool:
        """Whether a channel equals the one of its name, which is in a class, by rows.

        That of the file is a map, and maps of the source of what it reads agree with it
        in each row.
        """
        file, source = self._programs
        if self.of[1 - side].get(name) != own or name not in file.channels:
            return False
        channel, of_file = file.channels[name], self.of[FILE]
        read = {of_file[n] for n in channel.inputs}
        if not isinstance(channel.operation, Map) or len(read) < len(channel.inputs):
            return False
        rows = rows_of(channel, [file.channels[n] for n in channel.inputs])
        columns: dict[str, IntArray] = {}
        for column, n in zip(rows.T, channel.inputs, strict=True):
            alike = self._named[of_file[n]]
            self._spend(len(alike))
            columns |= dict.fromkeys(alike, column)
        try:
            for n in cone(source, name, columns):
                self._spend(len(rows))
                operation = source.operations[n]
                if not isinstance(operation, Map):
                    return False
                columns[n] = operation.function([columns[m] for m in operation.reads])
            result = channel.operation.function(list(rows.T))
        except Refused:
            return False
        return bool(np.array_equal(columns[name], result))


def rows_of(channel: Channel, read: list[Channel]) -> IntArray:
    """``(rows, inputs)``: all values that what a map reads can have together."""
    if channel.op == "table":
        return channel.table.rows
    bos = np.array([[c.bos for c in read]])
    return np.concatenate([joint([c.later for c in read]), bos])
