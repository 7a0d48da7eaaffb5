"""Norms in which no product of the letters' matrices is large (docs/within.md)."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.kinds.linear_systems.check_matrix_errors import MatrixErrors
from krohn.kinds.linear_systems.check_product_gates import (
    ROUNDED,
    Gates,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format, Interval, Operand, bound_underflow

LARGEST_GROWTH = 2.0
"""A product of letters beyond it: they have no such norm."""


@dataclass(frozen=True)
class Norm(MatrixErrors):
    """A norm N with N(XY) ≤ N(X)·N(Y), N(X∘Y) ≤ N(X)·N(Y), |X_ij| ≤ N(X) ≤ n·max|X|.

    X∘Y is the product entry by entry. The noise of a channel is ``(1,)``: the norm of what
    it is off by.

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
        one = cls.of_matrices(matrices).max().maximum(1.0)
        grown = (length * one.through(np.log)).through(np.exp)
        demand(grown <= LARGEST_GROWTH, f"products of letters can grow ({cls.name})")
        return cls(matrices.shape[1], grown.most)

    @staticmethod
    @abstractmethod
    def of_matrices(matrices: Operand) -> Interval:
        """``(letters,)``: N of matrices ``(letters, n, n)``, or more."""

    @staticmethod
    @abstractmethod
    def of_vectors(vectors: Operand) -> Interval:
        """``(...,)``: N of vectors ``(..., n)``: N(Xv) ≤ N(X)·N(v)."""

    @staticmethod
    @abstractmethod
    def against(weights: FloatArray) -> Interval:
        """``(...,)``: the largest Σ |w_j v_j|, for N(v) ≤ 1, of weights ``(..., n)``."""

    @abstractmethod
    def absolute(self, bound: Interval) -> Interval:
        """N of any matrix that is entry by entry at most one of norm ``bound``."""

    def together(self, left: Operand, right: Operand) -> Interval:
        """N of vectors with two parts, of which ``left`` and ``right`` are N."""
        pair = Interval.stack_intervals([left, right])
        return self.of_vectors(pair.each(lambda x: np.moveaxis(x, 0, -1)))

    @property
    def facts(self) -> dict[str, Any]:
        """The norm, and what products of letters have in it."""
        return {"norm": self.name, "growth": self.growth}

    def describe_noise(self, noise: FloatArray) -> float:
        """The norm of what it is off by."""
        return float(noise.max())

    def bound_embedding(self) -> FloatArray:
        """None."""
        return np.zeros(1)

    def largest(self, noise: FloatArray) -> float:
        """No entry is larger than the norm."""
        return (Interval.of(noise) + self.growth).most

    def bound_fetch(
        self, noise: FloatArray, by: int, leak: float, astray: float, lost: Interval
    ) -> FloatArray:
        """Theorem W2."""
        largest = Interval.of(noise) + self.growth
        stray = (4 * Interval.of(leak) * largest + lost) * self.size
        return (noise + astray * self.absolute(largest) + stray).high

    def bound_product(
        self, name: str, left: FloatArray, right: FloatArray, units: Gates, form: Format
    ) -> FloatArray:
        """Theorem W5."""
        most, x, y = self.growth, Interval.of(left), Interval.of(right)
        passed = most * (x + y) + x * y
        noise = passed + self._by_units(units, most + x, most + y, form)
        reason = f"{name!r} can be off by {noise.most:.2g}, its own size"
        demand(noise < most, reason)
        return noise.high

    def _by_units(
        self, units: Gates, left: Interval, right: Interval, form: Format
    ) -> Interval:
        """How far a product is off beside its factors' errors (Theorem W4).

        Args:
            units: Their weights.
            left: A bound of the left factor as it is held.
            right: One of the right factor.
            form: The format.
        """
        n, w, c = self.size, Interval.of(units.inside), Interval.of(units.outside)
        inside = 1 if units.exact else 3
        inner, outer = units.rounding(left + right, (inside, 4 * n), form)
        x, y, both = left * left, right * right, left * right
        rest = both * (3 * x * x + 10 * x * y + 3 * y * y) / 40
        curve = w * w * both * (x + y) / 3 + n * n * w * w * w * w * rest
        sums, maxima = left + right, self.together(left, right)
        rounded = n * self.absolute(inner * sums + outer * maxima)
        astray = units.gain * self.absolute(units.astray(4 * n, form) * (both + curve))
        total = abs(units.gain - 1) * (both + curve) + curve + astray
        total += ROUNDED * 4 * c * w * rounded
        return total + 4 * n * n * bound_underflow(8 * c + 2)


class Spectral(Norm):
    """The 2-norm, for letters that are orthogonal up to rounding."""

    name = "2-norm"

    @staticmethod
    def of_matrices(matrices: Operand) -> Interval:
        """N(A)² is at most the largest row sum of |AᵀA|."""
        x = Interval.of(matrices)
        square = x.each(lambda a: a.swapaxes(-1, -2)) @ x
        return abs(square).sum(axis=-1).max(axis=-1).root()

    @staticmethod
    def of_vectors(vectors: Operand) -> Interval:
        """The root of the sum of squares."""
        x = Interval.of(vectors)
        return (x * x).sum(axis=-1).root()

    @staticmethod
    def against(weights: FloatArray) -> Interval:
        """The bound against weights (Cauchy, Schwarz)."""
        return Spectral.of_vectors(weights)

    def absolute(self, bound: Interval) -> Interval:
        """The Frobenius norm is at most √n times as large."""
        return Interval.of(float(self.size)).root() * bound


class ColumnSums(Norm):
    """The largest sum of a column's absolute values: maps, and stochastic matrices."""

    name = "column sums"

    @staticmethod
    def of_matrices(matrices: Operand) -> Interval:
        """By definition."""
        return abs(Interval.of(matrices)).sum(axis=-2).max(axis=-1)

    @staticmethod
    def of_vectors(vectors: Operand) -> Interval:
        """The sum of the absolute values."""
        return abs(Interval.of(vectors)).sum(axis=-1)

    @staticmethod
    def against(weights: FloatArray) -> Interval:
        """The largest of the weights."""
        return Interval.of(np.abs(weights).max(axis=-1))

    def absolute(self, bound: Interval) -> Interval:
        """It depends on absolute values alone."""
        return bound


NORMS: dict[str, type[Norm]] = {norm.name: norm for norm in (Spectral, ColumnSums)}


def norm_of(said: Mapping[str, Any], matrices: FloatArray, length: int) -> Norm:
    """The norm that evidence names, for letters ``(letters, n, n)`` and words of them.

    Raises:
        Refused: If it names none, or products are large in it.
    """
    demand(said.get("norm") in NORMS, "the evidence names no norm")
    return NORMS[said["norm"]].of(matrices, length)
