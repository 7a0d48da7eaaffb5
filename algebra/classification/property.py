"""A property of a machine: whether it holds, the reason, and an example that shows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.semiautomaton import IntArray, Semiautomaton

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
