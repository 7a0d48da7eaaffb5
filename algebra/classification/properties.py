"""Properties of machines with examples that show them; those of the letters alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton

# A property of a machine: whether it holds, the reason, and an example that shows it.


Witness = dict[str, Any]


@dataclass(frozen=True)
class Property:
    """The finding about one property.

    Attributes:
        name: The property.
        holds: Whether the machine has it; None if that was not decided.
        evidence: Why, in a sentence; if undecided, why the search stopped.
        witness: An example to check by hand, by the names of letters and states:
            words are lists of letters. None if there is nothing short to show.
    """

    name: str
    holds: bool | None
    evidence: str
    witness: Witness | None = None


def spell(machine: Semiautomaton, word: Iterable[int]) -> list[str]:
    """A word by the names of its letters."""
    return [machine.letters[int(a)] for a in word]


def call(machine: Semiautomaton, states: Iterable[int]) -> list[str]:
    """States by their names."""
    return [machine.states[int(q)] for q in states]


def act(machine: Semiautomaton, word: Iterable[int]) -> IntArray:
    """The transformation ``(states,)`` that a word induces."""
    after = np.arange(len(machine.states))
    for letter in word:
        after = machine.transitions[letter][after]
    return after


# Properties that show on the letters alone.


def permutation(machine: Semiautomaton) -> Property:
    """Every letter permutes the states, so that T(A) is a group."""
    merging = np.flatnonzero(_image_sizes(machine) < len(machine.states))
    if not len(merging):
        return Property(
            "permutation", True, "every letter permutes the states: T(A) is a group"
        )
    letter = int(merging[0])
    row = machine.transitions[letter]
    _, first, label = np.unique(row, return_index=True, return_inverse=True)
    second = int(np.flatnonzero(first[label] != np.arange(len(row)))[0])
    return Property(
        "permutation",
        False,
        "some letter takes two states to one",
        {
            "word": spell(machine, [letter]),
            "states": call(machine, [first[label[second]], second]),
        },
    )


def permutation_reset(machine: Semiautomaton) -> Property:
    """Every letter permutes the states or takes them all to one (thesis, Def. 7)."""
    sizes = _image_sizes(machine)
    other = np.flatnonzero((sizes > 1) & (sizes < len(machine.states)))
    if not len(other):
        return Property(
            "permutation-reset", True, "every letter permutes the states or resets them"
        )
    letter = int(other[0])
    return Property(
        "permutation-reset",
        False,
        "some letter merges some states and keeps others apart",
        {
            "word": spell(machine, [letter]),
            "states": call(machine, np.unique(machine.transitions[letter])),
        },
    )


def memory(machine: Semiautomaton) -> Property:
    """Every letter writes a state or does nothing (thesis, Definition 5).

    These are the reset automata of Krohn and Rhodes: flip-flops with more values.
    """
    rows = machine.transitions
    keeps = (rows == np.arange(rows.shape[1])).all(axis=1)
    other = np.flatnonzero(~keeps & (_image_sizes(machine) > 1))
    if not len(other):
        return Property("memory", True, "every letter writes a state or does nothing")
    word = spell(machine, other[:1])
    return Property("memory", False, "some letter does neither", {"word": word})


def commutative(machine: Semiautomaton) -> Property:
    """Words with the same letters act alike: the letters commute, hence so do words."""
    rows = machine.transitions
    for a, row in enumerate(rows):
        # rows[:, row] is "first a, then b" for every b, row[rows] the other way round.
        differ = rows[:, row] != row[rows]
        if differ.any():
            b, state = (int(i) for i in np.argwhere(differ)[0])
            return _not_commutative(machine, a, b, state)
    return Property("commutative", True, "all letters commute")


def _not_commutative(machine: Semiautomaton, a: int, b: int, state: int) -> Property:
    ends = [act(machine, word)[state] for word in ((a, b), (b, a))]
    return Property(
        "commutative",
        False,
        "two letters do not commute",
        {
            "state": machine.states[state],
            "words": [spell(machine, (a, b)), spell(machine, (b, a))],
            "ends": call(machine, ends),
        },
    )


def _image_sizes(machine: Semiautomaton) -> IntArray:
    rows = np.sort(machine.transitions, axis=1)
    sizes: IntArray = 1 + (rows[:, 1:] != rows[:, :-1]).sum(axis=1)
    return sizes
