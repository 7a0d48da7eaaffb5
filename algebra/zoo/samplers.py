"""How the thesis draws words for each machine (section 3.4.5.1.1)."""

from collections.abc import Callable

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray
from krohn.algebra.zoo.flipflop import IGNORE, READ, VALUES, WRITE, Instructions
from krohn.algebra.zoo.languages import ERROR

# A sampler takes a generator, a count and a length; it gives (count, length) letters.
Sampler = Callable[[np.random.Generator, int, int], IntArray]


def uniform(machine: Automaton) -> Sampler:
    """Letters drawn independently and uniformly."""
    letters = len(machine.letters)

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        return rng.integers(letters, size=(count, length))

    return sample


def legal(machine: Automaton) -> Sampler:
    """Letters drawn uniformly among the letters that do not lead to the error state.

    Where all letters do, any is drawn.
    """
    allowed = machine.transitions != machine.states.index(ERROR)

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        words = np.empty((count, length), dtype=np.int64)
        state = np.full(count, machine.start)
        for t in range(length):
            # The largest of independent uniform numbers is equally often each of them.
            draw = rng.random((len(machine.letters), count)) + allowed[:, state]
            words[:, t] = draw.argmax(axis=0)
            state = machine.transitions[words[:, t], state]
        return words

    return sample


def writes(machine: Automaton) -> Sampler:
    """A memory's words: each letter writes with probability 1/2, any value alike."""
    values = len(machine.states)

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        value = rng.integers(1, values + 1, size=(count, length))
        return np.where(rng.random((count, length)) < 0.5, value, 0)

    return sample


def numbers(machine: Automaton) -> Sampler:
    """Two random numbers, padded with a zero so that the last carry shows."""
    draw = uniform(machine)

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        words = draw(rng, count, length)
        words[:, -1:] = 0
        return words

    return sample


def half_periodic(machine: Automaton) -> Sampler:
    """The word ababab… with probability 1/2, and a uniform word otherwise."""
    draw = uniform(machine)

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        periodic = rng.random((count, 1)) < 0.5
        return np.where(periodic, np.arange(length) % 2, draw(rng, count, length))

    return sample


def with_resets(machine: Automaton) -> Sampler:
    """A reset first and again after gaps 1, 2, 4, … below the length, else generators.

    Gaps are drawn uniformly among these powers of two, so that both short and long
    stretches without a reset are common.
    """
    resets = len(machine.states)
    moves = len(machine.letters) - resets

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        words = rng.integers(moves, size=(count, length))
        value = rng.integers(moves, moves + resets, size=(count, length))
        return np.where(_reset_places(rng, count, length), value, words)

    return sample


def _reset_places(rng: np.random.Generator, count: int, length: int) -> IntArray:
    """``(count, length)``: 1 where a reset falls, 0 elsewhere."""
    if length == 0:
        return np.zeros((count, 0), dtype=np.int64)
    exponents = max(1, (length - 1).bit_length())
    gaps = 2 ** rng.integers(exponents, size=(count, length))
    places = np.cumsum(gaps, axis=1) - gaps[:, :1]
    marks = np.zeros((count, length), dtype=np.int64)
    row, column = np.nonzero(places < length)
    marks[row, places[row, column]] = 1
    return marks


def flip_flop(machine: Automaton, instructions: Instructions | None = None) -> Sampler:
    """FFL(T, p): a write first, a read last, between them instructions by p.

    Values after writes and ignores are uniform. Words of odd length are words of one
    more letter, without the last.

    Args:
        machine: A machine whose letters are the letters of the flip-flop language.
        instructions: p; the thesis trains on FFL(0.8), which None stands for.
    """
    chosen = instructions or Instructions.ignoring(0.8)
    values = len(machine.letters) - VALUES
    p = np.array([chosen.write, chosen.read, chosen.ignore])

    def sample(rng: np.random.Generator, count: int, length: int) -> IntArray:
        pairs = (length + 1) // 2
        order = rng.choice([WRITE, READ, IGNORE], size=(count, pairs), p=p / p.sum())
        order[:, -1:] = READ
        order[:, :1] = WRITE
        value = rng.integers(values, size=(count, pairs))
        written = np.where(order == WRITE, np.arange(pairs), 0)
        latest = np.maximum.accumulate(written, axis=1)
        stored = np.take_along_axis(value, latest, axis=1)
        value = np.where(order == READ, stored, value) + VALUES
        words = np.stack([order, value], axis=2).reshape(count, 2 * pairs)
        return np.asarray(words[:, :length], dtype=np.int64)

    return sample
