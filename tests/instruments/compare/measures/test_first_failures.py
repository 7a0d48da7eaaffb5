"""Failing words are legal, wrong where it is asked, and the first of the shortest."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import IGNORE, READ, acceptor
from krohn.compilation import compile as compiled
from krohn.instruments.compare.measures.accuracy import (
    right,
    simulator,
)
from krohn.instruments.compare.measures.baselines import Guess
from krohn.instruments.compare.measures.first_failures import (
    SAMPLES,
    TaskMachine,
    by_strategy,
    find_failing_word,
    first_failing_words,
    task_machine,
)
from krohn.instruments.compare.tasks import Task
from krohn.instruments.compare.tasks.catalogue import task
from krohn.network.model import Model
from krohn.verify.testing.counterexample import Simulator

Knows = Callable[..., Simulator]
LANGUAGES = ["Dyck4,2", "flip-flop", "flip-flop, generative", "brackets"]


def legal_words(asked: Task, length: int) -> np.ndarray:
    """All legal words of a length in the order of their letters, by trying all."""
    reads = acceptor(2) if asked.letters == acceptor(2).letters else asked.machine
    every = np.array(list(product(range(len(asked.letters)), repeat=length)))
    ends = reads.semiautomaton.trace(every, reads.start)[:, -1]
    return np.asarray(every[ends != reads.states.index("error")])


def answers(wanted: TaskMachine, letters: np.ndarray) -> np.ndarray:
    """The right classes after each letter."""
    return np.asarray(wanted.answers[wanted.legal_words_and_states(letters)[1]])


def first_wrong(model: Simulator, asked: Task, most: int) -> tuple[str, ...] | None:
    """The first of the shortest legal words whose last answer is asked for and wrong.

    In a task of next letters one more letter, any legal one, decides what is asked.
    """
    follows = asked.predicts == "next"
    for length in range(1, most + 1):
        batch = asked.label(legal_words(asked, length + follows))
        last = length - 1
        bad = (~right(model, asked, batch) & batch.asked)[:, last]
        if bad.any():
            word = batch.letters[bad.argmax(), :length]
            return tuple(asked.letters[a] for a in word)
    return None


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["C2", *LANGUAGES])
def test_no_word_fails_who_knows_the_task(name: str, knows: Knows) -> None:
    """Whatever it says after illegal words, or where nothing is asked."""
    asked = task(name)
    wanted = task_machine(asked)

    def change(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        read, after = wanted.legal_words_and_states(letters)
        assert np.array_equal(read, letters)
        counts = wanted.asked[read, after]
        other = (said + 1) % len(asked.classes)
        return np.where(counts, answers(wanted, letters), other)

    found = find_failing_word(
        knows(asked, change), asked, 12, exhaustive_words=500, samples=64
    )
    assert found.found is None
    assert found.length == 12


def test_the_compiled_network_reads_all_flip_flops() -> None:
    asked = task("flip-flop")
    model = Model(compiled(asked.machine, 10).file)
    done = first_failing_words(
        model, asked, (6, 10, 20), exhaustive_words=500, samples=64
    )
    assert [(f.length, f.found) for f in done] == [(6, None), (10, None)]


def test_who_counts_to_four_fails_at_five(knows: Knows) -> None:
    asked = task("C2")

    def few(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(letters.cumsum(axis=1) > 4, 0, said)

    found = find_failing_word(knows(asked, few), asked, 32)
    assert found.found is not None
    assert found.found.word == ("1",) * 5
    assert found.least
    assert found.right == 4
    assert found.how == "all words"


def test_faults_of_long_words_are_found_at_longer_ones(knows: Knows) -> None:
    asked = task("C2")

    def short(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(np.arange(letters.shape[1]) >= 20, 0, said)

    done = first_failing_words(
        knows(asked, short), asked, (16, 32, 64), exhaustive_words=100, budget=2000
    )
    assert [found.found is None for found in done] == [True, False]
    # Short words are run once; the last search for a smaller word runs more of them.
    assert [found.right for found in done] == [5, 9]
    assert done[1].words <= 2 + SAMPLES
    assert done[1].found is not None
    assert len(done[1].found.word) == 21
    assert not done[1].least


@pytest.mark.parametrize("name", ["flip-flop", "flip-flop, generative"])
def test_who_forgets_behind_an_ignored_value_fails_there(name: str) -> None:
    asked = task(name)
    wanted = task_machine(asked)

    def forgets(letters: np.ndarray) -> np.ndarray:
        ignored = np.roll(letters, 2, axis=1) == IGNORE
        ignored[:, :2] = False
        return np.where(ignored & (letters == READ), 2, answers(wanted, letters))

    found = find_failing_word(simulator(forgets, asked), asked, 20, samples=100)
    assert found.found is not None
    assert found.found.word == ("w", "0", "i", "0", "r")
    assert found.found.expected[-1] == "0"
    assert found.found.actual[-1] == asked.classes[2]
    assert found.least


@pytest.mark.slow
@settings(max_examples=10)
@given(st.sampled_from(LANGUAGES), st.integers(0, 1000), st.integers(1, 4))
def test_it_is_the_first_legal_word_that_fails(name: str, seed: int, rare: int) -> None:
    """Of networks that are wrong at some words, by chance."""
    asked = task(name)
    wanted, guess = task_machine(asked), Guess(4**rare, seed)

    def sometimes(letters: np.ndarray) -> np.ndarray:
        read, _ = wanted.legal_words_and_states(letters)
        wrong = (guess(read) == 0) | (read != letters)
        return (answers(wanted, letters) + wrong) % len(asked.classes)

    model = simulator(sometimes, asked)
    found = find_failing_word(model, asked, 5, exhaustive_words=10_000, samples=0)
    expected = first_wrong(model, asked, 5)
    assert (found.found.word if found.found else None) == expected
    assert found.found is None or found.least


@given(st.sampled_from(LANGUAGES), st.integers(0, 2**32 - 1))
def test_words_are_read_as_legal_ones_and_those_as_they_are(
    name: str, seed: int
) -> None:
    asked = task(name)
    wanted = task_machine(asked)
    rng = np.random.default_rng(seed)
    words = rng.integers(len(asked.letters), size=(30, 9))
    read, after = wanted.legal_words_and_states(words)
    legal = {tuple(w) for w in asked.inputs.draw(asked.machine, rng, 50, 9).tolist()}
    for word in legal:
        again, _ = wanted.legal_words_and_states(np.array([word]))
        assert tuple(again[0].tolist()) == word
    again, states = wanted.legal_words_and_states(read)
    assert np.array_equal(again, read)
    assert np.array_equal(states, after)


def test_strategies_show_which_words_break_it(
    knows: Knows, rng: np.random.Generator
) -> None:
    asked = task("C2")

    def few(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        return np.where(letters.cumsum(axis=1) > 24, 0, said)

    struck = {s.strategy: s for s in by_strategy(knows(asked, few), asked, rng, 32)}
    assert struck["uniform"].tokens.value > 0.99
    assert struck["constant"].words.value < 0.9
    assert struck["counts"].words.value < 0.9


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", LANGUAGES)
def test_words_of_strategies_are_legal_and_asked_about(
    name: str, knows: Knows, rng: np.random.Generator
) -> None:
    asked = task(name)
    struck = by_strategy(knows(asked), asked, rng, 12, 10)
    assert len(struck) >= 8
    assert all(s.tokens.perfect and s.words.perfect for s in struck)


def test_what_words_do_not_decide_cannot_fail(knows: Knows) -> None:
    free = Task("free", task("C2").machine, task("C2").inputs, predicts="next")
    with pytest.raises(KrohnError, match="no answer that words decide"):
        find_failing_word(knows(free), free, 4)
