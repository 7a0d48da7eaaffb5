"""The beliefs that can be reached: counted, closed under letters, and exact."""

from fractions import Fraction

import numpy as np
import pytest

import krohn
from krohn.sources.hidden_markov.beliefs import IMPOSSIBLE, reachable


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
