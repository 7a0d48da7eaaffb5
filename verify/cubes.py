"""How a Map is decided by what is stored: cubes that together cover all that occurs.

A cube says of some stored channels that their values lie in certain sets; the others may
have any value. On a cube the Map has one value. Maps that are not stored are decided in
turn by what they read (docs/soundness.md, section 5).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from verify.errors import Rejected
from verify.statement import Channel, Statement

MOST_CUBES = 200_000
QUESTION = 4
"""Steps that a question takes beside the values that are compared."""
Values = frozenset[int]
Cube = Mapping[str, Values]


@dataclass(frozen=True)
class Question:
    """A question about one input of a table.

    Attributes:
        column: Which input.
        branches: For every answer, the values of the input that give it.
    """

    column: int
    branches: tuple[tuple["Question | int", Values], ...]


@dataclass(frozen=True)
class Decider:
    """Decides Maps by the channels that are stored where they are computed.

    Attributes:
        statement: The Program.
        stored: The channels that are there.
    """

    statement: Statement
    stored: Collection[str]
    _questions: dict[tuple[str, Values | None], Question | int] = field(
        default_factory=dict
    )

    def cubes(self, channel: Channel) -> list[tuple[Cube, int]]:
        """Cubes that exclude each other, each with the value of a Map on it.

        Every combination of values that can occur at a position lies in one of them.

        Raises:
            Rejected: If the Map needs a channel that is not there, or too many cubes.
        """
        try:
            found = list(islice(self._open(channel, {}), MOST_CUBES + 1))
        except RecursionError:
            raise Rejected(f"tables are nested too deep in {channel.name!r}") from None
        if len(found) > MOST_CUBES:
            raise Rejected(f"too many cases decide {channel.name!r}")
        return found

    def _decide(self, name: str, cube: Cube) -> Iterator[tuple[Cube, int]]:
        channel = self.statement.channels[name]
        if name in self.stored:
            for value in channel.domain:
                for within in self._narrow(channel, frozenset([value]), cube):
                    yield within, value
        else:
            yield from self._open(channel, cube)

    def _open(self, channel: Channel, cube: Cube) -> Iterator[tuple[Cube, int]]:
        """The parts of a cube in which a Map that is not stored has one value.

        Start values meet others in some parts, which do not occur: they may lead out of
        the domain, and are left out then.
        """
        if channel.op == "select":
            found = self._select(channel, cube)
        elif channel.op == "table":
            question = self._question(channel, None)
            found = self._ask(question, channel.inputs, cube)
        else:
            raise Rejected(f"channel {channel.name!r} is not there where it is read")
        for within, value in found:
            if value in channel.domain:
                yield within, value

    def _select(self, channel: Channel, cube: Cube) -> Iterator[tuple[Cube, int]]:
        index, *values = channel.inputs
        for within, chosen in self._decide(index, cube):
            if chosen < len(values):
                yield from self._decide(values[chosen], within)

    def _ask(
        self,
        question: Question | int,
        inputs: tuple[str, ...],
        cube: Cube,
        but: int | None = None,
    ) -> Iterator[tuple[Cube, int]]:
        """The parts of a cube with their answers, ``but`` for those with one answer."""
        self.statement.effort.spend(QUESTION)
        if isinstance(question, int):
            if question != but:
                yield cube, question
            return
        # What leads to the answer that is not wanted only is not walked.
        for then, wanted in (b for b in question.branches if b[0] != but):
            for within in self._among(inputs[question.column], wanted, cube):
                yield from self._ask(then, inputs, within, but)

    def _among(self, name: str, wanted: Values, cube: Cube) -> Iterator[Cube]:
        """The parts of a cube in which a channel has one of some values."""
        channel = self.statement.channels[name]
        if name in self.stored:
            yield from self._narrow(channel, wanted, cube)
        elif channel.op == "table":
            question = self._question(channel, wanted)
            for within, _ in self._ask(question, channel.inputs, cube, but=0):
                yield within
        else:
            for within, value in self._open(channel, cube):
                if value in wanted:
                    yield within

    def _narrow(self, channel: Channel, wanted: Values, cube: Cube) -> Iterator[Cube]:
        """The part of a cube in which a stored channel has one of some values, if any.

        A channel that the letter determines restricts the letter, and through it other
        such channels.
        """
        self.statement.effort.spend(len(cube) + len(channel.domain))
        values = wanted & cube.get(channel.name, frozenset(channel.domain))
        narrowed = {**cube, channel.name: values}
        letter = self.statement.channels[channel.inputs[0]] if channel.inputs else None
        if channel.op == "table" and letter and letter.op == "token":
            fits = frozenset(a for (a, *_), v in channel.table.items() if v in values)
            narrowed[letter.name] = fits & cube.get(letter.name, fits)
            values = narrowed[letter.name]
        if values:
            yield narrowed

    def _question(self, channel: Channel, wanted: Values | None) -> Question | int:
        """The first question of a table; with ``wanted``, whether its value is in it."""
        key = channel.name, wanted
        if key not in self._questions:
            self.statement.effort.spend(len(channel.table) * len(channel.inputs))
            rows = channel.table.items()
            if wanted is not None:
                rows = {row: int(v in wanted) for row, v in rows}.items()
            self._questions[key] = _first(sorted(rows), 0)
        return self._questions[key]


def _first(rows: list[tuple[tuple[int, ...], int]], column: int) -> Question | int:
    """The question that sorted rows, alike up to ``column``, begin with.

    An input is not asked about if every value of it leads to the same.
    """
    if column == len(rows[0][0]):
        return rows[0][1]
    parts: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    for row in rows:
        parts.setdefault(row[0][column], []).append(row)
    branches: dict[Question | int, list[int]] = {}
    for value, part in parts.items():
        branches.setdefault(_first(part, column + 1), []).append(value)
    if len(branches) == 1:
        return next(iter(branches))
    return Question(column, tuple((then, frozenset(v)) for then, v in branches.items()))
