"""Long words to break a network: random ones, and ones with too much structure."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from verify.counterexample import Counterexample, Pair, at_once, pair
from verify.simulation import Progress, Simulation
from verify.simulator import Simulator

DRAWN = 1024
LONGEST_PERIOD = 12

Strategy = Callable[[np.random.Generator, Automaton, int, int], IntArray]
"""From a source of chance, a machine, a count and a length: words (count, length)."""


def uniform(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: every letter by itself, all equally likely."""
    return rng.integers(len(machine.letters), size=(count, length))


def constant(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: one letter throughout; every letter in turn."""
    letters = len(machine.letters)
    turn = (rng.integers(letters) + np.arange(count)) % letters
    return np.repeat(turn[:, None], length, axis=1)


def runs(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: runs of geometric lengths, with a mean of 2, 4, 8, …."""
    scales = 2.0 ** rng.integers(1, 1 + _scales(length), size=(count, 1))
    ends = rng.random((count, length)) < 1 / scales
    run = np.cumsum(ends, axis=1, dtype=np.int64)
    letters = rng.integers(len(machine.letters), size=(count, length + 1))
    return np.take_along_axis(letters, run, axis=1)


def switch(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: one letter, and from some position on another one."""
    before, after = _two_letters(rng, machine, count)
    at = rng.integers(length + 1, size=(count, 1))
    return np.where(np.arange(length) < at, before, after)


def needles(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: mostly one letter, with 1, 2, 4, … others strewn in."""
    letters = len(machine.letters)
    hay = rng.integers(letters, size=(count, 1))
    expected = 2.0 ** rng.integers(0, _scales(length), size=(count, 1))
    strewn = rng.random((count, length)) < expected / length
    return np.where(strewn, rng.integers(letters, size=(count, length)), hay)


def periodic(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a short random word over and over."""
    base = rng.integers(len(machine.letters), size=(count, LONGEST_PERIOD))
    period = rng.integers(1, LONGEST_PERIOD + 1, size=(count, 1))
    return np.take_along_axis(base, np.arange(length) % period, axis=1)


def loops(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: letters that keep the state, at times one that leaves.

    How long a word stays is geometric, with a mean of 2, 4, 8, … letters; where no
    letter stays or none leaves, any is taken.
    """
    stays = (machine.transitions == np.arange(len(machine.states))).T
    leave = 2.0 ** -rng.integers(1, 1 + _scales(length), size=count)
    words = np.empty((count, length), dtype=np.int64)
    state = np.full(count, machine.start)
    for t in range(length):
        leaving = rng.random(count) < leave
        words[:, t] = _choose(rng, stays[state] != leaving[:, None])
        state = machine.transitions[words[:, t], state]
    return words


def counts(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: two letters, one of them 0, 1, T/2, T − 1 or T times."""
    rare, common = _two_letters(rng, machine, count)
    extremes = np.array([0, 1, length // 2, length - 1, length])
    times = rng.choice(extremes, size=(count, 1))
    order = rng.permuted(np.tile(np.arange(length), (count, 1)), axis=1)
    return np.where(order < times, rare, common)


STRATEGIES: dict[str, Strategy] = {
    "uniform": uniform,
    "constant": constant,
    "runs": runs,
    "switch": switch,
    "needles": needles,
    "periodic": periodic,
    "loops": loops,
    "counts": counts,
}


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
        Its counterexample is the shortest in the first batch that has one; `minimise`
        makes it smaller.

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
    return judge.counterexample(word, judge.said(logits), "among others")


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
    """All words, as many at a time as never depends on the batches they run in."""
    each, more = divmod(count, len(STRATEGIES))
    for i, strategy in enumerate(STRATEGIES.values()):
        rng = np.random.default_rng([seed, i])
        share = each + (i < more)
        for done in range(0, share, DRAWN):
            yield strategy(rng, machine, min(DRAWN, share - done), length)


def _scales(length: int) -> int:
    """How many of 2, 4, 8, … are needed to reach the length."""
    return max(1, (length - 1).bit_length())


def _two_letters(
    rng: np.random.Generator, machine: Automaton, count: int
) -> tuple[IntArray, IntArray]:
    """Two columns ``(count, 1)`` of letters, different ones if there are two."""
    letters = len(machine.letters)
    first = rng.integers(letters, size=(count, 1))
    step = rng.integers(1, max(2, letters), size=(count, 1))
    return first, (first + step) % letters


def _choose(rng: np.random.Generator, allowed: npt.NDArray[np.bool_]) -> IntArray:
    """One letter ``(count,)`` of those allowed ``(count, letters)``; any if none is."""
    chosen: IntArray = (rng.random(allowed.shape) + allowed).argmax(axis=1)
    return chosen
