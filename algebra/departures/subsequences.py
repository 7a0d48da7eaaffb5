"""Which subsequences of the word decide the state: piecewise testable machines.

Simon (1975): a machine is J-trivial exactly if for some k the set of subsequences of at
most k letters of the word decides the state. A few tests are enough to tell it, and fewer
if each place of a test may be taken by any letter of a set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray

MOST_ROWS = 20_000
MOST_TESTS = 16
MOST_CANDIDATES = 3_000
MOST_ENTRIES = 100_000_000
"""Of any array of truth values, looked at before it is made."""

Test = tuple[int, ...]
"""Sets of letters by number: is there a subsequence with a letter of each, in order?"""

Row = tuple[int, ...]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Subsequences:
    """Tests for subsequences that decide the state.

    Attributes:
        sets: ``(sets, letters)``: whether each letter is in each set.
        tests: The tests.
        state: For each tuple of answers that occurs, 1 for yes, a state with the
            output of the machine.
    """

    sets: Flags
    tests: tuple[Test, ...]
    state: Mapping[Row, int]


def subsequences(machine: Automaton, longest: int) -> Subsequences | None:
    """Tests of at most ``longest`` places that decide the output of a machine, if any do.

    Tests that tell some words apart are chosen, those first that tell most. If there are
    other words that they do not tell apart, although these lead to different states, they
    are chosen anew for these words, too.

    Args:
        machine: All states reachable. It shows its outputs, if these lie on states, else
            its states.
        longest: The most places of a test.

    Returns:
        The shortest tests that were found; None if no tests decide, if there are too
        many to choose from, or if they tell too many words apart.
    """
    letters, states = machine.transitions.shape
    room = int(np.floor(MOST_CANDIDATES ** (1 / longest))) - 1
    if letters * max(states**2, MOST_CANDIDATES * longest) > MOST_ENTRIES:
        return None
    single = _letters_alike(machine)
    if not 0 < len(single) <= room or len(np.unique(_output_of_state(machine))) == 1:
        return None
    more = _letters_upwards(machine, single)
    rooms = dict.fromkeys((len(single), min(room, len(single) + len(more))))
    sets = [np.concatenate([single, more[: size - len(single)]]) for size in rooms]
    tried = [_decisive(machine, these, longest) for these in sets]
    deciding = [f for f in tried if f is not None]
    return min(deciding, key=lambda f: sum(map(len, f.tests)), default=None)


def _decisive(machine: Automaton, sets: Flags, longest: int) -> Subsequences | None:
    shown = _output_of_state(machine)
    candidates = _Candidates(sets, longest)
    while (tests := candidates.separating_tests()) is not None:
        reached = _reach(machine, sets, tests)
        if reached is None or len(tests) > MOST_TESTS:
            return None
        shows = shown[reached.state]
        confused = _conflicts(reached.done, shows).tolist()
        if not confused:
            answers = map(tuple, reached.done.tolist())
            state = dict(zip(answers, reached.state.tolist(), strict=True))
            return Subsequences(sets, tuple(tests), state)
        candidates.add([(reached.word(i), int(shows[i])) for i in confused])
    return None


def _output_of_state(machine: Automaton) -> IntArray:
    output = machine.output
    if output is not None and output.on == "states":
        return output.table
    return np.arange(len(machine.states))


def _letters_alike(machine: Automaton) -> Flags:
    """``(sets, letters)``: letters that act alike, unless they do nothing."""
    table = machine.transitions
    acts, of = np.unique(table, axis=0, return_inverse=True)
    moving = np.flatnonzero((acts != np.arange(table.shape[1])).any(axis=1))
    return np.asarray(of.reshape(-1) == moving[:, None])


def _letters_upwards(machine: Automaton, known: Flags) -> Flags:
    """``(sets, letters)``: other sets than known ones, of letters that lead upwards.

    For states p and q, the letters that take p to q or to a state that q can still reach.
    """
    table = machine.transitions
    states = np.arange(table.shape[1])
    reach = np.eye(len(states), dtype=bool)
    for _ in states:
        reach |= reach[table].any(axis=0)
    up = reach[:, table] & (table != states)  # (q, letters, p)
    sets = np.unique(np.moveaxis(up, 1, 2).reshape(-1, len(table)), axis=0)
    before = {row.tobytes() for row in known}
    new = [bool(row.any()) and row.tobytes() not in before for row in sets]
    sets = sets[new]
    return np.asarray(sets[np.argsort(sets.sum(axis=1), kind="stable")])


@dataclass(frozen=True, eq=False)
class _Reached:
    """Pairs of a state and how far each test has come, in the order of shortest words.

    Attributes:
        state: ``(pairs,)``.
        done: ``(pairs, tests)``: 1 where a test has come to its end.
        parent: ``(pairs,)``: the pair one letter before; −1 for the first.
        letter: ``(pairs,)``: that letter.
    """

    state: IntArray
    done: IntArray
    parent: list[int]
    letter: list[int]

    def word(self, i: int) -> list[int]:
        """A shortest word that leads to a pair."""
        word: list[int] = []
        while self.parent[i] >= 0:
            word.append(self.letter[i])
            i = self.parent[i]
        return word[::-1]


def _steps(sets: Flags, tests: list[Test]) -> tuple[Flags, IntArray]:
    """How a letter moves tests on, and how many places each has.

    Returns:
        ``(letters, tests, places + 1)``: whether a letter is in the set of a place; not
        beyond the last one. ``(tests,)``.
    """
    lengths = np.array([len(t) for t in tests], dtype=np.int64)
    step = np.zeros((sets.shape[1], len(tests), lengths.max(initial=0) + 1), np.bool_)
    for i, test in enumerate(tests):
        step[:, i, : len(test)] = sets[list(test)].T
    return step, lengths


def _reach(machine: Automaton, sets: Flags, tests: list[Test]) -> _Reached | None:
    step, lengths = _steps(sets, tests)
    which = np.arange(len(tests))
    first = (machine.start, *(0 for _ in tests))
    known, parents, letters = {first: 0}, [-1], [-1]
    frontier = np.array([first])
    moving = [a for a in range(len(step)) if sets[:, a].any()]
    while len(frontier):
        following: list[Row] = []
        for letter in moving:
            after = frontier.copy()
            after[:, 0] = machine.transitions[letter, frontier[:, 0]]
            after[:, 1:] += step[letter][which, frontier[:, 1:]]
            pairs = zip(frontier.tolist(), after.tolist(), strict=True)
            for before, row in ((tuple(b), tuple(r)) for b, r in pairs):
                if row not in known:
                    parents.append(known[before])
                    letters.append(letter)
                    known[row] = len(known)
                    following.append(row)
        if len(known) > MOST_ROWS:
            return None
        frontier = np.array(following, dtype=np.int64).reshape(-1, 1 + len(tests))
    rows = np.array(list(known), dtype=np.int64)
    done = (rows[:, 1:] == lengths).astype(np.int64)
    return _Reached(rows[:, 0], done, parents, letters)


def _conflicts(done: IntArray, shows: IntArray) -> IntArray:
    """The first row of each output with answers that go with another output, too."""
    rows = np.concatenate([done, shows[:, None]], axis=1)
    each, first = np.unique(rows, axis=0, return_index=True)
    _, group, count = np.unique(
        each[:, :-1], axis=0, return_inverse=True, return_counts=True
    )
    return np.sort(first[count[group.reshape(-1)] > 1])


class _Candidates:
    """All tests of up to some number of places, tests of fewer places first.

    Words after which the outputs differ must be told apart.
    """

    def __init__(self, sets: Flags, longest: int) -> None:
        sizes = range(1, longest + 1)
        self.tests = [t for k in sizes for t in product(range(len(sets)), repeat=k)]
        self.step, self.lengths = _steps(sets, self.tests)
        self.holds = np.zeros((0, len(self.tests)), dtype=bool)
        self.shows = np.zeros(0, dtype=np.int64)

    def add(self, words: list[tuple[list[int], int]]) -> None:
        """Add words, each with the output of the machine after it."""
        which, rows = np.arange(len(self.tests)), [*self.holds]
        for word, _ in words:
            progress = np.zeros(len(which), dtype=np.int64)
            for letter in word:
                progress += self.step[letter][which, progress]
            rows.append(progress == self.lengths)
        self.holds = np.array(rows)
        self.shows = np.append(self.shows, [shown for _, shown in words])

    def separating_tests(self) -> list[Test] | None:
        """Tests that tell all words apart, none of them superfluous.

        None if two words have the same subsequences.
        """
        kept, group = list[int](), np.zeros(len(self.shows), dtype=np.int64)
        while not _decides(group, self.shows):
            counts = self._count_pairs_apart(group)
            kept.append(int(counts.argmax()))
            if not counts[kept[-1]]:
                return None
            group = self._group_by(kept)
        for i in sorted(kept, key=lambda i: (-self.lengths[i], i)):
            fewer = [j for j in kept if j != i]
            kept = fewer if _decides(self._group_by(fewer), self.shows) else kept
        return [self.tests[i] for i in sorted(kept)]

    def _group_by(self, tests: list[int]) -> IntArray:
        """``(words,)``: a number for each row of answers to some tests."""
        rows = self.holds[:, tests]
        return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)

    def _count_pairs_apart(self, group: IntArray) -> IntArray:
        """How many pairs of words of unlike outputs each test tells apart.

        Of the h words of a group for which a test holds and the n − h others, h·(n − h)
        pairs are told apart, and so are those of like outputs within them. So no array
        has an entry for each pair.

        Args:
            group: ``(words,)``: only pairs within one group count.

        Returns:
            ``(tests,)``.
        """
        alike = np.unique([group, self.shows], axis=1, return_inverse=True)[1]
        counts = [
            _pairs_apart(holds, group) - _pairs_apart(holds, alike.reshape(-1))
            for holds in np.array_split(self.holds, PARTS, axis=1)
        ]
        return np.concatenate(counts)


PARTS = 16
"""Into so many parts the tests are cut while pairs are counted, to save memory."""


def _pairs_apart(holds: Flags, group: IntArray) -> IntArray:
    """``(tests,)``: the pairs within a group of which a test holds for one word."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    holding = np.add.reduceat(holds[order].astype(np.int64), starts, axis=0)
    sizes = np.diff(starts, append=len(group))[:, None]
    return np.asarray((holding * (sizes - holding)).sum(axis=0))


def _decides(group: IntArray, shows: IntArray) -> bool:
    """Whether the words of each group have one output."""
    pairs = np.unique([group, shows], axis=1)
    return bool(pairs.shape[1] == len(np.unique(group)))
