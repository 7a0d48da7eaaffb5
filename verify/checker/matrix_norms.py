"""Norms in which no product of the letters' matrices is large (docs/within.md, 2)."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, UNDERFLOW, Format
from krohn.verify.checker.matrix_errors import MatrixErrors
from krohn.verify.checker.product_gates import SLACK, Gates

LARGEST_GROWTH = 2.0
"""A product of letters beyond it: they have no such norm."""

FAR = Fraction(4)
"""A departure from which already one letter grows beyond it: it need not be told apart
from larger ones, which may be no float64."""


@dataclass(frozen=True)
class Norm(MatrixErrors):
    """A norm N with N(XY) ≤ N(X)·N(Y), N(X∘Y) ≤ N(X)·N(Y), |X_ij| ≤ N(X) ≤ n·max|X|.

    X∘Y is the product entry by entry. All bounds that it gives are rounded up. The noise
    of a channel is ``(1,)``: the norm of what it is off by.

    Attributes:
        size: n.
        growth: ν ≥ 1: N of every product of up to T letters is at most ν.
    """

    size: int
    growth: float

    @classmethod
    def of(cls, matrices: FloatArray, length: int) -> "Norm":
        """That of letters ``(letters, n, n)``, for words of up to ``length`` of them.

        Raises:
            Refused: If some products are large in it.
        """
        grown = np.exp(length * cls.excess(matrices) * INFLATION) * INFLATION
        demand(grown <= LARGEST_GROWTH, f"products of letters can grow ({cls.name})")
        return cls(matrices.shape[1], float(grown))

    @staticmethod
    @abstractmethod
    def excess(matrices: FloatArray) -> float:
        """δ with N(A) ≤ e^δ for every letter; found from exact fractions."""

    @abstractmethod
    def absolute(self, bound: float) -> float:
        """N of any matrix that is entry by entry at most one of norm ``bound``."""

    @abstractmethod
    def sums(self, left: float, right: float) -> float:
        """N of the matrix Σ_k (|X_ik| + |Y_kj|), for N(X) ≤ left and N(Y) ≤ right."""

    @abstractmethod
    def maxima(self, left: float, right: float) -> float:
        """N of the matrix Σ_k max(|X_ik|, |Y_kj|), likewise."""

    @staticmethod
    @abstractmethod
    def beside_one(bound: float) -> float:
        """N of a matrix whose last column is (v, 1), for N(v) ≤ bound, and else 0."""

    @abstractmethod
    def applied(self, bound: float, vector: FloatArray) -> float:
        """The largest entry of Xv, for N(X) ≤ bound."""

    @property
    def facts(self) -> dict[str, Any]:
        """The norm, and what products of letters have in it."""
        return {"norm": self.name, "growth": self.growth}

    def told(self, noise: FloatArray) -> float:
        """The norm of what it is off by."""
        return float(noise.max())

    def embedded(self) -> FloatArray:
        """None."""
        return np.zeros(1)

    def largest(self, noise: FloatArray) -> float:
        """No entry is larger than the norm."""
        return self.growth + float(noise.max())

    def fetched(
        self, noise: FloatArray, by: int, leak: float, astray: float
    ) -> FloatArray:
        """Theorem W2."""
        largest = self.largest(noise)
        off = noise + astray * self.absolute(largest) + 4 * leak * self.size * largest
        return np.array([float(off.max()) * INFLATION])

    def multiplied(
        self, name: str, left: FloatArray, right: FloatArray, units: Gates, form: Format
    ) -> FloatArray:
        """Theorem W5."""
        most, x, y = self.growth, float(left.max()), float(right.max())
        passed = most * (x + y) + x * y
        found = passed + self._by_units(units, most + x, most + y, form)
        demand(found < most, f"{name!r} can be off by {found:.2g}, its own size")
        return np.array([found * INFLATION])

    def _by_units(self, units: Gates, left: float, right: float, form: Format) -> float:
        """How far a product is off beside its factors' errors (Theorem W4).

        Args:
            units: Their weights.
            left: A bound of the left factor as it is held.
            right: One of the right factor.
            form: The format.
        """
        (w, c), n = units, self.size
        inside = 1 if units.exact else 3
        inner, outer = units.rounding(left + right, (inside, 4 * n), form)
        curve = w * w * (left**3 * right + left * right**3) / 3
        rest = 12 * left**5 * right + 40 * left**3 * right**3 + 12 * left * right**5
        curve += n * n * w**4 * rest / 160
        gain = abs(units.gain - 1) + 2.0**-50
        rounded = inner * self.sums(left, right) + outer * self.maxima(left, right)
        flushed = 4 * n * n * (8 * c + 1) * UNDERFLOW
        total = gain * (left * right + curve) + curve
        total += SLACK * 4 * c * w * rounded + flushed
        return float(total * INFLATION)


class Spectral(Norm):
    """The 2-norm, for letters that are orthogonal up to rounding."""

    name = "2-norm"

    @staticmethod
    def excess(matrices: FloatArray) -> float:
        """N(A)² ≤ 1 + δ with δ = ‖AᵀA − 1‖_F, and √(1 + δ) ≤ e^{δ/2}."""
        return 0.5 * max(_departure(matrix) for matrix in matrices)

    def absolute(self, bound: float) -> float:
        """The Frobenius norm is at most √n times as large."""
        return float(np.sqrt(self.size) * bound * INFLATION)

    def sums(self, left: float, right: float) -> float:
        """n√n·(left + right), by the Frobenius norm."""
        return float(self.size**1.5 * (left + right) * INFLATION)

    def maxima(self, left: float, right: float) -> float:
        """n√n·√(left² + right²), likewise."""
        return float(self.size**1.5 * np.hypot(left, right) * INFLATION)

    @staticmethod
    def beside_one(bound: float) -> float:
        """√(bound² + 1)."""
        return float(np.hypot(bound, 1.0) * INFLATION)

    def applied(self, bound: float, vector: FloatArray) -> float:
        """bound·‖v‖₂."""
        return float(bound * np.sqrt((vector**2).sum()) * INFLATION)


class ColumnSums(Norm):
    """The largest sum of a column's absolute values: maps, and stochastic matrices."""

    name = "column sums"

    @staticmethod
    def excess(matrices: FloatArray) -> float:
        """How far a column sum is above 1."""
        columns = np.abs(matrices).swapaxes(1, 2).reshape(-1, matrices.shape[1])
        over = (sum(map(Fraction, column)) - 1 for column in columns.tolist())
        return max(0.0, float(min(max(over), FAR)) * INFLATION)

    def absolute(self, bound: float) -> float:
        """It depends on absolute values alone."""
        return bound

    def sums(self, left: float, right: float) -> float:
        """n·(left + right)."""
        return self.size * (left + right) * INFLATION

    def maxima(self, left: float, right: float) -> float:
        """At most the same."""
        return self.sums(left, right)

    @staticmethod
    def beside_one(bound: float) -> float:
        """1 more."""
        return (bound + 1.0) * INFLATION

    def applied(self, bound: float, vector: FloatArray) -> float:
        """bound·‖v‖₁."""
        return float(bound * np.abs(vector).sum() * INFLATION)


NORMS: tuple[type[Norm], ...] = (Spectral, ColumnSums)


def _departure(matrix: FloatArray) -> float:
    """‖AᵀA − 1‖_F of an exact matrix, rounded up."""
    columns = [[Fraction(x) for x in column] for column in matrix.T.tolist()]
    off = Fraction()
    for i, x in enumerate(columns):
        for j, y in enumerate(columns):
            entry = sum((a * b for a, b in zip(x, y, strict=True)), Fraction(-(i == j)))
            off += entry * entry
    return float(np.sqrt(float(min(off, FAR))) * INFLATION)
