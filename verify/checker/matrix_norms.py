"""Norms in which no product of the letters' matrices is large (docs/within.md, 2)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from program.domains import FloatArray
from program.errors import demand
from verify.checker.affine_arithmetic import INFLATION

LARGEST_GROWTH = 2.0
"""A product of letters beyond it: they have no such norm."""

FAR = Fraction(4)
"""A departure from which already one letter grows beyond it: it need not be told apart
from larger ones, which may be no float64."""


@dataclass(frozen=True)
class Norm(ABC):
    """A norm N with N(XY) ≤ N(X)·N(Y), N(X∘Y) ≤ N(X)·N(Y), |X_ij| ≤ N(X) ≤ n·max|X|.

    X∘Y is the product entry by entry. All bounds that it gives are rounded up.

    Attributes:
        name: What it is called.
        size: n.
        growth: ν ≥ 1: N of every product of up to T letters is at most ν.
    """

    name: ClassVar[str]
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

    @abstractmethod
    def applied(self, bound: float, vector: FloatArray) -> float:
        """The largest entry of Xv, for N(X) ≤ bound."""


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
