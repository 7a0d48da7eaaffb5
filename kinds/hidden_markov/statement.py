"""Hidden Markov models as model files state them: an operator for each letter."""

from dataclasses import dataclass, field

import numpy as np

from krohn.program.errors import demand
from krohn.program.stated import Count, Matrices, StatedSource, Vector


@dataclass(frozen=True, eq=False)
class StatedHiddenMarkov(StatedSource):
    """A hidden Markov model, or a weighted automaton.

    Letter o turns the belief b into A_o b, made to sum to 1. All numbers are float64 and
    stand for themselves. A belief does not change if all operators are scaled.

    Attributes:
        name: What it is called.
        states: The name of each state.
        letters: The name of each letter.
        operators: ``(letters, n, n)``: A_o; no entry is negative.
        start: ``(n,)``: b_0, the law of the state before the first letter.
        actions: For each letter, the number of the action that it is an answer to. Absent
            if nothing is chosen: the model says all letters by itself.
        final: ``(n,)``: what the weight of each state counts at the end of a word, with
            any sign. Absent of a hidden Markov model.
    """

    kind = "hidden-markov"
    derived = ("classes",)
    name: str
    states: tuple[str, ...]
    letters: tuple[str, ...]
    operators: Matrices = field(metadata={"key": "matrices"})
    start: Vector
    actions: tuple[Count, ...] | None = None
    final: Vector | None = None

    def __post_init__(self) -> None:
        letters, size = len(self.letters), len(self.states)
        demand(letters and size, f"{self.name} has no states or no letters")
        for what, names in (("letter", self.letters), ("state", self.states)):
            demand(len(set(names)) == len(names), f"{self.name} has a {what} twice")
        shape = letters, size, size
        demand(self.operators.shape == shape, "its operators have another shape")
        demand(self.start.shape == (size,), "its start has another shape")
        for what, numbers in (("operator", self.operators), ("start", self.start)):
            real = numbers.dtype == np.float64 and np.isfinite(numbers).all()
            demand(real, f"an entry of the {what} is no number")
            demand(numbers >= 0, f"an entry of the {what} is negative")
        each = self.actions is None or len(self.actions) == letters
        demand(each, "a letter has no action")
        ends = np.zeros(size) if self.final is None else self.final
        fits = ends.shape == (size,) and np.isfinite(ends).all()
        demand(
            fits, "its final vector has another shape, or an entry that is no number"
        )
        some = self.start.any() and self.operators.any()
        demand(some, f"every word of {self.name} has the weight 0")

    @property
    def classes(self) -> tuple[str, ...]:
        """The name of each output: its state."""
        return self.states
