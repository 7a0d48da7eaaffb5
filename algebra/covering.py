"""Proof that a cascade covers a machine, by code that knows nothing of decompositions.

A cascade covers a machine if, for some set V of coordinates (the valid ones),
(1) every lift is in V and stands for its state,
(2) from coordinates in V every letter leads into V, and
(3) if x in V stands for q, then x after the letter a stands for δ(q, a).
By induction on the length, coordinates that start at the lift of q and follow any word
then stand for the states that the machine passes through: all words, all lengths.

V is what the projection's diagram accepts. (2) and (3) speak of all x in V, which may be
astronomically many; but diagrams read coordinates one by one. So for each letter we walk
down three diagrams at once: the projection at x, the wiring at x, the projection at x
after the letter. At each layer only the distinct triples of nodes matter, because what
is below depends on nothing else.
"""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import INVALID, Cascade
from krohn.algebra.errors import KrohnError
from krohn.algebra.rows import distinct

PIECE = 2**18  # pairs of a triple and a state that are looked at together
PASSES = 30  # over each of them, and array operations in a row


class NotCovering(KrohnError):
    """The cascade does not cover the machine; the message says where it fails."""


@dataclass(frozen=True)
class Covering:
    """The extent of a proof that a cascade covers a machine.

    Attributes:
        triples: How many triples of nodes were visited, over all letters and layers.
        coordinates: How many valid coordinates there are; the proof holds for each.
    """

    triples: int
    coordinates: int


def prove(
    machine: Semiautomaton, cascade: Cascade, budget: Budget | None = None
) -> Covering:
    """Prove that a cascade covers a machine, for words of every length.

    Raises:
        NotCovering: If it does not; or if the invariant V is too large, so that a
            coordinate no word reaches is wrong.
        BudgetExceeded: If there are too many triples, or no step remains.
    """
    budget = budget or Budget()
    if (cascade.letters, cascade.states) != (machine.letters, machine.states):
        raise NotCovering("the cascade has other letters or states than the machine")
    _check_lifts(cascade)
    triples = 0
    for letter in range(len(machine.letters)):
        triples += _check_letter(machine, cascade, letter, budget)
    return Covering(triples, _count(cascade))


def _check_lifts(cascade: Cascade) -> None:
    node = np.zeros(len(cascade.states), dtype=np.int64)
    for i, follow in enumerate(cascade.projection.follow):
        node = follow[node, cascade.lift[:, i]]
        if (node == INVALID).any():
            state = cascade.states[int(np.argmax(node == INVALID))]
            raise NotCovering(
                f"the lift of state {state} is not valid at level {i + 1}"
            )
    wrong = np.flatnonzero(node != np.arange(len(cascade.states)))
    if len(wrong):
        state = cascade.states[wrong[0]]
        raise NotCovering(f"the lift of state {state} stands for another state")


def _check_letter(
    machine: Semiautomaton, cascade: Cascade, letter: int, budget: Budget
) -> int:
    """The number of triples visited for one letter."""
    name = machine.letters[letter]
    triples = np.array([[0, cascade.wiring.entry[letter], 0]])
    visited = 1
    for i in range(len(cascade.components)):
        triples = _descend(cascade, triples, i, name, budget)
        visited += len(triples)
        budget.check(visited, "triples of nodes")
    before, after = triples[:, 0], triples[:, 2]
    wrong = np.flatnonzero(machine.transitions[letter, before] != after)
    if len(wrong):
        state = cascade.states[before[wrong[0]]]
        raise NotCovering(
            f"letter {name} takes coordinates of state {state} to coordinates of state "
            f"{cascade.states[after[wrong[0]]]}, but the machine goes to "
            f"{machine.states[machine.transitions[letter, before[wrong[0]]]]}"
        )
    return visited


def _descend(
    cascade: Cascade, triples: IntArray, i: int, letter: str, budget: Budget
) -> IntArray:
    """The triples of the next layer, over all valid states of component ``i``."""
    rows = max(1, PIECE // cascade.components[i].size)
    found = []
    for start in range(0, len(triples), rows):
        part = triples[start : start + rows]
        budget.spend(PASSES * len(part) * cascade.components[i].size, PASSES)
        found.append(_triples_below(cascade, part, i, letter))
        budget.check(sum(map(len, found)), "triples of nodes")
    return found[0] if len(found) == 1 else distinct(np.concatenate(found))[0]


def _triples_below(
    cascade: Cascade, triples: IntArray, i: int, letter: str
) -> IntArray:
    old, wire, new = triples.T[:, :, None]
    states = np.arange(cascade.components[i].size)
    down = cascade.projection.follow[i][old, states]
    table = cascade.components[i].machine.transitions
    moved = table[cascade.wiring.emit[i][wire], states]
    across = cascade.wiring.follow[i][wire, states]
    down_after = cascade.projection.follow[i][new, moved]
    after = np.stack([down, across, down_after], axis=-1)[down != INVALID]
    if (after == INVALID).any():
        raise NotCovering(
            f"letter {letter} leads from valid coordinates to invalid ones in component "
            f"{i + 1} of {len(cascade.components)}"
        )
    return distinct(after)[0]


def _count(cascade: Cascade) -> int:
    """The number of valid coordinates, exactly."""
    ways = np.ones(len(cascade.states), dtype=object)
    for follow in reversed(cascade.projection.follow):
        below = np.append(ways, 0)  # INVALID is the last entry
        ways = below[follow].sum(axis=1)
    return int(ways[0])
