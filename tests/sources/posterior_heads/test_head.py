"""A posterior is a softmax of affine scores, and guesses are means of values under it."""

import numpy as np
import pytest
from model_aliases import mirrored
from scipy.stats import multivariate_normal

from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from krohn.sources.hidden_markov.masked import Task, predictor
from krohn.sources.posterior_heads import PosteriorHead, gaussian, named


def head(name: str) -> PosteriorHead:
    found = named(name)
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
        named(name)


@pytest.mark.parametrize("name", ["GaussianHMM3,2", "RanHMM3,5@7", "Twin3:2given1", ""])
def test_other_names_are_no_heads(name: str) -> None:
    assert named(name) is None


def test_a_model_that_says_letters_on_steps_is_refused() -> None:
    with pytest.raises(Refused, match="on steps"):
        named("EvenProcess:2given1")


def test_the_mirrored_means_are_refused_for_their_transitions() -> None:
    random = np.random.default_rng(3)
    means = random.standard_normal((4, 3))
    means /= np.linalg.norm(means, axis=0)
    step = head("GaussianHMM3,2@7").transitions
    with pytest.raises(Refused, match="adds up to -1"):
        gaussian("mirrored", *mirrored(means, step))
