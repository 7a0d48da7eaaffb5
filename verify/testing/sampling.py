"""Running long words through a network: words of every strategy, and worse ones made."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.network.precision import FloatArray
from krohn.verify.testing.counterexample import (
    CheckError,
    Counterexample,
    Pair,
    Simulator,
    at_once,
    pair,
)
from krohn.verify.testing.simulation_result import Progress, Simulation
from krohn.verify.testing.strategies import STRATEGIES, uniform
from krohn.verify.testing.strategies.strategy import scales

DRAWN = 1024
CLIMBING = "climbing"
ROUNDS = 16
"""How often words of the least margin are changed, if there are words enough."""
KEPT = 16
"""How many words are changed side by side."""


def sample(
    model: Simulator,
    machine: Automaton,
    count: int,
    length: int,
    seed: int,
    progress: Progress | None = None,
    batch: int | None = None,
) -> Simulation:
    """Run words of full length from every strategy, and check every answer.

    A quarter of the words is made of those with the least margins by changes that lower
    it. It stops after the first batch in which an answer is wrong.

    Args:
        model: The network; it runs where its parameters are.
        machine: What it should compute; letters and states are matched by name.
        count: How many words, the same number from each of `STRATEGIES` but for the
            remainder.
        length: Of every word.
        seed: Of the words; the same seed gives the same words.
        progress: Called after every batch.
        batch: How many words to run at once; None to suit their length.

    Returns:
        Its counterexample is the shortest in the first batch that has one; `minimise`
        makes it smaller.

    Raises:
        CheckError: If the letters differ, the network has no room for the words, or it
            answers differently when it reads the same words again.
    """
    hunt = _Hunt(pair(model, machine, length), batch or at_once(length))
    climbed = count // 4
    shares = [climbed // ROUNDS + (i < climbed % ROUNDS) for i in range(ROUNDS)]
    rng = np.random.default_rng([seed, len(STRATEGIES)])
    drawn = draws(machine, count - climbed, length, seed)
    made = ((CLIMBING, mutate(rng, machine, hunt.words, n)) for n in shares if n)
    for name, words in chain(drawn, made):
        for first in range(0, len(words), hunt.batch):
            hunt.run(words[first : first + hunt.batch])
            if progress is not None:
                progress(hunt.done, count)
            if hunt.found is not None:
                return Simulation(hunt.done, length, hunt.found, f" (found by {name})")
    return Simulation(hunt.done, length, None)


class _Hunt:
    """The runs so far: the words of least margin, and a wrong one if there was any."""

    def __init__(self, judge: Pair, batch: int) -> None:
        self.judge, self.batch, self.done = judge, batch, 0
        self.found: Counterexample | None = None
        self.words, self.margins = np.empty((0, 0), dtype=np.int64), np.empty(0)

    def run(self, words: IntArray) -> None:
        """Check a batch ``(count, length)``, and remember its worst words."""
        margins = self.judge.margins(words)
        self.done += len(words)
        self.found = first_failure(self.judge, words, margins)
        every = np.concatenate([self.words.reshape(-1, words.shape[1]), words])
        least = np.append(self.margins, margins.min(axis=1))
        self.words, self.margins = worst(every, least)


def first_failure(
    judge: Pair, words: IntArray, margins: FloatArray
) -> Counterexample | None:
    """The word, among ``(count, length)``, that fails first, cut there and replayed.

    Args:
        judge: The network and its machine.
        words: The words.
        margins: ``(count, length)``: the network's margins on these words.

    Returns:
        None if every answer is right.

    Raises:
        CheckError: If a wrong answer is right when it is run again.
    """
    wrong = ~(margins > 0)
    if not wrong.any():
        return None
    first = np.where(wrong.any(axis=1), wrong.argmax(axis=1), words.shape[1])
    best = int(first.argmin())
    word = words[best, : first[best] + 1]
    replayed = judge.replay(word) or judge.replay(words[best])
    if replayed is not None:
        return replayed
    # Near a tie the answer may depend on how many words are run at once.
    logits = judge.logits(words)[best, : len(word)]
    counterexample = judge.counterexample(
        word, judge.answer_names(logits), "among others"
    )
    if counterexample.expected == counterexample.actual:
        raise CheckError(
            "the network answers the same words differently when it reads them again; "
            "switch off what is random in it, such as dropout"
        )
    return counterexample


def draws(
    machine: Automaton, count: int, length: int, seed: int
) -> Iterator[tuple[str, IntArray]]:
    """All words and their strategy, as many at a time as never depends on batches.

    What strategies that find nothing leave over, uniform words make up for.
    """
    each, more = divmod(count, len(STRATEGIES))
    left = 0
    for i, (name, strategy) in reversed(list(enumerate(STRATEGIES.items()))):
        rng = np.random.default_rng([seed, i])
        share = each + (i < more) + (left if strategy is uniform else 0)
        for done in range(0, share, DRAWN):
            wanted = min(DRAWN, share - done)
            words = strategy(rng, machine, wanted, length)
            left += wanted - len(words)
            yield name, words


def worst(words: IntArray, margins: FloatArray) -> tuple[IntArray, FloatArray]:
    """The `KEPT` words ``(count, length)`` with the least margins ``(count,)``."""
    order = np.argsort(margins, kind="stable")[:KEPT]
    return words[order], margins[order]


def mutate(
    rng: np.random.Generator, machine: Automaton, words: IntArray, count: int
) -> IntArray:
    """``(count, length)``: words of those, each changed somewhere.

    Some letters in a row become another letter, or what stands elsewhere in the word, or
    letters by chance; 1, 2, 4, … letters are changed, so that a change may be anything
    from one letter to the whole word.
    """
    length, letters = words.shape[1], len(machine.letters)
    parents = words[np.arange(count) % len(words)]
    size = 2 ** rng.integers(scales(length) + 1, size=(count, 1))
    start = rng.integers(1 - size, length, size=(count, 1))
    at = np.arange(length)
    moved = (at + rng.integers(length, size=(count, 1))) % length
    news = np.stack(
        [
            np.broadcast_to(rng.integers(letters, size=(count, 1)), parents.shape),
            np.take_along_axis(parents, moved, axis=1),
            rng.integers(letters, size=parents.shape),
        ]
    )
    new = news[rng.integers(len(news), size=count), np.arange(count)]
    return np.where((start <= at) & (at < start + size), new, parents)
