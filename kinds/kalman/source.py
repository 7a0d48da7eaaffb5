"""Kalman predictors: names, files, the gain, and the reference interpreter."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from krohn.kinds.kalman.statement import LARGEST, MOST_STATES, StatedPredictor
from krohn.kinds.linear_systems.source import orthogonal
from krohn.program import strict_json
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused, demand, told_as
from krohn.program.files import read_bytes
from krohn.program.quoting import listed
from krohn.program.user_input import decode_utf8, read_text, real_array

SUFFIX = ".kalman"
LARGEST_TEXT = 2**22
"""In bytes, of a file."""
BOUND = 100.0
"""Of observations, where nothing is said."""
NEAR = 1e-10
"""Singular values and distances from the unit circle that count as 0 are smaller."""
DOUBLINGS, STEPS = 64, 64
"""Of the filter, until its loop is stable; and Newton steps behind them, at most."""
LEFT = 2.0**-60
"""Of a power of F, which is as good as nothing."""
_NAME = re.compile(
    r"RanLDS(?P<n>\d{1,9})@(?P<seed>\d{1,18})(:bound=(?P<bound>\d{1,9}(\.\d{1,9})?))?"
)


@dataclass(frozen=True, eq=False)
class Steady:
    """The Riccati equation, solved in float64.

    Attributes:
        covariance: ``(n, n)``: P, of the state before it is observed.
        gain: ``(n, m)``: L = A P Bᵀ (B P Bᵀ + R)⁻¹.
        loop: ``(n, n)``: F = A − L B.
    """

    covariance: FloatArray
    gain: FloatArray
    loop: FloatArray

    @property
    def forgetting(self) -> float:
        """The spectral radius of F: what a step leaves of an error of the state."""
        return _radius(self.loop)


class KalmanPredictor(StatedPredictor):
    """A linear system with Gaussian noise, and its predictors."""

    def __post_init__(self) -> None:
        super().__post_init__()
        noise = np.linalg.eigvalsh(self.observation_noise)
        demand(
            noise.min() > NEAR**1.5 * noise.max(),
            "R is no covariance of full rank: each observed number needs its own noise",
        )
        noise = np.linalg.eigvalsh(self.process_noise)
        demand(
            noise.min() >= -(NEAR**1.2) * abs(noise).max(),
            "Q is no covariance: it has a negative eigenvalue",
        )

    @cached_property
    def steady(self) -> Steady:
        """The gain that the Kalman filter tends to.

        Raises:
            Refused: If there is none, or none is found; the message says why.
        """
        return solve_riccati(self)

    @property
    def first(self) -> FloatArray:
        """``(n,)``: z_0 = A x_0, the mean of the first state that is observed."""
        return np.asarray(self.transition @ self.start)

    @property
    def innovation(self) -> FloatArray:
        """``(m, m)``: the covariance of what no predictor knows, in the long run."""
        b, p = self.observation, self.steady.covariance
        return np.asarray(b @ p @ b.T + self.observation_noise)

    def run(self, observations: FloatArray) -> FloatArray:
        """``(batch, t, m)``: what follows y_1 … y_t, by the gain of the long run."""
        gain, loop = self.steady.gain, self.steady.loop
        state = np.broadcast_to(self.first, (len(observations), len(self.start)))
        said = np.empty(observations.shape)
        for t in range(observations.shape[1]):
            state = state @ loop.T + observations[:, t] @ gain.T
            said[:, t] = state @ self.observation.T
        return said

    def covariances(self, length: int) -> FloatArray:
        """``(length, n, n)``: of x_t given y_1 … y_{t−1}, where x_0 is known."""
        a, b = self.transition, self.observation
        each, known = np.empty((length, *a.shape)), np.zeros(a.shape)
        for t in range(length):
            each[t] = ahead = a @ known @ a.T + self.process_noise
            gain = _filter_gain(ahead, b, self.observation_noise)
            known = ahead - gain @ b @ ahead
        return each

    def filter(self, observations: FloatArray) -> FloatArray:
        """E[y_{t+1} | y_1 … y_t], the best prediction, where x_0 is known (Kalman 1960).

        Args:
            observations: ``(batch, t, m)``: y_1, y_2, ….

        Returns:
            ``(batch, t, m)``.
        """
        a, b, said = self.transition, self.observation, np.empty(observations.shape)
        mean = np.broadcast_to(self.first, (len(observations), len(a)))
        for t, ahead in enumerate(self.covariances(observations.shape[1])):
            gain = _filter_gain(ahead, b, self.observation_noise)
            surprise = observations[:, t] - mean @ b.T
            mean = (mean + surprise @ gain.T) @ a.T
            said[:, t] = mean @ b.T
        return said

    def losses(self, length: int) -> FloatArray:
        """``(length,)``: the mean squared error of each number of y_1, y_2, ….

        No predictor has a smaller one, if x_0 is known.
        """
        b = self.observation
        each = b @ self.covariances(length) @ b.T + self.observation_noise
        return np.asarray(np.trace(each, axis1=1, axis2=2) / len(b))

    def sample(
        self, count: int, length: int, generator: np.random.Generator
    ) -> FloatArray:
        """``(count, length, m)`` observations of the system."""
        n, m = len(self.start), len(self.observation)
        root_q, root_r = map(_root, (self.process_noise, self.observation_noise))
        state, said = np.tile(self.start, (count, 1)), np.empty((count, length, m))
        for t in range(length):
            moved = state @ self.transition.T
            state = moved + generator.standard_normal((count, n)) @ root_q
            noise = generator.standard_normal((count, m)) @ root_r
            said[:, t] = state @ self.observation.T + noise
        return said

    def response(self, length: int) -> tuple[FloatArray, FloatArray]:
        """What predictions take of the observations before them, and of the start.

        Returns:
            ``(length, m, m)``: B F^j L; and ``(length + 1, m)``: B F^j z_0.
        """
        steady, b = self.steady, self.observation
        taken, left = np.empty((length, len(b), len(b))), np.empty((length + 1, len(b)))
        columns = np.column_stack([steady.gain, self.first])
        for j in range(length + 1):
            out = b @ columns
            left[j] = out[:, -1]
            if j < length:
                taken[j] = out[:, :-1]
            columns = steady.loop @ columns
        return taken, left

    def windows(self, length: int) -> FloatArray:
        """``(length + 1,)``: how far windows of 0, 1, … observations can be off.

        What is left out is at most Σ_{j≥r} |B F^j L|·X, and B F^t z_0 for t ≥ r.
        """
        taken, left = self.response(length)
        each = abs(taken).sum(axis=2) * self.bound
        behind = np.vstack([each[::-1].cumsum(axis=0)[::-1], np.zeros(each.shape[1])])
        start = np.maximum.accumulate(abs(left)[::-1], axis=0)[::-1]
        return np.asarray((behind + start).max(axis=1))

    def rounding(self) -> float:
        """How far `run` can be off itself, about: roundings, and those of the gain."""
        steady, n = self.steady, len(self.start)
        kappa = power_sum(steady.loop)
        size = _norm(steady.gain) * self.bound + abs(self.first).max(initial=0.0)
        unit = 2.0**-50 * (n + len(self.observation)) * _norm(self.observation)
        return float(unit * kappa**2 * size * (1 + _norm(steady.loop)))


def power_sum(matrix: FloatArray) -> float:
    """Σ_s ‖M^s‖_∞, in floats; infinite where it takes too long to add up."""
    power, total = np.eye(len(matrix)), 0.0
    for _ in range(2**16):
        each = _norm(power)
        total += each
        if each <= LEFT:
            return total
        power = power @ matrix
    return np.inf


def solve_riccati(source: KalmanPredictor) -> Steady:
    """P = A P Aᵀ + Q − L S Lᵀ with a stable F = A − L B: by Newton's method (Hewer 1971).

    Each step solves P = F P Fᵀ + L R Lᵀ + Q, from a stable F.

    Raises:
        Refused: If a mode is not detected, or there is no steady state.
    """
    _check_modes(source.transition, source.observation, source.process_noise)
    with np.errstate(all="ignore"):
        steady, last = _stable(source), np.inf
        for _ in range(STEPS):
            gain = steady.gain
            noise = gain @ source.observation_noise @ gain.T + source.process_noise
            after = _with_gain(source, _sum_powers(steady.loop, noise))
            change = abs(after.covariance - steady.covariance).max()
            if not change < last or not after.forgetting < 1:
                break
            steady, last = after, change
    return steady


def _stable(source: KalmanPredictor) -> Steady:
    """A gain with a stable loop: what 0, 1, 2, 4, … steps of the filter make of P = 1.

    2^k of them make h + Mᵀ P (1 + G P)⁻¹ M of P (Chu, Fan, Lin and Wang 2004).

    Raises:
        Refused: If none is found.
    """
    b, one = source.observation, np.eye(len(source.start))
    m, h = source.transition.T, source.process_noise
    g = b.T @ np.linalg.solve(source.observation_noise, b)
    steady = _with_gain(source, one)
    for _ in range(DOUBLINGS):
        if steady.forgetting < 1:
            return steady
        try:
            inner = np.linalg.inv(one + g @ h)
            m, g, h = (
                m @ inner @ m,
                g + m @ inner @ g @ m.T,
                h + m.T @ h @ inner @ m,
            )
            steady = _with_gain(source, h + m.T @ np.linalg.inv(one + g) @ m)
        except np.linalg.LinAlgError:
            break
    raise Refused(
        f"no steady state of {source.name} is found: its predictor forgets too slowly"
    )


def _check_modes(a: FloatArray, b: FloatArray, q: FloatArray) -> None:
    """Refuse what has no steady state (Anderson and Moore 1979, section 4.4).

    Raises:
        Refused: If a mode that does not fade is not seen, or one that lasts is not moved.
    """
    sizes = [max(_norm(x), 1e-300) for x in (a, b, q)]
    for value in np.linalg.eigvals(a):
        if abs(value) < 1 - NEAR:
            continue
        shifted = (a - value * np.eye(len(a))) / max(sizes[0], 1)
        shown = f"{value:.4g}" if value.imag else f"{value.real:.4g}"
        seen = np.linalg.svd(np.vstack([shifted, b / sizes[1]]), compute_uv=False)
        demand(
            seen[-1] > NEAR,
            f"A has the eigenvalue {shown}, whose mode does not fade and is not seen "
            "through B: the system is not detectable, and no predictor's error is bounded",
        )
        moved = np.linalg.svd(np.hstack([shifted, q / sizes[2]]), compute_uv=False)
        demand(
            abs(value) > 1 + NEAR or moved[-1] > NEAR,
            f"A has the eigenvalue {shown} on the unit circle, and the noise Q does not "
            "reach its mode: the gain fades, and there is no steady state",
        )


def _with_gain(source: KalmanPredictor, p: FloatArray) -> Steady:
    p = (p + p.T) / 2
    gain = source.transition @ _filter_gain(
        p, source.observation, source.observation_noise
    )
    return Steady(p, gain, source.transition - gain @ source.observation)


def _filter_gain(p: FloatArray, b: FloatArray, r: FloatArray) -> FloatArray:
    """``(n, m)``: P Bᵀ (B P Bᵀ + R)⁻¹."""
    return np.asarray(np.linalg.solve(b @ p @ b.T + r, b @ p).T)


def _sum_powers(loop: FloatArray, noise: FloatArray) -> FloatArray:
    """Σ F^s N (F^s)ᵀ, by doubling."""
    for _ in range(DOUBLINGS):
        more = loop @ noise @ loop.T
        noise, loop = noise + more, loop @ loop
        if abs(more).max() <= LEFT * abs(noise).max():
            break
    return noise


def _root(covariance: FloatArray) -> FloatArray:
    """A matrix whose transpose times itself is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _norm(matrix: FloatArray) -> float:
    return float(abs(matrix).sum(axis=1).max())


def _radius(matrix: FloatArray) -> float:
    if not np.isfinite(matrix).all():
        return np.inf
    return float(abs(np.linalg.eigvals(matrix)).max())


def find_by_name(name: str) -> KalmanPredictor | None:
    """The predictor of a name such as ``RanLDS5@3``; None if it is of another form.

    A and B are orthogonal, by Haar's measure; Q and R are the identity, and x_0 is the
    first unit vector (Hu et al. 2024, section 3).

    Raises:
        Refused: If it has too few or too many states.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    size, bound = int(match["n"]), float(match["bound"] or BOUND)
    demand(1 <= size <= MOST_STATES, f"{name} needs 1 to {MOST_STATES} states")
    random = Random(f"RanLDS {size} {int(match['seed'])}")
    transition, observation = orthogonal(size, random), orthogonal(size, random)
    one = np.eye(size)
    return KalmanPredictor(name, transition, observation, one, one, one[0], bound)


def read(path: Path) -> KalmanPredictor:
    """The predictor of a ``.kalman`` file: an object with A, B, Q, R, start and bound.

    Raises:
        Refused: If it cannot be read, or states none.
    """
    text = decode_utf8(read_bytes(path, LARGEST_TEXT), path)
    with told_as(Refused, f"{path}: "):
        try:
            said = strict_json.read(text)
        except ValueError as error:
            if not text.lstrip().startswith("{"):
                read_text(path)  # or it is known to be something else
            raise Refused(f"it is no JSON: {error}") from None
        demand(isinstance(said, Mapping), "it is no JSON object")
        known = {"A", "B", "Q", "R", "start", "bound"}
        others = sorted(map(str, said.keys() - known))
        demand(
            not others,
            f"it has {listed(map(repr, others), 3)}; say {', '.join(sorted(known))}",
        )
        return predictor(path.stem, **said)


def predictor(
    name: str,
    A: Any = None,
    B: Any = None,
    Q: Any = 1.0,
    R: Any = 1.0,
    start: Any = None,
    bound: Any = BOUND,
) -> KalmanPredictor:
    """A predictor of matrices; numbers for Q and R stand for multiples of the identity.

    Raises:
        Refused: If a matrix is missing, is none, or does not fit the others.
    """
    given = dict[str, FloatArray]()
    for key, value in {"A": A, "B": B, "Q": Q, "R": R}.items():
        demand(value is not None, f"{key} is missing: say A, B, Q and R")
        given[key] = real_array(value, key)
        demand(np.isfinite(given[key]), f"a number of {key} is not finite")
    a, b = given["A"], given["B"]
    for key, sized in (("A", a), ("B", b)):
        right = sized.ndim == 2 and sized.size > 0
        demand(right, f"{key} is no matrix: write it as rows of numbers")
    for key, size in (("Q", len(a)), ("R", len(b))):
        if given[key].ndim == 0:
            given[key] = given[key] * np.eye(size)
        demand(given[key].ndim == 2, f"{key} is no matrix, nor a number")
    first = np.zeros(len(a)) if start is None else real_array(start, "start")
    most = real_array(bound, "bound")
    demand(first.ndim == 1 and np.isfinite(first).all(), "start is no list of numbers")
    demand(first.size == len(a), f"start has {first.size} numbers, and A has {len(a)}")
    positive = most.ndim == 0 and 0 < most <= LARGEST
    demand(positive, "bound is no number above 0: the largest observation")
    return KalmanPredictor(name, a, b, given["Q"], given["R"], first, float(most))
