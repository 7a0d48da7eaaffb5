"""How observable a model is: linear programs beside closed forms and searches."""

import numpy as np
import pytest

from krohn.algebra.errors import KrohnError
from krohn.model_facts import gamma
from krohn.sources import hidden_markov
from krohn.sources.hidden_markov.structure import observed


def test_letters_that_name_the_state_are_fully_observable() -> None:
    assert gamma(np.eye(4)) == pytest.approx(1)


def test_two_states_are_as_observable_as_their_laws_are_apart() -> None:
    laws = np.array([[0.7, 0.2], [0.3, 0.8]])
    assert gamma(laws) == pytest.approx(0.5)


def test_states_that_say_the_same_are_not_observable() -> None:
    laws = np.array([[0.5, 0.2, 0.5], [0.5, 0.8, 0.5]])
    assert gamma(laws) == pytest.approx(0, abs=1e-9)


def test_no_two_laws_are_nearer_and_some_are_as_near() -> None:
    generator = np.random.default_rng(3)
    for _ in range(5):
        laws = generator.dirichlet(np.full(4, 0.3), 3).T
        apart = np.diff(generator.dirichlet(np.full(3, 0.3), (20000, 2)), axis=1)[:, 0]
        norms = np.abs(apart).sum(axis=1)
        ratios = np.abs(apart @ laws.T).sum(axis=1)[norms > 1e-9] / norms[norms > 1e-9]
        assert ratios.min() >= gamma(laws) - 1e-9
        assert ratios.min() <= gamma(laws) + 0.02


def test_more_states_than_letters_need_more_steps() -> None:
    """Weakly revealing: one letter does not tell 4 states apart, three letters do."""
    source = hidden_markov.named("RanHMM4,2@1")
    assert source is not None
    assert gamma(observed(source)) == pytest.approx(0, abs=1e-9)
    assert gamma(observed(source, 3)) > 1e-4


def test_too_many_states_are_refused_at_once() -> None:
    with pytest.raises(KrohnError, match="up to 12 states"):
        gamma(np.eye(40))
