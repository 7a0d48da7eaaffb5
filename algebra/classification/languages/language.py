"""The language of a machine, and the pairs of states that most tests walk on."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification.digraph import path
from krohn.algebra.classification.properties import MOST_PAIR_STEPS
from krohn.algebra.formats.assembly import acceptance
from krohn.algebra.graphs import towards
from krohn.algebra.minimisation import minimise
from krohn.algebra.rows import firsts

# The language that a machine stands for, by its minimal machine.


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Language:
    """The words that an acceptor accepts, or the words that lead to each of its states.

    Letters that act alike are one letter here, called after the first of them. That
    changes no answer: a letter-to-letter map takes one language to the other and back
    (docs/classes.md, section 1).

    Attributes:
        machine: The minimal complete machine; every state is reached from the start.
        start: Its start state.
        accepting: ``(states,)`` which states accept; None if the machine is no
            acceptor. Then the classes speak of every set of words that leads to one
            state, and classes that are not closed under complement are not asked for.
        alike: The letters that each letter of ``machine`` stands for.
    """

    machine: Semiautomaton
    start: int
    accepting: Flags | None
    alike: tuple[tuple[str, ...], ...]

    @property
    def states(self) -> int:
        """The number of states of the minimal machine."""
        return len(self.machine.states)

    @cached_property
    def live(self) -> Flags:
        """``(states,)``: from which states an accepting state is reached."""
        assert self.accepting is not None
        live = self.accepting.copy()
        while True:
            grown = live | live[self.machine.transitions].any(axis=0)
            if (grown == live).all():
                return live
            live = grown

    @cached_property
    def neutral(self) -> Flags:
        """``(letters,)``: which letters change no state."""
        kept = self.machine.transitions == np.arange(self.states)
        return np.asarray(kept.all(axis=1))

    @property
    def tier(self) -> tuple[str, ...]:
        """The letters that change some state: the smallest tier (docs/classes.md)."""
        kept = np.flatnonzero(~self.neutral).tolist()
        return tuple(name for letter in kept for name in self.alike[letter])

    def on_tier(self) -> "Language":
        """The language of the words over the tier alone."""
        chosen = np.flatnonzero(~self.neutral)
        if not len(chosen) or not self.neutral.any():
            return self
        return replace(
            self,
            machine=Semiautomaton(
                self.machine.transitions[chosen],
                tuple(self.machine.letters[a] for a in chosen),
                self.machine.states,
            ),
            alike=tuple(self.alike[a] for a in chosen),
        )

    def word(self, source: int, targets: Flags) -> tuple[int, ...] | None:
        """A shortest word, perhaps empty, from a state to one of the targets."""
        if targets[source]:
            return ()
        return path(self.machine, source, *np.flatnonzero(targets).tolist())

    def to(self, state: int) -> tuple[int, ...]:
        """A shortest word from the start to a state."""
        word = self.word(self.start, np.arange(self.states) == state)
        assert word is not None, "every state of a minimal machine is reached"
        return word


def language_of(machine: Automaton) -> Language:
    """The language of an acceptor, or the languages of another machine's states.

    Args:
        machine: An acceptor shows ``"accept"`` and ``"reject"`` in its states. Any other
            machine is minimised by its outputs; without outputs, by its states.
    """
    least = minimise(machine)
    accepts = acceptance(least)
    rows = least.transitions
    kept, place = firsts(rows)
    alike: list[list[str]] = [[] for _ in kept]
    for name, number in zip(least.letters, place.tolist(), strict=True):
        alike[number].append(name)
    return Language(
        Semiautomaton(rows[kept], tuple(names[0] for names in alike), least.states),
        least.start,
        None if accepts is None else np.array(accepts),
        tuple(map(tuple, alike)),
    )


# Pairs of states that one word leads along: the graph that most tests walk on.


def check_size(letters: int, states: int) -> None:
    """Go on only if the pairs of so many states fit into memory.

    Raises:
        BudgetExceeded: If they do not.
    """
    if letters * states**2 > MOST_PAIR_STEPS:
        work = f"{letters * states**2:,} steps of pairs of states"
        raise BudgetExceeded(f"{work}, more than {MOST_PAIR_STEPS:,}", 0)


class Pairs:
    """The ordered pairs of states of a set, and where letters lead them inside it.

    Attributes:
        states: The number of states.
        nodes: ``(pairs,)``: the pairs p·n + q.
        after: ``(letters, pairs)``: the number of the pair after each letter, −1 for a
            pair that is not in the set.
        budget: The most work of searches.
    """

    def __init__(self, rows: IntArray, inside: Flags, budget: Budget) -> None:
        """The graph.

        Args:
            rows: ``(letters, states)``: the state after each letter, −1 for one that is
                not looked at.
            inside: ``(states, states)``: the pairs of the set.
            budget: The most work.

        Raises:
            BudgetExceeded: If the graph is too large.
        """
        self.states = n = rows.shape[1]
        self.nodes: IntArray = np.flatnonzero(inside)
        self.budget = budget
        budget.reserve("a search through pairs of states", len(rows) * len(self.nodes))
        self._number: IntArray = np.full(n * n, -1, dtype=np.int64)
        self._number[self.nodes] = np.arange(len(self.nodes))
        first, second = (rows[:, states] for states in np.divmod(self.nodes, n))
        kept = (first >= 0) & (second >= 0)
        self.after: IntArray = np.where(kept, self._number[first * n + second], -1)

    def pair(self, node: int) -> tuple[int, int]:
        """The two states of a node."""
        first, second = divmod(int(self.nodes[node]), self.states)
        return first, second

    def leading_to(self, wanted: Flags) -> Flags:
        """``(states, states)``: the pairs from which some word leads to a wanted one."""
        leading = np.zeros(self.states**2, dtype=bool)
        following = self._backwards(wanted)[:-1]
        leading[self.nodes[following != np.arange(len(following))]] = True
        return leading.reshape(self.states, self.states)

    def word_to(self, pair: tuple[int, int], wanted: Flags) -> list[int] | None:
        """A shortest word, perhaps empty, from a pair to a wanted one."""
        following = self._backwards(wanted)
        node = int(self._number[pair[0] * self.states + pair[1]])
        if following[node] == node:
            return None
        word: list[int] = []
        while (then := int(following[node])) < len(self.nodes):
            word.append(int((self.after[:, node] == then).argmax()))
            node = then
        return word

    def _backwards(self, wanted: Flags) -> IntArray:
        """The next node of each on a shortest way to a wanted one, and to an end node.

        Nodes from which no way leads there are their own.
        """
        end = len(self.nodes)
        steps = 10 * self.after.size
        self.budget.reserve("a search through pairs of states", steps)
        last = np.where(wanted.reshape(-1)[self.nodes], end, -1)
        target = np.concatenate([self.after, last[None]]).T.ravel()
        source = np.repeat(np.arange(end), len(self.after) + 1)
        inside = target >= 0
        return towards(end + 1, source[inside], target[inside], end)


def longest_walk(
    pairs: Pairs,
) -> tuple[int | None, tuple[tuple[int, int], list[int]] | None]:
    """The letters of the longest walk inside the set of pairs, or one that never ends.

    Returns:
        The length, None if there are no pairs; and a pair with a word that keeps it,
        None if no word does.
    """
    end = len(pairs.nodes)
    if not end:
        return None, None
    ahead = (pairs.after >= 0).sum(axis=0)
    back = _predecessors(pairs)
    frontier, steps, left = np.flatnonzero(ahead == 0), -1, end
    while len(frontier):
        steps, left = steps + 1, left - len(frontier)
        before = _before(back, frontier)
        np.subtract.at(ahead, before, 1)
        touched = np.unique(before)
        frontier = touched[ahead[touched] == 0]
    if not left:
        return steps, None
    return None, _kept_pair(pairs, ahead > 0)


def _predecessors(pairs: Pairs) -> tuple[IntArray, IntArray]:
    """The nodes before each node, repeated ones too, and where each node's begin."""
    target = pairs.after.ravel()
    source = np.tile(np.arange(len(pairs.nodes)), len(pairs.after))
    inside = target >= 0
    order = np.argsort(target[inside], kind="stable")
    counts = np.bincount(target[inside], minlength=len(pairs.nodes))
    return source[inside][order], np.concatenate([[0], np.cumsum(counts)])


def _before(back: tuple[IntArray, IntArray], chosen: IntArray) -> IntArray:
    """The nodes before the chosen ones."""
    nodes, start = back
    lengths = start[chosen + 1] - start[chosen]
    skipped = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    offset = np.repeat(start[chosen] - skipped, lengths)
    return nodes[offset + np.arange(len(offset))]


def _kept_pair(pairs: Pairs, endless: Flags) -> tuple[tuple[int, int], list[int]]:
    """A pair and a word that keeps it, among pairs that all lead to one another."""
    node, word, seen = int(endless.argmax()), list[int](), dict[int, int]()
    while node not in seen:
        seen[node] = len(word)
        after = pairs.after[:, node]
        letter = int(((after >= 0) & endless[after]).argmax())
        word.append(letter)
        node = int(after[letter])
    return pairs.pair(node), word[seen[node] :]
