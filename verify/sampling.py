"""Running long words of every strategy through a network."""

from collections.abc import Iterator

import numpy as np

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.counterexample import Counterexample, Pair, at_once, pair
from verify.simulation import Progress, Simulation
from verify.simulator import Simulator
from verify.strategies import STRATEGIES, uniform

DRAWN = 1024


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

    It stops after the first batch in which an answer is wrong.

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
        Its counterexample is the shortest in the first batch that has one; `shorten`
        makes it shorter.

    Raises:
        CheckError: If the letters differ, or the network has no room for the words.
    """
    judge = pair(model, machine, length)
    words = 0
    for block in _batches(machine, count, length, seed, batch or at_once(length)):
        words += len(block)
        found = _worst(judge, block)
        if progress is not None:
            progress(words, count)
        if found is not None:
            return Simulation(words, length, found)
    return Simulation(words, length, None)


def _worst(judge: Pair, words: IntArray) -> Counterexample | None:
    """The word that fails first, cut there and replayed; None if none fails."""
    good = judge.good(words)
    best = int(good.argmin())
    if good[best] == words.shape[1]:
        return None
    word = words[best, : good[best] + 1]
    replayed = judge.replay(word)
    if replayed is not None:
        return replayed
    # Near a tie the answer may depend on how many words are run at once.
    logits = judge.logits(words)[best, : len(word)]
    return judge.counterexample(word, judge.said(logits))


def _batches(
    machine: Automaton, count: int, length: int, seed: int, batch: int
) -> Iterator[IntArray]:
    """Words ``(at most batch, length)``, ``count`` in all."""
    for words in _draws(machine, count, length, seed):
        for first in range(0, len(words), batch):
            yield words[first : first + batch]


def _draws(
    machine: Automaton, count: int, length: int, seed: int
) -> Iterator[IntArray]:
    """All words, as many at a time as never depends on the batches they run in.

    What strategies that find nothing leave over, uniform words make up for.
    """
    each, more = divmod(count, len(STRATEGIES))
    left = 0
    for i, strategy in reversed(list(enumerate(STRATEGIES.values()))):
        rng = np.random.default_rng([seed, i])
        share = each + (i < more) + (left if strategy is uniform else 0)
        for done in range(0, share, DRAWN):
            wanted = min(DRAWN, share - done)
            words = strategy(rng, machine, wanted, length)
            left += wanted - len(words)
            yield words
