"""Guesses of points go back to means and transitions (Liu 2024, Theorem 5)."""

from itertools import permutations

import numpy as np
import pytest
from model_aliases import mirrored

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from krohn.sources.posterior_heads import PosteriorHead, gaussian, named
from krohn.sources.posterior_heads.decompile import DecompiledPoints, decompiled_points


def error(found: DecompiledPoints, source: PosteriorHead) -> float:
    """The largest error of an entry, after the best renaming of states."""
    assert found.means.shape == source.emissions.shape
    return min(
        max(
            float(np.abs(source.emissions[:, p] - found.means).max()),
            float(np.abs(source.transitions[np.ix_(p, p)] - found.transitions).max()),
        )
        for p in map(list, permutations(range(source.size)))
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", ["1,2", "2,1", "2,2", "3,2", "3,5", "4,4", "5,6"])
@pytest.mark.parametrize("seed", [1, 2])
def test_means_of_different_norms_are_recovered(size: str, seed: int) -> None:
    source = named(f"GaussianHMM{size}@{seed}")
    assert source is not None
    found = decompiled_points(source.run, len(source.letters))
    assert error(found, source) <= 1e-9
    assert found.residual <= 1e-9


def test_the_means_are_found_and_not_their_mirror_image() -> None:
    """Both have one posterior; only one has transitions that are laws (Lemma 7)."""
    random = np.random.default_rng(3)
    means = random.standard_normal((4, 3))
    means /= np.linalg.norm(means, axis=0)
    step = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    source = gaussian("one norm", means, step)
    found = decompiled_points(source.run, 4)
    assert error(found, source) <= 1e-10
    assert np.abs(mirrored(means, step)[0] - means).max() > 0.1


def test_the_recovered_model_is_a_head_again() -> None:
    source = named("GaussianHMM3,2@7")
    assert source is not None
    again = decompiled_points(source.run, 2).head()
    x = np.random.default_rng(0).uniform(-5, 5, (50, 2))
    assert np.abs(again.run(x) - source.run(x)).max() <= 1e-10


def plane(x: FloatArray) -> FloatArray:
    return np.tanh(x @ np.array([[1.0, 0.2], [-0.3, 1.0]]))


@pytest.mark.parametrize(
    ("guess", "match"),
    [
        (plane, "not independent"),
        (lambda x: np.sin(x), "settle"),
        (lambda x: x + np.nan, "no number"),
        (
            lambda x: np.sign(x[:, :1]) * np.array([1.0, 0.0]),
            "no point was found|affine",
        ),
    ],
)
def test_what_no_model_guesses_is_refused(guess: object, match: str) -> None:
    with pytest.raises(Refused, match=match):
        decompiled_points(guess, 2)  # type: ignore[arg-type]


def test_states_that_are_not_equally_likely_are_refused() -> None:
    step = np.array([[0.9, 0.3], [0.1, 0.7]])
    source = gaussian("two", np.array([[1.0, -1.0], [0.5, 0.2]]), step)
    with pytest.raises(Refused, match="equally likely"):
        decompiled_points(source.run, 2)


def test_means_in_one_plane_are_refused() -> None:
    source = named("GaussianHMM4,2@0")
    assert source is not None
    with pytest.raises(Refused, match="Assumption 8"):
        decompiled_points(source.run, 2)
