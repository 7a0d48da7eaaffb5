"""Channels that say the states of the parts beside a machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.departures.nodes import NEVER
from krohn.algebra.departures.parts import Part
from krohn.algebra.structure import Counter, as_counter
from krohn.compiler import CompileError
from krohn.compiler.constructions.one_layer import counter_channels
from krohn.compiler.constructions.pointers import latest_before
from krohn.compiler.cost import check_written
from krohn.compiler.machine_programs import of_letter
from krohn.program import Latest, Map, Operation, Position, Row, Shift, Token, table

# Channels that say the state of a part, after a letter or before it.


@dataclass(frozen=True)
class StateChannels:
    """Channels that together say the state of a part.

    Attributes:
        channels: Their names.
        means: The state that each tuple of their values means.
        bos: The tuple at BOS.
        depth: After how many attention layers they are known.
    """

    channels: tuple[str, ...]
    means: Mapping[Row, int]
    bos: Row
    depth: int


Made = tuple[StateChannels, dict[str, Operation]]


def state_channels(
    part: Part, letters: int, length: int, prefix: str, before: bool
) -> Made:
    """The channels of a part, and how they say its state.

    Args:
        part: The part.
        letters: How many letters there are.
        length: T.
        prefix: What their names begin with.
        before: Whether the state is that before the letter.
    """
    make = {
        "clock": partial(_clock, length),
        "counter": partial(_counter, length),
        "window": partial(_window, letters),
        "memory": partial(_memory, length),
        "resets": partial(_resets, length),
    }[part.kind]
    return make(part, prefix, before)


def _clock(length: int, part: Part, prefix: str, before: bool) -> Made:
    check_written(length)
    period = len(part.machine.states) - part.tail
    given = [
        t if t < part.tail else part.tail + (t - part.tail) % period
        for t in (max(t - before, 0) for t in range(length + 1))
    ]
    name = f"{prefix}{'before' if before else 'now'}"
    means: dict[Row, int] = {(v,): v for v in sorted(set(given))}
    return StateChannels((name,), means, (given[0],), 0), {name: Position(tuple(given))}


def _counter(length: int, part: Part, prefix: str, before: bool) -> Made:
    cycle = as_counter(part.machine)
    assert cycle is not None
    made = counter_channels(cycle, part.machine.start, length, prefix)
    name = f"{prefix}count"
    if before:
        name = f"{prefix}before"
        made[name] = _turned_back(cycle, prefix)
    means: dict[Row, int] = {(label,): q for q, label in enumerate(cycle.labels)}
    return StateChannels((name,), means, (cycle.labels[part.machine.start],), 1), made


def _turned_back(found: Counter, prefix: str) -> Operation:
    rows: dict[Row, int] = {
        (label, step): (label - step) % found.modulus
        for label in range(found.modulus)
        for step in {0, *found.increments}
    }
    return Map(table(rows), (f"{prefix}count", f"{prefix}increment"))


def _window(letters: int, part: Part, prefix: str, before: bool) -> Made:
    name, base = f"{prefix}letter", max(part.classes) + 1
    made: dict[str, Operation] = {name: of_letter(part.classes, 0)}
    backs = range(part.width - 1 + before, -1 + before, -1)
    names = tuple(f"{prefix}back{by}" if by else name for by in backs)
    made |= {n: Shift(name, by) for n, by in zip(names, backs, strict=True) if by}
    means: dict[Row, int] = {}
    for row in product(range(base), repeat=part.width):
        means[row] = sum(d * base**i for i, d in enumerate(reversed(row)))
    depth = int(part.width > 1 or before)
    return StateChannels(names, means, (0,) * part.width, depth), made


def _memory(length: int, part: Part, prefix: str, before: bool) -> Made:
    rows = part.machine.transitions
    writes = (rows == rows[:, :1]).all(axis=1)
    values = range(rows.shape[1])
    # What is not written is not read, but must not look like nothing (0).
    source, where = f"{prefix}written", f"{prefix}writes"
    made: dict[str, Operation] = {
        source: of_letter(np.where(writes, rows[:, 0], 1), 0),
        where: of_letter(writes, 1),
    }
    if before:
        name = f"{prefix}before"
        made |= latest_before(name, source, where, values, length)
    else:
        name = f"{prefix}stored"
        made[name] = Latest(source, where)
    return StateChannels((name,), {(v,): v for v in values}, (0,), 1), made


def _resets(length: int, part: Part, prefix: str, before: bool) -> Made:
    rows = part.machine.transitions
    states = np.arange(rows.shape[1])
    resets = (rows == rows[:, :1]).all(axis=1)
    turning = _with_transitions(part.machine, np.where(resets[:, None], states, rows))
    cycle = as_counter(turning)
    assert cycle is not None
    n = cycle.modulus
    made = counter_channels(cycle, turning.start, length, prefix)
    count, offset = f"{prefix}count", f"{prefix}offset"
    targets = [
        cycle.labels[q] if r else 0 for q, r in zip(rows[:, 0], resets, strict=True)
    ]
    less: dict[Row, int] = {(t, c): (t - c) % n for t in set(targets) for c in range(n)}
    made |= {
        f"{prefix}target": of_letter(targets, 0),
        f"{prefix}resets": of_letter(resets, 1),
        f"{prefix}turn": Map(table(less), (f"{prefix}target", count)),
        offset: Latest(f"{prefix}turn", f"{prefix}resets"),
    }
    state = {label: q for q, label in enumerate(cycle.labels)}
    means: dict[Row, int] = {
        (c, o): state[(c + o) % n] for c in range(n) for o in range(n)
    }
    names = (count, offset)
    if before:
        names = (f"{count}.before", f"{offset}.before")
        made |= {names[0]: Shift(count, 1), names[1]: Shift(offset, 1)}
    return StateChannels(names, means, (0, 0), 2 + before), made


def _with_transitions(machine: Automaton, transitions: IntArray) -> Automaton:
    inner = replace(machine.semiautomaton, transitions=transitions)
    return replace(machine, semiautomaton=inner)


# Channels that say the states of the parts beside a machine, after a letter and before.


@dataclass(frozen=True)
class Function:
    """A channel that is a function of the letter and of the parts before it.

    Attributes:
        name: The channel; 0 at BOS.
        shown: ``(values, letters)``: its values, also where they do not matter.
        depth: After how many attention layers it is known.
    """

    name: str
    shown: IntArray = field(repr=False)
    depth: int


class PartChannels:
    """The parts of a machine as channels, made when they are first asked for.

    Attributes:
        operations: The channels so far.
    """

    def __init__(
        self, parts: tuple[Part, ...], values: IntArray, letters: int, length: int
    ) -> None:
        """Begin with the token alone.

        Args:
            parts: What runs beside the machine.
            values: ``(values, parts)``: the tuples of states that occur.
            letters: How many letters there are.
            length: T.
        """
        self.parts, self.values = parts, values
        self.letters, self.length = letters, length
        self.operations: dict[str, Operation] = {"token": Token()}
        self._known: dict[tuple[int, bool], StateChannels] = {}
        self._functions: dict[bytes, Function] = {}

    def now(self, i: int) -> StateChannels:
        """The state of part ``i`` after the letter."""
        return self._say(i, before=False)

    def before(self, i: int) -> StateChannels:
        """The state of part ``i`` before the letter."""
        return self._say(i, before=True)

    def _say(self, i: int, before: bool) -> StateChannels:
        if (i, before) not in self._known:
            part, prefix = self.parts[i], f"part{i}."
            channels, made = state_channels(
                part, self.letters, self.length, prefix, before
            )
            self.operations |= made
            self._known[i, before] = channels
        return self._known[i, before]

    def function(self, name: str, shown: IntArray) -> Function:
        """A function of the letter and of the parts before it; 0 at BOS.

        Args:
            name: The name of the channel, if none has these values yet.
            shown: ``(values, letters)``: its values; `NEVER` where they do not matter.
        """
        read = _deciding_parts(self.values, shown)
        full = _fill(self.values[:, read], shown)
        key = full.tobytes()
        if key not in self._functions:
            self.operations |= self._table(name, full, at_bos=0)
            depth = max((self.before(i).depth for i in read), default=0)
            self._functions[key] = Function(name, full, depth)
        return self._functions[key]

    def flag_with_bos(self, flag: Function) -> str:
        """The flag with 1 at BOS, as `Latest` needs it."""
        name = f"{flag.name}.or-bos"
        if name not in self.operations:
            self.operations |= self._table(name, flag.shown, at_bos=1)
        return name

    def _table(self, name: str, full: IntArray, at_bos: int) -> dict[str, Operation]:
        read = _deciding_parts(self.values, full)
        known = [self.before(i) for i in read]
        columns, kind = np.unique(full, axis=1, return_inverse=True)
        kinds: IntArray = kind.reshape(-1)
        if not read:
            return {name: of_letter(columns[0, kinds], at_bos)}
        letter, made = self._letter(kinds)
        first: dict[Row, int] = {}
        rows: dict[Row, int] = {}
        for index, value in enumerate(self.values[:, read].tolist()):
            first.setdefault(tuple(value), index)
        _check_rows(known, columns.shape[1] + 1)
        for shown in product(*(k.means.items() for k in known)):
            index = first.get(tuple(state for _, state in shown), NEVER)
            tail = tuple(v for row, _ in shown for v in row)
            for k in range(columns.shape[1]):
                rows[k, *tail] = 0 if index == NEVER else int(columns[index, k])
            rows[columns.shape[1], *tail] = at_bos
        inputs = (letter, *(c for k in known for c in k.channels))
        return made | {name: Map(table(rows), inputs)}

    def _letter(self, kinds: IntArray) -> tuple[str, dict[str, Operation]]:
        """A channel with the kind of a letter; BOS is of a kind of its own."""
        name = "letter." + ".".join(map(str, kinds.tolist()))
        return name, {name: of_letter(kinds, int(kinds.max()) + 1)}

    def state(self, name: str, states: IntArray) -> tuple[str | int, int]:
        """A function of the parts after the letter, as a channel or a number; its depth.

        Args:
            name: The name of the channel.
            states: ``(values,)``: its values; `NEVER` where they do not matter.
        """
        read = _deciding_parts(self.values, states[:, None])
        full = _fill(self.values[:, read], states[:, None])[:, 0]
        if not read:
            return int(states.max()), 0
        known = [self.now(i) for i in read]
        value_of = dict(
            zip(map(tuple, self.values[:, read].tolist()), full.tolist(), strict=True)
        )
        rows: dict[Row, int] = {}
        _check_rows(known, 1)
        for shown in product(*(k.means.items() for k in known)):
            row = tuple(v for values, _ in shown for v in values)
            rows[row] = max(value_of.get(tuple(s for _, s in shown), 0), 0)
        inputs = tuple(c for k in known for c in k.channels)
        self.operations[name] = Map(table(rows), inputs)
        return name, max(k.depth for k in known)


MOST_ROWS = 1_000_000


def _check_rows(known: Sequence[StateChannels], each: int) -> None:
    """Refuse a table of parts that is too large, before a row of it is made.

    Args:
        known: The parts that it reads.
        each: How many rows it has for each tuple of their states.

    Raises:
        CompileError: If it is.
    """
    rows = each * prod(len(k.means) for k in known)
    if rows > MOST_ROWS:
        raise CompileError(
            f"a table of what runs beside it would have {rows:,} rows, and "
            f"{MOST_ROWS:,} is the most"
        )


def _deciding_parts(values: IntArray, shown: IntArray) -> list[int]:
    read = list(range(values.shape[1]))
    for i in reversed(range(values.shape[1])):
        fewer = [j for j in read if j != i]
        if _decides(values[:, fewer], shown):
            read = fewer
    return read


def _decides(values: IntArray, shown: IntArray) -> bool:
    full = _fill(values, shown)
    return bool(((shown == NEVER) | (full == shown)).all())


def _fill(values: IntArray, shown: IntArray) -> IntArray:
    """The value of each row, also where any would do: as at equal parts, else 0."""
    _, group = np.unique(values, axis=0, return_inverse=True)
    group = group.reshape(-1)
    most = np.full((int(group.max()) + 1, shown.shape[1]), NEVER)
    np.maximum.at(most, group, shown)
    return np.asarray(np.maximum(most, 0)[group])
