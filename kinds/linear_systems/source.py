"""Linear systems: the letter is the matrix, b_t = A_{o_t} … A_{o_1} b_0. Kalman filters."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum, log, sqrt
from random import Random
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.kinds.linear_systems.statement_blocks import WRITTEN, StatedVectorsInBlocks
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.exact_products import (
    Ratios,
    products,
)


class LinearSystem(StatedLinearSystem):
    """A linear system, and its states."""

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.start)

    def run(self, words: npt.ArrayLike) -> FloatArray:
        """All states in float64, many words at once.

        Computed in the widest format of the machine; `ratios` are exact.

        Args:
            words: ``(batch, length)`` letter numbers.

        Returns:
            ``(batch, length, n)``: b_1, b_2, ….
        """
        letters: IntArray = np.asarray(words, np.int64)
        states = np.empty((*letters.shape, self.size))
        wide, start = (x.astype(np.longdouble) for x in (self.matrices, self.start))
        state = np.broadcast_to(start, (len(letters), self.size))
        for t in range(letters.shape[1]):
            state = (wide[letters[:, t]] @ state[:, :, None])[:, :, 0]
            states[:, t] = state
        return states

    def ratios(self, word: Iterable[int]) -> Iterator[Ratios]:
        """All states b_1, b_2, … of a word, without any error."""
        return products(self.matrices, self.start, word)

    def exactly(self, word: Iterable[int]) -> list[list[Fraction]]:
        """The same, as fractions."""
        return [[Fraction(x, b.under) for x in b.over] for b in self.ratios(word)]

    def functions(self) -> IntArray | None:
        """``(letters, n)``: where each letter leads from each state, if they are maps.

        A matrix with a single 1 in each column is a map of n states; then the system is
        an automaton, and b_t the unit vector of its state.
        """
        letters = self.matrices.swapaxes(1, 2).reshape(-1, self.size)
        columns = np.vstack([letters, self.start])
        ones = np.isin(columns, (0, 1)).all(axis=1) & (columns.sum(axis=1) == 1)
        return self.matrices.argmax(axis=1) if ones.all() else None


# Families of linear systems: names such as ``MatMul5,5@3`` (states, letters, seed).
#
# The families are those of Hu et al. 2024, section 3.
#
# A name means the same bytes on every machine: `Random.random`, whose sequence Python
# promises to keep, and of arithmetic only what IEEE 754 rounds correctly (+, −, ·, /,
# √), in a fixed order. No linear algebra library has a part in it.


LARGEST = 64
"""The most states or letters of a name: a product of matrices takes 4n³ units."""
Column = list[float]


def cyclic(states: int, random: Random) -> FloatArray:
    """``(n, n)``: one cycle through all states, each of the (n − 1)! as likely."""
    order = list(range(states))
    for i in range(states - 1, 0, -1):
        j = int(random.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    matrix = np.zeros((states, states))
    matrix[order[1:] + order[:1], order] = 1.0
    return matrix


def orthogonal(states: int, random: Random) -> FloatArray:
    """``(n, n)``: orthogonal up to a few roundings, by Haar's measure.

    Columns of normal numbers are made orthonormal one after the other (Gram–Schmidt), each
    twice: what is left of an earlier direction is a rounding of a rounding.
    """
    columns: list[Column] = []
    while len(columns) < states:
        column = [_normal(random) for _ in range(states)]
        for _ in range(2):
            for other in columns:
                along = _dot(column, other)
                column = [x - along * y for x, y in zip(column, other, strict=True)]
            length = sqrt(_dot(column, column))
            column = [x / length for x in column]
        columns.append(column)
    return np.array(columns).T.copy()


def _dot(x: Column, y: Column) -> float:
    return fsum(a * b for a, b in zip(x, y, strict=True))


def _normal(random: Random) -> float:
    """A normal number by comparisons alone: no logarithm, which libraries round apart.

    Of two exponential x and y, x is half-normal if (x − 1)² ≤ 2y.
    """
    while True:
        x, y = _exponential(random), _exponential(random)
        if (x - 1) * (x - 1) <= 2 * y:
            return x if random.random() < 0.5 else -x


def _exponential(random: Random) -> float:
    """An exponential number by comparing uniform ones (von Neumann 1951)."""
    whole = 0
    while True:
        first = last = random.random()
        descents = 0
        while (following := random.random()) < last:
            last, descents = following, descents + 1
        if descents % 2 == 0:
            return whole + first
        whole += 1


FAMILIES: dict[str, Callable[[int, Random], FloatArray]] = {
    "Cyclic-DET": cyclic,
    "MatMul": orthogonal,
}
STOCHASTIC, BACK = "Cyclic-RND", 0.01
"""Cycles that sometimes go back, and how likely they do if the name does not say it."""
EXAMPLES = {
    "Cyclic-DET5,5@3": "each of 5 letters is a cycle of 5 states (a machine); seed 3",
    "MatMul5,5@3": "each of 5 letters is an orthogonal matrix of 5 rows; seed 3",
    "Cyclic-RND5,5@3": "the cycles of Cyclic-DET5,5@3, but a letter leads back with "
    "probability 0.01; also Cyclic-RND5,5@3:epsilon=0.05",
}
"""An example of each family, with what it is."""
_NAME = re.compile(
    r"(?P<family>[A-Za-z-]+?)(?P<n>\d{1,9}),(?P<m>\d{1,9})@(?P<seed>\d{1,18})"
    r"(?::epsilon=(?P<back>\d*\.?\d+(e-?\d+)?))?"
)


def find_by_name(name: str) -> LinearSystem | None:
    """The system of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["family"] not in {*FAMILIES, STOCHASTIC}:
        return None
    family, states, letters = match["family"], int(match["n"]), int(match["m"])
    few = 2 <= states <= LARGEST and 1 <= letters <= LARGEST
    demand(few, f"{name} needs 2 to {LARGEST} states and 1 to {LARGEST} letters")
    drawn = "Cyclic-DET" if family == STOCHASTIC else family
    random = Random(f"{drawn} {states} {letters} {int(match['seed'])}")
    matrices = np.array([FAMILIES[drawn](states, random) for _ in range(letters)])
    if family == STOCHASTIC:
        back = BACK if match["back"] is None else float(match["back"])
        demand(states > 2, f"{name} needs 3 states: a cycle of 2 leads back anyway")
        demand(
            0 < 1 - back < 1, f"the epsilon of {name} is a probability between 0 and 1"
        )
        matrices = stochastic(matrices, back)
    elif match["back"] is not None:
        return None
    symbols = tuple(str(o + 1) for o in range(letters))
    return LinearSystem(name, symbols, matrices, np.eye(states)[0])


def stochastic(cycles: FloatArray, back: float) -> FloatArray:
    """Letters that lead to the next state of their cycle, or to the one before.

    The next one has probability p = 1 − ``back``, rounded, and the one before 1 − p. That
    difference is exact in float64 (Sterbenz 1974), so columns add up to 1 exactly, and
    what is claimed of the system is claimed of probabilities.
    """
    ahead = 1 - back
    return ahead * cycles + (1 - ahead) * cycles.swapaxes(1, 2)


COORDINATE = 2.0
"""The length of a written state in units of its coordinates."""


@dataclass(frozen=True, eq=False)
class VectorsInBlocks:
    """The text σ_1 … σ_b v_b σ_{b+1} … v_{2b} …, in which v_t is the state b_t.

    Attributes:
        system: The linear system.
        block: b.

    Raises:
        Refused: If the block has no letter, or a letter is called like the token.
    """

    system: LinearSystem
    block: int

    def __post_init__(self) -> None:
        demand(self.block >= 1, "a block has at least one letter")
        free = WRITTEN not in self.system.letters
        demand(free, f"a letter is called like the token {WRITTEN} of written states")

    @property
    def name(self) -> str:
        """That of the system."""
        return self.system.name

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the system; a text has one token more."""
        return self.system.letters

    @cached_property
    def affine(self) -> LinearSystem:
        """The system with one coordinate more, which is 2.

        The matrix of a written v is [[0, v/2], [0, 1]]: it forgets what was before. The
        one here has 0 in place of v/2.
        """
        letters, n = self.system.matrices.shape[:2]
        matrices = np.zeros((letters + 1, n + 1, n + 1))
        matrices[:letters, :n, :n] = self.system.matrices
        matrices[:, n, n] = 1.0
        tokens = (*self.system.letters, WRITTEN)
        start = np.append(self.system.start, COORDINATE)
        return LinearSystem(self.system.name, tokens, matrices, start)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        system, letters = self.system, (*self.system.letters, WRITTEN)
        parts = system.name, letters, system.matrices, system.start, self.block
        return StatedVectorsInBlocks(*parts).to_wire()

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """From the header of a model file.

        Raises:
            Refused: If it states none.
        """
        x = StatedVectorsInBlocks.from_wire(said)
        return cls(LinearSystem(x.name, x.letters[:-1], x.matrices, x.start), x.block)


# A linear dynamical system, its sampler, and the filter that is optimal for it.


GOLDEN = (1 + sqrt(5)) / 2
"""φ: the variance of the state before it is observed, in the long run, is φ."""
FORGETTING = 1 - 1 / GOLDEN
"""ζ = φ⁻² = 0.381966: what one step leaves of an error of the mean."""
MIXED = 0.05
"""The share of the start that is left once such a system is said to have mixed."""
_DYNAMICS = re.compile(r"RanLDS(?P<n>\d{1,9})@(?P<seed>\d{1,18})")


@dataclass(frozen=True, eq=False)
class LinearDynamics:
    """x_{t+1} = A x_t + ζ_t, y_t = B x_t + ξ_t; A, B orthogonal, ζ, ξ standard normal.

    The state x_0 is known; y_1 is the first observation. All covariances are multiples of
    the identity, since orthogonal matrices keep those, so the Kalman filter is one
    number: p ← (p + 1) / (p + 2), for the variance of the state given the observations.
    It tends to 1/φ, the golden ratio's.

    Attributes:
        name: What it is called.
        transition: ``(n, n)``: A.
        observation: ``(n, n)``: B.
        start: ``(n,)``: x_0.

    Raises:
        Refused: If A or B is not orthogonal.
    """

    name: str
    transition: FloatArray
    observation: FloatArray
    start: FloatArray

    def __post_init__(self) -> None:
        size = self.start.shape
        for matrix in (self.transition, self.observation):
            demand(
                matrix.shape == size * 2, f"a matrix of {self.name} has another shape"
            )
            off = np.abs(matrix.T @ matrix - np.eye(len(matrix)))
            demand(off <= 1e-12, f"a matrix of {self.name} is not orthogonal")

    def variances(self, length: int) -> FloatArray:
        """``(length,)``: of each coordinate of x_t given y_1 … y_t."""
        variances, variance = np.empty(length), 0.0
        for t in range(length):
            variance = (variance + 1) / (variance + 2)
            variances[t] = variance
        return variances

    def filter(self, observations: FloatArray) -> FloatArray:
        """The means of the state given what was observed so far (Kalman 1960).

        The gain is p_t Bᵀ: in the long run Bᵀ / φ.

        Args:
            observations: ``(batch, length, n)``: y_1, y_2, ….

        Returns:
            ``(batch, length, n)``: E[x_t | y_1 … y_t].
        """
        means = np.empty(observations.shape)
        mean = np.broadcast_to(self.start, observations.shape[::2])
        for t, gain in enumerate(self.variances(observations.shape[1])):
            ahead = mean @ self.transition.T
            surprise = observations[:, t] - ahead @ self.observation.T
            mean = ahead + gain * (surprise @ self.observation)
            means[:, t] = mean
        return means

    def predict(self, means: FloatArray) -> FloatArray:
        """``(…, n)``: E[y_{t+1} | y_1 … y_t], from the means of the state at t."""
        ahead: FloatArray = means @ (self.observation @ self.transition).T
        return ahead

    def losses(self, length: int) -> FloatArray:
        """``(length,)``: the mean squared error of each coordinate of y_1, y_2, … .

        No predictor has a smaller one: 2, 2.5, 2.6, … → φ² = 2.618034.
        """
        before = np.concatenate([[0.0], self.variances(length - 1)])
        return before + 2

    def sample(
        self, count: int, length: int, generator: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """``(count, length, n)`` observations, and ``(count, length + 1, n)`` states."""
        size = len(self.start)
        states = np.empty((count, length + 1, size))
        states[:, 0] = self.start
        for t in range(length):
            noise = generator.standard_normal((count, size))
            states[:, t + 1] = states[:, t] @ self.transition.T + noise
        noise = generator.standard_normal((count, length, size))
        return states[:, 1:] @ self.observation.T + noise, states


def mixing_time() -> float:
    """When 1/20 of the start is left: ln 0.05 / ln ζ = 3.1127 (Hu et al. 2024, A.2)."""
    return log(MIXED) / log(FORGETTING)


def named_dynamics(name: str) -> LinearDynamics | None:
    """The system of a name such as ``RanLDS5@3``; None if it is of another form.

    A and B are drawn by Haar's measure; the state starts in the first unit vector.

    Raises:
        Refused: If it has too few or too many states.
    """
    match = _DYNAMICS.fullmatch(name)
    if match is None:
        return None
    size = int(match["n"])
    demand(1 <= size <= LARGEST, f"{name} needs 1 to {LARGEST} states")
    random = Random(f"RanLDS {size} {int(match['seed'])}")
    transition, observation = orthogonal(size, random), orthogonal(size, random)
    return LinearDynamics(name, transition, observation, np.eye(size)[0])
