"""A sequence function as a user writes it, channel by channel."""

import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from krohn.program import (
    At,
    AtAnywhere,
    Earliest,
    Final,
    Latest,
    LatestMatch,
    Map,
    MatchAnywhere,
    Operation,
    Program,
    Select,
    Shift,
)
from krohn.program.domains import joint
from krohn.program.interpreter import interpret
from krohn.program.operations.base import Frame
from krohn.sources.sequence_functions.channel import Channel, Make
from krohn.sources.sequence_functions.errors import ProgramError
from krohn.sources.sequence_functions.lowered_calls import (
    compared,
    difference,
    fetch,
    gated,
    match,
    prefix_sum,
    summed,
    with_constant,
)
from krohn.sources.sequence_functions.meaning import Value
from krohn.sources.sequence_functions.realisation import Known, Realisation
from krohn.sources.sequence_functions.realised import Realised

HERE = Path(__file__).parent
MOST_CLASSES = 10_000


@dataclass(eq=False)
class SequenceFunction:
    """A function from words to one value at each letter, from channels by name.

    A channel has a value at every letter, and one *before the first letter*, which a
    look-back finds where there is nothing else. There the token is ``''``, the position
    0, and every other channel what its function makes of that; ``bos=`` of `map` says
    another value.

    Attributes:
        letters: The names of the letters.
        name: What it is called.
        channels: In the order in which they were made.
        outputs: The channels that it says.
        show: From the values of these to what is shown of them.
        place: The line of a text that is being read; None if Python calls.
    """

    letters: tuple[str, ...]
    name: str = "program"
    channels: list[Channel] = field(default_factory=list)
    outputs: tuple[Channel, ...] = ()
    show: Callable[..., Hashable] | None = None
    place: str | None = None

    def token(self) -> Channel:
        """The letter."""
        return self._channel("token", (), lambda r, name, _: r.letter())

    def position(self) -> Channel:
        """1 at the first letter, 2 at the second one."""
        return self._channel("position", (), lambda r, name, _: r.position())

    def map(
        self, function: Callable[..., Value], *channels: Channel, bos: Value = ...
    ) -> Channel:
        """A Python function of values at one position, as a table.

        Args:
            function: Takes one value of each channel; must be pure. It may return
                numbers, or anything that can be hashed.
            channels: What it takes.
            bos: The value before the first letter, instead of the function's.
        """
        once = list(dict.fromkeys(channels))
        place = {channel: i for i, channel in enumerate(once)}
        at = [place[c] for c in channels]

        def make(r: Realisation, name: str, read: list[Known]) -> Known:
            return r.table(name, lambda *v: function(*(v[i] for i in at)), read, bos)

        return self._channel("map", tuple(once), make)

    def comparison(self, test: Callable[..., Any], x: Channel, y: object) -> Channel:
        """1 where two values compare so, else 0; ``y`` may be a constant."""
        if not isinstance(y, Channel):
            return self._channel("comparison", (x,), with_constant(test, y))
        if x is y:
            return self.map(lambda v: int(test(v, v)), x)
        return self._channel("comparison", (x, y), compared(test))

    def sum(self, *channels: Channel | int) -> Channel:
        """The sum of numbers."""
        read = [c for c in channels if isinstance(c, Channel)]
        constant = sum(c for c in channels if not isinstance(c, Channel))
        once = tuple(dict.fromkeys(read))
        if 1 < len(once) == len(read):
            return self._channel("sum", once, summed(constant))
        return self.map(lambda *v: sum(v) + constant, *read)

    def difference(self, x: Channel, y: Channel | int) -> Channel:
        """The difference of two numbers; it may be negative."""
        if not isinstance(y, Channel):
            return self.sum(x, -y)
        return self._channel("difference", (x, y), difference)

    def where(self, flag: Channel, x: Channel, y: Channel) -> Channel:
        """``x`` where the flag is 1, else ``y``."""
        return self.select(flag, y, x)

    def gate(self, flag: Channel, source: Channel) -> Channel:
        """The number ``source`` where the flag is 1, else 0."""
        return self._channel("gate", (flag, source), gated)

    def select(self, index: Channel, *channels: Channel) -> Channel:
        """The channel that ``index`` says: 0 is the first one."""

        def make(r: Realisation, name: str, read: list[Known]) -> Known:
            first, *rest = r.natural(read[0], at_start=True), *read[1:]
            chosen, meaning = r.alike(name, rest)
            reads = (first.name, *(x.name for x in chosen))
            return r.add(name, Map(Select(), reads), meaning)

        return self._channel("select", (index, *channels), make)

    def shift(self, source: Channel, by: int = 1) -> Channel:
        """``source`` so many letters ago."""

        def operation(r: Realisation, name: str, read: list[Known]) -> Shift:
            return Shift(read[0].name, by)

        return self._copy("shift", (source,), operation)

    def latest(self, source: Channel, where: Channel) -> Channel:
        """``source`` at the last letter so far where the flag ``where`` is 1."""

        def operation(r: Realisation, name: str, read: list[Known]) -> Latest:
            return Latest(read[0].name, r.at_start(r.natural(read[1]), 1).name)

        return self._copy("latest", (source, where), operation)

    def earliest(self, source: Channel, where: Channel) -> Channel:
        """``source`` at the first letter where the flag ``where`` is 1."""

        def operation(r: Realisation, name: str, read: list[Known]) -> Earliest:
            return Earliest(read[0].name, r.at_start(r.natural(read[1]), 0).name)

        return self._copy("earliest", (source, where), operation)

    def latest_match(self, source: Channel, key: Channel, query: Channel) -> Channel:
        """``source`` at the last letter so far whose ``key`` is ``query`` here."""
        return self._copy("latest_match", (source, key, query), match(LatestMatch))

    def at(self, source: Channel, position: Channel) -> Channel:
        """``source`` at a position from 1 up to here; else before the first letter."""
        return self._copy("at", (source, position), fetch(At))

    def final(self, source: Channel) -> Channel:
        """``source`` at the last letter of the word, seen from every letter."""

        def operation(r: Realisation, name: str, read: list[Known]) -> Final:
            return Final(read[0].name)

        return self._copy("final", (source,), operation)

    def match_anywhere(self, source: Channel, key: Channel, query: Channel) -> Channel:
        """``source`` at the last letter of the word whose ``key`` is ``query`` here."""
        operation = match(MatchAnywhere)
        return self._copy("match_anywhere", (source, key, query), operation)

    def at_anywhere(self, source: Channel, position: Channel) -> Channel:
        """``source`` at any position of the word; else before the first letter."""
        return self._copy("at_anywhere", (source, position), fetch(AtAnywhere))

    def prefix_sum(self, source: Channel) -> Channel:
        """The sum of a number over all letters so far."""
        return self._channel("prefix_sum", (source,), prefix_sum)

    def output(
        self, *channels: Channel, show: Callable[..., Hashable] | None = None
    ) -> None:
        """Say what the function says.

        Args:
            channels: One, or several to be said together.
            show: From their values to what is shown, different for different ones.
        """
        self.outputs, self.show = channels, show

    def realised(self, length: int) -> Realised:
        """The Program for words of up to ``length`` letters.

        Raises:
            ProgramError: If a channel cannot be; it names the line that made it.
        """
        if not self.outputs:
            raise ProgramError(f"{self.name!r} has no output; say p.output(channel)")
        r = Realisation(self.letters, Frame(len(self.letters), length))
        r.letter()
        made: dict[Channel, Known] = {}
        for channel in self.channels:
            try:
                read = [made[c] for c in channel.reads]
                made[channel] = channel.make(r, channel.name, read)
            except ProgramError as error:
                at = f"{channel.line}: channel {channel.name!r} (p.{channel.call})"
                raise ProgramError(f"{at}: {error}") from error.__cause__
        return self._said(r, [made[c] for c in self.outputs])

    def _said(self, r: Realisation, outputs: list[Known]) -> Realised:
        count = np.prod([len(x.values.later) for x in outputs], dtype=float)
        if count > MOST_CLASSES:
            raise ProgramError(
                f"{self.name!r} would have {count:.3g} different outputs"
            )
        rows = joint([x.values.later for x in outputs]).tolist()
        values = [
            tuple(x[code] for x, code in zip(outputs, row, strict=True)) for row in rows
        ]
        show = self.show or (lambda *v: v[0] if len(v) == 1 else v)
        classes = tuple(show(*v) for v in values)
        names = tuple(map(_named, classes))
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise ProgramError(f"two outputs of {self.name!r} are shown as {twice!r}")
        program = Program(
            letters=self.letters,
            states=len(rows),
            length=r.frame.length,
            operations=r.operations,
            outputs=tuple(x.name for x in outputs),
            decode={tuple(row): i for i, row in enumerate(rows)},
            domains={name: known.values.domain for name, known in r.known.items()},
        )
        return Realised(self.name, program, classes, names)

    def run(self, word: Sequence[str]) -> list[Any]:
        """What it says at each letter, by the interpreter: plain integers, no network.

        Raises:
            ProgramError: If a channel cannot be, or a letter is unknown.
        """
        unknown = [a for a in word if a not in self.letters]
        if unknown:
            raise ProgramError(f"{unknown[0]!r} is not a letter of {self.name!r}")
        found = self.realised(max(1, len(word)))
        letters = np.array([[self.letters.index(a) for a in word]], dtype=np.int64)
        values = interpret(found.program, letters.reshape(1, -1))
        rows = np.stack([values[n][0, 1:] for n in found.program.outputs], axis=-1)
        return [
            found.classes[found.program.decode[tuple(row)]] for row in rows.tolist()
        ]

    def _copy(
        self,
        call: str,
        reads: tuple[Channel, ...],
        operation: Callable[[Realisation, str, list[Known]], Operation],
    ) -> Channel:
        """A channel that fetches its first one, and so has its values."""

        def make(r: Realisation, name: str, read: list[Known]) -> Known:
            return r.add(name, operation(r, name, read), read[0].meaning)

        return self._channel(call, reads, make)

    def _channel(self, call: str, reads: tuple[Channel, ...], make: Make) -> Channel:
        line = self.place or _line()
        for read in reads:
            if not isinstance(read, Channel) or read.owner is not self:
                raise ProgramError(
                    f"{line}: p.{call} takes channels of its own function, not {read!r}"
                )
        once = [
            c for c in self.channels if c.call == call and call in ("token", "position")
        ]
        if once:
            return once[0]
        number = sum(c.call == call for c in self.channels) + 1
        name = call if call in ("token", "position") else f"{call}{number}"
        self.channels.append(Channel(self, name, line, call, reads, make))
        return self.channels[-1]


def _line() -> str:
    """The file and line of the user's call: the first frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == HERE:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _named(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
