"""Baselines without any training: guesses, majorities, n-grams."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.measures.accuracy import simulator
from krohn.instruments.compare.tasks.task import (
    BoolArray,
    Task,
)
from krohn.verify.testing.counterexample import Simulator

# The best guess from the last n letters: the most frequent class after each context.


Codes: TypeAlias = NDArray[np.uint64]

TOKENS = 2**19
"""Letters that contexts are counted in; each order keeps 16 bytes of each, at most."""

HELD_OUT = 8
"""One letter for so many is used to choose the order."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """The class that is most frequent after each context of one length.

    Attributes:
        order: How many letters a context has; before the word there is nothing, which
            counts as a letter of its own.
        codes: ``(contexts,)``, ascending.
        classes: ``(contexts,)``; the first class of the most frequent ones.
    """

    order: int
    codes: Codes
    classes: IntArray

    def look_up(self, codes: Codes) -> tuple[BoolArray, IntArray]:
        """Whether each context was seen, and its class if it was."""
        at = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return self.codes[at] == codes, self.classes[at]


@dataclass(frozen=True, eq=False)
class NGram:
    """Maximum likelihood by the longest context that was seen (back-off).

    A context is a 64-bit number: the sum over its letters of a random number for each
    letter and place. Two contexts have the same one with probability 2^−64, so that N
    contexts are told apart but for a chance of N²/2^65.

    Attributes:
        keys: ``(places, letters + 1)``: the random numbers; the last stands for nothing.
        tables: Contexts of ascending orders, the first one of order 0.
    """

    keys: Codes
    tables: tuple[Contexts, ...]

    @property
    def order(self) -> int:
        """n: how many letters the longest contexts have."""
        return self.tables[-1].order

    def __call__(self, letters: IntArray) -> IntArray:
        """Classes ``(count, length)`` after each letter of words ``(count, length)``."""
        *_, classes = self.answers(letters)
        return classes

    def answers(self, letters: IntArray) -> Iterator[IntArray]:
        """The answers of each order, ascending, with all shorter ones to back off to."""
        answers = np.zeros(letters.shape, dtype=np.int64)
        orders = [table.order for table in self.tables]
        each = contexts(letters, self.keys, orders)
        for table, codes in zip(self.tables, each, strict=True):
            known, classes = table.look_up(codes)
            answers = np.where(known, classes, answers)
            yield answers

    def until(self, order: int) -> "NGram":
        """The n-grams with contexts of up to so many letters."""
        kept = tuple(table for table in self.tables if table.order <= order)
        return NGram(self.keys, kept)


def contexts(letters: IntArray, keys: Codes, orders: list[int]) -> Iterator[Codes]:
    """The codes ``(count, length)`` of the contexts of each order, ascending."""
    nothing = keys.shape[1] - 1
    before = np.full((len(letters), len(keys)), nothing, dtype=np.int64)
    read = np.concatenate([before, letters], axis=1)
    codes = np.zeros(letters.shape, dtype=np.uint64)
    done = 0
    for order in orders:
        for back in range(done, order):
            first = len(keys) - back
            codes = codes + keys[back, read[:, first : first + letters.shape[1]]]
        done = order
        yield codes


def orders_until(most: int) -> list[int]:
    """0, 1, 2, 3, 4, 6, 8, 12, 16, … and the greatest itself."""
    steps = {0, most}
    power = 1
    while power < most:
        steps |= {power, min(most, power + power // 2)}
        power *= 2
    return sorted(steps)


def ngram(
    task: Task, rng: np.random.Generator, length: int, order: int, tokens: int = TOKENS
) -> NGram:
    """Count which class follows which context, in fresh words of a task.

    Args:
        task: The words; only answers that count are learned.
        rng: Of the words and the keys.
        length: Letters in each word.
        order: n, the greatest number of letters of a context.
        tokens: How many letters to count in.
    """
    count = len(task.letters) + 1
    keys = rng.integers(2**64, size=(max(1, order), count), dtype=np.uint64)
    batch = task.batch(rng, max(1, tokens // length), length)
    orders = orders_until(order)
    labels = batch.labels[batch.asked]
    each = contexts(batch.letters, keys, orders)
    tables = [
        _most_frequent(order, codes[batch.asked], labels)
        for order, codes in zip(orders, each, strict=True)
    ]
    return NGram(keys, tuple(tables))


def _most_frequent(order: int, codes: Codes, labels: IntArray) -> Contexts:
    known, context = np.unique(codes, return_inverse=True)
    if not len(known):
        return Contexts(order, np.zeros(1, dtype=np.uint64), np.zeros(1, dtype=int))
    classes = int(labels.max()) + 1
    pair, times = np.unique(context * classes + labels, return_counts=True)
    context, label = np.divmod(pair, classes)
    # The last row of each context is its most frequent class, of these the first one.
    ranked = np.lexsort((-label, times, context))
    last = np.append(context[ranked][1:] != context[ranked][:-1], True)
    return Contexts(order, known, label[ranked][last])


@dataclass(frozen=True)
class Chosen:
    """The best n, with the accuracies that decided it.

    Attributes:
        model: The n-gram of this order.
        held_out: The token accuracy of each order on words that were not counted.
    """

    model: NGram
    held_out: dict[int, float]


def best_ngram(
    task: Task,
    rng: np.random.Generator,
    length: int,
    most: int | None = None,
    tokens: int = TOKENS,
) -> Chosen:
    """The n-gram that is best on fresh words, the least n of several.

    Args:
        task: The words, and which answers count.
        rng: Of the words and the keys.
        length: Letters in each word.
        most: The greatest n; None for the length.
        tokens: How many letters to count in.
    """
    fitted = ngram(task, rng, length, length if most is None else most, tokens)
    batch = task.batch(rng, max(1, tokens // HELD_OUT // length), length)
    labels = batch.labels[batch.asked]
    shares = {
        table.order: float((answers[batch.asked] == labels).mean())
        for table, answers in zip(
            fitted.tables, fitted.answers(batch.letters), strict=True
        )
    }
    best = max(shares, key=lambda order: (shares[order], -order))
    return Chosen(fitted.until(best), shares)


# Baselines without any training: guesses, majorities, n-grams.


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
        answers = np.empty(letters.shape, dtype=np.int64)
        for t in range(letters.shape[1]):
            code = _mix_bits(code ^ (read[:, t] * _ODD))
            answers[:, t] = (code >> _SHIFT).astype(np.int64) % self.classes
        return answers


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
        answers = np.full(letters.shape, self.overall)
        known = min(letters.shape[1], len(self.positions))
        answers[:, :known] = self.positions[:known]
        return answers


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
    name = task.classes[overall.overall]
    return (
        Baseline(
            "guess",
            f"one of {len(task.classes)} classes, all alike",
            simulator(Guess(len(task.classes)), task),
        ),
        Baseline("majority", f"always {name}", simulator(overall, task)),
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
