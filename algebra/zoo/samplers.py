"""How the thesis draws words for each machine, and the flip-flop language."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.products import complete
from krohn.algebra.zoo.machines import ERROR, require

# The flip-flop language: a read must give the value that was written last.
#
# A word is a sequence of pairs of an instruction and a value. Instructions are ``w``
# (write), ``r`` (read) and ``i`` (ignore); the first one is ``w``, and the value after
# ``r`` is that after the latest ``w`` (thesis, section 3.5.1).


FloatArray: TypeAlias = npt.NDArray[np.float64]

MOST_VALUES = 500
TINY = float(np.finfo(np.float64).tiny)
WRITE, READ, IGNORE, VALUES = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Instructions:
    """How instructions are drawn between the first, a write, and the last, a read.

    Attributes:
        write: The probability of ``w``.
        read: The probability of ``r``.
        ignore: The probability of ``i``.

    Raises:
        MachineError: If these are not three probabilities that sum to 1.
    """

    write: float
    read: float
    ignore: float

    def __post_init__(self) -> None:
        parts = (self.write, self.read, self.ignore)
        if not (all(0 <= p <= 1 for p in parts) and isclose(sum(parts), 1)):
            raise MachineError(
                "the probabilities of w, r and i must lie in 0..1 and sum to 1"
            )

    @staticmethod
    def ignoring(probability: float) -> "Instructions":
        """FFL(p): the thesis's short name; writes and reads are equally likely."""
        return Instructions((1 - probability) / 2, (1 - probability) / 2, probability)


def letters(values: int) -> tuple[str, ...]:
    """The tokens: instructions, then values."""
    return ("w", "r", "i", *map(str, range(values)))


def tracker(values: int) -> Automaton:
    """A machine that holds the last written value, and ``w`` while a write waits for one.

    This is all that a reader of valid words has to know. Instructions do not stand
    after ``w`` in a valid word; here they write the first value.

    Raises:
        MachineError: If ``values`` is not in 2..500.
    """
    name = f"FFLTracker{values}"
    require(2 <= values <= MOST_VALUES, name, f"take 2 to {MOST_VALUES} values")
    state = np.arange(values + 1)
    table = np.tile(state, (values + VALUES, 1))
    table[:, values] = [values, 0, 0, *range(values)]
    table[WRITE] = values
    names = (*map(str, range(values)), "w")
    return Automaton(Semiautomaton(table, letters(values), names), name=name)


def acceptor(values: int) -> Automaton:
    """The prefixes of words of the language; a word that is none leads to the error.

    States are the start, ``w``, and for each value v ``v`` (after a value, v being the
    one written last), ``vr`` and ``vi`` (after these instructions): 3·values + 3 with the
    error, the least number. The output of a state names the letters that may follow.

    Raises:
        MachineError: If ``values`` is not in 2..500.
    """
    name = f"FFL{values}"
    require(2 <= values <= MOST_VALUES, name, f"take 2 to {MOST_VALUES} values")
    v = np.arange(values)
    ready, reading, ignoring = 2 + 3 * v, 3 + 3 * v, 4 + 3 * v
    table = np.full((values + VALUES, 3 * values + 2), -1)
    table[WRITE, [0, *ready]] = 1
    table[READ, ready], table[IGNORE, ready] = reading, ignoring
    table[VALUES + v, 1] = ready
    table[VALUES + v, reading] = ready
    table[np.ix_(VALUES + v, ignoring)] = ready
    states = ["start", "w", *(f"{i}{after}" for i in v for after in ("", "r", "i"))]
    machine = complete(table, letters(values), states, ERROR)
    return Automaton(machine, output=_followers(machine), name=name)


def _followers(machine: Semiautomaton) -> Output:
    """For each state the letters that do not lead to the error, as one name."""
    legal = machine.transitions != machine.states.index(ERROR)
    shown = [
        " ".join(machine.letters[a] for a in np.flatnonzero(column)) or "none"
        for column in legal.T
    ]
    names = tuple(dict.fromkeys(shown))
    return Output("states", np.array([names.index(s) for s in shown]), names)


def _pairs(length: int) -> int:
    if length < 4 or length % 2:
        raise MachineError("words of the flip-flop language have an even length ≥ 4")
    return length // 2


def reads_of(length: int, instructions: Instructions) -> float:
    """How many reads a word of FFL(T, p) has on average.

    Raises:
        MachineError: If there are no words of this length.
    """
    return 1 + (_pairs(length) - 2) * instructions.read


def next_token_law(
    states: IntArray, length: int, instructions: Instructions, values: int = 2
) -> FloatArray:
    """The law of every token given the tokens before it: the Bayes predictor of FFL(T, p).

    It is a function of the acceptor's state, but for the last instruction, which is a
    read: only the position tells that.

    Args:
        states: ``(..., T)``: the acceptor's state *before* each token, that is its start
            and then its states after each token but the last.
        length: T.
        instructions: p.
        values: How many values there are.

    Returns:
        ``(..., T, values + 3)`` probabilities; all 0 after a word that is no prefix.

    Raises:
        MachineError: If there are no words of this length.
    """
    _pairs(length)
    table = _laws(values, instructions)
    law = table[states]
    forced = (law[..., length - 2, [WRITE, READ, IGNORE]] > 0).any(axis=-1)
    last = np.expand_dims(forced, -1) * np.eye(values + VALUES)[READ]
    law[..., length - 2, :] = last
    return np.asarray(law)


def _laws(values: int, instructions: Instructions) -> FloatArray:
    """``(states, letters)``: the law of the next token in each state of the acceptor."""
    machine = acceptor(values)
    legal = machine.transitions.T != machine.states.index(ERROR)
    weights = np.ones(values + VALUES)
    weights[:VALUES] = instructions.write, instructions.read, instructions.ignore
    chances = legal * weights
    # The first instruction is a write, however rare writes are later.
    chances[machine.start, WRITE] = 1.0
    total = np.maximum(chances.sum(axis=1, keepdims=True), TINY)
    return np.asarray(chances / total)


def window_ceiling(window: int, ignore: float, values: int = 2) -> float:
    """The best read accuracy of a model that sees the last ``window`` tokens only.

    The last of them is ``r``. Before it stand ⌊window/2⌋ values. Each of them is the one
    to say unless its instruction is ``i``; if all are ignored, one is guessed. If the
    window is even it does not show the instruction of the first of these values, but to
    say that value is right whatever the instruction, as often as can be.
    """
    hidden = ignore ** (window // 2)
    return 1 - hidden * (1 - 1 / values)


def ceiling(window: int, length: int, ignore: float, values: int = 2) -> float:
    """The best accuracy on all reads of FFL(length, p) with that window.

    The first value of a word is written. A read with at most ⌊window/2⌋ pairs before it
    sees that value, or can guess it, and is always right; all others have
    `window_ceiling`.

    Raises:
        MachineError: If there are no words of this length.
    """
    instructions = Instructions.ignoring(ignore)
    expected = np.full(_pairs(length) - 1, instructions.read)
    expected[-1] = 1.0
    best = np.full(len(expected), window_ceiling(window, ignore, values))
    best[: window // 2] = 1.0
    return float(best @ expected / expected.sum())


# How the thesis draws words for each machine (section 3.4.5.1.1).


# A sampler takes a generator, a count and a length; it gives (count, length) letters.
Sampler = Callable[["np.random.Generator", int, int], IntArray]


def uniform(machine: Automaton) -> Sampler:
    """Letters drawn independently and uniformly."""
    letters = len(machine.letters)

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
        return rng.integers(letters, size=(count, length))

    return sample


def legal(machine: Automaton) -> Sampler:
    """Letters drawn uniformly among the letters that do not lead to the error state.

    Where all letters do, any is drawn.
    """
    allowed = machine.transitions != machine.states.index(ERROR)

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
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

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
        value = rng.integers(1, values + 1, size=(count, length))
        return np.where(rng.random((count, length)) < 0.5, value, 0)

    return sample


def numbers(machine: Automaton) -> Sampler:
    """Two random numbers, padded with a zero so that the last carry shows."""
    draw = uniform(machine)

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
        words = draw(rng, count, length)
        words[:, -1:] = 0
        return words

    return sample


def half_periodic(machine: Automaton) -> Sampler:
    """The word ababab… with probability 1/2, and a uniform word otherwise."""
    draw = uniform(machine)

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
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

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
        words = rng.integers(moves, size=(count, length))
        value = rng.integers(moves, moves + resets, size=(count, length))
        return np.where(_reset_places(rng, count, length), value, words)

    return sample


def _reset_places(rng: "np.random.Generator", count: int, length: int) -> IntArray:
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

    def sample(rng: "np.random.Generator", count: int, length: int) -> IntArray:
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
