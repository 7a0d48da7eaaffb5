"""The flip-flop language: its machines, how many words it has, and their law."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.zoo import samplers
from krohn.algebra.zoo.samplers import READ, VALUES, WRITE, Instructions

HALF = Instructions.ignoring(0.5)


def belongs(word: tuple[int, ...], values: int) -> bool:
    """Whether a word is one of the language, by its definition."""
    stored = None
    for order, value in zip(word[::2], word[1::2], strict=True):
        if order >= VALUES or not VALUES <= value < VALUES + values:
            return False
        if stored is None and order != WRITE:
            return False
        if order == READ and value != stored:
            return False
        stored = value if order == WRITE else stored
    return word[0] == WRITE and word[-2] == READ


def every_word(length: int, values: int) -> IntArray:
    words = product(range(values + VALUES), repeat=length)
    return np.array([w for w in words if belongs(w, values)])


def before(values: int, words: IntArray) -> IntArray:
    """The acceptor's state before each token."""
    machine = samplers.acceptor(values)
    trace = machine.semiautomaton.trace(words, machine.start)
    first = np.full((len(words), 1), machine.start)
    return np.concatenate([first, trace[:, :-1]], axis=1)


@pytest.mark.parametrize(("length", "values"), [(4, 2), (6, 2), (8, 2), (6, 3)])
def test_the_number_of_words(length: int, values: int) -> None:
    legal = [[WRITE], range(VALUES, VALUES + values)]
    middle = [range(VALUES), range(VALUES, VALUES + values)] * (length // 2 - 1)
    words = [w for w in product(*legal, *middle) if belongs(w, values)]
    assert len(words) == values * (2 * values + 1) ** (length // 2 - 2)


@pytest.mark.parametrize("values", [2, 3, 5])
def test_the_acceptor_is_minimal(values: int) -> None:
    machine = samplers.acceptor(values)
    assert len(machine.states) == 3 * values + 3
    assert len(reachable(machine).states) == len(machine.states)
    assert len(minimise(machine).states) == len(machine.states)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("length", "values"), [(4, 2), (5, 2), (4, 3)])
def test_the_acceptor_accepts_prefixes(length: int, values: int) -> None:
    machine = samplers.acceptor(values)
    even = length + length % 2 + 2
    prefixes = {tuple(w[:length]) for w in every_word(even, values).tolist()}
    for word in product(range(values + VALUES), repeat=length):
        trace = machine.semiautomaton.trace(word, machine.start)
        assert (machine.states[trace[-1]] != "error") == (word in prefixes)


def test_states_show_which_letters_follow() -> None:
    assert zoo.machine("FFL2").run("w1i0r1w") == (
        *("0 1", "w r i", "0 1", "w r i", "1", "w r i", "0 1"),
    )
    assert zoo.machine("FFL2").run("w1r0")[-1] == "none"


@given(st.integers(2, 4), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_the_tracker_knows_what_is_read(values: int, pairs: int, seed: int) -> None:
    machine = samplers.tracker(values)
    words = samplers.flip_flop(machine, HALF)(np.random.default_rng(seed), 8, 2 * pairs)
    trace = machine.semiautomaton.trace(words, machine.start)
    row, column = np.nonzero(words[:, :-1] == READ)
    assert np.array_equal(trace[row, column], words[row, column + 1] - VALUES)


@pytest.mark.parametrize(("length", "values"), [(4, 2), (6, 2), (6, 3)])
def test_the_law_is_that_of_the_words(length: int, values: int) -> None:
    words = every_word(length, values)
    law = samplers.next_token_law(before(values, words), length, HALF, values)
    assert np.allclose(law.sum(axis=-1), 1)
    chances = np.take_along_axis(law, words[..., None], axis=-1).prod(axis=(1, 2))
    assert chances.sum() == pytest.approx(1)
    reads = (words[:, ::2] == READ).sum(axis=1)
    assert reads @ chances == pytest.approx(samplers.reads_of(length, HALF))


def test_the_law_after_what_is_no_prefix_is_nothing() -> None:
    words = np.array([[0, 3, 1, 4, 1, 3]])
    law = samplers.next_token_law(before(2, words), 6, HALF)
    assert not law[0, 4:].any()
    assert law[0, 3].tolist() == [0, 0, 0, 1, 0]


@pytest.mark.parametrize(("ignore", "reads"), [(0.98, 3.54), (0.8, 26.4), (0.1, 115.3)])
def test_reads_in_the_distributions_of_the_thesis(ignore: float, reads: float) -> None:
    chosen = Instructions.ignoring(ignore)
    assert samplers.reads_of(512, chosen) == pytest.approx(reads, abs=0.05)
    words = samplers.flip_flop(zoo.machine("FFL2"), chosen)(
        np.random.default_rng(0), 2000, 512
    )
    assert (words == READ).sum(axis=1).mean() == pytest.approx(reads, rel=0.03)


def test_drawn_words_belong_to_the_language() -> None:
    words = zoo.sampler("FFL3")(np.random.default_rng(1), 200, 12)
    assert all(belongs(tuple(w), 3) for w in words.tolist())


@pytest.mark.parametrize(("window", "best"), [(21, 0.59), (101, 0.82), (201, 0.93)])
def test_what_a_window_can_know(window: int, best: float) -> None:
    assert samplers.window_ceiling(window, 0.98) == pytest.approx(best, abs=0.005)


@pytest.mark.sample(1)
@pytest.mark.parametrize("window", range(1, 8))
def test_a_window_knows_no_more_than_its_ceiling(window: int) -> None:
    """The best guess from the last tokens, counted over many words."""
    words = zoo.sampler("FFL2")(np.random.default_rng(2), 200_000, 12)
    at_end = words[:, 11 - window : 11]
    number = at_end @ 5 ** np.arange(window)
    counts = np.zeros((number.max() + 1, 2))
    np.add.at(counts, (number, words[:, 11] - VALUES), 1)
    best = counts.max(axis=1).sum() / counts.sum()
    assert best == pytest.approx(samplers.window_ceiling(window, 0.8), abs=0.01)


@given(st.floats(0, 1), st.integers(2, 6), st.integers(2, 4))
def test_a_window_as_long_as_the_word_knows_all(
    ignore: float, pairs: int, values: int
) -> None:
    length = 2 * pairs
    assert samplers.ceiling(length - 1, length, ignore, values) == 1
    ceilings = [samplers.ceiling(n, length, ignore, values) for n in range(1, length)]
    assert ceilings == sorted(ceilings)


def test_the_first_reads_of_a_word_need_no_luck() -> None:
    """Of three pairs the second reads with probability 0.1, the last always."""
    expected = (0.1 * 1 + 1 * samplers.window_ceiling(3, 0.8)) / 1.1
    assert samplers.ceiling(3, 6, 0.8) == pytest.approx(expected)


@pytest.mark.parametrize("length", [2, 3, 7])
def test_there_are_no_words_of_other_lengths(length: int) -> None:
    with pytest.raises(MachineError, match="even length"):
        samplers.reads_of(length, HALF)


def test_probabilities_must_be_probabilities() -> None:
    with pytest.raises(MachineError, match="sum to 1"):
        Instructions(0.5, 0.5, 0.5)
