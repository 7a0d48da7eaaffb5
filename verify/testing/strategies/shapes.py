"""Words of a plain shape, words that repeat, and words that keep something for long."""

from functools import lru_cache

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.verify.testing.strategies.strategy import (
    BoolArray,
    choose,
    distances,
    identities,
    monoid,
    none,
    repeat,
    reset_word,
    scales,
    uniform,
)

# Words of a plain shape: constant, periodic, in runs, or with a few letters strewn in.


LONGEST_PERIOD = 12


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
    mean = 2.0 ** rng.integers(1, 1 + scales(length), size=(count, 1))
    ends = rng.random((count, length)) < 1 / mean
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
    expected = 2.0 ** rng.integers(0, scales(length), size=(count, 1))
    strewn = rng.random((count, length)) < expected / length
    return np.where(strewn, rng.integers(letters, size=(count, length)), hay)


def periodic(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a short random word over and over."""
    base = rng.integers(len(machine.letters), size=(count, LONGEST_PERIOD))
    period = rng.integers(1, LONGEST_PERIOD + 1, size=(count, 1))
    return np.take_along_axis(base, np.arange(length) % period, axis=1)


def counts(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: two letters, one of them 0, 1, T/2, T − 1 or T times."""
    rare, common = _two_letters(rng, machine, count)
    extremes = np.array([0, 1, length // 2, length - 1, length])
    times = rng.choice(extremes, size=(count, 1))
    order = rng.permuted(np.tile(np.arange(length), (count, 1)), axis=1)
    return np.where(order < times, rare, common)


def _two_letters(
    rng: np.random.Generator, machine: Automaton, count: int
) -> tuple[IntArray, IntArray]:
    """Two columns ``(count, 1)`` of letters, different ones if there are two."""
    letters = len(machine.letters)
    first = rng.integers(letters, size=(count, 1))
    step = rng.integers(1, max(2, letters), size=(count, 1))
    return first, (first + step) % letters


# Words that repeat themselves, at the periods that codes and machines have.


def code_periods(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: periods of a power of two, one less or one more.

    Codes of positions have such periods (docs/numerics.md); where one is too short,
    positions a period apart are the same to a head. In half of the words all letters of
    the period are equal but one.
    """
    period = 2 ** rng.integers(scales(length) + 1, size=(count, 1))
    period = np.maximum(1, period + rng.integers(-1, 2, size=(count, 1)))
    base = rng.integers(len(machine.letters), size=(count, int(period.max())))
    base[::2, 1:] = base[::2, 1:2]
    at = np.arange(length) + rng.integers(length, size=(count, 1))
    return np.take_along_axis(base, at % period, axis=1)


def turns(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a word that permutes states in as many turns as any, repeated.

    Half of the words take one of the largest order that the monoid has, the others one of
    any order above 1.
    """
    turning_words = turning(machine.semiautomaton)
    if not turning_words:
        return none(length)
    most = max(order for order, _ in turning_words)
    order = np.array([order for order, _ in turning_words])
    wanted = (order == most) | (np.arange(count)[:, None] % 2 == 1)
    at = np.arange(length) + rng.integers(length, size=(count, 1))
    return repeat([word for _, word in turning_words], choose(rng, wanted), at)


@lru_cache(8)
def turning(machine: Semiautomaton) -> list[tuple[int, tuple[int, ...]]]:
    """The elements of order above 1 with their least words: (order, word).

    The order of x is the order of x·x^ω in its group: how many powers of x come again and
    again.
    """
    all_elements = monoid(machine)
    if all_elements is None:
        return []
    elements = np.arange(all_elements.size)
    unit = all_elements.omega
    power = turn = all_elements.product(elements, unit)
    order = np.ones(all_elements.size, dtype=np.int64)
    while (open_ := power != unit).any():
        order += open_
        power = np.where(open_, all_elements.product(power, turn), power)
    return [
        (int(order[i]), all_elements.word(int(i))) for i in np.flatnonzero(order > 1)
    ]


# Words on which a machine keeps something for long: by identities, or after a reset.


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
    drawn_words = uniform(rng, machine, count, length)
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
        drawn_words[rows] = np.where(inside, kept, drawn_words[rows])
    return drawn_words


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
    drawn_words = uniform(rng, machine, count, length)
    reset_at = length - 1 - distances(rng, count, length)
    after = rng.choice(keeping, size=(count, length))
    after[::2] = after[::2, :1]
    drawn_words = np.where(np.arange(length) > reset_at, after, drawn_words)
    np.put_along_axis(
        drawn_words, reset_at, rng.choice(resetting, size=(count, 1)), axis=1
    )
    return drawn_words


def synchronise_states(
    rng: np.random.Generator, machine: Automaton, count: int, length: int
) -> IntArray:
    """``(count, length)``: a word that leads all states to one, and then noise.

    The noise has some of the letters only, so that the state reached may last.
    """
    word = reset_word(machine.semiautomaton)
    if word is None or len(word) > length:
        return none(length)
    drawn_words = uniform(rng, machine, count, length)
    start = rng.integers(length - len(word) + 1, size=(count, 1))
    at = np.arange(length)
    noise = _of_some_letters(rng, len(machine.letters), count, length)
    drawn_words = np.where(at >= start, noise, drawn_words)
    inside = (start <= at) & (at < start + len(word))
    return np.where(
        inside, repeat([word], np.zeros(count, dtype=int), at - start), drawn_words
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
