"""Targets whose singular values are chosen: sums of sines.

ρ(u, v) = Σ_{i ≤ r} i^(−α) φ_i(u) ψ_i(v), with φ_i = √2 sin 2πi·; F and f are the identity
(Jiang & Li, section 5.1). `benchmarks/truncated_couplings.py` measures how cutting ρ errs.
"""

from dataclasses import dataclass

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand


@dataclass(frozen=True)
class SineSeries:
    """A coupling of one-dimensional inputs.

    Attributes:
        decay: α: singular value i is i^(−α).
        rank: r.
        scramble: ψ_i is the sine of index ((i − 1) xor scramble) + 1; 0 makes ψ_i = φ_i.
    """

    decay: float
    rank: int
    scramble: int = 0

    def __post_init__(self) -> None:
        demand(self.decay > 0.5, "ρ is no function of finite norm unless α > 1/2")
        demand(self.rank >= 1, "a series has a term at least")
        demand(self.scramble >= 0, "indices are changed by a bitwise xor")

    @property
    def indices(self) -> IntArray:
        """``(r,)``: 1, 2, …."""
        return np.arange(1, self.rank + 1)

    @property
    def sigma(self) -> FloatArray:
        """``(r,)``: the singular values."""
        return np.asarray(self.indices**-self.decay, dtype=np.float64)

    def phi(self, points: FloatArray) -> FloatArray:
        """``(…, r)``: the bases on the side of queries."""
        return _sines(points, self.indices)

    def psi(self, points: FloatArray) -> FloatArray:
        """``(…, r)``: the bases on the side of keys."""
        return _sines(points, ((self.indices - 1) ^ self.scramble) + 1)

    def __call__(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """``(a, b)``: ρ at points ``(a, 1)`` and ``(b, 1)``."""
        return (self.phi(u[:, 0]) * self.sigma) @ self.psi(v[:, 0]).T

    def logits(self, inputs: FloatArray, terms: int | None = None) -> FloatArray:
        """``(count, τ, τ)``: ρ of each pair of inputs ``(count, τ)``, cut after terms."""
        kept = slice(0, terms)
        left = self.phi(inputs)[..., kept] * self.sigma[kept]
        return left @ self.psi(inputs)[..., kept].swapaxes(1, 2)

    def outputs(self, inputs: FloatArray, terms: int | None = None) -> FloatArray:
        """``(count, τ)``: H_t of inputs ``(count, τ)``, with ρ cut after terms."""
        return aggregate(self.logits(inputs, terms), inputs)


def _sines(points: FloatArray, indices: IntArray) -> FloatArray:
    found: FloatArray = np.sqrt(2) * np.sin(2 * np.pi * indices * points[..., None])
    return found


def aggregate(logits: FloatArray, values: FloatArray) -> FloatArray:
    """``(count, τ)``: the means of values ``(count, τ)`` by softmax of logits."""
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    found: FloatArray = np.einsum("bts,bs->bt", weights, values)
    return found
