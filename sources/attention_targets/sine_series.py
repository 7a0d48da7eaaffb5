"""Targets whose singular values are chosen: sums of sines, and how cutting them errs.

ρ(u, v) = Σ_{i ≤ r} i^(−α) φ_i(u) ψ_i(v), with φ_i = √2 sin 2πi·; F and f are the identity
(Jiang & Li, section 5.1). Cutting ρ after m terms leaves a squared error of
Σ_{i>m} i^(−2α) for a pair of two independent inputs; an input paired with itself is
another matter, which their proof leaves out (erratum A25).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand

SETTLED = 3
"""Slopes are fitted from this m on."""


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


@dataclass(frozen=True, eq=False)
class Truncation:
    """Errors of cutting ρ after m terms, by m.

    Attributes:
        pairs: Mean square of ρ − ρ̃ where s ≠ t.
        diagonal: Mean square of ρ − ρ̃ where s = t.
        output: Mean square of H − Ĥ.
        absolute: Mean of |H − Ĥ|.
    """

    pairs: FloatArray
    diagonal: FloatArray
    output: FloatArray
    absolute: FloatArray


def truncation(
    series: SineSeries, inputs: FloatArray, terms: Sequence[int]
) -> Truncation:
    """The errors on inputs ``(count, τ)``, for each number of terms."""
    whole = series.logits(inputs)
    right = aggregate(whole, inputs)
    same = np.eye(inputs.shape[1], dtype=bool)
    found = []
    for m in terms:
        cut = series.logits(inputs, m)
        squares = (whole - cut) ** 2
        off = right - aggregate(cut, inputs)
        means = (squares[:, ~same], squares[:, same], off**2, np.abs(off))
        found.append([float(part.mean()) for part in means])
    return Truncation(*np.array(found).T)


def slopes(terms: Sequence[int], errors: Truncation) -> dict[str, float]:
    """The exponent of each error in m, by least squares of logarithms from m = 3 on."""
    settled = np.asarray(terms) >= SETTLED
    places = np.log(np.asarray(terms)[settled])
    series = {part.name: getattr(errors, part.name)[settled] for part in fields(errors)}
    return {n: float(np.polyfit(places, np.log(e), 1)[0]) for n, e in series.items()}
