"""Posterior heads as model files state them: a hidden Markov model, and what is guessed."""

from dataclasses import dataclass

import numpy as np

from krohn.kinds.hidden_markov.statement_masked import SUM, Task, check_sums
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.stated import Matrix, StatedSource, Vector

LARGEST = 64
"""The most states, and the most letters or coordinates."""
FARTHEST = 2.0**20
"""The largest coordinate of a point."""


@dataclass(frozen=True, eq=False, repr=False)
class StatedPosteriorHead(StatedSource):
    """A guess of the letters or states of a hidden Markov model.

    The model is stationary.

    Attributes:
        name: What it is called.
        letters: The name of each letter; of each coordinate, if it says points.
        emissions: ``(d, k)``: O[o, s] = Pr(o | s); or the mean of the points, M[:, s].
        transitions: ``(k, k)``: T[s', s] = Pr(s' | s).
        prior: ``(k,)``: the stationary law.
        task: What is guessed, as ``13given2``.
        radius: If it says points: the largest |x_i| that is asked about; else absent.

    Raises:
        Refused: If the numbers are no such model; the message names the first that is
            wrong.
    """

    kind = "posterior-head"
    derived = ("classes",)
    name: str
    letters: tuple[str, ...]
    emissions: Matrix
    transitions: Matrix
    prior: Vector
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
            check_law("emissions", self.emissions)
            demand(self.emissions.sum(axis=1) > 0, "no state says one of the letters")
        else:
            demand(0 < self.radius <= FARTHEST, f"points lie within {FARTHEST:g}")
            demand(np.abs(self.emissions) <= FARTHEST, f"means lie within {FARTHEST:g}")
        check_law("transitions", self.transitions)
        check_law("prior", self.prior[:, None])
        demand(self.prior > 0, "a state of the prior never occurs")
        # Of itself each: the step back divides by the prior of a state, however rare.
        off = np.abs(self.transitions @ self.prior - self.prior) / self.prior
        state = int(off.argmax())
        demand(
            off <= SUM,
            f"the prior is not the stationary law of the transitions: a step changes that "
            f"of state {state + 1} by {off[state]:.2g} of itself",
        )

    @property
    def classes(self) -> tuple[str, ...]:
        """The name of each output."""
        if len(self.task.predicted) == 1:
            return self.letters
        return tuple(f"{a},{b}" for a in self.letters for b in self.letters)


def check_law(what: str, columns: FloatArray) -> None:
    """Columns that are probabilities and add up to 1.

    Raises:
        Refused: Naming the first that is not.
    """
    demand(np.isfinite(columns), f"the {what} have an entry that is no number")
    check_sums(what, columns)
    demand(columns >= 0, f"the {what} have a negative entry")
