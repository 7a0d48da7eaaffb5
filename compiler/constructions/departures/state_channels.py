"""Channels that say the state of a part, after a letter or before it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.departures.parts import Part
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.structure import Counter, as_counter
from krohn.compiler.bounds import check_written
from krohn.compiler.constructions import counter
from krohn.compiler.constructions.latest_before import latest_before
from krohn.program import Latest, Map, Operation, Position, Row, Shift, table


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
    found = as_counter(part.machine)
    assert found is not None
    made = dict(counter.channels(found, part.machine, length, prefix))
    name = f"{prefix}count"
    if before:
        name = f"{prefix}before"
        made[name] = _turned_back(found, prefix)
    means: dict[Row, int] = {(label,): q for q, label in enumerate(found.labels)}
    return StateChannels((name,), means, (found.labels[part.machine.start],), 1), made


def _turned_back(found: Counter, prefix: str) -> Operation:
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
    return StateChannels(names, means, (0,) * part.width, depth), made


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
    return StateChannels((name,), {(v,): v for v in values}, (0,), 1), made


def _resets(length: int, part: Part, prefix: str, before: bool) -> Made:
    rows = part.machine.transitions
    states = np.arange(rows.shape[1])
    resets = (rows == rows[:, :1]).all(axis=1)
    turning = _with_transitions(part.machine, np.where(resets[:, None], states, rows))
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
