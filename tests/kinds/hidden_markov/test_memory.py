"""What is lost with the letters before the last L, and what theorems assume."""

from itertools import product

import numpy as np
import pytest
from model_memory import forgotten, history_spread, stated_memory, stationary

from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.source import (
    HiddenMarkovModel,
    moore_form,
)
from krohn.kinds.hidden_markov.source_structure import (
    emissions,
    observation_operator,
    rank,
)
from krohn.program.errors import Refused


def model(name: str) -> HiddenMarkovModel:
    found = hidden_markov.find_by_name(name)
    assert found is not None
    return found


def test_the_stationary_law_is_not_changed_by_a_step() -> None:
    for name in ("RanHMM5,5@3", "RRXOR", "Cyclic-HARD2,2@1"):
        source, law = model(name), stationary(model(name))
        assert np.allclose(source.operators.sum(axis=0) @ law, law, atol=1e-12)
        assert abs(law.sum() - 1) < 1e-12


def test_memory_is_the_expectation_over_all_words() -> None:
    source, prior = model("RanHMM3,2@4"), stationary(model("RanHMM3,2@4"))
    found, letters = forgotten(source, 5, 3), np.zeros(3)
    said = source.operators.sum(axis=1)
    for word in product(range(2), repeat=5):
        full = source.start
        for o in word:
            full = source.operators[o] @ full
        for window in (1, 2, 3):
            short = prior
            for o in word[-window:]:
                short = source.operators[o] @ short
            apart = said @ (full / full.sum() - short / short.sum())
            letters[window - 1] += full.sum() * np.abs(apart).sum()
    assert np.allclose(found.letters, letters, atol=1e-15)


def test_a_longer_memory_loses_less() -> None:
    """Each letter leaves about a third of what a model of three states has lost."""
    found = forgotten(model("RanHMM3,3@1"), 9, 8)
    for errors in found:
        assert (np.diff(errors) < 0).all()
        assert errors[-1] < errors[0] / 100
    assert (found.letters <= found.beliefs + 1e-15).all()


def test_a_finite_memory_that_is_enough_loses_nothing() -> None:
    found = forgotten(model("GoldenMean"), 6, 3)
    assert found.beliefs.max() < 1e-15


def test_too_many_words_are_refused_at_once() -> None:
    for length, most in ((40, 3), (3, 3), (3, 0), (10**9, 2)):
        with pytest.raises(Refused):
            forgotten(model("RanHMM3,3@1"), length, most)
    with pytest.raises(Refused, match="too many"):
        observation_operator(model("RanHMM3,3@1"), 10**9)


def test_the_bound_of_observable_models_grows_as_stated() -> None:
    assert stated_memory(1, 5, 5 / np.e) == pytest.approx(1)
    assert stated_memory(0.5, 5, 5 / np.e) == pytest.approx(16)


def test_emissions_are_those_that_a_model_was_made_of() -> None:
    step, say = [[0.5, 0.2], [0.5, 0.8]], [[0.9, 0.3], [0.1, 0.7]]
    source = HiddenMarkovModel.of("two", step, say, before=[1, 0])
    found = emissions(source)
    assert found is not None
    assert np.allclose(found, say)
    assert emissions(model("EvenProcess")) is None
    assert emissions(moore_form(model("EvenProcess"))) is not None


def test_m_steps_are_the_laws_of_m_letters_from_each_state() -> None:
    source = model("RanHMM4,2@1")
    own = emissions(source)
    assert own is not None
    found = observation_operator(source, 3)
    assert np.allclose(found.sum(axis=0), 1)
    for row, word in enumerate(product(range(2), repeat=3)):
        law = own[word[0]].copy()
        for s in range(4):
            reached = np.eye(4)[s]
            for o in word[1:]:
                reached = source.operators[o] @ reached
            law[s] *= reached.sum()
        assert np.allclose(found[row], law)
    edges = observation_operator(model("EvenProcess"), 1)
    assert edges.tolist() == [[0.5, 0], [0.5, 1]]


def test_the_rank_is_that_of_the_transitions() -> None:
    low = np.outer([0.2, 0.3, 0.5], np.ones(3))
    say = [[0.1, 0.5, 0.3], [0.9, 0.5, 0.7]]
    assert rank(HiddenMarkovModel.of("low", low, say, before=[1, 0, 0])) == 1
    assert rank(model("RanHMM5,5@3")) == 5


@pytest.mark.parametrize("letters", [1, 2, 3])
def test_histories_never_vary_in_all_directions(letters: int) -> None:
    """The third assumption fails by L − 1 eigenvalues of 0, whatever the model is."""
    source = model("RanHMM4,3@1")
    values = history_spread(source, letters)
    words, _ = source.sample(40000, letters, np.random.default_rng(0))
    ones = np.eye(3)[words].reshape(40000, -1)
    sampled = np.linalg.eigvalsh(ones.T @ ones / 40000)
    assert np.allclose(values, sampled, atol=0.02)
    assert (np.abs(values) < 1e-12).sum() == letters - 1
