"""Random Transformers are run as nearly as A1 to A14 of docs/soundness.md let them be."""

from collections.abc import Iterator
from typing import Any

import pytest
from error_bounds import enclosed
from every_engine import NARROW, RUNS, whole_words
from many_digits import exact, near
from random_networks import KINDS, RandomNetwork, random_transformer

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused

WIDE = "float64", "float32"
FORMATS = dict.fromkeys(WIDE, KINDS)
FORMATS |= dict.fromkeys(NARROW, ("softmax", "relu", "sparse"))
"""Kinds of heads in each format: nothing is assumed of features in 16 bits."""
TOGETHER, PARTS = 10, dict.fromkeys(WIDE, 200) | dict.fromkeys(NARROW, 20)
"""2,000 networks in wide formats, some at a time."""


def bounded(dtype: str, part: int) -> Iterator[tuple[RandomNetwork, Any, FloatArray]]:
    """Some random networks with true logits and bounds."""
    for seed in range(TOGETHER * part, TOGETHER * (part + 1)):
        given = random_transformer(seed, dtype, kinds=FORMATS[dtype], longest=12)
        try:
            yield given, *enclosed(given.net, given.words, dtype)
        except Refused:
            continue  # errors have grown until a linear head may divide by 0


def apart(said: FloatArray, true: Any) -> FloatArray:
    """How far numbers are from true ones."""
    return near(abs(exact(said) - true))


@pytest.mark.sample(1, at=405)
@pytest.mark.parametrize(
    ("dtype", "part"),
    [(dtype, part) for dtype, parts in PARTS.items() for part in range(parts)],
)
def test_all_runs_are_as_near_as_is_assumed(dtype: str, part: int) -> None:
    runs = 0
    for given, true, off in bounded(dtype, part):
        for name, run in RUNS.items():
            if (said := run(given)) is None:
                continue
            assert (apart(said, true) <= off).all(), (name, given.architecture)
            runs += 1
    assert runs >= TOGETHER


@pytest.mark.slow
def test_coarser_arithmetic_is_farther() -> None:
    """So the bounds are not too wide: those of float64 tell sums of float32 apart."""
    for seed in range(TOGETHER):
        given = random_transformer(seed, "float32", longest=6)
        true, off = enclosed(given.net, given.words, "float64")
        assert (apart(whole_words(given), true) > off).any(), seed
