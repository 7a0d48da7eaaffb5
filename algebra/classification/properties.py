"""Properties of machines with examples that show them: letters, and reset words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.graphs import towards
from krohn.algebra.wording import count

# A property of a machine: whether it holds, the reason, and an example that shows it.


Witness = dict[str, Any]
Found = tuple[str, Witness] | None
"""Why a property does not hold, and an example; None if it does."""


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


def first_pair(label: IntArray) -> tuple[int, int] | None:
    """The first two places with one label, by the later of them."""
    _, first, index = np.unique(label, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[index] != np.arange(len(label)))
    return (int(first[index[again[0]]]), int(again[0])) if len(again) else None


# Properties that show on the letters alone.


def permutation(machine: Semiautomaton) -> Property:
    """Every letter permutes the states, so that T(A) is a group."""
    merging = np.flatnonzero(_image_sizes(machine) < len(machine.states))
    if not len(merging):
        return Property(
            "permutation", True, "every letter permutes the states: T(A) is a group"
        )
    letter = int(merging[0])
    pair = first_pair(machine.transitions[letter])
    assert pair is not None
    return Property(
        "permutation",
        False,
        "some letter takes two states to one",
        {
            "word": spell(machine, [letter]),
            "states": call(machine, pair),
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


# Whether some word leads all states to one, and a short word that does.


MOST_PAIR_STEPS = 6_000_000
"""The arrays of a graph of pairs of states then have some 50 MB each."""
LONGEST_WORD = 20_000


@dataclass(frozen=True)
class _Merging:
    """How pairs of states are merged by shortest words.

    Attributes:
        pair: ``(states, states)``: the number of each pair; equal states are the last.
        distance: ``(pairs + 1,)``: the length of the word, −1 if there is none.
        letter: ``(pairs + 1,)``: its first letter.
    """

    pair: IntArray
    distance: IntArray
    letter: IntArray


def synchronising(machine: Semiautomaton) -> Property:
    """Some word leads all states to one: a reset word (Černý).

    It exists if and only if every pair of states is led to one state by some word:
    merging pairs one after another merges all. A breadth-first search backwards from
    the merged pairs decides this, and merging a nearest pair each time gives a short
    word (D. Eppstein, Reset sequences for monotonic automata, 1990).
    """
    letters, n = machine.transitions.shape
    if n > 1 and (np.sort(machine.transitions, axis=1) == np.arange(n)).all():
        return _apart(machine, np.arange(2))
    few = MOST_PAIR_STEPS // max(1, n * (n - 1) // 2)
    if not few:
        return _undecided_property()
    chosen = np.argsort([len(np.unique(row)) for row in machine.transitions])[:few]
    merging = _merging(machine.transitions[chosen])
    apart = np.argwhere(merging.distance[merging.pair] < 0)
    if not len(apart):
        word = _reset_word(machine.transitions[chosen], merging)
        return _reset(machine, None if word is None else chosen[word])
    if few < letters:
        return _undecided_property()
    return _apart(machine, apart[0])


def _undecided_property() -> Property:
    return Property("synchronising", None, "too many pairs of states to search")


def _apart(machine: Semiautomaton, pair: IntArray) -> Property:
    return Property(
        "synchronising",
        False,
        "no word leads two of the states to one state",
        {"states": call(machine, pair)},
    )


def _reset(machine: Semiautomaton, word: IntArray | None) -> Property:
    if word is None:
        reason = (
            f"any two states are merged by a word; more than {LONGEST_WORD:,} letters"
        )
        return Property("synchronising", True, f"{reason} merge all")
    end = 0
    for letter in word:
        end = int(machine.transitions[letter, end])
    return Property(
        "synchronising",
        True,
        f"a word of {count(len(word), 'letter')} leads all states to one",
        {"word": spell(machine, word), "ends": call(machine, [end])},
    )


def _merging(rows: IntArray) -> _Merging:
    letters, n = rows.shape
    p, q = np.triu_indices(n, 1)
    merged = len(p)
    pair = np.full((n, n), merged, dtype=np.int64)
    pair[p, q] = pair[q, p] = np.arange(merged)
    after = np.full((letters, merged + 1), merged, dtype=np.int64)
    after[:, :merged] = pair[rows[:, p], rows[:, q]]
    source = np.repeat(np.arange(merged + 1), letters)
    next_pair = towards(merged + 1, source, after.T.ravel(), merged)
    letter = (after == next_pair).argmax(axis=0)
    return _Merging(pair, _distances(next_pair, merged), letter)


def _distances(next_node: IntArray, root: int) -> IntArray:
    """The steps from each node to the root, −1 for nodes that do not lead to it."""
    steps = (next_node != np.arange(len(next_node))).astype(np.int64)
    for _ in range(len(next_node).bit_length()):
        steps = steps + steps[next_node]
        next_node = next_node[next_node]
    return np.where(next_node == root, steps, -1)


def _reset_word(rows: IntArray, merging: _Merging) -> list[int] | None:
    """A word that merges all states; None if the one that was sought is very long."""
    states, word = np.arange(rows.shape[1]), list[int]()
    while len(states) > 1:
        first, second = np.triu_indices(len(states), 1)
        pairs = merging.pair[states[first], states[second]]
        best = int(merging.distance[pairs].argmin())
        p, q = int(states[first[best]]), int(states[second[best]])
        if len(word) + merging.distance[pairs[best]] > LONGEST_WORD:
            return None
        while p != q:
            letter = int(merging.letter[merging.pair[p, q]])
            word.append(letter)
            p, q = int(rows[letter, p]), int(rows[letter, q])
            states = np.unique(rows[letter, states])
    return word
