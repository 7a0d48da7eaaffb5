"""Variables that people look for, whether or not a Program has them."""

from collections.abc import Iterator
from math import lcm

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import as_brackets
from krohn.algebra.corridor import Corridor, as_corridor
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.variable import Variable, variable
from krohn.compare.tasks.task import Task

FARTHEST = 15
"""Distances beyond it are one class: 16 classes, and half of the desk's 32 letters."""

MOST_COUNTED = 16
"""Letters of larger alphabets are not counted one by one: a count needs occurrences."""

LARGEST_MODULUS = 64


def standard(task: Task, words: IntArray) -> Iterator[Variable]:
    """State, counts, last reset, last boundary, stack, letters; references last.

    Args:
        task: What is asked.
        words: ``(count, length)``.
    """
    machine, states = task.machine, task.states(words)
    if task.predicts == "class":
        yield variable("answer", "answer", task.label(words).labels)
    yield variable("state", "standard", states)
    start = np.full((len(words), 1), machine.start)
    before = np.concatenate([start, states[:, :-1]], axis=1)
    yield variable("state before the letter", "standard", before)
    yield from _counts(machine, words)
    yield from _resets(machine, words)
    yield from _boundaries(machine, words, states)
    yield from _stack(machine, states)
    yield variable("letter before", "standard", _back(words, 1, len(machine.letters)))
    yield from references(words)


def references(words: IntArray) -> Iterator[Variable]:
    """The letter and the position, which an embedding holds."""
    yield variable("letter", "reference", words)
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    yield variable("position", "reference", places, numeric=True)


def since(marked: IntArray) -> IntArray:
    """How many letters ago ``marked`` ``(count, length)`` was 1 last; t + 1 if never."""
    places = np.arange(marked.shape[1])
    last = np.maximum.accumulate(np.where(marked == 1, places, -1), axis=1)
    return np.asarray(places - last)


def _back(words: IntArray, by: int, nothing: int) -> IntArray:
    found = np.full_like(words, nothing)
    found[:, by:] = words[:, :-by]
    return found


def _counts(machine: Automaton, words: IntArray) -> Iterator[Variable]:
    if len(machine.letters) > MOST_COUNTED:
        return
    for a, letter in enumerate(machine.letters):
        count = np.cumsum(words == a, axis=1)
        yield variable(f"count of {letter}", "standard", count, numeric=True)
        for m in sorted({2, period(machine.transitions[a])}):
            if 1 < m <= LARGEST_MODULUS:
                name = f"count of {letter} mod {m}"
                yield variable(name, "standard", count % m)


def period(letter: IntArray) -> int:
    """The p with a^(n + p) = a^n for large n, of a letter's map ``(states,)``."""
    lengths = []
    for state in range(len(letter)):
        for _ in range(len(letter)):  # into its cycle
            state = int(letter[state])
        at, length = int(letter[state]), 1
        while at != state:
            at, length = int(letter[at]), length + 1
        lengths.append(length)
    return lcm(*lengths)


def _resets(machine: Automaton, words: IntArray) -> Iterator[Variable]:
    constant = (machine.transitions == machine.transitions[:, :1]).all(axis=1)
    if not constant.any() or len(machine.states) == 1:
        return
    resets = constant[words].astype(np.int64)
    yield from _last("reset", resets, machine.transitions[words, 0])


def oriented_corridor(machine: Automaton) -> Corridor | None:
    """The corridor that a machine is, with its first state below its last one."""
    found = as_corridor(machine)
    if found is None or found.cell[0] <= found.cell[-1]:
        return found
    cells = tuple(found.last - cell for cell in found.cell)
    return Corridor(cells, tuple(-move for move in found.moves))


def _boundaries(
    machine: Automaton, words: IntArray, states: IntArray
) -> Iterator[Variable]:
    """The walk, its extremes, the last wall and how long ago (thesis, Algorithm 1)."""
    found = oriented_corridor(machine)
    if found is None:
        return
    start = found.cell[machine.start]
    walk = start + np.cumsum(np.array(found.moves)[words], axis=1)
    yield variable("walk without walls", "standard", walk, True)
    lowest = np.minimum(np.minimum.accumulate(walk, axis=1), start)
    highest = np.maximum(np.maximum.accumulate(walk, axis=1), start)
    yield variable("lowest of the walk", "standard", lowest, True)
    yield variable("highest of the walk", "standard", highest, True)
    cells = np.array(found.cell)[states]
    at_wall = ((cells == 0) | (cells == found.last)).astype(np.int64)
    yield from _last("boundary", at_wall, cells)
    for name, wall in (("lower", 0), ("upper", found.last)):
        at_one = (cells == wall).astype(np.int64)
        ago = np.minimum(since(at_one), FARTHEST)
        yield variable(f"letters since the {name} wall", "standard", ago, True)


def _last(event: str, marked: IntArray, values: IntArray) -> Iterator[Variable]:
    ago = since(marked)
    yield variable(
        f"letters since {event}", "standard", np.minimum(ago, FARTHEST), True
    )
    places = np.arange(marked.shape[1]) - ago
    found = np.take_along_axis(values, np.maximum(places, 0), axis=1)
    which = np.where(places < 0, -1, found)
    yield variable(f"value at the last {event}", "standard", which)


def _stack(machine: Automaton, states: IntArray) -> Iterator[Variable]:
    found = as_brackets(machine)
    if found is None:
        return
    depths = np.array([-1 if s is None else len(s) for s in found.stacks])
    tops = np.array([-2 if s is None else (s or (-1,))[-1] for s in found.stacks])
    yield variable("stack depth", "standard", depths[states], True)
    yield variable("stack top", "standard", tops[states])
