"""A sequence function as a user writes it, channel by channel, and on file."""

import operator
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from krohn.kinds.sequence_functions.source_realisation import (
    Known,
    ProgramError,
    Realisation,
    Value,
    best,
    compare_channels,
    difference,
    fetch,
    gate_channel,
    match,
    mean,
    prefix_sum,
    sum_with_constant,
    with_constant,
)
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
from krohn.program.domains import IntArray, joint
from krohn.program.errors import demand
from krohn.program.interpreter import interpret, states
from krohn.program.language import program_to_wire
from krohn.program.operations.base import Frame
from krohn.program.statement import parse
from krohn.program.user_input import name_of

KIND = "program"
"""The kind of this source in a model file."""


@dataclass(frozen=True)
class Realised:
    """A Program as it was written, before all passes, with what it says.

    Attributes:
        name: What it is called.
        program: The Program.
        classes: What it says: for each class the values of the outputs.
        names: The classes by name.
    """

    name: str
    program: Program
    classes: tuple[Any, ...]
    names: tuple[str, ...]

    def answers(self, words: IntArray) -> IntArray:
        """``(batch, n)``: the class at each letter of words of n letters, by integers."""
        return states(self.program, words)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        return {
            "kind": KIND,
            "name": self.name,
            "letters": list(self.program.letters),
            "classes": list(self.names),
            "program": program_to_wire(self.program, {}, {}),
        }

    @classmethod
    def from_wire(cls, said: Mapping[str, Any], length: int) -> Self:
        """From what a model file states; its classes are their names.

        Raises:
            Refused: If a value could leave its domain, or something cannot be.
            LookupError: If something is missing.
            TypeError: If something is of another type.
            ValueError: If something is malformed.
        """
        demand(said["kind"] == KIND, f"there is no source {str(said['kind'])[:40]!r}")
        letters, names = tuple(said["letters"]), tuple(said["classes"])
        statement = parse(said["program"], len(letters), length)
        program = Program(
            letters=letters,
            states=len(names),
            length=length,
            operations=statement.operations,
            outputs=statement.outputs,
            decode=statement.decode,
            domains={
                n: tuple(c.domain.tolist()) for n, c in statement.channels.items()
            },
        )
        return cls(str(said["name"]), program, names, names)


Make = Callable[[Realisation, str, list[Known]], Known]
"""Adds a channel of a name, from those that it reads."""


@dataclass(frozen=True, eq=False)
class Channel:
    """A value at every position of a word; made by the methods of a sequence function.

    ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=`` compare with a channel or a constant
    (1 where it holds, else 0); ``&``, ``|`` and ``~`` join such flags; ``+`` and ``-``
    take numbers.

    Attributes:
        owner: The function that it belongs to.
        name: Its name in the Program.
        line: The file and line where it was made.
        call: What was called there.
        reads: The channels that it is made of.
        make: How it becomes channels of a Program.
    """

    owner: "SequenceFunction"
    name: str
    line: str
    call: str
    reads: "tuple[Channel, ...]"
    make: Make

    def __eq__(self, other: object) -> "Channel":  # type: ignore[override]
        return self._compare(operator.eq, other)

    def __ne__(self, other: object) -> "Channel":  # type: ignore[override]
        return self._compare(operator.ne, other)

    def __lt__(self, other: object) -> "Channel":
        return self._compare(operator.lt, other)

    def __le__(self, other: object) -> "Channel":
        return self._compare(operator.le, other)

    def __gt__(self, other: object) -> "Channel":
        return self._compare(operator.gt, other)

    def __ge__(self, other: object) -> "Channel":
        return self._compare(operator.ge, other)

    def __and__(self, other: "Channel") -> "Channel":
        return self.owner.map(lambda x, y: int(bool(x and y)), self, other)

    def __or__(self, other: "Channel") -> "Channel":
        return self.owner.map(lambda x, y: int(bool(x or y)), self, other)

    def __invert__(self) -> "Channel":
        return self.owner.map(lambda x: int(not x), self)

    def __add__(self, other: "Channel | int") -> "Channel":
        return self.owner.sum(self, other)

    __radd__ = __add__

    def __sub__(self, other: "Channel | int") -> "Channel":
        return self.owner.difference(self, other)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        raise ProgramError(
            f"{self.line}: {self.name!r} has a value at each position and no truth value; "
            "join flags by &, | and ~, and choose by p.where(flag, x, y)"
        )

    def _compare(self, test: Callable[..., Any], other: object) -> "Channel":
        return self.owner.comparison(test, self, other)


# A sequence function as a user writes it, channel by channel.


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
        called: The names that a user gave to channels (`named`).
        by_distance: Whether heads of `at` find positions by how far back they are.
    """

    letters: tuple[str, ...]
    name: str = "program"
    channels: list[Channel] = field(default_factory=list)
    outputs: tuple[Channel, ...] = ()
    show: Callable[..., Hashable] | None = None
    place: str | None = None
    called: dict[Channel, str] = field(default_factory=dict)
    by_distance: bool = False

    def named(self, name: str, channel: Channel) -> Channel:
        """The channel, by a name of the user: so it is called in Program and pictures.

        A channel that has such a name already keeps it, and so do the token and the
        position. A name that another channel has is left out.
        """
        taken = {"token", "position", "letter", "started", *self.called.values()}
        taken.update(c.name for c in self.channels)
        if channel.call not in ("token", "position") and name not in taken:
            self.called.setdefault(channel, name)
        return channel

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
        return self._channel("comparison", (x, y), compare_channels(test))

    def sum(self, *channels: Channel | int) -> Channel:
        """The sum of numbers."""
        read = [c for c in channels if isinstance(c, Channel)]
        constant = sum(c for c in channels if not isinstance(c, Channel))
        once = tuple(dict.fromkeys(read))
        if 1 < len(once) == len(read):
            return self._channel("sum", once, sum_with_constant(constant))
        return self.map(lambda *v: sum(v) + constant, *read)

    def difference(self, x: Channel, y: Channel | int) -> Channel:
        """The difference of two numbers; it may be negative."""
        if not isinstance(y, Channel):
            return self.sum(x, -y)
        return self._channel("difference", (x, y), difference)

    def where(self, flag: Channel, x: Channel | Value, y: Channel | Value) -> Channel:
        """``x`` where the flag is 1, else ``y``; each a channel or a constant."""
        return self._select_channel("where", flag, [y, x])

    def gate(self, flag: Channel, source: Channel) -> Channel:
        """The number ``source`` where the flag is 1, else 0."""
        return self._channel("gate", (flag, source), gate_channel)

    def select(self, index: Channel, *channels: Channel | Value) -> Channel:
        """The channel, or the constant, that ``index`` says: 0 is the first one."""
        return self._select_channel("select", index, channels)

    def _select_channel(
        self, call: str, index: Channel, each: Sequence[Channel | Value]
    ) -> Channel:
        self._check_own(call, index, *(x for x in each if isinstance(x, Channel)))
        channels = [
            x if isinstance(x, Channel) else self.map(partial(_constant, x), index)
            for x in each
        ]

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

    def best(
        self,
        source: Channel,
        key: Channel,
        query: Channel,
        rating: Channel,
        suits: Callable[[Any, Any], Any] | str = "==",
    ) -> Channel:
        """``source`` at the best letter so far whose ``key`` suits the ``query`` here.

        Args:
            source: What is fetched; where no key suits, from before the first letter.
            key: What a letter offers.
            query: What is asked for here.
            rating: A number; the largest is the best, and of equal ones the last.
            suits: Whether a key and a query suit each other: a function of the two, or
                one of ``==``, ``!=``, ``<``, ``<=``, ``>`` and ``>=``.
        """
        reads = source, key, query, rating
        return self._copy("best", reads, best(suits))

    def mean(
        self,
        source: Channel,
        key: Channel | None = None,
        query: Channel | None = None,
        suits: Callable[[Any, Any], Any] | str = "==",
    ) -> Channel:
        """The mean of a number over the letters so far whose ``key`` suits the ``query``.

        It is a `Fraction`, or ``source`` before the first letter where no key suits.

        Args:
            source: The number.
            key: What a letter offers; if there is none, all letters count.
            query: What is asked for here.
            suits: As for `best`.
        """
        if (key is None) != (query is None):
            raise ProgramError("a mean has a key and a query, or neither")
        if key is None or query is None:
            key = query = self.map(partial(_constant, 0), self.token())
        return self._channel("mean", (source, key, query), mean(suits))

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

    def realise(self, length: int) -> Realised:
        """The Program for words of up to ``length`` letters.

        Raises:
            ProgramError: If a channel cannot be; it names the line that made it.
        """
        if not self.outputs:
            raise ProgramError(f"{self.name!r} has no output; say p.output(channel)")
        frame = Frame(len(self.letters), length)
        r = Realisation(self.letters, frame, self.by_distance)
        r.letter()
        made: dict[Channel, Known] = {}
        for channel in self.channels:
            name = self.called.get(channel, channel.name)
            try:
                read = [made[c] for c in channel.reads]
                made[channel] = channel.make(r, name, read)
            except ProgramError as error:
                at = f"{channel.line}: channel {name!r} (p.{channel.call})"
                raise ProgramError(f"{at}: {error}") from error.__cause__
        return self._with_classes(r, [made[c] for c in self.outputs])

    def _with_classes(self, r: Realisation, outputs: list[Known]) -> Realised:
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
        names = tuple(map(_class_name, classes))
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
        """The outputs at each letter, by the interpreter: plain integers, no network.

        Raises:
            ProgramError: If a channel cannot be, or a letter is unknown.
        """
        names = list(map(name_of, word))
        unknown = [a for a in names if a not in self.letters]
        if unknown:
            raise ProgramError(f"{unknown[0]!r} is not a letter of {self.name!r}")
        realised = self.realise(max(1, len(word)))
        letters = np.array([[self.letters.index(a) for a in names]], dtype=np.int64)
        values = interpret(realised.program, letters.reshape(1, -1))
        rows = np.stack([values[n][0, 1:] for n in realised.program.outputs], axis=-1)
        return [
            realised.classes[realised.program.decode[tuple(row)]]
            for row in rows.tolist()
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

    def _check_own(self, call: str, *reads: object) -> str:
        """The line of the user's call, of which every argument is a channel of this one.

        Raises:
            ProgramError: If one is not.
        """
        line = self.place or _line()
        for read in reads:
            if not isinstance(read, Channel) or read.owner is not self:
                raise ProgramError(
                    f"{line}: p.{call} takes channels of its own function, not {read!r}"
                )
        return line

    def _channel(self, call: str, reads: tuple[Channel, ...], make: Make) -> Channel:
        line = self._check_own(call, *reads)
        once = [
            c for c in self.channels if c.call == call and call in ("token", "position")
        ]
        if once:
            return once[0]
        number = sum(c.call == call for c in self.channels) + 1
        name = call if call in ("token", "position") else f"{call}{number}"
        self.channels.append(Channel(self, name, line, call, reads, make))
        return self.channels[-1]


def _constant(value: Value, _: Value) -> Value:
    return value


def _line() -> str:
    """The file and line of the user's call: the first frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == HERE:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _class_name(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
