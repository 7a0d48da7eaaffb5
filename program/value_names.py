"""Names for the values of the channels of a Program.

A value is named by what is known when a channel has it: the answer, the answers that are
then possible, the letters that give it, or what it is read for. A name is true whatever the
word is: possible answers are ruled out only by tables, whose rows are all that occur.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from krohn.program.domains import BoolArray, IntArray, locate_values
from krohn.program.functions import Select, Table
from krohn.program.operations.base import Flagged, LookBack
from krohn.program.operations.map import Map
from krohn.program.operations.position import Position
from krohn.program.operations.sibling_latest import SiblingLatest
from krohn.program.operations.token import Token
from krohn.program.quoting import listed
from krohn.program.statement import Channel, Statement
from krohn.program.word_texts import BETWEEN, write_letter

T = TypeVar("T")
Parts = tuple[str, ...]
"""What a value may stand for: one of these."""
Named = tuple[Mapping[int, Parts], str]
"""The parts of the names of values, and what they are, as `ValueNames.of` says it."""
UNNAMED: Named = ({}, "")
IS = " is "
"""What stands between a channel, or several, and the values that give another value."""
SHOWN, FEW = 4, 8
"""In short, so many parts of a name are written, of all names of a channel or of each."""
MOST_PARTS = 4096
"""If all names of a channel have more parts, none is written in full."""
WIDEST = 40
"""Of a name that stands for a value in a row of a table, in characters."""
MOST_CELLS = 2**22
"""Pairs of a row and an answer; of larger tables nothing is concluded."""
MOST_VALUES = 1024
"""A channel of more values gets names only if they are answers, points or letters."""
NUMBERS = ("sum", "prefix-sum", "marked-sum", "block-sum", "mean", "piecewise")
"""Operations whose values are numbers, and stand for nothing else."""
START, NONE_YET = "before the first letter", "no such letter yet"
NONE_THERE = "no such letter where it looks"
ONE_HOT = ".one-hot"
"""Ends the name of a channel that is another one as a unit vector."""
NEVER = "does not occur"


class Names(NamedTuple):
    """The names of the values of a channel.

    Attributes:
        values: In full; none if there are none, or only numbers.
        short: The same, of many parts the first few, and how many others there are.
        kind: What they are: ``"answer"``, ``"possible answers"``, ``"point"``,
            ``"letter"``, ``"position"``, ``"use"`` or ``"input"``; empty without names.
    """

    values: dict[int, str]
    short: dict[int, str]
    kind: str


class ValueNames:
    """The names of the values of each channel of a Program.

    Attributes:
        of_letter: ``(letters,)``: the value for each letter, of channels that the letter
            alone decides.
        points: Channels that hold points of maps which are composed.
    """

    def __init__(
        self, program: Statement, letters: Sequence[str], answers: Sequence[str]
    ) -> None:
        """Derive what the names depend on.

        Args:
            program: The Program.
            letters: The names of its letters.
            answers: The names of what it decodes to, if it does.
        """
        self.of_letter = _of_letter(program)
        self._program, self._answers = program, answers if program.decode else ()
        self._written = list(map(_quoted, self._answers))
        self._letters = list(map(_quoted, letters))
        self._first = _firsts(program)
        self._kin = _kin(program, self._first)
        selections = [c for c in program.channels.values() if c.op == Select.wire]
        points = {
            self._kin[c.name]
            for c in selections
            if self._kin[c.inputs[0]] == self._kin[c.name]
        }
        self.points = {name for name, first in self._kin.items() if first in points}
        self._readers = _readers(program, self._first)
        self._possible = self._possible_of_firsts()
        self._levels = _levels_searched(program)
        self._exact = self._exact_answers()
        self._known, self._known_of_copies = dict[str, Named](), dict[str, Named]()

    def of(self, name: str) -> Names:
        """The names of the values of a channel."""
        parts, kind = self._parts(name)
        if not parts:
            return Names({}, {}, "")
        domain = self._program.channels[name].domain.tolist()
        told = {v: parts.get(v, (str(v),)) for v in domain}
        lead, reasons = self._reasons(name, told, kind)
        size = sum(len(told[v]) + len(reasons.get(v, ())) for v in domain)

        def write(most: int) -> dict[int, str]:
            texts = {v: listed(each, most, "or") for v, each in told.items()}
            more = {v: listed(each, most, "or") for v, each in reasons.items()}
            texts |= {v: f"{texts[v]}, {lead}{each}" for v, each in more.items()}
            return _told_apart(texts) if kind == "possible answers" else texts

        short = write(FEW if size <= FEW else SHOWN)
        return Names(write(size) if size <= MOST_PARTS else short, short, kind)

    def _parts(self, name: str) -> Named:
        name = self._first[name]
        if name not in self._known:
            channel = self._program.channels[name]
            self._known[name] = self._with_start(channel, self._find(channel))
        return self._known[name]

    def _handed_on(self, name: str) -> Named:
        """The names of the values of copies of a channel.

        Whoever reads a copy does not see the letter: there the answers say more.
        """
        name = self._first[name]
        if name not in self._known_of_copies:
            channel, own = self._program.channels[name], self._parts(name)
            kept = self._where_kept(channel) if own[1] == "letter" else None
            self._known_of_copies[name] = (
                own if kept is None else self._with_start(channel, kept)
            )
        return self._known_of_copies[name]

    def _reasons(
        self, name: str, told: Mapping[int, Parts], kind: str
    ) -> tuple[str, dict[int, Parts]]:
        """What gives values whose names alone do not say it, and the words before it.

        Names by use do not; nor do possible answers that several values share.
        """
        if kind == "use":
            unclear = set(told)
        elif kind == "possible answers":
            shared = Counter(told.values())
            unclear = {v for v, parts in told.items() if shared[parts] > 1}
        else:
            unclear = set()
        lead, given = self._given(self._first[name]) if unclear else ("", {})
        return lead, {v: given[v] for v in unclear & given.keys()}

    def _given(self, name: str) -> tuple[str, dict[int, Parts]]:
        """What gives each value, of letters or inputs, and the words before it."""
        channel = self._program.channels[name]
        if name in self.of_letter:
            return "after ", self._by_letters(self.of_letter[name])
        if (source := _copies(self._program, channel, self._kin)) is not None:
            return self._given(self._first[source])
        return "where ", self._by_rows(channel) if channel.op == Table.wire else {}

    def _possible_of_firsts(self) -> dict[str, BoolArray]:
        """The answers that are possible with each value, whoever reads it."""
        possible = possible_answers(self._program, len(self._answers))
        found = dict[str, BoolArray]()
        for name, sets in possible.items():
            first = self._first[name]
            channel, other = map(self._program.channels.__getitem__, (first, name))
            if np.array_equal(channel.domain, other.domain):
                found[first] = found.get(first, np.True_) & sets
        return found

    def _exact_answers(self) -> dict[str, dict[int, Parts]]:
        """The answer of each value, for the kin of an output that alone decides it."""
        if len(self._program.outputs) != 1 or not self._answers:
            return {}
        (output,) = self._program.outputs
        decode = self._program.decode.items()
        return {self._kin[output]: {row[0]: (self._answers[q],) for row, q in decode}}

    def _find(self, channel: Channel) -> Named:
        """The names that say most, of those that there are."""
        name = channel.name
        if self._kin[name] in self._exact:
            return self._exact[self._kin[name]], "answer"
        if name in self.points:
            return {v: (f"point {v}",) for v in channel.domain.tolist()}, "point"
        kept, values = self._where_kept(channel), self.of_letter.get(name)
        if values is not None:
            letters = self._by_letters(values)
            if kept is None or _fit_in_short(letters):
                return letters, "letter"
        if kept is not None:
            return kept
        source = _copies(self._program, channel, self._kin)
        copied = UNNAMED if source is None else self._handed_on(source)
        if copied[1] not in ("", "use", "input"):
            return copied
        if channel.op in NUMBERS or len(channel.domain) > MOST_VALUES:
            return UNNAMED
        if isinstance(channel.operation, Position):
            return _by_position(channel), "position"
        if told := self._by_answers(channel):
            return told
        return copied if copied[1] else self._by_use_or_inputs(channel)

    def _where_kept(self, channel: Channel) -> Named | None:
        """The answers that are possible where a value was kept by all who read it."""
        readers = [
            self._program.channels[n] for n in self._readers.get(channel.name, ())
        ]
        looks = [r.operation for r in readers if isinstance(r.operation, Flagged)]
        sources = {self._first[look.source] for look in looks}
        marks = {self._first[look.where] for look in looks}
        if len(looks) < len(readers) or len(marks) != 1 or sources != {channel.name}:
            return None
        return next(filter(None, map(self._by_answers, readers)), None)

    def _by_answers(self, channel: Channel) -> Named | None:
        """The answers that are possible with each value, if they tell something."""
        sets = self._possible.get(channel.name)
        if sets is None:
            return None
        every, counts = np.asarray(sets.any(axis=0)), sets.sum(axis=1)
        few = np.maximum(every.sum() // 2, min(SHOWN, every.sum() - 1))
        if not ((counts > 0) & (counts <= few)).any():
            return None
        names = [self._some_answers(row, every) for row in sets]
        found = zip(channel.domain.tolist(), names, strict=True)
        return dict(found), "possible answers"

    def _some_answers(self, row: BoolArray, every: BoolArray) -> Parts:
        some = tuple(self._written[q] for q in np.flatnonzero(row).tolist())
        others = [self._written[q] for q in np.flatnonzero(every & ~row).tolist()]
        if not others:
            return ("any",)
        if len(some) > SHOWN and len(others) < 3:
            return (f"all but {listed(others, last='and')}",)
        return some or (NEVER,)

    def _by_letters(self, values: IntArray) -> dict[int, Parts]:
        """The letters that give each value."""
        groups = _groups(values.tolist(), self._letters)
        if len(groups) == 1 < len(self._letters):
            return dict.fromkeys(groups, ("any letter",))
        return groups

    def _by_use_or_inputs(self, channel: Channel) -> Named:
        """What it is read for; else the values that it is computed from."""
        if used := self._by_use(channel):
            return used, "use"
        if channel.op == Table.wire:
            return self._by_inputs(channel), "input"
        if channel.op == Select.wire:
            return self._by_options(channel)
        return UNNAMED

    def _by_use(self, channel: Channel) -> dict[int, Parts]:
        """What a mark or a summand is read for."""
        for name in self._readers.get(channel.name, ()):
            reader = self._program.channels[name]
            where = getattr(reader.operation, "where", "")
            if self._first.get(where) == channel.name:
                return {
                    0: (f"{name} skips this letter",),
                    1: (f"{name} reads this letter",),
                }
            if reader.op in NUMBERS and reader.operation.is_attention:
                return {v: (f"adds {v} to {name}",) for v in channel.domain.tolist()}
        return {}

    def _by_inputs(self, channel: Channel) -> dict[int, Parts]:
        """The values of what a table reads that give each value."""
        if len(channel.inputs) > 1:
            return self._by_rows(channel)
        table, (read,) = channel.table, channel.inputs
        names, kind = self._parts(read)
        if kind in ("", "use", "input"):
            return self._by_rows(channel)
        inputs = table.rows[:, 0].tolist()
        parts = _groups(
            table.values.tolist(), (names.get(x, (str(x),)) for x in inputs)
        )
        return {
            v: tuple(dict.fromkeys(part for parts in some for part in parts))
            for v, some in parts.items()
        }

    def _by_rows(self, channel: Channel) -> dict[int, Parts]:
        """The rows of a table that give each value; inputs by name where they have one."""
        table, values = channel.table, channel.table.values.tolist()
        columns = table.rows.T.tolist()
        names = [self._names_in_rows(read) for read in channel.inputs]
        if len(columns) == 1 and not names[0]:
            read, inputs = f"{channel.inputs[0]}{IS}", columns[0]
            groups = _groups(values, inputs)
            return {v: (read + _numbers(x, inputs),) for v, x in groups.items()}
        cells = [
            [name.get(x, str(x)) for x in column]
            for name, column in zip(names, columns, strict=True)
        ]
        several = len(columns) > 1
        read = ", ".join(channel.inputs)
        texts = (
            f"({', '.join(row)})" if several else row[0]
            for row in zip(*cells, strict=True)
        )
        found = _groups(values, texts)
        if len(values) > MOST_PARTS:
            found = {v: _shorter(given) for v, given in found.items()}
        lead = f"({read}){IS}" if several else f"{read}{IS}"
        return {v: (lead + first, *rest) for v, (first, *rest) in found.items()}

    def _names_in_rows(self, name: str) -> dict[int, str]:
        """Names for values in rows; none if they are long, or alike.

        A list of possible answers would look like more columns.
        """
        parts, kind = self._parts(name)
        if kind in ("", "use", "input", "position"):
            return {}
        domain = self._program.channels[name].domain.tolist()
        texts = {v: listed(parts.get(v, (str(v),)), SHOWN, "or") for v in domain}
        alike = len({*texts.values()}) < len(texts)
        unfit = any(len(text) > WIDEST or '"' in text for text in texts.values())
        if alike or unfit:
            return {}
        lists = kind == "possible answers"
        return {v: _cell(x) for v, x in texts.items() if not (lists and "," in x)}

    def _by_options(self, channel: Channel) -> Named:
        """What gives each value, of any option."""
        options = [self._parts(name) for name in channel.inputs[1:]]
        kinds = {kind for _, kind in options}
        if len(kinds) != 1 or not kinds <= {"letter", "position", "input"}:
            return UNNAMED
        parts = {
            v: tuple(dict.fromkeys(p for names, _ in options for p in names.get(v, ())))
            for v in channel.domain.tolist()
        }
        return parts, kinds.pop()

    def _with_start(self, channel: Channel, named: Named) -> Named:
        """The names, with one for a value that there is only where no letter is found."""
        values, kind = named
        if not values or kind in ("answer", "point"):
            return named
        source = _copies(self._program, channel, self._kin)
        origin = channel if source is None else self._program.channels[source]
        bos, operation = origin.bos, channel.operation
        if channel.name in self._levels:
            return {**values, bos: self._none_before(self._levels[channel.name])}, kind
        if bos not in origin.later:
            return {**values, bos: (START if source is None else NONE_YET,)}, kind
        if source is None or values is not self._handed_on(source)[0]:
            return named
        if isinstance(operation, LookBack):
            none: Parts = (NONE_YET,) * operation.causal
            if isinstance(operation, SiblingLatest):
                none = self._none_before(frozenset({operation.level}))
            return {**values, bos: (*values.get(bos, ()), *none)}, kind
        told = [self._handed_on(name)[0].get(bos, ()) for name in channel.inputs]
        common = [part for part in told[0] if all(part in each for each in told)]
        alike = len({*told}) == 1
        return ({**values, bos: (*common, NONE_THERE)}, kind) if not alike else named

    def _none_before(self, levels: frozenset[int]) -> Parts:
        """What it says that stretches before a position, of some levels, hold no letter."""
        low, high = min(levels), max(levels)
        stretch = 2 ** (high + 1)
        if len(levels) == 1:
            half = "position in the first half of its stretch"
            return (half, "no such letter in that half")
        if len(levels) <= high - low:
            return (NONE_THERE,)
        none = "no such letter before this one"
        if low > 0:
            return (
                f"no such letter in its stretch of {stretch} before that of {2**low}",
            )
        whole = stretch > self._program.length
        return (none if whole else f"{none} in its stretch of {stretch}",)


def _told_apart(texts: dict[int, str]) -> dict[int, str]:
    """Names of values, of which those that are alike say which value it is."""
    shared = Counter(texts.values())
    return {
        v: f"{text} (value {v})" if shared[text] > 1 else text
        for v, text in texts.items()
    }


def _quoted(name: str) -> str:
    """A name among others, with commas between them."""
    return f'"{BETWEEN}"' if name == BETWEEN else write_letter(name)


def _cell(name: str) -> str:
    """A name in a row, which is no number there, and has no commas of its own."""
    plain = not name.isdecimal() and not {*",()"} & {*name}
    return name if plain else f'"{name}"'


def residue(table: Table) -> tuple[list[int], int]:
    """How a table is a sum of its inputs modulo a number.

    Returns:
        What is added, and by what each input is multiplied; and the modulus, which is 0
        if the table is no such function.
    """
    rows, values = table.rows, table.values
    modulus = int(values.max()) + 1
    if modulus < 2 or int(rows.max()) < modulus:
        return [], 0
    weights = list[int]()
    for i in range(rows.shape[1]):
        others = (np.delete(rows, i, axis=1) == np.delete(rows[0], i)).all(axis=1)
        ahead = np.flatnonzero(others & (rows[:, i] == rows[0, i] + 1))
        weight = int(values[ahead[0]] - values[0]) % modulus if len(ahead) else 0
        weights.append(weight - modulus * (2 * weight > modulus))
    more = int(values[0] - rows[0] @ weights)
    fits = np.array_equal((rows @ weights + more) % modulus, values)
    return ([more % modulus, *weights], modulus) if fits else ([], 0)


def _of_letter(program: Statement) -> dict[str, IntArray]:
    """``(letters,)`` the value for each letter, of the channels that it decides."""
    found = dict[str, IntArray]()
    for name, channel in program.channels.items():
        operation = channel.operation
        if isinstance(operation, Token):
            found[name] = np.arange(program.letters)
        elif isinstance(operation, Map) and all(n in found for n in operation.reads):
            found[name] = operation.function([found[n] for n in operation.reads])
    return found


def _copies(program: Statement, channel: Channel, kin: Mapping[str, str]) -> str | None:
    """The channel whose values a channel copies as they are; None if it copies none."""
    if isinstance(channel.operation, LookBack):
        return channel.operation.source
    if channel.op != Table.wire:
        return None
    first, table = channel.inputs[0], channel.table
    chooses = (table.rows == table.values[:, None]).any(axis=1).all()
    alike = len({kin[name] for name in channel.inputs}) == 1
    token = isinstance(program.channels[first].operation, Token)
    return first if chooses and alike and not token else None


def _firsts(program: Statement) -> dict[str, str]:
    """For each channel the first one that is the same, but for how it is laid out."""
    firsts, seen = dict[str, str](), dict[str, str]()
    for name, channel in program.channels.items():
        first = seen.setdefault(name.removesuffix(ONE_HOT), name)
        other = program.channels[first]
        own = channel.operation.rename_channels(firsts)
        copied = channel.op == Table.wire and channel.table.is_identity
        same = own == other.operation.rename_channels(firsts)
        same |= copied and firsts.get(channel.inputs[0]) == first
        firsts[name] = first if same else name
    return firsts


def _kin(program: Statement, same: Mapping[str, str]) -> dict[str, str]:
    """For each channel the first one of those that hold values of one kind.

    A value is handed on as it is by who copies it, and by a selection.
    """
    kin, members = dict[str, str](), dict[str, list[str]]()
    for name, channel in program.channels.items():
        copied = _copies(program, channel, kin)
        alike = channel.inputs[1:] if channel.op == Select.wire else ()
        twin = None if same[name] == name else same[name]
        from_ = (copied, twin, *alike)
        firsts = dict.fromkeys(kin[n] for n in from_ if n is not None)
        first = min(firsts, key=program.order.__getitem__, default=name)
        joined = [n for other in firsts if other != first for n in members.pop(other)]
        members.setdefault(first, []).extend([*joined, name])
        kin |= dict.fromkeys([*joined, name], first)
    return kin


def _readers(program: Statement, firsts: Mapping[str, str]) -> dict[str, list[str]]:
    """The channels that read each channel, however that is laid out."""
    readers: dict[str, dict[str, None]] = {}
    for name, channel in program.channels.items():
        for read in channel.inputs:
            if firsts[read] != firsts[name]:
                readers.setdefault(firsts[read], {})[firsts[name]] = None
    return {read: list(names) for read, names in readers.items()}


def _levels_searched(program: Statement) -> dict[str, frozenset[int]]:
    """The levels of the blocks before a position in which a channel finds no letter.

    Of channels that have their value at BOS there, and nowhere else.
    """
    found, sources = dict[str, frozenset[int]](), dict[str, tuple[str, str]]()
    for name, channel in program.channels.items():
        operation = channel.operation
        if isinstance(operation, SiblingLatest):
            source = program.channels[operation.source]
            if source.bos not in source.later:
                found[name] = frozenset({operation.level})
                sources[name] = (operation.source, operation.where)
        elif channel.op == Table.wire and found.keys() >= {*channel.inputs}:
            table, bos = channel.table, channel.bos
            nothing = (table.rows == bos).all(axis=1)
            alike = len({sources[n] for n in channel.inputs}) == 1
            if alike and np.array_equal(nothing, table.values == bos):
                found[name] = frozenset.union(*(found[n] for n in channel.inputs))
                sources[name] = sources[channel.inputs[0]]
    return found


def possible_answers(program: Statement, answers: int) -> dict[str, BoolArray]:
    """``(values, answers)``: the answers that are possible with each value, where known.

    From the outputs down through functions of one position, whoever reads a channel: a
    value goes with the answers of the rows in which it stands.
    """
    known = dict[str, BoolArray]()
    if not answers or len(program.decode) * answers > MOST_CELLS:
        return known
    sets = np.eye(answers, dtype=np.bool_)[list(program.decode.values())]
    for column, name in zip(
        np.array([*program.decode]).T, program.outputs, strict=True
    ):
        _note(known, program.channels[name], column, sets)
    for name, channel in [*program.channels.items()][::-1]:
        if name in known and isinstance(channel.operation, Map):
            _note_inputs(known, program, channel)
    return known


def _note(
    known: dict[str, BoolArray], channel: Channel, values: IntArray, sets: BoolArray
) -> None:
    """Keep only answers of rows: ``(rows,)`` values of a channel, ``(rows, answers)``."""
    at, there = locate_values(channel.domain, values)
    order = np.argsort(at[there], kind="stable")
    some, first = np.unique(at[there][order], return_index=True)
    found = np.zeros((len(channel.domain), sets.shape[1]), np.bool_)
    found[some] = np.logical_or.reduceat(sets[there][order], first, axis=0)
    known[channel.name] = known.get(channel.name, np.True_) & found


def _note_inputs(
    known: dict[str, BoolArray], program: Statement, channel: Channel
) -> None:
    """The answers that go with the inputs of a function, from those of its values."""
    reads, sets = program.reads(channel.name), known[channel.name]
    if channel.op == Table.wire:
        table = channel.table
        if len(table.rows) * sets.shape[1] > MOST_CELLS:
            return
        inputs = zip(table.rows.T, reads, strict=True)
        occurs = np.all([np.isin(x, c.later) for x, c in inputs], axis=0)
        at, _ = locate_values(channel.domain, table.values[occurs])
        for column, read in zip(table.rows[occurs].T, reads, strict=True):
            _note(known, read, column, sets[at])
    elif channel.op == Select.wire:
        index, *options = reads
        rows = [_reached(channel, sets, option) for option in options]
        _note(known, index, np.arange(len(rows)), np.array(rows))


def _reached(channel: Channel, sets: BoolArray, option: Channel) -> BoolArray:
    """``(answers,)``: those that are possible where an option is chosen."""
    at, there = locate_values(channel.domain, option.later)
    return np.asarray(sets[at[there]].any(axis=0))


def _groups(values: Iterable[int], given: Iterable[T]) -> dict[int, tuple[T, ...]]:
    """What is given for each value, in order."""
    groups: dict[int, list[T]] = {}
    for value, each in zip(values, given, strict=True):
        groups.setdefault(value, []).append(each)
    return {value: tuple(some) for value, some in groups.items()}


def _fit_in_short(parts: Mapping[int, Parts]) -> bool:
    """Whether names are written whole where few parts are."""
    sizes = list(map(len, parts.values()))
    return sum(sizes) <= FEW or max(sizes) <= SHOWN


def _shorter(rows: Parts) -> Parts:
    """A few rows; of many two, and how many there are."""
    return rows if len(rows) <= SHOWN else (*rows[:2], f"{len(rows) - 2:,} more")


def _by_position(channel: Channel) -> dict[int, Parts]:
    """The positions at which a function of these has each value."""
    given = channel.values_by_position[1:].tolist()
    positions = range(1, len(given) + 1)
    found = _groups(given, positions)
    return {
        v: (f"position{'s' * (len(some) > 1)} {_numbers(some, positions)}",)
        for v, some in found.items()
    }


def _numbers(some: Sequence[int], every: Sequence[int]) -> str:
    """Some of ascending numbers: ``2, 5, 8, …``, or ``0 to 3 or 7``."""
    steps = {b - a for a, b in pairwise(some)}
    if len(some) > 2 and len(steps) == 1:
        (step,) = steps
        rest = some[0] % step
        alike = [x for x in every if x % step == rest]
        if step > 1 and list(some) == alike and len(some) > SHOWN:
            first, second, third, *_ = some
            return f"{first}, {second}, {third}, …"
    place = {x: i for i, x in enumerate(every)}
    runs = groupby(enumerate(some), key=lambda pair: place[pair[1]] - pair[0])
    texts = list[str]()
    for _, run in runs:
        span = [x for _, x in run]
        # Of two neighbours there is nothing between.
        texts += [f"{span[0]} to {span[-1]}"] if span[2:] else map(str, span)
    return listed(texts, SHOWN, "or")
