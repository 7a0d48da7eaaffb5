"""Errors that are shown are not exceeded: by damaged tensors, by words bred to be bad."""

from typing import Any

import numpy as np
import pytest
from linear_networks import built, outputs, shown, system, words_of

from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.sources.linear_systems import LinearSystem

NAME, LENGTH = "MatMul3,3@1", 12


def climbed(file: ModelFile, steps: int, seed: int) -> float:
    """The largest error that a hill climb over words finds."""
    source = LinearSystem.from_wire(file.header["source"])
    length = file.header["claim"]["length"]
    random, letters = np.random.default_rng(seed), len(source.letters)

    def errors(words: Any) -> FloatArray:
        off = np.abs(outputs(file, words) - source.run(words))
        return np.asarray(off.max(axis=(1, 2)))

    words = words_of(source, length, 40, seed)
    found = errors(words)
    for _ in range(steps):
        tried = words.copy()
        for _ in range(random.integers(1, 4)):
            at = random.integers(length, size=len(words))
            tried[np.arange(len(words)), at] = random.integers(letters, size=len(words))
        now = errors(tried)
        words[now > found] = tried[now > found]
        found = np.maximum(found, now)
    return float(found.max())


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["MatMul2,3@1", "MatMul5,2@2", "Cyclic-DET4,3@1"])
@pytest.mark.parametrize("scale", [2.0**5, 2.0**9, None])
def test_a_climb_over_words_never_exceeds_what_is_shown(
    name: str, scale: float | None
) -> None:
    for length in (2, 3, 8):
        file = built(name, length, scale=scale)
        most = shown(file).error + system(name).rounding(length)
        assert climbed(file, 10, length) <= most


def test_the_bound_of_the_curve_is_nearly_reached() -> None:
    """Two products of identities: the constants of W3 and W4 cannot be improved."""
    file = built("Cyclic-DET2,1@0", 4, scale=2.0**9)
    assert climbed(file, 0, 0) > 0.99 * shown(file).error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MatMul5,5@3", "Cyclic-DET5,5@3"])
def test_a_long_climb_at_120_letters(name: str) -> None:
    file = built(name, 120)
    assert climbed(file, 300, 0) <= shown(file).error
