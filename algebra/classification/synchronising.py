"""Whether some word leads all states to one, and a short word that does."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.classification.property import Property, call, spell
from krohn.algebra.graphs import towards
from krohn.algebra.semiautomaton import IntArray, Semiautomaton
from krohn.algebra.wording import count

MOST_PAIR_STEPS = 6_000_000
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
        return _undecided()
    chosen = np.argsort([len(np.unique(row)) for row in machine.transitions])[:few]
    merging = _merging(machine.transitions[chosen])
    apart = np.argwhere(merging.distance[merging.pair] < 0)
    if not len(apart):
        word = _reset_word(machine.transitions[chosen], merging)
        return _reset(machine, None if word is None else chosen[word])
    if few < letters:
        return _undecided()
    return _apart(machine, apart[0])


def _undecided() -> Property:
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
