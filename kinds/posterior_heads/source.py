"""Hidden Markov models whose best guesses are one softmax head: keys, biases and values."""

import re
from dataclasses import replace
from functools import cached_property
from math import fsum
from random import Random
from typing import Self

import numpy as np

from krohn.kinds.hidden_markov import source as hidden_markov
from krohn.kinds.hidden_markov.source_masked import (
    PRINTED,
    factors,
    given_state,
    same_power,
    stationary,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.kinds.hidden_markov.statement_masked import SUM, Task
from krohn.kinds.posterior_heads.statement import (
    LARGEST,
    StatedPosteriorHead,
    check_law,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

__all__ = ["PosteriorHead", "find_by_name"]


# The best guess of tokens given one token: values of a softmax over the hidden states.
#
# The posterior of the state is a softmax of affine scores. For points with unit
# covariance around means μ_i, log π_i + log N(x; μ_i, 1) is μ_i·x − ‖μ_i‖²/2 + log π_i
# up to what all states have in common (Liu 2024, 2.2.1); for a letter it is log π_i +
# log O[x, i], and x is a unit vector. So E[x_b | x_c] and E[x_a ⊗ x_b | x_c] are *one
# attention head*, with a slot of memory for each state.


RARE = 2.0**-50
"""Of states that are less likely nothing is known in floats: steps back divide by that."""


class PosteriorHead(StatedPosteriorHead):
    """A stationary hidden Markov model, and what of it is guessed, with its reference."""

    @classmethod
    def of(
        cls,
        name: str,
        emissions: FloatArray,
        transitions: FloatArray,
        task: Task,
        letters: tuple[str, ...] | None = None,
        radius: float | None = None,
    ) -> Self:
        """The model of emissions and transitions, with its stationary law.

        Raises:
            Refused: If these are no probabilities, or there is more than one such law.
        """
        for what, numbers in (("emissions", emissions), ("transitions", transitions)):
            demand(numbers.ndim == 2 and numbers.size > 0, f"the {what} are no matrix")
            demand(np.isfinite(numbers), f"the {what} have an entry that is no number")
        square = transitions.shape == (emissions.shape[1],) * 2
        demand(square, "emissions and transitions are of other states")
        check_law("transitions", transitions)
        mark = "" if radius is None else "x"
        numbered = tuple(f"{mark}{i + 1}" for i in range(len(emissions)))
        prior = stationary(transitions, SUM)
        return cls(
            name, letters or numbered, emissions, transitions, prior, task, radius
        )

    def asking(self, task: Task) -> Self:
        """A copy that guesses something else."""
        return replace(self, name=f"{self.name.partition(':')[0]}:{task}", task=task)

    def __repr__(self) -> str:
        d, k = self.emissions.shape
        return f"<PosteriorHead {self.name}: {k} states, {d} letters or coordinates>"

    @property
    def size(self) -> int:
        """How many hidden states it has."""
        return len(self.prior)

    @cached_property
    def values(self) -> FloatArray:
        """``(k, outputs)``: the guess in each state; matrices row by row."""
        every = given_state(self.task, self.emissions, self.transitions, self.prior)
        return every.reshape(self.size, -1)

    def keys(self) -> FloatArray:
        """``(k, d)``: what a coordinate of x adds to the score of a state; −∞ for never."""
        if self.radius is not None:
            return self.emissions.T.copy()
        with np.errstate(divide="ignore"):
            return np.log(self.emissions).T

    def biases(self) -> FloatArray:
        """``(k,)``: the score of each state without x, up to what all have in common."""
        scores: FloatArray = np.log(self.prior)
        if self.radius is not None:
            scores = scores - (self.emissions**2).sum(axis=0) / 2
        return np.asarray(scores - scores.max())

    def posterior(self, x: FloatArray) -> FloatArray:
        """``(…, k)``: the law of the hidden state after points or letters ``(…, d)``.

        Computed from densities and probabilities, in the widest format of the machine.
        """
        wide = np.longdouble
        means, prior = self.emissions.astype(wide), self.prior.astype(wide)
        if self.radius is None:
            likely = (x.astype(wide) @ means) * prior
        else:
            apart = ((x.astype(wide)[..., None] - means) ** 2).sum(axis=-2) / 2
            likely = np.exp(apart.min(axis=-1, keepdims=True) - apart) * prior
        posterior: FloatArray = likely / likely.sum(axis=-1, keepdims=True)
        return posterior

    def run(self, x: FloatArray) -> FloatArray:
        """``(…, outputs)``: what is guessed after points or unit vectors ``(…, d)``."""
        guesses: FloatArray = (self.posterior(x) @ self.values).astype(np.float64)
        return guesses

    def rounding(self) -> float:
        """How far `run` can be off: digits of the values, and of the posterior.

        Values are sums of up to 9 products of matrices, in which means may cancel; scores
        of points are differences of squares of up to 2·(R + |μ|)² d, in the widest format.
        """
        if self.prior.min() < RARE:
            return float("inf")
        unit = float(np.finfo(np.float64).eps)
        largest = float(np.abs(self.emissions).max()) ** len(self.task.predicted)
        wide = float(np.finfo(np.longdouble).eps)
        far = (self.radius or 0) + float(np.abs(self.emissions).max())
        scores = 4 * len(self.letters) * (len(self.letters) + 4) * far**2 * wide
        return (20 * (self.size + 4) * unit + scores) * max(largest, 1.0)


# Names of posterior heads: a model, and after a colon what is guessed of it.


SPREAD = 2.0
"""Random means have coordinates up to this."""
NORMAL = 8.0
"""How many deviations from a mean are asked about: one point of 10^15 lies farther."""
NEXT = Task((2,), 1)
_POWER = re.compile(r"Power(?P<which>[12])@(?P<power>[2-8])")
_GAUSSIAN = re.compile(r"GaussianHMM(?P<k>\d{1,9}),(?P<d>\d{1,9})@(?P<seed>\d{1,18})")
_RADIUS = re.compile(r"R=(?P<radius>\d{1,9}(\.\d{1,9})?)")


def find_by_name(name: str) -> PosteriorHead | None:
    """The head of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    base, *options = name.split(":")
    if (match := _GAUSSIAN.fullmatch(base)) is not None:
        return _gaussian(name, match, *_task_and_radius(name, options, NEXT))
    if (match := _POWER.fullmatch(base)) is not None:
        which, power = int(match["which"]), int(match["power"])
        ahead = Task((1 + power,), 1)
        return power_twin(name, which, power, *_task_and_radius(name, options, ahead))
    if len(options) != 1 or "given" not in options[0]:
        return None
    if base in ("Twin1", "Twin2"):
        return twin(int(base[-1]), Task.of(options[0]))
    model = hidden_markov.find_by_name(base)
    return None if model is None else of_model(model, Task.of(options[0]))


def of_model(model: HiddenMarkovModel, task: Task) -> PosteriorHead:
    """The posterior head of a hidden Markov model in its stationary law.

    Raises:
        Refused: If it says letters on steps, or has no such law.
    """
    emissions, transitions = factors(model)
    name = f"{model.name}:{task}"
    return PosteriorHead.of(name, emissions, transitions, task, model.letters)


def twin(which: int, task: Task) -> PosteriorHead:
    """One of the pair of equation 2.47, whose digits are made to add up to 1.

    The printed transitions are symmetric, and stay so.
    """
    digits, step = PRINTED[which - 1]
    emissions, transitions = digits / digits.sum(axis=0), step.copy()
    np.fill_diagonal(transitions, 0)
    np.fill_diagonal(transitions, 1 - transitions.sum(axis=0))
    return PosteriorHead.of(f"Twin{which}:{task}", emissions, transitions, task)


def gaussian(
    name: str,
    means: FloatArray,
    transitions: FloatArray,
    task: Task = NEXT,
    radius: float | None = None,
) -> PosteriorHead:
    """A model that says points with unit covariance.

    Args:
        name: What it is called.
        means: ``(d, k)``: the mean in each state.
        transitions: ``(k, k)``: columns add up to 1.
        task: What is guessed.
        radius: The largest |x_i| that is asked about; 8 more than that of a mean if absent.

    Raises:
        Refused: If these are no such model.
    """
    demand(np.isfinite(means), "a mean is no number")
    far = float(np.abs(means).max(initial=0)) + NORMAL if radius is None else radius
    return PosteriorHead.of(name, means, transitions, task, radius=far)


def power_twin(
    name: str, which: int, power: int, task: Task, radius: float | None = None
) -> PosteriorHead:
    """One of a pair whose transitions have one power: points on a circle, lifted.

    Raises:
        Refused: If a number is out of range.
    """
    turn = 2 * np.pi * np.arange(3) / 3
    means = np.array([np.cos(turn), -np.sin(turn), np.full(3, np.sqrt(0.5))])
    return gaussian(name, means, same_power(power)[which - 1], task, radius)


def _task_and_radius(
    name: str, options: list[str], usual: Task
) -> tuple[Task, float | None]:
    """The task and the radius that the parts of a name after a colon say."""
    task, radius = usual, None
    for option in options:
        wide = _RADIUS.fullmatch(option)
        if wide is None:
            task = Task.of(option)
        else:
            radius = float(wide["radius"])
            demand(radius > 0, f"the R of {name} is above 0")
    return task, radius


def _gaussian(
    name: str, found: re.Match[str], task: Task, radius: float | None
) -> PosteriorHead:
    """A random one: uniform means, and transitions that are a mean of permutations."""
    k, d, seed = (int(found[part]) for part in ("k", "d", "seed"))
    demand(
        1 <= k <= LARGEST and 1 <= d <= LARGEST,
        f"{name} needs 1 to {LARGEST} states and 1 to {LARGEST} coordinates",
    )
    random = Random(f"GaussianHMM {k} {d} {seed}")
    means = np.array(
        [[SPREAD * (2 * random.random() - 1) for _ in range(k)] for _ in range(d)]
    )
    return gaussian(name, means, _mix_permutations(k, random), task, radius)


def _mix_permutations(size: int, random: Random) -> FloatArray:
    """``(k, k)``: a mean of k + 1 permutations: rows and columns add up to 1."""
    shares = [random.random() for _ in range(size + 1)]
    matrix, total = np.zeros((size, size)), fsum(shares)
    for share in shares:
        order = sorted(range(size), key=lambda _: random.random())
        matrix[order, range(size)] += share / total
    return matrix
