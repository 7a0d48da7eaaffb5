"""Kalman predictors as model files state them: a linear system with Gaussian noise."""

from dataclasses import dataclass, field

from krohn.program.errors import demand
from krohn.program.inputs import Box
from krohn.program.stated import Matrix, StatedSource, Vector

LARGEST = 2.0**64
"""Of all numbers, so that no sum of them overflows float64."""
MOST_STATES = 64


@dataclass(frozen=True, eq=False)
class StatedPredictor(StatedSource):
    """The Kalman predictor of x_t = A x_{t−1} + ζ_t, y_t = B x_t + ξ_t.

    ζ and ξ have mean 0 and the covariances Q and R, and x_0 has the mean `start`.
    docs/proofs/kalman.md defines the predictor. All numbers are float64 and stand for
    themselves.

    Attributes:
        name: What it is called.
        transition: ``(n, n)``: A.
        observation: ``(m, n)``: B.
        process_noise: ``(n, n)``: Q.
        observation_noise: ``(m, m)``: R.
        start: ``(n,)``.
        bound: X: no number of an observation is larger, in absolute value.

    Raises:
        Refused: If shapes do not fit, or a number is out of range.
    """

    kind = "kalman-predictor"
    name: str
    transition: Matrix = field(metadata={"key": "A"})
    observation: Matrix = field(metadata={"key": "B"})
    process_noise: Matrix = field(metadata={"key": "Q"})
    observation_noise: Matrix = field(metadata={"key": "R"})
    start: Vector
    bound: float

    def __post_init__(self) -> None:
        n, m = len(self.start), len(self.observation)
        demand(
            1 <= n <= MOST_STATES, f"a state has 1 to {MOST_STATES} numbers, not {n}"
        )
        demand(
            1 <= m <= MOST_STATES, f"1 to {MOST_STATES} numbers are observed, not {m}"
        )
        q, r = self.process_noise, self.observation_noise
        shapes = {"A": (n, n), "B": (m, n), "Q": (n, n), "R": (m, m)}
        given = (self.transition, self.observation, q, r)
        for (key, shape), matrix in zip(shapes.items(), given, strict=True):
            fits = matrix.shape == shape
            demand(fits, f"{key} has the shape {matrix.shape}, and {shape} is needed")
        for key, noise in (("Q", q), ("R", r)):
            demand(noise == noise.T, f"{key} is no covariance: it is not symmetric")
        for numbers in (*given, self.start):
            small = abs(numbers) <= LARGEST
            demand(small, "a number is out of range: 2^64 is the most")
        demand(
            0 < self.bound <= LARGEST, "the bound of observations is 0, or too large"
        )

    def box(self, length: int | None) -> Box:
        """Its inputs, of up to a length."""
        return observations_within(self.bound, len(self.observation), length)


def observations_within(bound: float, count: int, length: int | None) -> Box:
    """All sequences of observations of so many numbers, none of which is larger."""
    return Box(((-bound, bound),) * count, 1, length)
