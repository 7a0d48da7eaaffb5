"""Wrong words made minimal: the shortest there is, and of these the first in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.network.model import Model
from krohn.verify.testing.counterexample import Counterexample, Simulator, at_once, pair
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import first_failure
from krohn.verify.testing.simulation_result import BUDGET, Progress, Simulation
from krohn.verify.testing.word_counts import words_below

# Every word up to a length by plain passes, for networks known from outside only.
#
# Nothing is assumed of the network, not even that it is causal: a word of n letters is
# run by itself, and so are all that begin like it.


SCORES = 2**22
"""The most scores of a head in a pass, 16 MiB in float32."""


def run_all(
    model: Simulator,
    machine: Automaton,
    length: int,
    progress: Progress | None = None,
) -> Simulation:
    """Every word of 1 to ``length`` letters; by shared prefixes if the network is ours.

    Returns:
        Its counterexample is the shortest there is, and of those the first in the order
        of the machine's letters.

    Raises:
        CheckError: If the letters differ, or the network cannot read the words.
    """
    if isinstance(model, Model):
        return exhaustive(model, machine, length, progress)
    judge = pair(model, machine, length)
    total, done = words_below(len(machine.letters), length), 0
    for words in _blocks(len(machine.letters), length):
        counterexample = first_failure(judge, words, judge.margins(words))
        done += len(words)
        if progress is not None:
            progress(done, total)
        if counterexample is not None:
            return Simulation(done, length, counterexample, every=True)
    return Simulation(done, length, None, every=True)


def _blocks(letters: int, length: int) -> Iterator[IntArray]:
    """All words, the shorter ones first, each length in lexicographic order."""
    for size in range(1, length + 1):
        place = letters ** np.arange(size - 1, -1, -1)
        step = max(1, SCORES // size**2)
        for first in range(0, letters**size, step):
            number = np.arange(first, min(first + step, letters**size))
            yield number[:, None] // place % letters


# Wrong words made minimal: the shortest there is, and of these the first in order.
#
# A word is made smaller by deleting letters and by lowering them, which keeps it wrong
# and says nothing about other words. Then all words up to its length are run, if they
# are no more than the budget: only that shows that it is minimal.


FIRST = 8
"""Candidates in a batch after one was kept; each batch without one doubles them."""


class Judge(Protocol):
    """The judge of answers to words; `Pair` is one."""

    @property
    def machine(self) -> Automaton:
        """The machine whose answers are right."""

    def good(self, words: IntArray) -> IntArray:
        """How many answers ``(count,)`` to ``(count, length)`` precede a wrong one."""

    def replay(self, word: IntArray) -> Counterexample | None:
        """A word by itself, cut at its first wrong answer; None if there is none."""


@dataclass(frozen=True)
class Minimal:
    """A wrong word, with the words known to be right.

    Attributes:
        found: The word, replayed.
        least: Whether no wrong word is shorter, and none of its length comes before it
            in the order of the machine's letters.
        right: All words of up to so many letters are right.
        words: How many words were run to find out.
        budget: How many might have been.
    """

    found: Counterexample
    least: bool
    right: int
    words: int
    budget: int

    @property
    def summary(self) -> str:
        """The minimality of the word, in words for people."""
        if self.least:
            return (
                "minimal: no shorter word fails, and no word of this length that "
                "comes before it"
            )
        known = f"all words of up to {self.right} letters are right; "
        return (
            "perhaps not minimal: "
            f"{known if self.right else ''}the search for smaller ones was limited to "
            f"{self.budget:,} words"
        )


def minimise(
    model: Simulator, machine: Automaton, found: Counterexample, budget: int = BUDGET
) -> Minimal:
    """The first of the shortest wrong words, or the smallest one that a budget finds.

    Args:
        model: The network.
        machine: The machine that it should compute.
        found: A word on which it does not.
        budget: How many words may be run; replays of single words are not counted.

    Returns:
        ``found`` itself, as not minimal, if it does not fail when it is replayed.

    Raises:
        CheckError: If the letters differ, or the word is empty or too long.
        MachineError: If ``found`` holds a letter that the machine does not have.
    """
    judge = pair(model, machine, len(found.word))
    letters = len(machine.letters)
    every = AllWords(lambda n: letters**n, lambda n: run_all(model, machine, n))
    return minimise_for(judge, found, every, budget)


@dataclass(frozen=True)
class AllWords:
    """The way to run all words up to a length.

    Attributes:
        count: How many words of a length there are.
        run: Runs all words up to a length; its counterexample is the first of the
            shortest wrong ones.
    """

    count: Callable[[int], int]
    run: Callable[[int], Simulation]

    def below(self, length: int, budget: int) -> int:
        """The greatest length, up to a given one, of which all words fit a budget."""
        longest, words = 0, 0
        while longest < length:
            words += self.count(longest + 1)
            if words > budget:
                break
            longest += 1
        return longest


def minimise_for(
    judge: Judge, found: Counterexample, every: AllWords, budget: int
) -> Minimal:
    """As `minimise`, for anything that answers words.

    Args:
        judge: What knows whether an answer is right.
        found: A word with a wrong one.
        every: How to run all words.
        budget: How many words may be run.
    """
    first = judge.replay(judge.machine.semiautomaton.encode(found.word))
    if first is None:
        return Minimal(found, False, 0, 0, budget)
    left = budget
    if every.below(len(first.word), budget) < len(first.word):
        reduction = _Reduction(judge, first, budget // 2)
        first = reduction.run()
        left += reduction.left - budget // 2
    length = every.below(len(first.word), left)
    done = every.run(length) if length else None
    words = budget - left + (done.words if done else 0)
    least = done.counterexample if done else None
    if least is not None and least.reading != "among others":
        return Minimal(least, True, max(0, len(least.word) - 1), words, budget)
    return Minimal(first, not first.word, length, words, budget)


class _Reduction:
    """A wrong word, and how many candidates may still be tried to make it smaller."""

    def __init__(self, judge: Judge, found: Counterexample, budget: int) -> None:
        self.judge, self.found, self.left = judge, found, budget
        self.word = judge.machine.semiautomaton.encode(found.word)
        self.batch = FIRST

    def run(self) -> Counterexample:
        """Delete and lower letters until neither keeps it wrong, or the budget is spent."""
        before = None
        while self.left > 0 and self.found != before:
            before = self.found
            self._delete()
            self._lower()
        return self.found

    def _delete(self) -> None:
        """Delete runs of letters, halves of the word first (delta debugging)."""
        size = len(self.word) // 2
        while size > 0 and self.left > 0:
            before = len(self.word)
            self._sweep(size)
            if len(self.word) == before:
                size //= 2

    def _sweep(self, size: int) -> None:
        """Try, from left to right, to delete every run of ``size`` letters."""
        first = 0
        while self.left > 0 and size < len(self.word) >= first + size:
            starts = np.arange(first, len(self.word) - size + 1, size)
            starts = starts[: self._most()]
            kept = self._try(_without(self.word, starts, size))
            first = int(starts[-1]) + size if kept is None else int(starts[kept])

    def _lower(self) -> None:
        """Try, from left to right, to put an earlier letter in the place of each."""
        done = 0
        while self.left > 0 and done < len(places := _lowerings(self.word)):
            tried = places[done : done + self._most()]
            candidates = np.tile(self.word, (len(tried), 1))
            candidates[np.arange(len(tried)), tried[:, 0]] = tried[:, 1]
            kept = self._try(candidates)
            if kept is None:
                done += len(tried)
            else:
                done = int(np.searchsorted(_lowerings(self.word)[:, 0], tried[kept, 0]))

    def _most(self) -> int:
        return min(self.batch, at_once(len(self.word)), self.left)

    def _try(self, candidates: IntArray) -> int | None:
        """Keep the first of the candidates that fail earliest; None if none fails."""
        self.left -= len(candidates)
        good = self.judge.good(candidates)
        best = int(good.argmin())
        if good[best] == candidates.shape[1]:
            self.batch *= 2
            return None
        # Of a batch one candidate is kept, and the others are of no use.
        self.batch = FIRST
        again = self.judge.replay(candidates[best, : good[best] + 1])
        if again is None:
            return None
        self.found = again
        self.word = self.judge.machine.semiautomaton.encode(again.word)
        return best


def _without(word: IntArray, starts: IntArray, size: int) -> IntArray:
    """The word without the ``size`` letters at each start: ``(count, length − size)``."""
    kept = np.arange(len(word) - size)
    return word[kept + size * (kept >= starts[:, None])]


def _lowerings(word: IntArray) -> IntArray:
    """Every place with every letter before its own, ``(count, 2)``, least word first."""
    places = np.repeat(np.arange(len(word)), word)
    begun = np.repeat(np.cumsum(word) - word, word)
    return np.stack([places, np.arange(len(places)) - begun], axis=1)
