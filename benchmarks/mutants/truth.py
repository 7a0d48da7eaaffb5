"""The true behaviour of a mutant, found by running it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import KrohnError
from krohn.architectures.generator import find_words as bracket_words
from krohn.network import ModelFileError
from krohn.network.model import Model
from krohn.verify.testing.counterexample import pair
from krohn.verify.testing.strategies import STRATEGIES
from mutants.subject import Subject

POSITIONS = 2**14
"""About so many letters are read to find a wrong answer."""
DRAWN = 1024
TIGHT = 32
PREFIXES = 1024
LONG = 64
"""Of the prefixes that are drawn for a generator."""
UNBOUNDED = 12
"""How long words for a network without a longest word are."""


@dataclass(frozen=True)
class Truth:
    """Words on which the mutants of a subject are run.

    Attributes:
        subject: The model as it should be.
        seed: Of the words that are drawn.
    """

    subject: Subject
    seed: int = 0

    @property
    def length(self) -> int:
        """Of the words: T."""
        claimed = self.subject.file.header["claim"].get("length")
        return int(claimed or UNBOUNDED)

    @property
    def exact(self) -> bool:
        """Whether every word of up to T letters is run."""
        if self.subject.kind.answers == "laws":
            law, _ = bracket_words.claimed_law(self.subject.file, self.subject.machine)
            return law.count(self.length) <= PREFIXES
        bounded = self.subject.kind.program
        return bounded and len(self.subject.machine.letters) ** self.length <= self.most

    @property
    def most(self) -> int:
        """How many words are run, drawn ones apart."""
        return max(64, POSITIONS // self.length)

    @cached_property
    def words(self) -> IntArray:
        """``(count, T)``: all, or the short ones continued at random and hard ones."""
        machine, rng = self.subject.machine, np.random.default_rng(self.seed)
        short, letters = 1, len(machine.letters)
        while short < self.length and letters ** (short + 1) <= self.most:
            short += 1
        every = np.indices((letters,) * short).reshape(short, -1).T
        if self.exact:
            return every
        size = (len(every), self.length - short)
        continued = np.hstack([every, rng.integers(letters, size=size)])
        drawn = self._drawn(rng, self.most // 8)
        return np.concatenate([continued, drawn, self._tight(rng)])

    def _drawn(self, rng: np.random.Generator, count: int) -> IntArray:
        each = max(1, count // len(STRATEGIES))
        found = [
            strategy(rng, self.subject.machine, each, self.length)
            for strategy in STRATEGIES.values()
        ]
        return np.concatenate(found)

    def _tight(self, rng: np.random.Generator) -> IntArray:
        """Of many drawn words those with the smallest margins of the subject."""
        words = self._drawn(rng, DRAWN)
        judge = pair(Model(self.subject.file), self.subject.machine, self.length)
        margins = judge.margins(words).min(axis=1)
        return words[np.argsort(margins, kind="stable")[:TIGHT]]

    def harm(self, mutant: Subject, hint: tuple[int, ...] = ()) -> str:
        """The fault of a mutant's claim, in words; empty if none was found.

        Args:
            mutant: What became of the subject.
            hint: A word to be tried as well.
        """
        try:
            if mutant.kind.answers == "laws":
                return _generated(mutant)
            return self._harm(mutant, hint)
        except (KrohnError, ModelFileError) as error:
            return f"it cannot be run: {error}"

    def _harm(self, mutant: Subject, hint: tuple[int, ...]) -> str:
        claimed = mutant.file.header["claim"].get("length")
        length = self.length if claimed is None else claimed
        model = Model(mutant.file)
        longest = model.network.length
        if longest is not None and length > longest:
            return (
                f"it claims words of {length} letters, and can read at most {longest}"
            )
        tried = [self._cut(length)]
        if hint and (model.network.length is None or len(hint) <= length):
            tried.append(np.array([hint]))
        for words in tried:
            good = pair(model, mutant.machine, words.shape[1]).good(words)
            worst = int(good.argmin())
            if good[worst] < words.shape[1]:
                return f"wrong after letters {words[worst, : good[worst] + 1].tolist()}"
        return ""

    def _cut(self, length: int) -> IntArray:
        """The words for another length."""
        rng = np.random.default_rng(self.seed)
        size = (len(self.words), max(0, length - self.length))
        more = rng.integers(len(self.subject.machine.letters), size=size)
        return np.hstack([self.words[:, :length], more])


def _generated(mutant: Subject) -> str:
    """A wrong law after a legal prefix: all short ones are run, and drawn longer ones."""
    law, _ = bracket_words.claimed_law(mutant.file, mutant.machine)
    short, longest = 1, mutant.file.header["claim"]["length"]
    while short < longest and law.count(short + 1) <= PREFIXES:
        short += 1
    run = bracket_words.run_all(mutant.file, mutant.machine, short, _quietly)
    if run.has_passed and short < longest:
        long = min(longest, LONG)
        given = (mutant.file, mutant.machine, PREFIXES // 8, long, 0, _quietly)
        run = bracket_words.run_sample(*given)
    found = run.counterexample
    return f"wrong law after {' '.join(found.word)!r}" if found else ""


def _quietly(done: int, total: int) -> None:
    """Nobody watches the runs of a single mutant."""
