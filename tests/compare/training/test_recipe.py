"""Recipes that make no sense are refused when they are written down."""

from dataclasses import asdict

import pytest

from krohn.algebra.errors import KrohnError
from krohn.compare.training import Balance, Recipe, Sharpening


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"steps": 0}, "steps must be at least 1"),
        ({"probe": 0}, "probe must be at least 1"),
        ({"rate": -1.0}, "rate must not be negative"),
        ({"rate": float("nan")}, "rate must not be negative"),
        ({"shift": -1}, "shift must not be negative"),
        ({"average": 1.0}, "decays by a number in"),
        ({"clip": 0.0}, "clip must be above 0"),
        ({"decay": "sudden"}, "decays linear, cosine, constant"),
        ({"format": "float16"}, "formats are float32, bfloat16"),
        ({"scratchpad": True, "balance": Balance(1.0)}, "without a scratchpad"),
    ],
)
def test_a_recipe_says_what_is_wrong_with_it(
    numbers: dict[str, object], said: str
) -> None:
    with pytest.raises(KrohnError, match=said):
        Recipe(**numbers)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (Balance, {"weight": 0.0}),
        (Sharpening, {"weight": 0.0}),
        (Sharpening, {"weight": 1.0, "start": -1}),
        (Sharpening, {"weight": 1.0, "form": "l1"}),
    ],
)
def test_so_do_regularisers(kind: type, numbers: dict[str, object]) -> None:
    with pytest.raises(KrohnError):
        kind(**numbers)


def test_networks_reach_as_far_as_they_are_asked_to() -> None:
    assert Recipe(length=32).reads == 32
    assert Recipe(length=32, longest=128).reads == 128
    assert Recipe(length=32, longest=8).reads == 32
    assert "longest" in asdict(Recipe())
