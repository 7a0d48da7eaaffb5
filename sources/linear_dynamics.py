"""Linear dynamical systems with noise, and their Kalman filter."""

import re
from dataclasses import dataclass
from math import log, sqrt
from random import Random

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.sources.linear_systems import LARGEST, orthogonal

# A linear dynamical system, its sampler, and the filter that is optimal for it.


GOLDEN = (1 + sqrt(5)) / 2
"""φ: the variance of the state before it is observed, in the long run, is φ."""
FORGETTING = 1 - 1 / GOLDEN
"""ζ = φ⁻² = 0.381966: what one step leaves of an error of the mean."""
MIXED = 0.05
"""The share of the start that is left once such a system is said to have mixed."""
_NAME = re.compile(r"RanLDS(?P<n>\d{1,9})@(?P<seed>\d{1,18})")


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
        found, variance = np.empty(length), 0.0
        for t in range(length):
            variance = (variance + 1) / (variance + 2)
            found[t] = variance
        return found

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


def named(name: str) -> LinearDynamics | None:
    """The system of a name such as ``RanLDS5@3``; None if it is of another form.

    A and B are drawn by Haar's measure; the state starts in the first unit vector.

    Raises:
        Refused: If it has too few or too many states.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    size = int(found["n"])
    demand(1 <= size <= LARGEST, f"{name} needs 1 to {LARGEST} states")
    random = Random(f"RanLDS {size} {int(found['seed'])}")
    transition, observation = orthogonal(size, random), orthogonal(size, random)
    return LinearDynamics(name, transition, observation, np.eye(size)[0])
