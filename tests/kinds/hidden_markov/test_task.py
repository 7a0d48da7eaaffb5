"""Labels of hidden Markov models are beliefs; those of next letters have the true law."""

import numpy as np
import pytest
from hidden_markov_sweep import FixedWords

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.tasks.beliefs import Asks, BeliefTask
from krohn.instruments.compare.training.provenance import content_name, describe
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import (
    LinearSystem,
    find_by_name,
)

STEP = np.array([[0.9, 0.3], [0.1, 0.7]])
SAY = np.array([[0.8, 0.1], [0.2, 0.9]])
WEATHER = HiddenMarkovModel.of("weather", STEP, SAY, before=[1.0, 0.0])


def linear(name: str) -> LinearSystem:
    found = find_by_name(name)
    assert found is not None
    return found


def test_labels_are_the_beliefs_of_bayes() -> None:
    batch = BeliefTask(WEATHER).label(np.array([[0, 1, 1], [1, 0, 1]]))
    for word, beliefs in zip(batch.letters, batch.labels, strict=True):
        b = np.array([1.0, 0.0])
        for letter, said in zip(word, beliefs, strict=True):
            joint = SAY[letter] * (STEP @ b)
            b = joint / joint.sum()
            assert np.allclose(said, b, atol=1e-15)
    assert np.array_equal(batch.labels, batch.truth)
    assert batch.asked.all()


def test_samples_of_the_next_letter_have_the_law_that_is_the_truth() -> None:
    batch = BeliefTask(WEATHER, "next").batch(np.random.default_rng(0), 4000, 3)
    assert batch.letters.shape == batch.asked.shape == (4000, 3)
    assert np.isin(batch.labels, (0, 1)).all()
    assert (batch.labels.sum(-1) == 1).all()
    for t in range(3):  # for each word that was read: how often does letter 0 follow?
        codes = batch.letters[:, : t + 1] @ 2 ** np.arange(t + 1)
        for code in np.unique(codes):
            words = codes == code
            share = batch.labels[words, t, 0].mean()
            assert np.ptp(batch.truth[words, t, 0]) < 1e-12
            spread = 4 * 0.5 / np.sqrt(words.sum())
            assert abs(share - batch.truth[words, t, 0][0]) < spread


@pytest.mark.parametrize("asks", ["belief", "next"])
def test_a_lesson_has_the_letters_and_labels_of_a_batch(asks: Asks) -> None:
    task = BeliefTask(WEATHER, asks)
    letters, labels = task.lesson(np.random.default_rng(3), 20, 5)
    batch = task.batch(np.random.default_rng(3), 20, 5)
    assert np.array_equal(letters, batch.letters)
    assert np.array_equal(labels, batch.labels)


def test_fixed_words_are_read_again_and_their_beginnings_too() -> None:
    task = FixedWords(WEATHER, pool=3, longest=9)
    known = {tuple(word) for word in task.words.letters.tolist()}
    for seed, length in ((0, 9), (1, 4)):
        batch = task.batch(np.random.default_rng(seed), 50, length)
        drawn = {tuple(word) for word in batch.letters.tolist()}
        assert drawn == {word[:length] for word in known}
        again = BeliefTask(WEATHER).label(batch.letters)
        assert np.array_equal(batch.labels, again.labels)
    assert content_name(describe(task)) != content_name(describe(task.fresh))


def test_what_was_read_and_the_label_are_neighbours_in_one_word() -> None:
    word = np.array([[0, 1, 1, 0]])
    batch = BeliefTask(WEATHER, "next").label(word)
    assert batch.letters.tolist() == [[0, 1, 1]]
    assert batch.labels.argmax(-1).tolist() == [[1, 1, 0]]


def test_linear_systems_are_laws_if_their_columns_are() -> None:
    cycles, turns = (
        BeliefTask(linear("Cyclic-DET5,2@3")),
        BeliefTask(linear("MatMul3,2@1")),
    )
    assert cycles.probabilities
    assert not turns.probabilities
    batch = cycles.batch(np.random.default_rng(0), 8, 6)
    assert (batch.truth.sum(-1) == 1).all()
    assert batch.truth.shape == (8, 6, 5)


def test_answers_count_after_named_letters_only() -> None:
    batch = BeliefTask(WEATHER, after=("2",)).label(np.array([[0, 1, 1]]))
    assert batch.asked.tolist() == [[False, True, True]]
    with pytest.raises(KrohnError, match="no letter '7' to ask after"):
        BeliefTask(WEATHER, after=("7",))


def test_letters_that_are_chosen_have_no_law() -> None:
    with pytest.raises(KrohnError, match="are chosen, not said by it"):
        BeliefTask(linear("Cyclic-DET5,2@3"), "next")
