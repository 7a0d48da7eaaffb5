"""The beliefs that can be reached, and contexts in their place (Theorem W8b)."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from belief_networks import MODELS, mixing
from hypothesis import given, settings, strategies as st

import krohn
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_beliefs import IMPOSSIBLE, reachable
from krohn.kinds.hidden_markov.source_contexts import contexts
from krohn.program.errors import Refused


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("Cyclic-DET5,5@3", 5),
        ("Cyclic-HARD5,5@3", 76),
        ("RRXOR", 36),
        ("GoldenMean", 3),
        ("EvenProcess", 4),
    ],
)
def test_some_models_have_finitely_many_beliefs(name: str, count: int) -> None:
    found = reachable(krohn.hidden_markov(name))
    assert found is not None
    assert len(found.weights) == count


@pytest.mark.parametrize("name", ["Mess3", "RanHMM5,5@3", "Cyclic-RND5,5@3"])
def test_others_have_more_than_are_looked_at(name: str) -> None:
    assert reachable(krohn.hidden_markov(name)) is None


@pytest.mark.parametrize("name", ["RRXOR", "Cyclic-HARD3,2@1", "GoldenMean"])
def test_the_machine_of_beliefs_is_the_exact_filter(name: str) -> None:
    source = krohn.hidden_markov(name)
    found = reachable(source)
    assert found is not None
    for word in source.sample(5, 20, np.random.default_rng(0))[0]:
        at = 0
        for letter, exact in zip(word, source.exactly(word), strict=True):
            at = int(found.following[letter, at])
            total = sum(found.weights[at])
            assert [Fraction(w, total) for w in found.weights[at]] == exact
            assert np.allclose(found.laws[at], [float(x) for x in exact], atol=1e-16)


def test_a_letter_of_probability_zero_leads_nowhere() -> None:
    source = krohn.hidden_markov("GoldenMean")
    found = reachable(source)
    assert found is not None
    zero = int(found.following[0, 0])
    assert found.laws[zero].tolist() == [0, 1]
    assert found.following[0, zero] == IMPOSSIBLE


def test_every_bound_is_kept() -> None:
    source = krohn.hidden_markov("Cyclic-HARD5,5@3")
    assert reachable(source, most=75) is None
    assert reachable(source, work=1000) is None
    assert (
        reachable(krohn.hidden_markov("Mess3"), digits=100, most=10**9, work=10**9)
        is None
    )


def beliefs(
    model: HiddenMarkovModel, length: int
) -> dict[tuple[int, ...], list[float]]:
    """The belief after each possible word of up to so many letters, exactly."""
    found = {(): [float(x) for x in model.start]}
    for word in product(range(len(model.letters)), repeat=length):
        try:
            every = model.exactly(word)
        except Refused:
            continue  # impossible; what is possible before it goes on otherwise
        for n, belief in enumerate(every, 1):
            if word[:n] not in found:
                found[word[:n]] = [float(x) for x in belief]
    return found


@settings(max_examples=5, deadline=None)
@given(MODELS, st.sampled_from([0.3, 0.1, 0.03]))
def test_no_word_is_further_from_its_context_than_the_error(
    model: HiddenMarkovModel, error: float
) -> None:
    """All words of up to 7 letters (5, if there are three); if it forgets slowly, too."""
    found = contexts(model, error)
    bos = len(model.letters)
    for word, belief in beliefs(model, 7 if bos == 2 else 5).items():
        seen = (*word[::-1], *[bos] * found.width)[: found.width]
        law = found.laws[found.numbers[seen]]
        assert np.abs(law - belief).max() <= found.error + 1e-12


@settings(max_examples=20, deadline=None)
@given(MODELS)
def test_contexts_are_laws(model: HiddenMarkovModel) -> None:
    found = contexts(model, 0.1)
    assert (found.laws >= 0).all()
    assert np.abs(found.laws.sum(axis=1) - 1).max() < 1e-9
    assert (found.numbers >= 0).all()


def test_contexts_grow_no_further_than_to_the_error() -> None:
    errors = [contexts(mixing(3, 3, 1), error).error for error in (0.1, 0.03, 0.01)]
    assert 0.03 < errors[0] <= 0.1
    assert 0.01 < errors[1] <= 0.03
    assert errors[2] <= 0.01


@pytest.mark.slow
def test_of_too_many_contexts_there_are_those_that_were_reached() -> None:
    found = contexts(slow(), 1e-3)
    assert found.width == 11
    assert found.description == f"{len(found.laws)} contexts of up to 11 letters"
    assert 0.01 < found.error < 0.5
    # An error that is as large is reached by no more.
    assert len(contexts(slow(), found.error).laws) <= len(found.laws)


def slow() -> HiddenMarkovModel:
    """Two states that hardly ever change, and letters that hardly tell them apart."""
    step = np.array([[0.99, 0.01], [0.01, 0.99]])
    return HiddenMarkovModel.of(
        "slow", step, [[0.51, 0.49], [0.49, 0.51]], before=[1, 0]
    )
