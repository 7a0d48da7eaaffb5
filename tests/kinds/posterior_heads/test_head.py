"""A posterior is a softmax of affine scores; guesses go back to the model."""

from itertools import permutations

import numpy as np
import pytest
from model_aliases import mirrored
from scipy.stats import multivariate_normal

from krohn.kinds.hidden_markov.source_masked import predictor
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.source import (
    PosteriorHead,
    find_by_name,
    gaussian,
)
from krohn.kinds.posterior_heads.source_decompile_points import (
    DecompiledPoints,
    decompiled_points,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused


def head(name: str) -> PosteriorHead:
    found = find_by_name(name)
    assert found is not None
    return found


def softmax(scores: FloatArray) -> FloatArray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def points(source: PosteriorHead, count: int = 200) -> FloatArray:
    box = source.radius or 1
    shape = (count, len(source.letters))
    return np.random.default_rng(0).uniform(-box, box, shape)


GAUSSIANS = ["GaussianHMM3,2@7", "GaussianHMM5,3@1:R=4", "GaussianHMM1,1@0"]


@pytest.mark.parametrize("name", GAUSSIANS)
def test_the_posterior_of_points_is_one_softmax(name: str) -> None:
    source = head(name)
    x = points(source)
    said = softmax(x @ source.keys().T + source.biases())
    assert np.abs(said - source.posterior(x)).max() <= 1e-13


def test_the_posterior_is_that_of_densities_of_another_library() -> None:
    source = head("GaussianHMM4,3@2:R=3")
    x = points(source)
    density = np.array(
        [multivariate_normal(mean).pdf(x) for mean in source.emissions.T]
    ).T
    right = density * source.prior / (density @ source.prior)[:, None]
    assert np.abs(right - source.posterior(x)).max() <= 1e-12


def test_a_prior_that_is_not_uniform_is_a_bias() -> None:
    step = np.array([[0.9, 0.3], [0.1, 0.7]])
    source = gaussian("two", np.array([[1.0, -1.0]]), step)
    assert np.abs(source.prior - [0.75, 0.25]).max() <= 1e-15
    x = points(source)
    log_odds = np.log(3) + 2 * x[:, 0]
    assert (
        np.abs(source.posterior(x)[:, 0] - 1 / (1 + np.exp(-log_odds))).max() <= 1e-14
    )


def test_guesses_of_points_by_the_formula() -> None:
    source = head("GaussianHMM3,2@7")
    x, means, step = points(source), source.emissions, source.transitions
    right = source.posterior(x) @ (means @ step).T
    assert np.abs(source.run(x) - right).max() <= 1e-13
    both = source.asking(Task.of("23given1"))
    outer = np.einsum(
        "xj,ij,ai,bi->xab", source.posterior(x), step, means, means @ step
    )
    assert np.abs(both.run(x) - outer.reshape(len(x), -1)).max() <= 1e-12


@pytest.mark.parametrize("task", ["2given1", "23given1", "13given2", "1given3"])
def test_guesses_of_letters_are_those_of_the_chain(task: str) -> None:
    source = head(f"RanHMM3,5@7:{task}")
    law = predictor(source.task, source.emissions, source.transitions)
    said = source.run(np.eye(5)).reshape(law.shape)
    assert np.abs(said - law).max() <= 1e-14
    assert np.abs(said.reshape(5, -1).sum(axis=1) - 1).max() <= 1e-12


def test_scores_of_letters_are_logarithms() -> None:
    source = head("GoldenMean:2given1")
    with np.errstate(invalid="ignore"):
        said = softmax(source.keys().T + source.biases())
    assert np.abs(said - source.posterior(np.eye(2))).max() <= 1e-15


@pytest.mark.parametrize("name", ["GaussianHMM3,2@7:13given2:R=4", "Twin1:23given1"])
def test_a_file_says_all(name: str) -> None:
    source = head(name)
    again = PosteriorHead.from_wire(source.to_wire())
    assert again.to_wire() == source.to_wire()


@pytest.mark.parametrize(
    "name", ["GaussianHMM0,2@7", "GaussianHMM3,65@7", "GaussianHMM3,2@7:2given2"]
)
def test_names_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(Refused):
        find_by_name(name)


@pytest.mark.parametrize("name", ["GaussianHMM3,2", "RanHMM3,5@7", "Twin3:2given1", ""])
def test_other_names_are_no_heads(name: str) -> None:
    assert find_by_name(name) is None


def test_a_model_that_says_letters_on_steps_is_refused() -> None:
    with pytest.raises(Refused, match="on steps"):
        find_by_name("EvenProcess:2given1")


def test_the_mirrored_means_are_refused_for_their_transitions() -> None:
    random = np.random.default_rng(3)
    means = random.standard_normal((4, 3))
    means /= np.linalg.norm(means, axis=0)
    step = head("GaussianHMM3,2@7").transitions
    with pytest.raises(Refused, match="adds up to -1"):
        gaussian("mirrored", *mirrored(means, step))


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
    source = find_by_name(f"GaussianHMM{size}@{seed}")
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
    source = find_by_name("GaussianHMM3,2@7")
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
    source = find_by_name("GaussianHMM4,2@0")
    assert source is not None
    with pytest.raises(Refused, match="Assumption 8"):
        decompiled_points(source.run, 2)
