"""Words on which a machine keeps something for long: by identities, or after a reset."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.verify.testing.strategies.facts import identities, reset_word
from krohn.verify.testing.strategies.strategy import (
    BoolArray,
    choose,
    distances,
    none,
    repeat,
    scales,
    uniform,
)


def no_ops(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a few letters, then one that keeps every state, to the end.

    Words that keep every state do the same; their shortest ones are taken. In half of the
    words the last letter is any.
    """
    words = identities(machine.semiautomaton)
    if not words:
        return none(length)
    found = uniform(rng, machine, count, length)
    # The chance is even for a letter and for a longer word, however many these are.
    single: list[tuple[int, ...]] = [word for word in words if len(word) == 1]
    pool: list[list[tuple[int, ...]]] = [single or words, words]
    start = np.minimum(2 ** rng.integers(scales(length), size=(count, 1)), length - 1)
    end = length - rng.integers(2, size=(count, 1))
    at = np.arange(length)
    for half, chosen in enumerate(pool):
        rows = np.arange(half, count, 2)
        which = rng.integers(len(chosen), size=len(rows))
        kept = repeat(chosen, which, at - start[rows])
        inside = (start[rows] <= at) & (at < end[rows])
        found[rows] = np.where(inside, kept, found[rows])
    return found


def resets(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: the last letter that resets stands 0, 1, 3, … or T − 1 back.

    After it there are only letters that keep as much apart as can be: one of them over
    and over, or all of them mixed.
    """
    rank = np.array([len(np.unique(row)) for row in machine.transitions])
    resetting, others = np.flatnonzero(rank == 1), np.flatnonzero(rank > 1)
    if not len(resetting) or not len(others):
        return none(length)
    keeping = others[rank[others] == rank[others].max()]
    found = uniform(rng, machine, count, length)
    reset_at = length - 1 - distances(rng, count, length)
    after = rng.choice(keeping, size=(count, length))
    after[::2] = after[::2, :1]
    found = np.where(np.arange(length) > reset_at, after, found)
    np.put_along_axis(found, reset_at, rng.choice(resetting, size=(count, 1)), axis=1)
    return found


def synchronised(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a word that leads all states to one, and then noise.

    The noise has some of the letters only, so that the state reached may last.
    """
    word = reset_word(machine.semiautomaton)
    if word is None or len(word) > length:
        return none(length)
    found = uniform(rng, machine, count, length)
    start = rng.integers(length - len(word) + 1, size=(count, 1))
    at = np.arange(length)
    noise = _of_some_letters(rng, len(machine.letters), count, length)
    found = np.where(at >= start, noise, found)
    inside = (start <= at) & (at < start + len(word))
    return np.where(
        inside, repeat([word], np.zeros(count, dtype=int), at - start), found
    )


def _of_some_letters(
    rng: np.random.Generator, letters: int, count: int, length: int
) -> IntArray:
    """``(count, length)``: each word of one letter, of two, or of more."""
    size = 1 + rng.integers(letters, size=(count, 1))
    order = rng.permuted(np.tile(np.arange(letters), (count, 1)), axis=1)
    return np.take_along_axis(order, rng.integers(size, size=(count, length)), axis=1)


def loops(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: letters that keep the state, at times one that leaves.

    How long a word stays is geometric, with a mean of 2, 4, 8, … letters; where no
    letter stays or none leaves, any is taken.
    """
    stays = (machine.transitions == np.arange(len(machine.states))).T
    start = np.full(count, machine.start)
    return lingering(rng, machine.transitions, stays, start, length)


def lingering(
    rng: np.random.Generator,
    graph: IntArray,
    stays: BoolArray,
    start: IntArray,
    length: int,
) -> IntArray:
    """``(count, length)``: walks that stay, at times leave, and stay again.

    Args:
        rng: A source of chance.
        graph: ``(letters, nodes)``: where each letter leads.
        stays: ``(nodes, letters)``: which letters stay where a walk is.
        start: ``(count,)``: where each walk begins.
        length: How many letters.
    """
    count = len(start)
    leave = 2.0 ** -rng.integers(1, 1 + scales(length), size=count)
    words = np.empty((count, length), dtype=np.int64)
    node = start
    for t in range(length):
        leaving = rng.random(count) < leave
        words[:, t] = choose(rng, stays[node] != leaving[:, None])
        node = graph[words[:, t], node]
    return words
