"""Errors of beliefs, fit lengths, and the floors of cross entropy, on known cases."""

import random

import numpy as np
import pytest

from krohn.instruments.compare.measures.beliefs import (
    NO_NUMBER,
    Fit,
    by_position,
    distances,
    entropies,
    excesses,
    fit,
)
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.linear_systems.source import (
    LinearSystem,
    cyclic,
)


def test_errors_of_laws_are_total_variation_and_of_vectors_their_length() -> None:
    sure, even = np.array([1.0, 0, 0]), np.array([0.5, 0.5, 0])
    assert distances(even, sure, True) == 0.5  # ‖·‖₁/2
    assert distances(np.array([0, 0, 1.0]), sure, True) == 1
    off = distances(np.array([3.0, 4.0, 0]), np.zeros(3), False)
    assert off == 5  # ‖·‖₂/1
    assert distances(np.array([np.nan, 0, 0]), sure, True) == NO_NUMBER


def test_positions_are_means_over_the_words_that_are_asked_there() -> None:
    off = np.array([[0.1, 0.2, 0.3], [0.3, 0.9, 0.5]])
    asked = np.array([[True, True, False], [True, False, False]])
    assert by_position(off, asked) == (pytest.approx(0.2), 0.2, None)
    bad = np.array([[NO_NUMBER], [NO_NUMBER]])
    (error,) = by_position(bad, np.ones((2, 1), dtype=bool))
    assert error is not None
    assert 1 < error < np.inf


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([(0.01, 0.01, 0.2)], Fit(2, 0)),
        ([(0.2, 0.2, 0.2)], Fit(0, None)),
        ([(0.05, 0.01)], Fit(0, None)),  # below, not at most
        # A later position that fits again does not count.
        ([(0.01, 0.2, 0.01)], Fit(1, 0)),
        # What was fitted once, and is not at the end, does not count.
        ([(0.01, 0.01, 0.01), (0.01, 0.2, 0.01)], Fit(1, 0)),
        ([(0.2, 0.2), (0.01, 0.01), (0.01, 0.2), (0.01, 0.01)], Fit(2, 3)),
        # Nothing is asked at the first and the last position.
        ([(None, 0.01, 0.01, None)], Fit(3, 0)),
        ([(None, None)], Fit(0, None)),
        ([(NO_NUMBER,)], Fit(0, None)),
    ],
)
def test_fit_lengths(history: list[tuple[float | None, ...]], expected: Fit) -> None:
    assert fit(history, 0.05) == expected


def test_excess_is_cross_entropy_less_its_floor() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), 20), rng.dirichlet(np.ones(4), 20)
    cross = -(p * np.log(q)).sum(-1)
    assert np.allclose(excesses(q, p), cross - entropies(p))
    assert np.allclose(excesses(p, p), 0)
    assert excesses(np.array([0.0, 1.0]), np.array([0.5, 0.5])) == np.inf
    assert excesses(np.array([1.0, 0.0]), np.array([1.0, 0.0])) == 0
    assert excesses(np.array([np.nan, 1.0]), np.array([0.5, 0.5])) == np.inf


def test_floor_of_noisy_cycles_is_that_of_the_paper() -> None:
    """Five states, five letters, ε = 0.01, 120 letters: 1.127 nats."""
    turns = random.Random(5)
    steps = np.array([cyclic(5, turns) for _ in range(5)])
    noisy = 0.99 * steps + 0.01 * steps.swapaxes(1, 2)
    system = LinearSystem("noisy", tuple("12345"), noisy, np.eye(5)[0])
    words = np.random.default_rng(0).integers(5, size=(500, 120))
    assert entropies(system.run(words)).mean() == pytest.approx(1.127, abs=0.01)


def test_floors_of_random_models_are_in_the_range_of_the_paper() -> None:
    """Uniform entries, columns normalised, five of each: 1.356 to 1.529 nats."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        step, say = rng.random((2, 5, 5))
        model = HiddenMarkovModel.of(
            "random", step / step.sum(0), say / say.sum(0), before=np.eye(5)[0]
        )
        words, _ = model.sample(200, 60, rng)
        floor = entropies(model.filter(words)[0]).mean()
        assert 1.3 < floor < 1.56
