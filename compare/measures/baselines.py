"""Baselines without any training: guesses, majorities, n-grams."""

from dataclasses import dataclass

import numpy as np

from krohn.algebra.semiautomaton import IntArray
from krohn.compare.measures.answers import simulator
from krohn.compare.measures.ngram import TOKENS, Codes, best_ngram
from krohn.compare.tasks.task import Task
from krohn.verify.testing.simulator import Simulator

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@dataclass(frozen=True)
class Baseline:
    """A network's rival that knows nothing of the machine.

    Attributes:
        name: Its name in tables.
        about: A description, with the chosen settings.
        model: The model that gives the classes.
    """

    name: str
    about: str
    model: Simulator


@dataclass(frozen=True)
class Guess:
    """A random function of the word so far: each class alike.

    Attributes:
        classes: How many there are.
        seed: Of the function.
    """

    classes: int
    seed: int = 0

    def __call__(self, letters: IntArray) -> IntArray:
        """Classes ``(count, length)`` after each letter of words ``(count, length)``."""
        read = letters.astype(np.uint64) + np.uint64(1)
        code = np.full(len(letters), self.seed, dtype=np.uint64)
        said = np.empty(letters.shape, dtype=np.int64)
        for t in range(letters.shape[1]):
            code = _mix_bits(code ^ (read[:, t] * _ODD))
            said[:, t] = (code >> _SHIFT).astype(np.int64) % self.classes
        return said


def _mix_bits(code: Codes) -> Codes:
    """Every bit of the result depends on every bit of the code."""
    for _ in range(2):
        code = (code ^ (code >> _SHIFT)) * _ODD
    return code ^ (code >> _SHIFT)


@dataclass(frozen=True, eq=False)
class Majority:
    """The class that is most frequent, in all or at each position.

    Attributes:
        overall: The most frequent class of all; said where no position tells more.
        positions: ``(length,)``: the most frequent class at each position; empty to say
            the same everywhere.
    """

    overall: int
    positions: IntArray

    def __call__(self, letters: IntArray) -> IntArray:
        """Classes ``(count, length)`` after each letter of words ``(count, length)``."""
        said = np.full(letters.shape, self.overall)
        known = min(letters.shape[1], len(self.positions))
        said[:, :known] = self.positions[:known]
        return said


def majority(
    task: Task, rng: np.random.Generator, length: int, tokens: int = TOKENS
) -> tuple[Majority, Majority]:
    """The majority classes of fresh words: in all, and at each position.

    Where nothing is asked at a position, the class is the most frequent of all.
    """
    batch = task.batch(rng, max(1, tokens // length), length)
    counts = np.zeros((length, len(task.classes)), dtype=np.int64)
    at = np.broadcast_to(np.arange(length), batch.labels.shape)[batch.asked]
    np.add.at(counts, (at, batch.labels[batch.asked]), 1)
    overall = int(counts.sum(axis=0).argmax())
    seen = counts.any(axis=1)
    each = np.where(seen, counts.argmax(axis=1), overall)
    return Majority(overall, np.zeros(0, dtype=np.int64)), Majority(overall, each)


def baselines(
    task: Task, rng: np.random.Generator, length: int, tokens: int = TOKENS
) -> tuple[Baseline, ...]:
    """All of them for a task, from fresh words of a length.

    Args:
        task: The words, and which answers count.
        rng: The source of the words.
        length: Letters in each word.
        tokens: How many letters each of them is estimated from.
    """
    overall, each = majority(task, rng, length, tokens)
    chosen = best_ngram(task, rng, length, tokens=tokens)
    said = task.classes[overall.overall]
    return (
        Baseline(
            "guess",
            f"one of {len(task.classes)} classes, all alike",
            simulator(Guess(len(task.classes)), task),
        ),
        Baseline("majority", f"always {said}", simulator(overall, task)),
        Baseline(
            "majority by position",
            "the most frequent class at each position",
            simulator(each, task),
        ),
        Baseline(
            "n-gram",
            f"the last {chosen.model.order} letters",
            simulator(chosen.model, task),
        ),
    )
