"""Theorem 5.3 of Hu et al. 2024 in thousands of bits: as repaired, and as printed."""

from math import exp

import pytest
from mpmath import mp, mpf
from printed_normaliser import (
    BITS,
    REPAIRED,
    Variant,
    belief,
    gate,
    off,
    random_model,
    unlikely_model,
)

from krohn.kinds.hidden_markov.source import HiddenMarkovModel


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("model", "word"),
    [
        (random_model(2, 2, 0.2, 0), [0, 1, 1, 0]),
        (random_model(2, 3, 0.05, 0), [0, 2, 1, 1, 0, 2, 0, 1]),
        (unlikely_model(), [0] * 15),
        (unlikely_model(), [1] * 15),
    ],
)
def test_the_repaired_network_is_within_the_stated_error(
    model: HiddenMarkovModel, word: list[int]
) -> None:
    assert off(model, word, belief(model, word)) <= exp(-len(word))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("variant", "letter"), [(Variant(exponent=True), 0), (Variant(floors=True), 1)]
)
def test_as_printed_it_is_not(variant: Variant, letter: int) -> None:
    """Unlikely words drown in e^(−4T); of likely ones the sum is left at C^4."""
    model, word = unlikely_model(), [letter] * 15
    assert off(model, word, belief(model, word, variant)) > 0.5


@pytest.mark.slow
def test_the_printed_ramp_does_no_harm_between_these_stages() -> None:
    """It begins one below each divisor: sums end between 1 and 2 all the same."""
    model, word = unlikely_model(), [1] * 15
    found = off(model, word, belief(model, word, Variant(ramp=True)))
    assert off(model, word, belief(model, word, REPAIRED)) < found <= exp(-15)


def test_gates_are_products_up_to_their_curve() -> None:
    with mp.workprec(BITS):
        a, b, scale = mpf(3), mpf(2) / 3, mpf(10) ** 40
        curve = a * b * (a * a + b * b) / (3 * scale**2)
        assert abs(gate(a, b, scale) - a * b + curve) < mpf(10) ** -150
