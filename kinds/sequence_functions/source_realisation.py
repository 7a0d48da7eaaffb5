"""From the channels that a user has made to a Program for words of up to T letters."""

import operator
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from krohn.program import (
    At,
    Best,
    LookBack,
    Map,
    Match,
    Mean,
    Operation,
    Piecewise,
    Position,
    PrefixSum,
    ShiftBy,
    Sum,
    Table,
    Token,
)
from krohn.program.domains import LARGEST, IntArray, Values, joint
from krohn.program.errors import KrohnError, told_as
from krohn.program.expressions import Expression, argument, greater, number, rectify
from krohn.program.operations.base import Frame
from krohn.program.operations.mean import fractions
from krohn.program.quoting import listed
from krohn.program.whole_expressions import gate


class ProgramError(KrohnError, ValueError):
    """A channel cannot be what it is asked to be; the message names its line."""


# How Python values stand for the whole numbers that channels hold.


Value: TypeAlias = Hashable
Meaning: TypeAlias = range | tuple[Value, ...] | None
"""The value that code c stands for: c itself if None, else the c-th entry."""


def decode_value(meaning: Meaning, code: int) -> Value:
    """The Python value that a code stands for."""
    return code if meaning is None else meaning[code]


def offset(meaning: Meaning) -> int | None:
    """The value of the code 0 if codes count on from there; None if they do not."""
    if meaning is None:
        return 0
    return meaning.start if isinstance(meaning, range) else None


def encode_values(values: Sequence[Value]) -> tuple[list[int], Meaning]:
    """Codes for the results of a function: numbers count on, others are numbered.

    Whole numbers from 0 on stand for themselves. If one is negative, the least is 0.

    Raises:
        ProgramError: If numbers are too large.
    """
    if all(isinstance(v, int | np.integer | np.bool_) for v in values):
        whole = [int(v) for v in values]  # type: ignore[call-overload]
        least, most = min(0, *whole), max(whole)
        if most - least >= LARGEST:
            raise ProgramError(f"numbers from {least} to {most} are too many")
        meaning = range(least, most + 1) if least < 0 else None
        return [v - least for v in whole], meaning
    names = _sort_values(dict.fromkeys(values))
    place = {name: i for i, name in enumerate(names)}
    return [place[v] for v in values], names


def _sort_values(values: Iterable[Value]) -> tuple[Value, ...]:
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError:  # values of several types
        return tuple(sorted(values, key=str))


def join_meanings(meanings: Sequence[Meaning]) -> Meaning:
    """One meaning for the values of several channels: that of all, if they agree."""
    if all(m == meanings[0] for m in meanings):
        return meanings[0]
    starts = [offset(m) for m in meanings]
    whole = [s for s in starts if s is not None]
    if len(whole) == len(starts):
        least = min(0, *whole)
        return range(least, LARGEST + least) if least < 0 else None
    every = [v for m in meanings for v in (m or ())]
    if any(m is None for m in meanings):
        raise ProgramError("numbers and names cannot be mixed")
    return tuple(dict.fromkeys(every))


def code_of(meaning: Meaning, value: Value) -> int | None:
    """The code of a value; None if it has none. What is equal has one code."""
    if isinstance(meaning, tuple):
        return meaning.index(value) if value in meaning else None
    if not isinstance(value, Real | np.bool_) or value != value // 1:
        return None
    code = int(value) - (meaning.start if meaning else 0)
    return code if 0 <= code < (len(meaning) if meaning else LARGEST) else None


# From the channels that a user has made to a Program for words of up to T letters.


MOST_ROWS = 1_000_000
"""A Python function is asked for so many tuples of values at most."""


@dataclass(frozen=True)
class Known:
    """A channel of the Program so far: its values, and what they stand for."""

    name: str
    values: Values
    meaning: Meaning

    def __getitem__(self, code: int) -> Value:
        """The value that a code stands for."""
        return decode_value(self.meaning, code)


@dataclass
class Realisation:
    """A Program in the making.

    Attributes:
        letters: The names of the letters.
        frame: How many there are, and T.
        by_distance: Whether heads find positions up to their own by how far back they are,
            not by digits.
        operations: By name; those that a user's channel needs besides have a dot.
        known: The channels so far.
    """

    letters: tuple[str, ...]
    frame: Frame
    by_distance: bool = False
    operations: dict[str, Operation] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)

    def add(self, name: str, operation: Operation, meaning: Meaning = None) -> Known:
        """A channel, once.

        Raises:
            ProgramError: If it cannot be.
        """
        if name not in self.known:
            read = [self.known[n].values for n in operation.reads]
            with told_as(ProgramError):
                values = operation.infer(read, self.frame)
            self.operations[name] = operation
            self.known[name] = Known(name, values, meaning)
        return self.known[name]

    def letter(self) -> Known:
        """The letter; a copy of the token, which is never stored."""
        self.add("token", Token())
        every = np.arange(self.frame.letters + 1)
        copy = Map(Table(every[:, None], every), ("token",))
        return self.add("letter", copy, (*self.letters, ""))

    def add_started(self) -> Known:
        """1 at every letter, 0 before the first."""
        rows = np.arange(self.frame.letters + 1)
        table = Table(rows[:, None], (rows < self.frame.letters).astype(np.int64))
        return self.add("started", Map(table, ("token",)))

    def position(self) -> Known:
        """0 before the first letter, then 1, 2, …."""
        return self.add("position", Position(tuple(range(self.frame.length + 1))))

    def codes_by_position(self, name: str) -> IntArray | None:
        """A channel at 0, 1, …, T, if the position alone decides it."""
        operation = self.operations[name]
        if isinstance(operation, Position):
            return np.array(operation.values)
        if not isinstance(operation, Map):
            return None
        read = [self.codes_by_position(each) for each in operation.inputs]
        known = [codes for codes in read if codes is not None]
        return operation.function(known) if len(known) == len(read) else None

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
            read = [*read, self.add_started()]
            rows, start = self._rows(read)
        given = None if bos is ... else start
        asked = [x for x in read if x.name != "started"]
        results = [
            bos if i == given else _evaluate(function, row, asked)
            for i, row in enumerate(rows.tolist())
        ]
        codes, meaning = encode_values(results)
        made = Table(rows, np.array(codes, dtype=np.int64))
        return self.add(name, Map(made, tuple(x.name for x in read)), meaning)

    def _rows(self, read: Sequence[Known]) -> tuple[IntArray, int]:
        """All joint values, in order, and the place of those at BOS."""
        later = _joint([x.values.later for x in read])
        bos = np.array([[x.values.bos for x in read]])
        rows = np.unique(np.concatenate([later, bos]), axis=0)
        return rows, int(np.flatnonzero((rows == bos).all(axis=1))[0])

    def at_start(self, source: Known, value: int) -> Known:
        """The channel with another value before the first letter."""
        if source.values.bos == value:
            return source
        rows = np.stack([source.values.later, np.ones_like(source.values.later)], 1)
        start = np.array([[source.values.bos, 0]])
        rows, codes = np.vstack([start, rows]), np.append(value, source.values.later)
        order = np.lexsort(rows.T[::-1])
        table = Table(rows[order], codes[order])
        name = f"{source.name}.from{value}"
        return self.add(
            name, Map(table, (source.name, self.add_started().name)), source.meaning
        )

    def sum_channels(self, name: str, read: Sequence[Known], meaning: Meaning) -> Known:
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

    def recode_channel(
        self, source: Known, meaning: Meaning, name: str, taken: Iterable[int] = ()
    ) -> Known:
        """The channel with other codes for its values.

        Those that have none get one that neither another value has nor is ``taken``.
        """
        if source.meaning == meaning:
            return source
        domain = source.values.domain
        known_codes = [code_of(meaning, source[code]) for code in domain]
        free = max((*taken, *(c for c in known_codes if c is not None)), default=0) + 1
        codes = [free if c is None else c for c in known_codes]
        rows = np.array(domain, dtype=np.int64)[:, None]
        table = Table(rows, np.array(codes, dtype=np.int64))
        return self.add(name, Map(table, (source.name,)), meaning)

    def natural(self, source: Known, at_start: bool = False) -> Known:
        """The channel with each natural number as its own code.

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
        return self.recode_channel(source, None, f"{source.name}.natural")

    def alike(self, name: str, read: Sequence[Known]) -> tuple[list[Known], Meaning]:
        """Channels with one meaning."""
        meaning = join_meanings([x.meaning for x in read])
        named = ((f"{name}.{i}", x) for i, x in enumerate(read))
        return [self.recode_channel(x, meaning, new) for new, x in named], meaning


def _joint(values: list[IntArray]) -> IntArray:
    """All tuples of values, in order.

    Raises:
        ProgramError: If they are too many to ask a Python function for.
    """
    count = np.prod([len(each) for each in values], dtype=float)
    if count > MOST_ROWS:
        raise ProgramError(f"a table would need {count:.3g} rows")
    return joint(values)


def _evaluate(
    function: Callable[..., Value], row: list[int], read: Sequence[Known]
) -> Value:
    values = [x[code] for x, code in zip(read, row, strict=False)]
    try:
        value = function(*values)
        hash(value)
    except (ProgramError, MemoryError):
        raise
    except Exception as error:
        shown = ", ".join(map(repr, values))
        raise ProgramError(
            f"the function fails for ({shown}): {type(error).__name__}: {error}; "
            "before the first letter the token is '', and bos= gives the value there"
        ) from error
    return value


# The calls of a user that become more than one operation.


SMALL = 64
"""Two numbers with so few joint values are compared by one table, others by a sum."""
Test = Callable[..., Any]


def with_constant(test: Test, constant: Value) -> Callable[..., Known]:
    """1 where a channel compares so with a constant, which must be one of its values."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        (x,) = read
        named = isinstance(x.meaning, tuple) and not _are_numbers(x, constant)
        if named and code_of(x.meaning, constant) is None:
            some = listed(map(repr, x.meaning or ()))
            raise ProgramError(f"{constant!r} is no value of {x.name!r}: {some}")
        return r.table(name, lambda v: int(test(v, constant)), read)

    return make


def _are_numbers(x: Known, constant: Value) -> bool:
    """Whether a channel and a constant are numbers, whole or not."""
    meaning = x.meaning if isinstance(x.meaning, tuple) else ()
    return all(isinstance(value, Real) for value in (*meaning, constant))


def compare_channels(test: Test) -> Callable[..., Known]:
    """1 where two channels compare so; large numbers by two or four ReLUs."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        count = np.prod([len(x.values.later) for x in read], dtype=float)
        if count <= SMALL or any(offset(x.meaning) is None for x in read):
            return r.table(name, lambda x, y: int(test(x, y)), read)
        x, y = _numbers(read)
        above, below = greater(x, y), greater(y, x)
        equal = 1 - above - below
        signs = zip((above, equal, below), (1, 0, -1), strict=True)
        shown = [sign for sign, apart in signs if test(apart, 0)]
        return r.piecewise(name, sum(shown, number(0)), read)

    return make


def gate_channel(r: Realisation, name: str, read: list[Known]) -> Known:
    """The second channel where the first one is 1, else 0: a ReLU.

    The flag is rounded by a table before, since its noise is multiplied by the largest
    value.
    """
    if _starts(read) != 0:
        return r.table(name, lambda bit, v: v if bit else 0, read)
    clean = r.table(f"{name}.flag", int, read[:1])
    most = max(read[1].values.domain)
    flag, value = _numbers([clean, read[1]])
    return r.piecewise(name, gate(value, flag, most), [clean, read[1]])


def _numbers(read: list[Known]) -> list[Expression]:
    """The value of each channel, as an expression of their codes."""
    return [argument(i) + _starts([x]) for i, x in enumerate(read)]


def sum_with_constant(constant: int) -> Callable[..., Known]:
    """The sum of different channels and a constant."""

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        return r.sum_channels(name, read, _counting(_starts(read) + constant))

    return make


def difference(r: Realisation, name: str, read: list[Known]) -> Known:
    """The first number minus the second one: as a code with the largest code added."""
    most = max(read[1].values.domain)
    start = _starts(read[:1]) - _starts(read[1:]) - most
    shifted = argument(0) - argument(1) + most
    return r.piecewise(name, shifted, read, _counting(start))


def prefix_sum(r: Realisation, name: str, read: list[Known]) -> Known:
    """The sum so far; of negative numbers −m…, m for each letter to come is added."""
    (x,) = read
    least, length = _starts(read), r.frame.length
    if least == 0:
        return r.add(name, PrefixSum(r.at_start(x, 0).name))
    total = r.add(f"{name}.codes", PrefixSum(r.at_start(x, 0).name))
    left = tuple(-least * (length - t) for t in range(length + 1))
    ahead = r.add(f"{name}.ahead", Position(left))
    return r.sum_channels(name, [total, ahead], _counting(least * length))


def match(kind: type[Match]) -> Callable[..., LookBack]:
    """A look-back to where a key is a query: both by one code."""

    def operation(r: Realisation, name: str, read: list[Known]) -> LookBack:
        source, key, query = read
        taken = key.values.domain
        asked = r.recode_channel(query, key.meaning, f"{name}.query", taken)
        return kind(source.name, key.name, asked.name)

    return operation


COMPARISONS: dict[str, Test] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def best(suits: Test | str) -> Callable[..., LookBack]:
    """A look-back to the best-rated position whose key suits the query."""
    test = _test(suits)

    def operation(r: Realisation, name: str, read: list[Known]) -> LookBack:
        source, key, query, rating = read
        _starts([rating])
        pairs = _pairs(test, key, query)
        return Best(source.name, key.name, query.name, rating.name, pairs)

    return operation


def mean(suits: Test | str) -> Callable[..., Known]:
    """The mean over positions whose key suits the query: a fraction, read by a table."""
    test = _test(suits)

    def make(r: Realisation, name: str, read: list[Known]) -> Known:
        (source, key, query), longest = read, r.frame.length
        start, largest = _starts(read[:1]), max(source.values.domain)
        names = source.name, key.name, query.name
        operation = Mean(*names, _pairs(test, key, query), largest, longest)
        taken = r.add(f"{name}.taken", operation)
        numbers = fractions(largest, longest).tolist()
        means = (Fraction(x).limit_denominator(longest) for x in numbers)
        places = np.arange(len(numbers))
        same = Map(Table(places[:, None], places), (taken.name,))
        return r.add(name, same, tuple(mean + start for mean in means))

    return make


def _test(suits: Test | str) -> Test:
    """Whether a key suits a query, as a function.

    Raises:
        ProgramError: If it is the name of no comparison.
    """
    if isinstance(suits, str) and suits not in COMPARISONS:
        raise ProgramError(
            f"{suits!r} is no way to suit; say a function of key and query, or one "
            f"of {' '.join(COMPARISONS)}"
        )
    return COMPARISONS[suits] if isinstance(suits, str) else suits


def _pairs(test: Test, key: Known, query: Known) -> tuple[int, ...]:
    """Which key suits which query: a key, its query, the next key, …."""
    rows = _joint([key.values.later, query.values.later]).tolist()
    pairs = [row for row in rows if _evaluate(test, row, [key, query])]
    return tuple(code for row in pairs for code in row)


def fetch(kind: type[At]) -> Callable[..., LookBack]:
    """A look-back to the position that a number says, by its binary digits or by how far.

    Heads that see the whole word find positions by digits: queries may not depend on t.
    """

    def operation(r: Realisation, name: str, read: list[Known]) -> LookBack:
        source, position = read
        _starts([position])
        if r.by_distance and kind.causal:
            return ShiftBy(source.name, _distance(r, name, position).name)
        digits, bits = [], r.frame.length.bit_length()
        for b in range(bits):
            digit = _digit(b, r.frame.length)
            digits.append(r.table(f"{name}.digit{b}", digit, [position]).name)
        return kind(source.name, tuple(digits))

    return operation


def _distance(r: Realisation, name: str, position: Known) -> Known:
    """How far back a position is; to BOS if there is none, or it lies ahead.

    A flag says which lies ahead: it is rounded, as in `gate_channel`.
    """
    length, t = r.frame.length, r.position()

    def place_of(x: Any) -> int:
        return x if 0 <= x <= length else 0

    if (codes := r.codes_by_position(position.name)) is not None:
        places = [place_of(position[code]) for code in codes.tolist()]
        back = tuple(t - p if p <= t else t for t, p in enumerate(places))
        return r.add(f"{name}.back", Position(back))
    natural = position.meaning is None and max(position.values.domain) <= length
    place = position if natural else r.table(f"{name}.place", place_of, [position])
    there, here = _numbers([place, t])
    ahead = r.piecewise(f"{name}.ahead", greater(there, here), [place, t])
    read = [place, t, r.table(f"{name}.flag", int, [ahead])]
    there, here, flag = _numbers(read)
    far = rectify(here - there) + gate(here, flag, length)
    return r.piecewise(f"{name}.back", far, read)


def _digit(bit: int, length: int) -> Callable[[int], int]:
    """A binary digit of a position; of what is none that of 0, which is BOS."""
    return lambda x: x >> bit & 1 if 0 <= x <= length else 0


def _starts(read: list[Known]) -> int:
    """The sum of the values that the codes 0 stand for.

    Raises:
        ProgramError: If a channel holds no numbers.
    """
    total = 0
    for x in read:
        start = offset(x.meaning)
        if start is None:
            raise ProgramError(f"{x.name!r} holds no numbers")
        total += start
    return total


def _counting(start: int) -> Meaning:
    return None if start == 0 else range(start, start + 2**31)
