"""Words of a plain shape: constant, periodic, in runs, or with a few letters strewn in."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.verify.testing.strategies.strategy import scales

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
