"""A law of three letters goes back to the model that says it, or is refused."""

from itertools import permutations

import numpy as np
import pytest

from krohn.kinds.hidden_markov.source_masked import PRINTED, predictor, stationary
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.source_decompile import (
    FORWARD,
    TASKS,
    Decompiled,
    decompiled,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from tests.kinds.hidden_markov.test_masked import chain

SIZES = [(2, 3), (3, 4), (3, 5), (4, 6), (3, 3), (1, 2)]


def doubly_stochastic(size: int, seed: int) -> FloatArray:
    """A mean of permutations (Birkhoff), one of which leads around all states."""
    random = np.random.default_rng(seed)
    first, *others = random.dirichlet(np.ones(size + 1))
    around = first * np.roll(np.eye(size), 1, axis=0)
    rest = sum(w * np.eye(size)[random.permutation(size)] for w in others)
    return np.asarray(around + rest)


def error(found: Decompiled, emissions: FloatArray, transitions: FloatArray) -> float:
    """The largest error of an entry, after the best renaming of states."""
    return min(
        max(
            float(np.abs(emissions[:, p] - found.emissions).max()),
            float(np.abs(transitions[np.ix_(p, p)] - found.transitions).max()),
        )
        for p in map(list, permutations(range(len(transitions))))
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", TASKS, ids=str)
@pytest.mark.parametrize(("states", "letters"), SIZES)
def test_every_case_is_recovered(
    states: int, letters: int, task: Task, seed: int
) -> None:
    emissions, general, _ = chain(letters, states, seed)
    for transitions in (general, doubly_stochastic(states, seed)):
        found = decompiled(predictor(task, emissions, transitions), task)
        # Roundings of the law, by how much more the model moves.
        most = max(1e-10, 1e-15 * found.condition)
        assert error(found, emissions, transitions) <= most
        assert found.residual <= 1e-11
        prior = np.sort(stationary(transitions))
        assert np.abs(np.sort(found.prior) - prior).max() <= most


@pytest.mark.slow
def test_a_larger_model_is_recovered_and_one_too_large_is_refused() -> None:
    emissions, transitions, _ = chain(16, 8)
    found = decompiled(predictor(FORWARD, emissions, transitions))
    order = np.abs(emissions[:, :, None] - found.emissions[:, None]).max(axis=0)
    assert order.min(axis=0).max() <= 1e-10
    refused(np.full((64, 64, 64), 1 / 64**2), "too large", states=64)


def test_the_law_of_the_first_state_is_recovered_as_well() -> None:
    emissions, transitions, _ = chain(5, 3)
    prior = np.array([0.7, 0.2, 0.1])
    found = decompiled(predictor(FORWARD, emissions, transitions, prior))
    assert error(found, emissions, transitions) <= 1e-12
    assert np.abs(np.sort(found.prior)[::-1] - prior).max() <= 1e-12


def test_the_printed_pair_is_told_apart_by_triples() -> None:
    found = [decompiled(predictor(FORWARD, *model), off=1e-8) for model in PRINTED]
    for recovered, model in zip(found, PRINTED, strict=True):
        assert error(recovered, *model) <= 1e-8  # eight digits, whose sums are off
    assert np.abs(found[0].emissions - found[1].emissions).max() > 5e-3


@pytest.mark.slow
def test_noise_moves_a_model_no_farther_than_its_condition_says() -> None:
    random = np.random.default_rng(5)
    emissions, transitions, _ = chain(5, 3, 2)
    law = predictor(FORWARD, emissions, transitions)
    for size in (1e-8, 1e-6, 1e-5):
        noise = size * random.uniform(-1, 1, law.shape)
        noise -= noise.mean(axis=(1, 2), keepdims=True)
        found = decompiled(law + noise, off=2 * size)
        assert found.residual <= 2 * size
        most = found.condition * np.linalg.norm(2 * noise)
        assert error(found, emissions, transitions) <= 2 * most


def test_counts_of_samples_are_fitted() -> None:
    """Shares of 10^6 samples: the residual is that of sampling."""
    emissions, transitions, _ = chain(4, 2, 3)
    law = predictor(FORWARD, emissions, transitions)
    random = np.random.default_rng(0)
    shares = np.array(
        [random.multinomial(10**6, one.ravel()).reshape(4, 4) / 10**6 for one in law]
    )
    found = decompiled(shares, states=2)
    assert found.residual <= 5 * np.sqrt(law.max() / 10**6)
    assert error(found, emissions, transitions) <= 0.05


def test_the_same_seed_gives_the_same_bytes() -> None:
    law = predictor(FORWARD, *chain(4, 3)[:2])
    one, other = (decompiled(law, seed=4) for _ in range(2))
    assert one.emissions.tobytes() == other.emissions.tobytes()
    assert one.residual == other.residual


def test_the_model_says_the_law_again() -> None:
    emissions, transitions, _ = chain(4, 3)
    law = predictor(FORWARD, emissions, transitions)
    model = decompiled(law).model()
    words = np.array([[a, b] for a in range(4) for b in range(4)])
    beliefs, _ = model.filter(words)
    laws = model.predict(beliefs)
    said = laws[::4, 0][:, :, None] * laws[:, 1].reshape(4, 4, 4)
    assert np.abs(said - law).max() <= 1e-12


def refused(law: FloatArray, match: str, task: Task = FORWARD, **more: int) -> None:
    with pytest.raises(Refused, match=match):
        decompiled(law, task, **more)


def test_what_does_not_determine_a_model_is_refused() -> None:
    emissions, transitions, _ = chain(4, 3)
    law = predictor(FORWARD, emissions, transitions)
    refused(law, "tells only 3 of 4", states=4)
    refused(law, "5 hidden states of 4 letters", states=5)
    refused(law, "does not determine a model; one of", Task.of("24given1"))
    alike = emissions.copy()
    alike[:, 1] = (alike[:, 0] + alike[:, 2]) / 2
    more = predictor(FORWARD, *chain(3, 4)[:2])
    refused(more, "no model of 3 states has this law")
    refused(predictor(FORWARD, alike, transitions), "tells only 2 of 3", states=3)
    singular = np.column_stack([*transitions.T[:2], transitions[:, :2].mean(axis=1)])
    refused(predictor(FORWARD, emissions, singular), "tells only 2 of 3")


def test_states_that_follow_every_letter_alike_are_refused() -> None:
    """A = Pr(h_2 | x_1) has proportional columns, while B and C have full rank."""
    emissions, transitions, _ = chain(4, 3)
    after = np.random.default_rng(1).dirichlet(np.ones(2), 4)
    after = np.column_stack([after[:, 0] / 2, after[:, 0] / 2, after[:, 1]])
    law = np.einsum("xi,ai,bi->xab", after, emissions, emissions @ transitions)
    refused(law, "as likely as each other after every letter")


def test_what_is_no_law_is_refused() -> None:
    law = predictor(FORWARD, *chain(3, 2)[:2])
    refused(law[:2], "array")
    refused(law * 1.1, "add up to")
    refused(law - 0.2, "negative")
    refused(np.where(law == law.max(), np.nan, law), "no number")


def test_letters_of_no_chain_leave_a_residual() -> None:
    """Any law can be asked for: the residual says that no model of two states has it."""
    law = np.random.default_rng(0).dirichlet(np.ones(9), 3).reshape(3, 3, 3)
    assert decompiled(law, states=2).residual > 0.01
