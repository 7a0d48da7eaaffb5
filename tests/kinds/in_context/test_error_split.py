"""The parts of the error of a law that was learned in context."""

import numpy as np
import pytest
from error_split import Population, prompts_of, split
from model_memory import forgotten, stationary

from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.in_context.source import (
    InContext,
    find_by_name,
)
from krohn.program.errors import Refused


def of(name: str) -> InContext:
    found = find_by_name(name)
    assert found is not None
    return found


def model(states: int, letters: int, seed: int) -> HiddenMarkovModel:
    """A random model that begins in its stationary law: windows at all times are alike."""
    random = np.random.default_rng(seed)
    step = random.dirichlet(np.ones(states), size=states).T
    say = random.dirichlet(np.ones(letters) * 0.5, size=states).T
    first = np.full(states, 1 / states)
    found = HiddenMarkovModel.of("random", step, say, before=first)
    return HiddenMarkovModel.of("random", step, say, before=stationary(found))


def test_a_window_of_one_letter_is_linear() -> None:
    """Gap 2: with L = 1 the best linear predictor has no error, with L = 2 it has."""
    source, hmm = of("InContext3,1"), model(4, 3, 1)
    found = Population.of(source, hmm)
    assert found.likely.sum() == pytest.approx(1, abs=1e-12)
    assert np.abs(found.weights.T - found.laws).max() < 1e-12
    two = Population.of(of("InContext3,2"), hmm)
    features = np.eye(3)[np.indices((3, 3)).reshape(2, -1).T[:, ::-1]].reshape(9, -1)
    off = np.abs(features @ two.weights.T - two.laws).sum(axis=1)
    assert 1e-4 < two.likely @ off < 0.2


def test_windows_are_as_likely_as_the_model_says() -> None:
    source, hmm = of("InContext3,2:ahead=2"), model(3, 3, 2)
    found = Population.of(source, hmm)
    words, _ = hmm.sample(40_000, 4, np.random.default_rng(0))
    seen = np.bincount(words[:, 0] * 3 + words[:, 1], minlength=9) / len(words)
    assert np.abs(seen - found.likely).max() < 0.02
    chosen = words[(words[:, 0] == 0) & (words[:, 1] == 1)]
    after = np.bincount(chosen[:, 2] * 3 + chosen[:, 3], minlength=9) / len(chosen)
    assert np.abs(after - found.laws[1]).max() < 0.05


def test_the_memory_part_is_that_of_the_enumeration() -> None:
    """Row 21: E ‖Pr(o | all) − P_L(o | the last L)‖₁, by sampling and by listing."""
    source, hmm = of("InContext3,2:history=7,demonstrations=4"), model(3, 3, 3)
    prompts = prompts_of(source, hmm, 4_000, np.random.default_rng(1))
    listed = forgotten(hmm, 7, 3).letters[1]
    assert split(source, hmm, prompts).memory == pytest.approx(listed, rel=0.1)


@pytest.mark.slow
def test_the_parts_add_up_to_at_least_the_whole_and_shrink_as_they_should() -> None:
    hmm, random = model(4, 3, 4), np.random.default_rng(2)
    few, many = (
        of("InContext3,1:steps=4"),
        of("InContext3,1:demonstrations=400,steps=4"),
    )
    late = of("InContext3,1:demonstrations=400,steps=60")
    found = [split(s, hmm, prompts_of(s, hmm, 200, random)) for s in (few, many, late)]
    for parts in found:
        together = parts.memory + parts.linear + parts.generalisation
        assert parts.total <= together + parts.optimisation + 1e-12
        assert parts.linear < 1e-12
    assert found[1].generalisation < found[0].generalisation / 2
    assert found[2].optimisation < found[1].optimisation / 10


def test_more_states_than_letters_are_predicted_two_steps_at_once() -> None:
    source, hmm = of("InContext2,1:ahead=2,demonstrations=300,steps=40"), model(4, 2, 5)
    parts = split(source, hmm, prompts_of(source, hmm, 100, np.random.default_rng(3)))
    assert parts.linear < 1e-12
    assert parts.total < 0.5


def test_other_letters_and_long_words_are_refused() -> None:
    with pytest.raises(Refused, match="other letters"):
        Population.of(of("InContext2,1"), model(3, 3, 0))
    with pytest.raises(Refused, match="too many"):
        Population.of(of("InContext3,11"), model(3, 3, 0))
