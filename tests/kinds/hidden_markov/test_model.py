"""Hidden Markov models: filter, predictor and sampler beside Bayes' rule by enumeration."""

from itertools import product

import numpy as np
import pytest

from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    find_by_name,
)
from krohn.program.errors import Refused

P = [[0.5, 0.25, 0.0], [0.25, 0.75, 0.5], [0.25, 0.0, 0.5]]
SAID = [[0.75, 0.5, 0.125], [0.25, 0.5, 0.875]]


def weather() -> HiddenMarkovModel:
    return HiddenMarkovModel.of("weather", P, SAID, before=[1, 0, 0], letters="ab")


def enumerated(word: tuple[int, ...]) -> np.ndarray:
    """The law of the state after a word, by the sum over all paths of states."""
    law = np.zeros(3)
    for path in product(range(3), repeat=len(word)):
        steps = zip((0, *path), path, word, strict=False)
        law[path[-1]] += np.prod([P[new][old] * SAID[o][new] for old, new, o in steps])
    return law


@pytest.mark.parametrize("word", [(0,), (1, 1), (0, 1, 1, 0, 1)])
def test_the_filter_is_bayes_rule(word: tuple[int, ...]) -> None:
    joint = enumerated(word)
    beliefs, likelihoods = weather().filter([word])
    assert np.allclose(beliefs[0, -1], joint / joint.sum(), atol=1e-15)
    assert np.isclose(likelihoods.sum(), np.log(joint.sum()), rtol=1e-13)
    exact = [float(x) for x in weather().exactly(word)[-1]]
    assert np.allclose(exact, beliefs[0, -1], atol=1e-15)


def test_the_predictor_is_the_law_of_the_next_letter() -> None:
    word = (0, 1, 0)
    joint = [enumerated((*word, o)).sum() for o in range(2)]
    law = weather().predict(weather().filter([word])[0])[0, -1]
    assert np.allclose(law, np.array(joint) / sum(joint), atol=1e-15)


def test_samples_have_the_frequencies_of_the_model() -> None:
    words, states = weather().sample(40000, 3, np.random.default_rng(0))
    for word in product(range(2), repeat=3):
        seen = (words == word).all(axis=1)
        likely = enumerated(word).sum()
        assert abs(seen.mean() - likely) < 5 * np.sqrt(likely / 40000)
        law = np.bincount(states[seen, -1], minlength=3) / seen.sum()
        assert np.abs(law - enumerated(word) / likely).max() < 5 / np.sqrt(seen.sum())


def test_long_words_neither_vanish_nor_drift() -> None:
    words, _ = weather().sample(2, 5000, np.random.default_rng(1))
    beliefs, _ = weather().filter(words)
    assert np.abs(beliefs.sum(axis=2) - 1).max() < 1e-14


def test_what_is_on_file_comes_back() -> None:
    back = HiddenMarkovModel.from_wire(weather().to_wire())
    assert np.array_equal(back.operators, weather().operators)
    assert back.to_wire() == weather().to_wire()


@pytest.mark.parametrize(
    ("transitions", "emissions", "start", "reason"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], [[1, 1]], [1, 0], "column 2 of the transitions"),
        ([[1.5, 0], [-0.5, 1]], [[1, 1]], [1, 0], "negative"),
        ([[1, 0], [0, 1]], [[0.9, 1]], [1, 0], "column 1 of the emissions"),
        ([[1, 0], [0, 1]], [[1, 1]], [0.5, 0.4], "start adds up to 0.9"),
        ([[1, 0], [0, 1]], [[1, 1]], [0.5, np.nan], "no number"),
        ([[1, 0], [0, 1]], [[1, 1]], [1, 0, 0], "another shape"),
    ],
)
def test_what_are_no_probabilities_is_refused(
    transitions: list[list[float]],
    emissions: list[list[float]],
    start: list[float],
    reason: str,
) -> None:
    with pytest.raises(Refused, match=reason):
        HiddenMarkovModel.of("wrong", transitions, emissions, before=start)


def test_an_impossible_letter_is_named() -> None:
    model = HiddenMarkovModel.of("two", np.eye(2), np.eye(2), before=[1, 0])
    with pytest.raises(Refused, match="letter 2, '2', is impossible"):
        model.exactly([0, 1])
    beliefs, likelihoods = model.filter([[0, 1]])
    assert likelihoods[0, 1] == -np.inf
    assert np.isnan(beliefs[0, 1]).all()


@pytest.mark.parametrize("letter", [-1, 5])
def test_numbers_of_no_letter_are_refused(letter: int) -> None:
    model = find_by_name("RanHMM2,5@1")
    assert model is not None
    with pytest.raises(Refused, match="letters from 0 to 4"):
        model.filter([[0, letter]])


def test_which_law_of_the_start_is_meant_must_be_said() -> None:
    """That of hmmlearn is of the state that says the first letter."""
    law = [0.5, 0.5]
    for start in ({}, {"before": law, "first": law}):
        with pytest.raises(Refused, match=r"before=.* first=.* startprob of hmmlearn"):
            HiddenMarkovModel.of("rain", np.eye(2), np.eye(2), **start)
    with pytest.raises(Refused, match="first is no law of 2 states"):
        HiddenMarkovModel.of("rain", np.eye(2), np.eye(2), first=[1.0])
    with pytest.raises(Refused, match="first is no law of 2 states"):
        HiddenMarkovModel.of("rain", np.eye(2), np.eye(2), first=[0.5, 0.0])
    with pytest.raises(Refused, match="has a state twice"):
        HiddenMarkovModel.of(
            "rain", np.full((2, 2), 0.5), np.eye(2), first=law, states=["start", "end"]
        )
