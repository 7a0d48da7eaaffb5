"""Positions of a word that a head may look for."""

from collections.abc import Mapping

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import as_brackets
from krohn.algebra.semiautomaton import IntArray
from krohn.compare.probes.standard import oriented_corridor, since
from krohn.compare.tasks.task import Task

NOWHERE = -1


def landmarks(task: Task, words: IntArray) -> Mapping[str, IntArray]:
    """For each landmark, where it is: ``(count, length)`` positions up to the row's own.

    The letter itself, the one before, the first one; the last letter of the same kind;
    the last reset; the last time at each wall of a corridor (thesis, Figure 3.6); the
    bracket on top of the stack (Figure 3.3). `NOWHERE` where there is none.

    Args:
        task: Its machine says which landmarks there are.
        words: ``(count, length)``.
    """
    machine, states = task.machine, task.states(words)
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    found = {
        "the letter itself": places,
        "the letter before": places - 1,
        "the first letter": np.zeros_like(words),
        "the last such letter": _last_alike(words),
    }
    resets = (machine.transitions == machine.transitions[:, :1]).all(axis=1)
    if resets.any():
        found["the last reset"] = _last(resets[words])
    return {**found, **_walls(machine, states), **_top(machine, states)}


def _last(marked: IntArray) -> IntArray:
    ago = since(marked.astype(np.int64))
    return np.asarray(np.maximum(np.arange(marked.shape[1]) - ago, NOWHERE))


def _last_alike(words: IntArray) -> IntArray:
    """The last earlier position with the same letter."""
    found = np.full_like(words, NOWHERE)
    for letter in np.unique(words):
        before = np.roll(_last(words == letter), 1, axis=1)
        before[:, 0] = NOWHERE
        found = np.where(words == letter, before, found)
    return found


def _walls(machine: Automaton, states: IntArray) -> dict[str, IntArray]:
    corridor = oriented_corridor(machine)
    if corridor is None:
        return {}
    cells = np.array(corridor.cell)[states]
    return {
        "the last time at the lower wall": _last(cells == 0),
        "the last time at the upper wall": _last(cells == corridor.last),
        "the last time at a wall": _last((cells == 0) | (cells == corridor.last)),
    }


def _top(machine: Automaton, states: IntArray) -> dict[str, IntArray]:
    """The last position that reached the present depth from below."""
    brackets = as_brackets(machine)
    if brackets is None:
        return {}
    depths = np.array([0 if s is None else len(s) for s in brackets.stacks])
    now = depths[states]
    start = np.full((len(states), 1), depths[machine.start])
    before = np.concatenate([start, now[:, :-1]], axis=1)
    found = np.full_like(now, NOWHERE)
    for depth in range(1, brackets.depth + 1):
        opened = _last((now == depth) & (before < depth))
        found = np.where(now == depth, opened, found)
    return {"the bracket on top": found}
