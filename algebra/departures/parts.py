"""Small machines beside a machine, one for each way in which a component keeps going.

While a run stays in one strongly connected component, its state is often a function of
something that every position knows in a layer or less, whenever the component was entered:
of the position, of a count, of the last letters, or of the last written value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Literal

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification.digraph import components, restricted_transitions
from krohn.algebra.structure import as_counter

Kind = Literal["clock", "counter", "window", "memory", "resets"]

LONGEST_WINDOW = 3
MOST_WINDOWS = 400
MOST_GUESSES = 20_000
MOST_STEPS = 200_000
"""Of all guesses together; a pass over so many entries of a table counts as one."""
ENTRIES_A_STEP = 20
OUTSIDE = -1
"""As `restricted_transitions` has it where a letter leaves a component."""


@dataclass(frozen=True, eq=False)
class Part:
    """A machine on the letters of another one.

    Attributes:
        kind: How it is known: a ``clock`` by the position, a ``counter`` by a sum, a
            ``window`` by the last letters, a ``memory`` by the last letter that wrote, a
            counter with ``resets`` by the sum and its value at the last reset.
        machine: The machine.
        width: How many letters a window has; else 0.
        classes: ``(letters,)`` for a window: the digit of each letter, at least 1, in the
            number of a window, oldest letter first; 0 stands for no letter.
        tail: For a clock: how many positions pass before it goes round.
    """

    kind: Kind
    machine: Automaton
    width: int = 0
    classes: tuple[int, ...] = ()
    tail: int = 0


def parts(machine: Automaton, tail: bool) -> tuple[Part, ...] | str:
    """The machines that have to run beside a machine, or why no known ones would do.

    Args:
        machine: All states reachable.
        tail: Whether the first positions are told apart, as many as can pass before a
            state that some word leads back to.
    """
    label = components(machine.semiautomaton)
    letters = len(machine.letters)
    periods, machines = [1], list[Part]()
    for component in range(int(label.max()) + 1):
        states = np.flatnonzero(label == component)
        if len(states) == 1:
            continue
        inner = restricted_transitions(machine.semiautomaton, states)
        if _is_cycle(inner):
            periods.append(len(states))
            continue
        part = _part(inner)
        if part is None:
            return (
                f"a component of {len(states)} states of {machine.name} is neither a "
                "counter nor a memory, and its last few letters do not decide its "
                "state"
            )
        machines.append(part)
    before = _before_loops(machine) if tail else 0
    if before or len(periods) > 1:
        machines.append(_clock(letters, before, lcm(*periods)))
    return tuple(_distinct(machines))


def _is_cycle(inner: IntArray) -> bool:
    """Whether every state has one successor within the component."""
    low = np.where(inner == OUTSIDE, inner.shape[1], inner).min(axis=0)
    return bool((inner.max(axis=0) == low).all())


def _part(inner: IntArray) -> Part | None:
    """The first machine that tells the state within a component, if any does."""
    return (
        _window(inner, 1)
        or _counter(inner)
        or _window(inner, 2)
        or _memory(inner)
        or _window(inner, LONGEST_WINDOW)
        or _resets(inner)
    )


def _machine(transitions: IntArray) -> Automaton:
    letters, states = transitions.shape
    names = tuple(map(str, range(letters))), tuple(map(str, range(states)))
    return Automaton(Semiautomaton(transitions, *names))


def _clock(letters: int, tail: int, period: int) -> Part:
    after = np.append(np.arange(1, tail + period), tail)
    return Part("clock", _machine(np.tile(after, (letters, 1))), tail=tail)


def _before_loops(machine: Automaton) -> int:
    """How many letters can pass before the first state that a word leads back to."""
    table, label = machine.transitions, components(machine.semiautomaton)
    states = np.arange(table.shape[1])
    fleeting = (np.bincount(label)[label] == 1) & (table != states).all(axis=0)
    count, here = 0, np.array([machine.start])
    while (here := here[fleeting[here]]).size:
        here = np.unique(table[:, here])
        count += 1
    return count


def _window(inner: IntArray, width: int) -> Part | None:
    """The last letters, if so many that stay in a component tell where they lead."""
    rows, classes = np.unique(inner, axis=0, return_inverse=True)
    base = len(rows) + 1
    if base**width > MOST_WINDOWS:
        return None
    images = np.arange(inner.shape[1])[None]
    for _ in range(width):
        after = np.where(images == OUTSIDE, OUTSIDE, rows[:, images])
        images = np.unique(after.reshape(-1, inner.shape[1]), axis=0)
    if not all(_is_constant(row) for row in images):
        return None
    digits = 1 + classes.reshape(-1)
    values = np.arange(base**width)
    table = (values * base + digits[:, None]) % base**width
    return Part("window", _machine(table), width, tuple(digits.tolist()))


def _is_constant(row: IntArray) -> bool:
    return len(np.unique(row[row != OUTSIDE])) <= 1


def _memory(inner: IntArray) -> Part | None:
    """A memory of the state that was written last; 0 before the first write."""
    states = np.arange(inner.shape[1])
    keeps = ((inner == states) | (inner == OUTSIDE)).all(axis=1)
    if not all(k or _is_constant(row) for k, row in zip(keeps, inner, strict=True)):
        return None
    values = np.arange(inner.shape[1] + 1)
    written = 1 + inner.max(axis=1)
    return Part("memory", _machine(np.where(keeps[:, None], values, written[:, None])))


def _counter(inner: IntArray) -> Part | None:
    """The states numbered so that every letter adds the same wherever it stays inside."""
    added = next(_labels(inner), None)
    if added is None:
        return None
    size = inner.shape[1]
    table = (np.arange(size) + added[:, None]) % size
    return Part("counter", _machine(table))


def _labels(inner: IntArray) -> Iterator[IntArray]:
    """All choices of a number for each letter to add, modulo the size: ``(letters,)``."""
    letters, size = inner.shape
    todo: list[tuple[dict[int, int], dict[int, int]]] = [({}, {0: 0})]
    budget = Budget(MOST_STEPS)
    moves = [
        (a, q, int(inner[a, q])) for a, q in np.argwhere(inner != OUTSIDE).tolist()
    ]
    for _ in range(MOST_GUESSES):
        if not todo or budget.is_exhausted:
            return
        adds, label = todo.pop()
        if not _spread(inner, moves, adds, label, budget):
            continue
        if len(label) == size:
            yield np.array([adds.get(a, 0) for a in range(letters)])
            return
        open_ = [a for a in range(letters) if a not in adds]
        a = next(a for a in open_ if any(inner[a, q] != OUTSIDE for q in label))
        todo += [({**adds, a: n}, dict(label)) for n in reversed(range(size))]


def _spread(
    inner: IntArray,
    moves: list[tuple[int, int, int]],
    adds: dict[int, int],
    label: dict[int, int],
    budget: Budget,
) -> bool:
    """Label the states to which known letters lead; whether there is no contradiction.

    Two states must not have one label, and a letter's number is known once it joins
    two states with labels. Nothing is labelled once the budget is spent.

    Args:
        inner: ``(letters, states)``: where letters lead.
        moves: The same as letter, state and where it leads, but for what leads outside.
        adds: The numbers of letters.
        label: The labels of states.
        budget: The work that may be done.
    """
    size, changed = inner.shape[1], True
    while changed:
        changed = False
        budget.spend(0, calls=1 + inner.size // ENTRIES_A_STEP)
        if budget.is_exhausted:
            return False
        for a, q, target in moves:
            if q not in label:
                continue
            if a in adds and target not in label:
                label[target] = (label[q] + adds[a]) % size
                changed = True
            if target in label:
                step = (label[target] - label[q]) % size
                changed |= a not in adds
                if adds.setdefault(a, step) != step:
                    return False
    return len(set(label.values())) == len(label)


def _resets(inner: IntArray) -> Part | None:
    """A counter some of whose letters lead to one state, if no letter leaves only some."""
    outside = (inner == OUTSIDE).all(axis=1)
    rows = np.where(outside[:, None], np.arange(inner.shape[1]), inner)
    if (rows == OUTSIDE).any():
        return None
    constant = (rows == rows[:, :1]).all(axis=1)
    turns = np.where(constant[:, None], np.arange(inner.shape[1]), rows)
    if as_counter(_machine(turns)) is None:
        return None
    return Part("resets", _machine(rows))


def _distinct(found: list[Part]) -> list[Part]:
    kept: dict[tuple[str, tuple[int, ...], bytes], Part] = {}
    for part in found:
        table = part.machine.transitions
        kept.setdefault((part.kind, table.shape, table.tobytes()), part)
    return list(kept.values())
