"""The best guess of tokens given one token: values of a softmax over the hidden states.

The posterior of the state is a softmax of affine scores. For points with unit covariance
around means μ_i, log π_i + log N(x; μ_i, 1) is μ_i·x − ‖μ_i‖²/2 + log π_i up to what all
states have in common (Liu 2024, 2.2.1); for a letter it is log π_i + log O[x, i], and x is
a unit vector. So E[x_b | x_c] and E[x_a ⊗ x_b | x_c] are *one attention head*, with a slot
of memory for each state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.exact_numbers import real, reals
from krohn.sources.hidden_markov.masked import Task, given_state, stationary
from krohn.sources.hidden_markov.model import SUM

KIND = "posterior-head"
"""What it is called in the header of a model file."""
LARGEST = 64
"""The most states, and the most letters or coordinates."""
FARTHEST = 2.0**20
"""The largest coordinate of a point."""


@dataclass(frozen=True, eq=False, repr=False)
class PosteriorHead:
    """A stationary hidden Markov model, and what of it is guessed.

    Attributes:
        name: What it is called.
        letters: The name of each letter; of each coordinate, if it says points.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s); or the mean of the points, M[:, s].
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law.
        task: What is guessed.
        radius: If it says points: the largest |x_i| that is asked about; else None.

    Raises:
        Refused: If the numbers are no such model; the message names the first that is
            wrong.
    """

    name: str
    letters: tuple[str, ...]
    emissions: FloatArray
    transitions: FloatArray
    prior: FloatArray
    task: Task
    radius: float | None = None

    def __post_init__(self) -> None:
        d, k = len(self.letters), len(self.prior)
        demand(
            0 < d <= LARGEST and 0 < k <= LARGEST,
            f"{self.name} needs 1 to {LARGEST} states, and at most as many letters",
        )
        demand(len(set(self.letters)) == d, f"{self.name} has a letter twice")
        parts = {
            "emissions": (self.emissions, (d, k)),
            "transitions": (self.transitions, (k, k)),
            "prior": (self.prior, (k,)),
        }
        for what, (numbers, shape) in parts.items():
            real = numbers.dtype == np.float64 and np.isfinite(numbers).all()
            demand(bool(real) and numbers.shape == shape, f"the {what} are no numbers")
        if self.radius is None:
            _law("emissions", self.emissions)
            demand(self.emissions.sum(axis=1) > 0, "no state says one of the letters")
        else:
            demand(0 < self.radius <= FARTHEST, f"points lie within {FARTHEST:g}")
            demand(np.abs(self.emissions) <= FARTHEST, f"means lie within {FARTHEST:g}")
        _law("transitions", self.transitions)
        _law("prior", self.prior[:, None])
        demand(self.prior > 0, "a state of the prior never occurs")
        kept = np.abs(self.transitions @ self.prior - self.prior) <= SUM
        demand(kept, "the prior is not the stationary law of the transitions")

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
        _law("transitions", transitions)
        mark = "" if radius is None else "x"
        numbered = tuple(f"{mark}{i + 1}" for i in range(len(emissions)))
        prior = stationary(transitions)
        return cls(
            name, letters or numbered, emissions, transitions, prior, task, radius
        )

    def asking(self, task: Task) -> Self:
        """The same model, of which something else is guessed."""
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

    @property
    def classes(self) -> tuple[str, ...]:
        """The name of each output."""
        if len(self.task.predicted) == 1:
            return self.letters
        return tuple(f"{a},{b}" for a in self.letters for b in self.letters)

    def keys(self) -> FloatArray:
        """``(k, d)``: what a coordinate of x adds to the score of a state; −∞ for never."""
        if self.radius is not None:
            return self.emissions.T.copy()
        with np.errstate(divide="ignore"):
            return np.log(self.emissions).T

    def biases(self) -> FloatArray:
        """``(k,)``: the score of each state without x, up to what all have in common."""
        found: FloatArray = np.log(self.prior)
        if self.radius is not None:
            found = found - (self.emissions**2).sum(axis=0) / 2
        return np.asarray(found - found.max())

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
        found: FloatArray = likely / likely.sum(axis=-1, keepdims=True)
        return found

    def run(self, x: FloatArray) -> FloatArray:
        """``(…, outputs)``: what is guessed after points or unit vectors ``(…, d)``."""
        found: FloatArray = (self.posterior(x) @ self.values).astype(np.float64)
        return found

    def rounding(self) -> float:
        """How far `run` can be off: digits of the values, and of the posterior.

        Values are sums of up to 9 products of matrices; scores of points are differences
        of squares of up to 2·(R + |μ|)² d, in the widest format.
        """
        unit = float(np.finfo(np.float64).eps)
        largest = float(np.abs(self.values).max())
        wide = float(np.finfo(np.longdouble).eps)
        far = (self.radius or 0) + float(np.abs(self.emissions).max())
        scores = 4 * len(self.letters) * (len(self.letters) + 4) * far**2 * wide
        return (20 * (self.size + 4) * unit + scores) * max(largest, 1.0)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        said: dict[str, Any] = {
            "kind": KIND,
            "name": self.name,
            "task": str(self.task),
            "letters": list(self.letters),
            "classes": list(self.classes),
            "emissions": self.emissions.tolist(),
            "transitions": self.transitions.tolist(),
            "prior": self.prior.tolist(),
        }
        return said if self.radius is None else said | {"radius": self.radius}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """From the header of a model file.

        Raises:
            Refused: If it states no such model.
        """
        demand(said["kind"] == KIND, "this is no posterior head")
        radius = real(said["radius"]) if "radius" in said else None
        return cls(
            str(said["name"]),
            tuple(map(str, said["letters"])),
            reals(said["emissions"], 2),
            reals(said["transitions"], 2),
            reals(said["prior"], 1),
            Task.of(str(said["task"])),
            radius,
        )


def _law(what: str, columns: FloatArray) -> None:
    """Columns that are probabilities and add up to 1.

    Raises:
        Refused: Naming the first that is not.
    """
    demand(np.isfinite(columns), f"the {what} have an entry that is no number")
    sums = columns.sum(axis=0)
    worst = int(np.abs(sums - 1).argmax())
    demand(
        abs(sums[worst] - 1) <= SUM,
        f"column {worst + 1} of the {what} adds up to {sums[worst]:.9g}, not to 1",
    )
    demand(columns >= 0, f"the {what} have a negative entry")
