"""Machines that are a parity at every position, whatever they are in the long run."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton


@dataclass(frozen=True)
class LayeredParity:
    """A machine of which words of one length reach at most two states.

    Attributes:
        increments: For each position 1..T and letter 0 or 1: what is added to the label.
        states: For each position 0..T the states of the labels; the start has label 0.
    """

    increments: tuple[tuple[int, ...], ...]
    states: tuple[dict[int, int], ...]


def as_layered_parity(a: Automaton, length: int) -> LayeredParity | None:
    """The parity that ``a`` is for words up to ``length``, or None.

    Letters must be one-to-one between the states of one length and of the next. The
    first letter keeps the label; the others keep or flip it, for both states alike.
    """
    found = _run(a.transitions.tolist(), a.start, length)
    return found if len(found.increments) == length else None


@dataclass(frozen=True)
class ParityNode:
    """A parity of the letters from a position on, where words so far have led to one state.

    Attributes:
        first: How many letters were read before.
        parity: The parity that letters from then on are, as long as they are one.
        children: The node that goes on from each label; empty at the end of words.
    """

    first: int
    parity: LayeredParity
    children: tuple[int, ...]

    @property
    def last(self) -> int:
        """How many letters were read when it ends."""
        return self.first + len(self.parity.increments)


def as_parity_tree(a: Automaton, length: int, most: int) -> list[ParityNode] | None:
    """The tree of parities that ``a`` is for words up to ``length``, or None.

    From the start, letters are a parity for as long as they can be. Where they no longer
    are, each of the two states is the start of another parity. The tree must end for
    words of every length: cut off at some length, every machine would be one.

    Args:
        a: The machine.
        length: T.
        most: Trees of more nodes are given up.
    """
    table = a.transitions.tolist()
    if not _ends(table, a.start):
        return None
    todo, found = [(a.start, 0)], list[ParityNode]()
    for start, first in todo:  # grows on the way
        parity = _run(table, start, length - first)
        last = first + len(parity.increments)
        if last == first < length or len(todo) > most:
            return None
        children: tuple[int, ...] = ()
        if last < length:
            ends = parity.states[-1]
            children = tuple(len(todo) + i for i in range(len(ends)))
            todo += [(ends[label], last) for label in sorted(ends)]
        found.append(ParityNode(first, parity, children))
    return found


def _ends(table: list[list[int]], start: int) -> bool:
    """Whether no parity that begins at a state leads back to its own beginning."""
    todo, after = [start], dict[int, set[int]]()
    for state in todo:  # grows on the way
        if state not in after:
            after[state] = _begins(table, state)
            todo += sorted(after[state])
    while after:
        last = [state for state, others in after.items() if not others & after.keys()]
        if not last:
            return False
        for state in last:
            del after[state]
    return True


def _begins(table: list[list[int]], start: int) -> set[int]:
    """The states at which the parity of words from a state ends; none if it goes on."""
    labels, seen = {start: 0}, set[frozenset[tuple[int, int]]]()
    while frozenset(labels.items()) not in seen:
        seen.add(frozenset(labels.items()))
        step = _step(table, labels)
        if step is None:
            return set(labels)
        labels = step[0]
    return set()


def _run(table: list[list[int]], start: int, length: int) -> LayeredParity:
    """The parity that words from a state are, up to the length at which that ends."""
    labels, states = {start: 0}, [{0: start}]
    increments: list[tuple[int, ...]] = []
    # Labels return, and with them all that follows.
    known: dict[frozenset[tuple[int, int]], _Step | None] = {}
    while len(increments) < length:
        here = frozenset(labels.items())
        if here not in known:
            known[here] = _step(table, labels)
        step = known[here]
        if step is None:
            break
        labels, added, named = step
        increments.append(added)
        states.append(named)
    return LayeredParity(tuple(increments), tuple(states))


def clock(a: Automaton) -> int:
    """How many letters a state counts: words of up to so many reach states of their own.

    The greatest n such that no two words of different lengths up to n reach one state.
    """
    layer = np.array([a.start])
    seen = np.zeros(len(a.states), dtype=bool)
    letters = -1
    while not seen[layer].any():
        seen[layer] = True
        layer = np.unique(a.transitions[:, layer])
        letters += 1
    return letters


_Step = tuple[dict[int, int], tuple[int, ...], dict[int, int]]
"""The labels after a letter, what each letter adds, and the states by their labels."""


def _step(table: list[list[int]], labels: dict[int, int]) -> _Step | None:
    after = {table[0][q]: label for q, label in labels.items()}
    if len(after) < len(labels):
        return None
    added = []
    for row in table:
        for q in labels:
            if row[q] not in after and len(after) == 2:
                return None
            after.setdefault(row[q], 1 - next(iter(after.values())))
        flips = {after[row[q]] ^ label for q, label in labels.items()}
        if len(flips) > 1:
            return None
        added.append(flips.pop())
    return after, tuple(added), {label: q for q, label in after.items()}
