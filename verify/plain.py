"""Every word up to a length by plain forward passes: for what has no memory to share."""

from collections.abc import Iterator

import numpy as np

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.counterexample import Pair, at_once, pair
from verify.simulation import Progress, Simulation
from verify.simulator import Simulator


def every_word(
    model: Simulator,
    machine: Automaton,
    length: int,
    progress: Progress | None = None,
) -> Simulation:
    """Run every word of 1 to ``length`` letters by itself, the shortest first.

    It stops at the first wrong word. `verify.exhaustive` shares prefixes and is faster,
    but needs a network that can go on from what it remembers.

    Args:
        model: Anything that answers words.
        machine: What it should compute; letters and classes are matched by name.
        length: Of the longest words.
        progress: Called after every batch.

    Returns:
        Its counterexample is the shortest there is, and of those the first in the order
        of the machine's letters.

    Raises:
        CheckError: If the letters differ, or there is no room for the words.
    """
    judge, letters = pair(model, machine, length), len(machine.letters)
    total = sum(letters**n for n in range(1, length + 1))
    words = 0
    for batch in _batches(letters, length):
        words += len(batch)
        good = judge.good(batch)
        if progress is not None:
            progress(words, total)
        if (good < batch.shape[1]).any():
            return _failed(judge, batch, good, words)
    return Simulation(words, length, None, every=True)


def _batches(letters: int, length: int) -> Iterator[IntArray]:
    """All words in order, ``(count, n)`` for each n: numbers in base ``letters``."""
    for n in range(1, length + 1):
        weights = letters ** np.arange(n - 1, -1, -1, dtype=np.int64)
        for first in range(0, letters**n, at_once(n)):
            numbers = np.arange(first, min(first + at_once(n), letters**n))
            yield numbers[:, None] // weights % letters


def _failed(judge: Pair, batch: IntArray, good: IntArray, words: int) -> Simulation:
    """The first wrong word of a batch, replayed by itself."""
    word = batch[(good < batch.shape[1]).argmax()]
    found = judge.replay(word)
    if found is None:
        said = judge.said(judge.logits(batch)[(good < len(word)).argmax()])
        found = judge.counterexample(word, said, "among others")
    return Simulation(words, len(word), found, every=True)
