"""The reference of a network that learns in context: T_0 exact steps of gradient descent.

For windows z_k (one-hot letters, latest first) and targets y_k (one-hot tuples) it takes
steps of η = 1/L from W = 0 on (1/2n) Σ_k ‖y_k − W z_k‖². Since ‖z‖² = L, no eigenvalue of
(1/n) Σ z zᵀ is above L, and L is reached where all windows are the same one.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.sources.in_context.prompts import InContext, Prompt

Exact = list[list[Fraction]]


@dataclass(frozen=True)
class Regression:
    """The windows of prompts with their targets, and the windows that are asked about.

    Attributes:
        source: What they are of.
        windows: ``(prompts, n, pL)``: one-hot; all 0 where no demonstration is.
        targets: ``(prompts, n, p^M)``: the same of targets.
        asked: ``(prompts, pL)``: the last window of each test history.
    """

    source: InContext
    windows: FloatArray
    targets: FloatArray
    asked: FloatArray

    @property
    def covariance(self) -> FloatArray:
        """``(prompts, pL, pL)``: (1/n) Σ z zᵀ."""
        found: FloatArray = self.windows.transpose(0, 2, 1) @ self.windows
        return found / self.source.demonstrations

    @property
    def moments(self) -> FloatArray:
        """``(prompts, p^M, pL)``: (1/n) Σ y zᵀ."""
        found: FloatArray = self.targets.transpose(0, 2, 1) @ self.windows
        return found / self.source.demonstrations


def regression(source: InContext, prompts: list[Prompt]) -> Regression:
    """The least squares problem of each prompt, from its tokens as they are laid out.

    Raises:
        Refused: If a prompt is not of the form.
    """
    tokens = source.laid_out(prompts)
    shape = (len(tokens), source.demonstrations, source.segment + 1)
    parts = tokens[:, : source.examples].reshape(shape)
    z = _one_hot(source, parts[:, :, : source.window][..., ::-1])
    asked = _one_hot(source, tokens[:, ::-1][:, : source.window])
    place = source.letters ** np.arange(source.ahead)[::-1]
    target = parts[:, :, source.window : -1] @ place
    there = parts[:, :, :1] < source.letters
    y = (target[:, :, None] == np.arange(source.targets)) & there
    return Regression(source, z, y.astype(np.float64), asked)


def _one_hot(source: InContext, letters: IntArray) -> FloatArray:
    """``(…, L)`` letters to ``(…, pL)``; a delimiter is 0."""
    found = letters[..., None] == np.arange(source.letters)
    flat: FloatArray = found.reshape(*letters.shape[:-1], -1).astype(np.float64)
    return flat


def descent(problem: Regression, steps: int | None = None) -> FloatArray:
    """``(prompts, p^M, pL)``: W after some steps, T_0 of them if none are said.

    In float64. All numbers are sums of at most n terms of at most 1, so that `rounding`
    bounds what this is off by.
    """
    source = problem.source
    covariance, moments = problem.covariance, problem.moments
    weights: FloatArray = np.zeros_like(moments)
    for _ in range(source.steps if steps is None else steps):
        weights = weights - (weights @ covariance - moments) / source.window
    return weights


def rounding(source: InContext) -> float:
    """How far an entry of `descent`, applied to a window, is from the exact number.

    Of a row w of W, ‖w‖₂ ≤ √(T_0/L) (Theorem W12). A step multiplies its error by at most 1
    in the 2-norm, since η times the covariance is between 0 and 1, and adds pL + 5
    roundings of numbers that are at most ‖w‖₂ + 1 together: the covariance, which has no
    negative entry, is at most L in the 2-norm.
    """
    norm, unit = (source.steps / source.window) ** 0.5, 2.0**-52
    once = (source.features + 5) * unit * (norm + 1)
    read_out = source.features * unit * norm
    return float(source.window**0.5 * (source.steps * once + read_out))


def exactly(source: InContext, prompt: Prompt) -> list[Fraction]:
    """``(p^M,)``: W z of the window that is asked about, without any error."""
    found = regression(source, [prompt])
    windows = [np.flatnonzero(z).tolist() for z in found.windows[0]]
    targets = [np.flatnonzero(y).tolist() for y in found.targets[0]]
    step = Fraction(1, source.window * source.demonstrations)
    weights: Exact = [[Fraction()] * source.features for _ in range(source.targets)]
    for _ in range(source.steps):
        off = [
            [sum((row[i] for i in z), Fraction()) for row in weights] for z in windows
        ]
        for z, y, said in zip(windows, targets, off, strict=True):
            for r, row in enumerate(weights):
                for i in z:
                    row[i] -= step * (said[r] - (r in y))
    asked = np.flatnonzero(found.asked[0]).tolist()
    return [sum((row[i] for i in asked), Fraction()) for row in weights]


def least_squares(problem: Regression) -> FloatArray:
    """``(prompts, p^M, pL)``: where gradient descent from 0 goes, the least solution."""
    inverse = np.linalg.pinv(problem.covariance, rcond=1e-10, hermitian=True)
    found: FloatArray = problem.moments @ inverse
    return found


def condition(problem: Regression) -> FloatArray:
    """``(prompts,)``: κ = L/λ, λ the least eigenvalue of the covariance above 0.

    The whole covariance has L − 1 eigenvalues 0 at least, for every block of a window sums
    to 1 (so assumption A3 of Hao et al. 2025 cannot hold for L ≥ 2). Gradient
    descent from 0 never leaves the span of the windows.
    """
    values = np.linalg.eigvalsh(problem.covariance)
    least = np.where(values > 1e-10, values, np.inf).min(axis=1)
    found: FloatArray = problem.source.window / least
    return found


def marginal(source: InContext, laws: FloatArray) -> FloatArray:
    """``(…, p)``: the law of the next letter, from that of the next M."""
    found: FloatArray = laws.reshape(*laws.shape[:-1], source.letters, -1).sum(axis=-1)
    return found
