"""Channels that say the states of the parts beside a machine, after a letter and before."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from algebra.automaton import Automaton
from algebra.departures.nodes import NEVER
from algebra.departures.parts import Part
from algebra.semiautomaton import IntArray
from algebra.structure import Counter, as_counter
from compiler.constructions import counter
from compiler.constructions.before import latest_before
from compiler.program import (
    Latest,
    Map,
    Operation,
    Position,
    Row,
    Shift,
    Token,
    table,
)


@dataclass(frozen=True)
class Known:
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


@dataclass(frozen=True)
class Function:
    """A channel that is a function of the letter and of the parts before it.

    Attributes:
        name: The channel; 0 at BOS.
        shown: ``(values, letters)``: what it says, also where that does not matter.
        depth: After how many attention layers it is known.
    """

    name: str
    shown: IntArray = field(repr=False)
    depth: int


class Beside:
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
        self._known: dict[tuple[int, bool], Known] = {}
        self._functions: dict[bytes, Function] = {}

    def now(self, i: int) -> Known:
        """The state of part ``i`` after the letter."""
        return self._say(i, before=False)

    def before(self, i: int) -> Known:
        """The state of part ``i`` before the letter."""
        return self._say(i, before=True)

    def _say(self, i: int, before: bool) -> Known:
        if (i, before) not in self._known:
            part = self.parts[i]
            say = {
                "clock": partial(_clock, self.length),
                "counter": partial(_counter, self.length),
                "window": partial(_window, self.letters),
                "memory": partial(_memory, self.length),
                "resets": partial(_resets, self.length),
            }[part.kind]
            known, made = say(part, f"part{i}.", before)
            self.operations |= made
            self._known[i, before] = known
        return self._known[i, before]

    def function(self, name: str, shown: IntArray) -> Function:
        """A function of the letter and of the parts before it; 0 at BOS.

        Args:
            name: What to call the channel if there is none yet that says the same.
            shown: ``(values, letters)``: what to say; `NEVER` where that does not matter.
        """
        read = _needed(self.values, shown)
        full = _filled(self.values[:, read], shown)
        key = full.tobytes()
        if key not in self._functions:
            known = [self.before(i) for i in read]
            depth = max((k.depth for k in known), default=0)
            self.operations |= self._table(name, full, read, known)
            self._functions[key] = Function(name, full, depth)
        return self._functions[key]

    def flagged(self, flag: Function) -> str:
        """The flag with 1 at BOS, as those of `Latest` are."""
        name = f"{flag.name}.or-bos"
        if name not in self.operations:
            made = self.operations[flag.name]
            assert isinstance(made, Map)
            self.operations |= self._table(
                name, flag.shown, *self._read(flag), at_bos=1
            )
        return name

    def _read(self, flag: Function) -> tuple[list[int], list[Known]]:
        read = _needed(self.values, flag.shown)
        return read, [self.before(i) for i in read]

    def _table(
        self,
        name: str,
        full: IntArray,
        read: list[int],
        known: list[Known],
        at_bos: int = 0,
    ) -> dict[str, Operation]:
        columns, kind = np.unique(full, axis=1, return_inverse=True)
        kinds: IntArray = kind.reshape(-1)
        if not read:
            rows: dict[Row, int] = {
                (a,): int(columns[0, k]) for a, k in enumerate(kinds.tolist())
            }
            return {name: Map(table({**rows, (self.letters,): at_bos}), ("token",))}
        letter, made = self._letter(kinds)
        first = {}
        for index, value in enumerate(self.values[:, read].tolist()):
            first.setdefault(tuple(value), index)
        rows = {}
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
        rows: dict[Row, int] = {(a,): k for a, k in enumerate(kinds.tolist())}
        rows[(self.letters,)] = int(kinds.max()) + 1
        return name, {name: Map(table(rows), ("token",))}

    def state(self, name: str, states: IntArray) -> tuple[str | int, int]:
        """A function of the parts after the letter, as a channel or a number; its depth.

        Args:
            name: What to call the channel.
            states: ``(values,)``: what to say; `NEVER` where that does not matter.
        """
        read = _needed(self.values, states[:, None])
        full = _filled(self.values[:, read], states[:, None])[:, 0]
        if not read:
            return int(states.max()), 0
        known = [self.now(i) for i in read]
        said = dict(
            zip(map(tuple, self.values[:, read].tolist()), full.tolist(), strict=True)
        )
        rows: dict[Row, int] = {}
        for shown in product(*(k.means.items() for k in known)):
            row = tuple(v for values, _ in shown for v in values)
            rows[row] = max(said.get(tuple(s for _, s in shown), 0), 0)
        inputs = tuple(c for k in known for c in k.channels)
        self.operations[name] = Map(table(rows), inputs)
        return name, max(k.depth for k in known)


def _needed(values: IntArray, shown: IntArray) -> list[int]:
    """Parts that together decide, none of which can be left out."""
    read = list(range(values.shape[1]))
    for i in reversed(range(values.shape[1])):
        fewer = [j for j in read if j != i]
        if _decides(values[:, fewer], shown):
            read = fewer
    return read


def _decides(values: IntArray, shown: IntArray) -> bool:
    full = _filled(values, shown)
    return bool(((shown == NEVER) | (full == shown)).all())


def _filled(values: IntArray, shown: IntArray) -> IntArray:
    """What is said beside equal values; 0 where nothing is."""
    _, group = np.unique(values, axis=0, return_inverse=True)
    group = group.reshape(-1)
    most = np.full((int(group.max()) + 1, shown.shape[1]), NEVER)
    np.maximum.at(most, group, shown)
    return np.asarray(np.maximum(most, 0)[group])


Made = tuple[Known, dict[str, Operation]]


def _clock(length: int, part: Part, prefix: str, before: bool) -> Made:
    period = len(part.machine.states) - part.tail
    given = [
        t if t < part.tail else part.tail + (t - part.tail) % period
        for t in (max(t - before, 0) for t in range(length + 1))
    ]
    name = f"{prefix}{'before' if before else 'now'}"
    means = {(v,): v for v in sorted(set(given))}
    return Known((name,), means, (given[0],), 0), {name: Position(tuple(given))}


def _counter(length: int, part: Part, prefix: str, before: bool) -> Made:
    found = as_counter(part.machine)
    assert found is not None
    made = dict(counter.channels(found, part.machine, length, prefix))
    name = f"{prefix}count"
    if before:
        name = f"{prefix}before"
        made[name] = turned_back(found, prefix)
    means = {(label,): q for q, label in enumerate(found.labels)}
    return Known((name,), means, (found.labels[part.machine.start],), 1), made


def turned_back(found: Counter, prefix: str) -> Operation:
    """The count before the letter, from the one after it."""
    rows: dict[Row, int] = {
        (label, step): (label - step) % found.modulus
        for label in range(found.modulus)
        for step in {0, *found.increments}
    }
    return Map(table(rows), (f"{prefix}count", f"{prefix}increment"))


def _window(letters: int, part: Part, prefix: str, before: bool) -> Made:
    digits: dict[Row, int] = {(a,): d for a, d in enumerate(part.classes)}
    digits[(letters,)] = 0
    name, base = f"{prefix}letter", max(part.classes) + 1
    made: dict[str, Operation] = {name: Map(table(digits), ("token",))}
    backs = range(part.width - 1 + before, -1 + before, -1)
    names = tuple(f"{prefix}back{by}" if by else name for by in backs)
    made |= {n: Shift(name, by) for n, by in zip(names, backs, strict=True) if by}
    means: dict[Row, int] = {}
    for row in product(range(base), repeat=part.width):
        means[row] = sum(d * base**i for i, d in enumerate(reversed(row)))
    depth = int(part.width > 1 or before)
    return Known(names, means, (0,) * part.width, depth), made


def _memory(length: int, part: Part, prefix: str, before: bool) -> Made:
    rows = part.machine.transitions
    writes = (rows == rows[:, :1]).all(axis=1)
    bos, values = len(rows), range(rows.shape[1])
    # What is not written is not read, but must not look like nothing (0).
    written: dict[Row, int] = {
        (a,): int(rows[a, 0]) if writes[a] else 1 for a in range(bos)
    }
    flags: dict[Row, int] = {(a,): int(w) for a, w in enumerate(writes)}
    source, where = f"{prefix}written", f"{prefix}writes"
    made: dict[str, Operation] = {
        source: Map(table({**written, (bos,): 0}), ("token",)),
        where: Map(table({**flags, (bos,): 1}), ("token",)),
    }
    if before:
        name = f"{prefix}before"
        made |= latest_before(name, source, where, values, length)
    else:
        name = f"{prefix}stored"
        made[name] = Latest(source, where)
    return Known((name,), {(v,): v for v in values}, (0,), 1), made


def _resets(length: int, part: Part, prefix: str, before: bool) -> Made:
    rows = part.machine.transitions
    states = np.arange(rows.shape[1])
    resets = (rows == rows[:, :1]).all(axis=1)
    turning = replaced(part.machine, np.where(resets[:, None], states, rows))
    found = as_counter(turning)
    assert found is not None
    n, bos = found.modulus, len(rows)
    made = dict(counter.channels(found, turning, length, prefix))
    count, offset = f"{prefix}count", f"{prefix}offset"
    target: dict[Row, int] = {
        (a,): found.labels[rows[a, 0]] if resets[a] else 0 for a in range(bos)
    }
    flags: dict[Row, int] = {(a,): int(r) for a, r in enumerate(resets)}
    less: dict[Row, int] = {
        (t, c): (t - c) % n for t in set(target.values()) for c in range(n)
    }
    made |= {
        f"{prefix}target": Map(table({**target, (bos,): 0}), ("token",)),
        f"{prefix}resets": Map(table({**flags, (bos,): 1}), ("token",)),
        f"{prefix}turn": Map(table(less), (f"{prefix}target", count)),
        offset: Latest(f"{prefix}turn", f"{prefix}resets"),
    }
    state = {label: q for q, label in enumerate(found.labels)}
    means = {(c, o): state[(c + o) % n] for c in range(n) for o in range(n)}
    names = (count, offset)
    if before:
        names = (f"{count}.before", f"{offset}.before")
        made |= {names[0]: Shift(count, 1), names[1]: Shift(offset, 1)}
    return Known(names, means, (0, 0), 2 + before), made


def replaced(machine: Automaton, transitions: IntArray) -> Automaton:
    """The machine with other transitions."""
    inner = replace(machine.semiautomaton, transitions=transitions)
    return replace(machine, semiautomaton=inner)
