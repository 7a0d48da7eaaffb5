"""Theorem W8b: the belief of every word is where its context says it is."""

from itertools import product

import numpy as np
import pytest
from belief_networks import MODELS, mixing
from hypothesis import given, settings, strategies as st

from krohn.program.errors import Refused
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.beliefs import contexts


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
    assert found.told == f"{len(found.laws)} contexts of up to 11 letters"
    assert 0.01 < found.error < 0.5
    # An error that is as large is reached by no more.
    assert len(contexts(slow(), found.error).laws) <= len(found.laws)


def slow() -> HiddenMarkovModel:
    """Two states that hardly ever change, and letters that hardly tell them apart."""
    step = np.array([[0.99, 0.01], [0.01, 0.99]])
    return HiddenMarkovModel.of(
        "slow", step, [[0.51, 0.49], [0.49, 0.51]], before=[1, 0]
    )
