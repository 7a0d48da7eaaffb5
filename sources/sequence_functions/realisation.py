"""From the channels that a user has made to a Program for words of up to T letters."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from krohn.program import Map, Operation, Piecewise, Position, Sum, Table, Token
from krohn.program.domains import IntArray, Values, joint
from krohn.program.errors import Refused
from krohn.program.expressions import Expression
from krohn.program.operations.base import Frame
from krohn.sources.sequence_functions.errors import ProgramError
from krohn.sources.sequence_functions.meaning import (
    Meaning,
    Value,
    code_of,
    decoded,
    encoded,
    joined,
)

MOST_ROWS = 1_000_000
"""A Python function is asked for so many tuples of values at most."""


@dataclass(frozen=True)
class Known:
    """A channel of the Program so far: its values, and what they stand for."""

    name: str
    values: Values
    meaning: Meaning

    def __getitem__(self, code: int) -> Value:
        """What a code stands for."""
        return decoded(self.meaning, code)


@dataclass
class Realisation:
    """A Program in the making.

    Attributes:
        letters: The names of the letters.
        frame: How many there are, and T.
        operations: By name; those that a user's channel needs besides have a dot.
        known: The channels so far.
    """

    letters: tuple[str, ...]
    frame: Frame
    operations: dict[str, Operation] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)

    def add(self, name: str, operation: Operation, meaning: Meaning = None) -> Known:
        """A channel, once.

        Raises:
            ProgramError: If it cannot be.
        """
        if name not in self.known:
            read = [self.known[n].values for n in operation.reads]
            try:
                values = operation.infer(read, self.frame)
            except Refused as reason:
                raise ProgramError(str(reason)) from None
            self.operations[name] = operation
            self.known[name] = Known(name, values, meaning)
        return self.known[name]

    def letter(self) -> Known:
        """The letter; a copy of the token, which is never stored."""
        self.add("token", Token())
        every = np.arange(self.frame.letters + 1)
        copy = Map(Table(every[:, None], every), ("token",))
        return self.add("letter", copy, (*self.letters, ""))

    def started(self) -> Known:
        """1 at every letter, 0 before the first."""
        rows = np.arange(self.frame.letters + 1)
        table = Table(rows[:, None], (rows < self.frame.letters).astype(np.int64))
        return self.add("started", Map(table, ("token",)))

    def position(self) -> Known:
        """0 before the first letter, then 1, 2, …."""
        return self.add("position", Position(tuple(range(self.frame.length + 1))))

    def table(
        self,
        name: str,
        function: Callable[..., Value],
        read: Sequence[Known],
        bos: Value = ...,
    ) -> Known:
        """A function of values at one position.

        Args:
            name: The name of the channel.
            function: Takes the value of each channel that is read.
            read: Each once.
            bos: The value before the first letter; ``...`` for that of the function.

        Raises:
            ProgramError: If it fails for values that may occur, or there are too many.
        """
        rows, start = self._rows(read)
        if bos is not ... and all(x.values.bos in x.values.later for x in read):
            read = [*read, self.started()]
            rows, start = self._rows(read)
        given = None if bos is ... else start
        asked = [x for x in read if x.name != "started"]
        results = [
            bos if i == given else _asked(function, row, asked)
            for i, row in enumerate(rows.tolist())
        ]
        codes, meaning = encoded(results)
        made = Table(rows, np.array(codes, dtype=np.int64))
        return self.add(name, Map(made, tuple(x.name for x in read)), meaning)

    def _rows(self, read: Sequence[Known]) -> tuple[IntArray, int]:
        """All joint values, in order, and the place of those at BOS."""
        count = np.prod([len(x.values.later) for x in read], dtype=float)
        if count > MOST_ROWS:
            raise ProgramError(f"a table would need {count:.3g} rows")
        later = joint([x.values.later for x in read])
        bos = np.array([[x.values.bos for x in read]])
        rows = np.unique(np.concatenate([later, bos]), axis=0)
        return rows, int(np.flatnonzero((rows == bos).all(axis=1))[0])

    def at_start(self, source: Known, value: int) -> Known:
        """The same with another value before the first letter."""
        if source.values.bos == value:
            return source
        rows = np.stack([source.values.later, np.ones_like(source.values.later)], 1)
        start = np.array([[source.values.bos, 0]])
        rows, codes = np.vstack([start, rows]), np.append(value, source.values.later)
        order = np.lexsort(rows.T[::-1])
        table = Table(rows[order], codes[order])
        name = f"{source.name}.from{value}"
        return self.add(
            name, Map(table, (source.name, self.started().name)), source.meaning
        )

    def summed(self, name: str, read: Sequence[Known], meaning: Meaning) -> Known:
        """The sum of the codes of different channels."""
        return self.add(name, Map(Sum(), tuple(x.name for x in read)), meaning)

    def piecewise(
        self,
        name: str,
        expression: Expression,
        read: Sequence[Known],
        meaning: Meaning = None,
    ) -> Known:
        """A piecewise linear function of the codes of different channels."""
        made = Map(Piecewise(expression), tuple(x.name for x in read))
        return self.add(name, made, meaning)

    def recoded(
        self, source: Known, meaning: Meaning, name: str, taken: Iterable[int] = ()
    ) -> Known:
        """The same values by other codes.

        Those that have none get one that neither another value has nor is ``taken``.
        """
        if source.meaning == meaning:
            return source
        domain = source.values.domain
        found = [code_of(meaning, source[code]) for code in domain]
        free = max((*taken, *(c for c in found if c is not None)), default=0) + 1
        codes = [free if c is None else c for c in found]
        rows = np.array(domain, dtype=np.int64)[:, None]
        table = Table(rows, np.array(codes, dtype=np.int64))
        return self.add(name, Map(table, (source.name,)), meaning)

    def natural(self, source: Known, at_start: bool = False) -> Known:
        """The same, each value by itself; also that before the first letter, or not.

        Raises:
            ProgramError: If a value is no natural number.
        """
        codes = source.values.domain if at_start else source.values.later
        for value in (source[int(code)] for code in codes):
            if code_of(None, value) is None:
                raise ProgramError(
                    f"{source.name!r} can be {value!r}: a flag is 0 or 1, and an index a "
                    "natural number"
                )
        return self.recoded(source, None, f"{source.name}.natural")

    def alike(self, name: str, read: Sequence[Known]) -> tuple[list[Known], Meaning]:
        """Channels with one meaning."""
        meaning = joined([x.meaning for x in read])
        named = ((f"{name}.{i}", x) for i, x in enumerate(read))
        return [self.recoded(x, meaning, new) for new, x in named], meaning


def _asked(
    function: Callable[..., Value], row: list[int], read: Sequence[Known]
) -> Value:
    values = [x[code] for x, code in zip(read, row, strict=False)]
    try:
        found = function(*values)
        hash(found)
    except ProgramError:
        raise
    except Exception as error:
        shown = ", ".join(map(repr, values))
        raise ProgramError(
            f"the function fails for ({shown}): {type(error).__name__}: {error}; "
            "before the first letter the token is '', and bos= gives the value there"
        ) from error
    return found
