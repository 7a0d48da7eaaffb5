"""Running generators on legal prefixes: all short ones, or long random ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import BracketDistribution, distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import rational
from krohn.architectures.generator.engine import Generator
from krohn.network.modelfile import ModelFile
from krohn.network.precision import BoolArray, FloatArray
from krohn.program.claim import Sense
from krohn.verify.testing.counterexample import (
    NEAR,
    CheckError,
    Counterexample,
    told_apart,
)
from krohn.verify.testing.shortest_failing import AllWords, Minimal, minimise_for
from krohn.verify.testing.simulation_result import BUDGET, Progress, Simulation

BATCH = 512
MOST_WORDS = 2_000_000


@dataclass(frozen=True)
class _Runs:
    """A generator beside the distribution that it is held against.

    Attributes:
        model: The network.
        machine: The stacks.
        law: The distribution.
        laws: ``(states, letters)``: the law of the next letter; 0 in the error.
        tolerance: How far an output may be from it.
    """

    model: Generator
    machine: Automaton
    law: BracketDistribution
    laws: FloatArray
    tolerance: float

    def wrong(self, words: IntArray) -> BoolArray:
        """Where outputs are too far from the law, ``(count, length + 1)``."""
        with torch.inference_mode():
            outputs = self.model(torch.from_numpy(words)).double().numpy()
        with np.errstate(invalid="ignore"):
            near = np.abs(outputs - self.laws[self.states(words)]) <= self.tolerance
        return np.asarray(~near.all(axis=2))

    def states(self, words: IntArray) -> IntArray:
        """The state before each letter and at the end, ``(count, length + 1)``."""
        start = np.full((len(words), 1), self.machine.start)
        trace = self.machine.semiautomaton.trace(words, self.machine.start)
        return np.concatenate([start, trace], axis=1)

    def good(self, words: IntArray) -> IntArray:
        """How many letters ``(count,)`` precede one after which a law is wrong.

        A word that is no legal prefix has nothing wrong.
        """
        before = self.laws[self.states(words)[:, :-1]]
        chances = np.take_along_axis(before, words[..., None], axis=2)[..., 0]
        legal = np.flatnonzero((chances > 0).all(axis=1))
        counts = np.full(len(words), words.shape[1], dtype=np.int64)
        if legal.size:
            wrong = self.wrong(words[legal])
            first = np.maximum(wrong.argmax(axis=1) - 1, 0)
            counts[legal] = np.where(wrong.any(axis=1), first, words.shape[1])
        return counts

    def replay(self, word: IntArray) -> Counterexample | None:
        """One legal prefix by itself, cut where a law is first wrong; None if none is."""
        wrong = self.wrong(word[None])[0]
        return self.example(word[: wrong.argmax()]) if wrong.any() else None

    def example(self, word: IntArray) -> Counterexample:
        """The word with the right laws and the laws that the network gives."""
        with torch.inference_mode():
            outputs = self.model(torch.from_numpy(word[None])).double().numpy()[0]
        right = self.laws[self.states(word[None])[0]]
        names = tuple(self.machine.letters[a] for a in word)
        *before, last = zip(right.tolist(), outputs.tolist(), strict=True)
        texts = [told_apart(*laws, "/", 4) for laws in before]
        near = [(one, other) if one == other else (NEAR, NEAR) for one, other in texts]
        expected, actual = zip(*near, told_apart(*last, "/", 4), strict=True)
        return Counterexample(names, expected, actual)


def _runs(file: ModelFile, machine: Automaton) -> _Runs:
    law, tolerance = claimed_law(file, machine)
    # Laws are rounded here as well, and differences and this sum.
    slack = float(tolerance) + 2.0**-52
    return _Runs(Generator(file), machine, law, laws_of(law), slack)


def claimed_law(
    file: ModelFile, machine: Automaton
) -> tuple[BracketDistribution, Fraction]:
    """The distribution that a file claims to say, and how exactly.

    Raises:
        KrohnError: If it claims none, or the machine is no stack of its letters.
    """
    claim, shape = file.claim, file.architecture
    try:
        law = distribution(machine, rational(claim.opening))
    except (ValueError, ZeroDivisionError):
        raise KrohnError("the file claims no probability of opening") from None
    moves = [-1 if kind is None else 1 for kind in law.brackets.opens]
    if list(shape.moves) != moves or shape.outputs != len(moves):
        raise KrohnError("the file and the machine differ in which letters open")
    if claim.sense is not Sense.LAWS or claim.error >= 1:
        raise KrohnError("the file claims no tolerance")
    return law, Fraction(claim.error)


def laws_of(law: BracketDistribution) -> FloatArray:
    """``(states, letters)``: the law of the next letter; 0 in the error."""
    silent = (Fraction(0),) * law.letters
    laws = [silent if s is None else law.law(s) for s in law.brackets.stacks]
    return np.array(laws, dtype=np.float64)


def run_all(
    file: ModelFile, machine: Automaton, length: int, progress: Progress
) -> Simulation:
    """Every legal prefix of up to ``length`` letters.

    Raises:
        CheckError: If there are more than two million of them.
    """
    runs = _runs(file, machine)
    if runs.law.count(length) > MOST_WORDS:
        raise CheckError(
            f"there are {runs.law.count(length):,} legal prefixes of {length} letters; "
            f"take a length with at most {MOST_WORDS:,}"
        )
    words = np.zeros((1, 0), dtype=np.int64)
    for _ in range(length):
        before, letters = np.nonzero(runs.laws[runs.states(words)[:, -1]])
        words = np.concatenate([words[before], letters[:, None]], axis=1)
    counterexample = _first(runs, words, progress)
    count = sum(runs.law.count(n) for n in range(1, length + 1))
    return Simulation(count, length, counterexample, every=True)


def minimise(
    file: ModelFile, machine: Automaton, found: Counterexample, budget: int = BUDGET
) -> Minimal:
    """The first of the shortest wrong legal prefixes, or the smallest that is found.

    Args:
        file: A generator.
        machine: Its stacks.
        found: A legal prefix on which a law is wrong.
        budget: How many prefixes may be run.
    """
    runs = _runs(file, machine)
    most = min(budget, MOST_WORDS)
    every = AllWords(
        runs.law.count, lambda n: run_all(file, machine, n, lambda done, total: None)
    )
    return minimise_for(runs, found, every, most)


def replay(
    file: ModelFile, machine: Automaton, word: IntArray
) -> Counterexample | None:
    """One legal prefix ``(length,)`` by itself, cut where a law is first too far off.

    Returns:
        None if every law is near enough.

    Raises:
        MachineError: If the word is no legal prefix.
    """
    runs = _runs(file, machine)
    runs.law.stacks(word.tolist())
    return runs.replay(word)


def run_sample(
    file: ModelFile,
    machine: Automaton,
    count: int,
    length: int,
    seed: int,
    progress: Progress,
) -> Simulation:
    """Random prefixes of ``length`` letters, half of them drawn where brackets rarely open.

    Those stay near the bottom of the stack, where the most pairs must cancel.
    """
    runs = _runs(file, machine)
    rng = np.random.default_rng(seed)
    low = BracketDistribution(runs.law.brackets, Fraction(1, 8))
    drawn = [
        law.sample(rng, size, length)
        for law, size in ((runs.law, (count + 1) // 2), (low, count // 2))
    ]
    words = np.concatenate(drawn)
    return Simulation(count, length, _first(runs, words, progress))


def _first(runs: _Runs, words: IntArray, progress: Progress) -> Counterexample | None:
    """The shortest prefix at whose end the network is wrong."""
    shortest: IntArray | None = None
    for at, batch in _batches(words):
        wrong = runs.wrong(batch)
        hit = wrong.any(axis=1)
        if hit.any():
            ends = np.where(hit, wrong.argmax(axis=1), words.shape[1] + 1)
            word = batch[ends.argmin(), : ends.min()]
            if shortest is None or len(word) < len(shortest):
                shortest = word
        progress(at + len(batch), len(words))
    return None if shortest is None else runs.example(shortest)


def _batches(words: IntArray) -> Iterator[tuple[int, IntArray]]:
    for at in range(0, len(words), BATCH):
        yield at, words[at : at + BATCH]
