"""Learned machines beside others, and whether a network follows a machine."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Output
from krohn.algebra.bisimulation import Word, beside
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import Shows, minimise, moore, naming, reachable
from krohn.program.word_texts import join_letters
from krohn.report import Progress
from krohn.verify.testing.counterexample import Counterexample, Simulator, at_once, pair
from krohn.verify.testing.examination import examine
from krohn.verify.testing.sampling import first_failure, sample
from krohn.verify.testing.shortest_failing import Minimal, minimise as minimise_word
from krohn.verify.testing.word_counts import words_below

if TYPE_CHECKING:
    from krohn.instruments.learning.lstar import Answers, Guess

Kind = Literal["moore", "mealy"]
KINDS: tuple[Kind, ...] = ("moore", "mealy")
"""Whether states or transitions show what is said."""

# Machines as a network shows them: minimal, and without what nobody knows.


def make_observable_machine(machine: Automaton, shows: Shows, kind: Kind) -> Automaton:
    """The minimal machine of what a network of a machine says.

    Args:
        machine: The machine.
        shows: Whether its states are said, or its outputs.
        kind: Whether states are to show it, or transitions.

    Raises:
        MachineError: If outputs are said, and it has none.
    """
    seen = moore(machine) if shows == "outputs" else naming(machine)
    if kind == "moore":
        return minimise(seen)
    assert seen.output is not None
    shown = Output(
        "transitions", seen.output.table[seen.transitions], seen.output.names
    )
    return minimise(replace(seen, output=shown))


def merge_start(machine: Automaton, before: str) -> Automaton:
    """A machine of which nobody knows what it shows before the first letter.

    If another state goes on as the start does, the two are one, the first such state.
    Nothing that is shown after a letter changes.

    Args:
        machine: A machine that shows ``before`` at its start only.
        before: A name that stands for what is not known.
    """
    if machine.output is None or machine.output.on == "transitions":
        return machine
    if before not in machine.output.names:
        return machine
    like = (machine.transitions == machine.transitions[:, [machine.start]]).all(axis=0)
    others = np.flatnonzero(like & (np.arange(len(like)) != machine.start))
    if not len(others):
        return machine
    return _without_unsaid(reachable(replace(machine, start=int(others[0]))))


def _without_unsaid(machine: Automaton) -> Automaton:
    """The machine without the names of outputs that it never shows."""
    assert machine.output is not None
    used, table = np.unique(machine.output.table, return_inverse=True)
    names = tuple(machine.output.names[i] for i in used)
    shape = machine.output.table.shape
    output = Output(machine.output.on, table.reshape(shape), names)
    return replace(machine, output=output)


# Whether a network follows a machine: all short words, hard long ones, Chow's words.


EXTRA = 1
"""How many more states than a guess the network may have for Chow's words to tell."""
FURTHER = (2, 4)
"""How much longer the words are in which the network is looked for to part."""


@dataclass
class Teacher:
    """Answers the question whether a guess is right, for words up to a length.

    Attributes:
        answers: The network.
        wanted: The machine that the network should follow; None if none is known.
        length: No longer word teaches anything.
        exhaustive_words: How many words may be run to run all of some length and below.
        samples: How many long words are run.
        seed: Of these.
        told: Told of the progress.
        words: How many words were run so far.
        right: Of the last guess: all words of up to so many letters are as it says.
        states: If no word refutes the last guess: a machine with no more states that
            differs from it is not what the network follows (Chow 1978); 0 if that was
            not asked.
    """

    answers: "Answers"
    wanted: Automaton | None
    length: int
    exhaustive_words: int
    samples: int
    seed: int
    told: Progress
    words: int = 0
    right: int = field(default=0, init=False)
    states: int = field(default=0, init=False)

    @property
    def model(self) -> Simulator:
        """The network."""
        return self.answers.model

    def differs(self, guess: "Guess") -> Word | None:
        """A word of up to `length` letters on which the network differs from a guess.

        Raises:
            KrohnError: If the network answers one word in different ways.
        """
        self.right = self.states = 0
        if (word := self._as_wanted(guess.machine)) is not None:
            return word
        machine = moore(guess.machine)
        examination = examine(
            self.model,
            machine,
            self.length,
            exhaustive_words=self.exhaustive_words,
            samples=self.samples,
            seed=self.seed,
            report=lambda what: partial(self.told, what),
        )
        self.words, self.right = self.words + examination.words, examination.right
        wrong = (
            examination.failing_run.counterexample if examination.failing_run else None
        )
        if wrong is None and guess.suffixes:
            wrong = self._chow(guess, machine)
        return None if wrong is None else self._check(guess.machine, wrong)

    def _as_wanted(self, machine: Automaton) -> Word | None:
        """A word on which the machine that is known differs, and is right."""
        if self.wanted is None:
            return None
        word = beside(machine, self.wanted).word
        if word is None or len(word) > self.length:
            return None
        return word if self.answers.query(word)[-1] != _last(machine, word) else None

    def _check(self, machine: Automaton, wrong: Counterexample) -> Word:
        word = tuple(machine.encode(wrong.word).tolist())
        if wrong.reading == "among others" or (
            self.answers.query(word)[-1] == _last(machine, word)
        ):
            raise KrohnError(
                f"the network answers {join_letters(wrong.word)} differently in "
                "different batches, or letter by letter; it follows no machine"
            )
        return word

    def _chow(self, guess: "Guess", machine: Automaton) -> Counterexample | None:
        """Run the words of Chow (1978), if they are not too many or too long."""
        letters, middle = len(machine.letters), EXTRA + 1
        many = words_below(letters, middle) + 1
        longest = max(map(len, guess.access)) + middle + max(map(len, guess.suffixes))
        if longest > self.length:
            return None
        if many * len(guess.access) * len(guess.suffixes) > self.answers.most:
            return None
        wrong = None
        judge = pair(self.model, machine, self.length)
        for words in _by_length(set(_chow_words(guess, letters, middle))):
            wrong = first_failure(judge, words, judge.margins(words))
            self.words += len(words)
            if wrong is not None:
                return wrong
        self.states = len(guess.access) + EXTRA
        return None

    def parting(self, machine: Automaton, wrong: Word | None, budget: int) -> "Parted":
        """Where the network parts from the machine that was learned in the end.

        Args:
            machine: It.
            wrong: A word on which they differ, if one is known.
            budget: How many words may be run to find a shortest one.
        """
        shown, searched = moore(machine), self.length
        counterexample = None if wrong is None else self._replay_word(shown, wrong)
        for times in FURTHER:
            further = min(
                times * self.length, self.model.longest or times * self.length
            )
            if counterexample is not None or further <= searched:
                break
            searched = further
            tell = partial(self.told, f"looking at words of {further} letters")
            run = sample(self.model, shown, self.samples, further, self.seed, tell)
            self.words, counterexample = self.words + run.words, run.counterexample
        if counterexample is None:
            return Parted(None, searched)
        least = minimise_word(self.model, shown, counterexample, budget)
        self.words, self.right = self.words + least.words, max(self.right, least.right)
        return Parted(least, searched)

    def _replay_word(self, machine: Automaton, word: Word) -> Counterexample | None:
        judge = pair(self.model, machine, len(word))
        return judge.replay(np.array(word, dtype=np.int64))


@dataclass(frozen=True)
class Parted:
    """Where a network and a machine part.

    Attributes:
        word: A word after which they differ, and what is known of shorter ones; None if
            none was found.
        searched: How long the words were in which it was looked for.
    """

    word: Minimal | None
    searched: int


def _last(machine: Automaton, word: Word) -> str:
    return machine.run([machine.letters[a] for a in word])[-1]


def _chow_words(guess: "Guess", letters: int, middle: int) -> Iterator[Word]:
    for many in range(middle + 1):
        for between in product(range(letters), repeat=many):
            for access, suffix in product(guess.access, guess.suffixes):
                yield (*access, *between, *suffix)


def _by_length(words: set[Word]) -> Iterator[IntArray]:
    """Words as arrays of equal length, the shortest first, as many as run at once."""
    for length in sorted({len(w) for w in words} - {0}):
        same = np.array(sorted(w for w in words if len(w) == length), dtype=np.int64)
        for first in range(0, len(same), at_once(length)):
            yield same[first : first + at_once(length)]
