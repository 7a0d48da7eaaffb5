"""Posterior heads of models that say points, or letters."""

from pathlib import Path

import numpy.typing as npt

from krohn.kinds.hidden_markov.commands_objects import hidden_markov
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.hidden_markov.statement_masked import Task
from krohn.kinds.posterior_heads.source import (
    PosteriorHead,
    gaussian,
    of_model,
)
from krohn.program.user_input import real_array


def gaussian_hmm(
    means: npt.ArrayLike,
    transition: npt.ArrayLike,
    task: str = "2given1",
    radius: float | None = None,
    name: str = "points",
) -> PosteriorHead:
    """A hidden Markov model that says points, and what is guessed of it.

    Args:
        means: ``(d, k)``: the mean in each state; covariances are 1.
        transition: ``(k, k)``: T[s', s] = Pr(s' | s); columns add up to 1. The chain is
            stationary.
        task: What is guessed: ``2given1``, ``13given2``, ….
        radius: The largest |x_i| that is asked about; 8 more than that of a mean if absent.
        name: What it is called.

    Raises:
        KrohnError: If these are no such model.

    Examples:
        >>> krohn.gaussian_hmm([[-1, 1]], [[0.9, 0.2], [0.1, 0.8]])
        <PosteriorHead points: 2 states, 1 letters or coordinates>
    """
    centres, step = real_array(means, "means"), real_array(transition, "transition")
    return gaussian(name, centres, step, Task.of(task), radius)


def masked(model: str | Path | HiddenMarkovModel, task: str) -> PosteriorHead:
    """The law of masked letters of a hidden Markov model in its stationary law.

    Args:
        model: A name, a file, or a model; it says letters in states.
        task: What is guessed: ``2given1``, ``23given1``, ….

    Raises:
        KrohnError: If it is no such model, or has more than one stationary law.

    Examples:
        >>> krohn.masked("GoldenMean", "2given1")
        <PosteriorHead GoldenMean:2given1: 2 states, 2 letters or coordinates>
    """
    source = model if isinstance(model, HiddenMarkovModel) else hidden_markov(model)
    return of_model(source, Task.of(task))
