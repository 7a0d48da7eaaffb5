"""Hidden Markov models by name, from files, of machines and of linear systems."""

from pathlib import Path

import numpy.typing as npt

from krohn.algebra.errors import KrohnError
from krohn.machines import machine_of
from krohn.program.errors import Refused
from krohn.program.exact_numbers import real_array
from krohn.source_kinds import named
from krohn.source_kinds.linear_systems import as_model
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.hidden_markov.forms import driven
from krohn.sources.hidden_markov.masked import Task
from krohn.sources.linear_systems import LinearSystem
from krohn.sources.posterior_heads import PosteriorHead
from krohn.sources.posterior_heads.families import gaussian, of_model


def hidden_markov(source: object) -> HiddenMarkovModel:
    """The hidden Markov model of a name, a file, arrays, or a fitted object of hmmlearn.

    A linear system whose letters are stochastic, and every machine, is one whose letters
    are chosen.

    Args:
        source: A name; a file (docs/hidden-markov.md says which); a dict of the arrays
            ``startprob``, ``transmat`` and ``emissionprob``, whose rows are laws; an object
            that holds them as ``startprob_`` and so on; or a machine. In arrays the first
            letter is said by a state of the law startprob; in Krohn's JSON and in
            ``.pomdp`` files the start is the law before the first step.

    Raises:
        KrohnError: If there is none of this name, or the source states none.
    """
    other = named(source)
    if other is None:
        return as_model(machine_of(source))
    found = other[1]
    try:
        if isinstance(found, LinearSystem):
            return driven(found)
    except Refused as reason:
        raise KrohnError(f"{source} is no hidden Markov model: {reason}") from None
    if not isinstance(found, HiddenMarkovModel):
        raise KrohnError(f"{source} is no hidden Markov model")
    return found


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
    """
    try:
        centres, step = real_array(means, "means"), real_array(transition, "transition")
        return gaussian(name, centres, step, Task.of(task), radius)
    except Refused as reason:
        raise KrohnError(str(reason)) from None


def masked(model: str | Path | HiddenMarkovModel, task: str) -> PosteriorHead:
    """What is guessed of letters of a hidden Markov model in its stationary law.

    Args:
        model: A name, a file, or a model; it says letters in states.
        task: What is guessed: ``2given1``, ``23given1``, ….

    Raises:
        KrohnError: If it is no such model, or has more than one stationary law.
    """
    source = model if isinstance(model, HiddenMarkovModel) else hidden_markov(model)
    try:
        return of_model(source, Task.of(task))
    except Refused as reason:
        raise KrohnError(str(reason)) from None
