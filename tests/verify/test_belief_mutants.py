"""Errors of beliefs that are shown are not exceeded: by damaged tensors, by bad words."""

import numpy as np
import pytest
from linear_networks import changed, shown
from normalised_networks import built, climbed, errors, positive, words_of

from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused

ROUNDED = 2.0**-44
"""More than the reference, in float64, is off on short words."""


def with_points(file: ModelFile, block: int, factor: float) -> ModelFile:
    """Another function of the mass: all points of one normaliser moved."""
    name = f"blocks.{block}.mlp.0.bias"
    return changed(file, **{name: file.tensors[name] * factor})


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_functions_that_stand_for_the_reciprocal_are_read_as_they_are(
    seed: int,
) -> None:
    """Any point, step or gain may be another one: what is shown follows."""
    file = built(positive(3, 2, seed, 0.1), 6)
    random = np.random.default_rng(seed)
    count = len(file.header["architecture"]["blocks"])
    block = int(random.choice([b for b in range(count) if b % 2 or b == count - 1]))
    moved = with_points(
        file, block, 1 + random.choice([-1, 1]) * 10.0 ** -(seed % 5 + 1)
    )
    try:
        most = shown(moved).error
    except Refused:
        return
    assert errors(moved, words_of(moved, 40)).max() <= most + ROUNDED


@pytest.mark.sample(1)
@pytest.mark.parametrize("scale", [2.0**5, 2.0**9, None])
@pytest.mark.parametrize("seed", [1, 3])
def test_no_word_that_a_climb_finds_is_worse_than_what_is_shown(
    seed: int, scale: float | None
) -> None:
    file = built(positive(3, 3, seed, 0.1), 10, scale=scale)
    first, worst = climbed(file, 12, seed)
    assert first <= worst <= shown(file).error + ROUNDED
