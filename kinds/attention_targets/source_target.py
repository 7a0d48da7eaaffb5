"""Targets of attention that a file can state, by the decomposition of their coupling."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial import legendre

from krohn.kinds.attention_targets.statement_target import (
    Moduli,
    OuterFunction,
    StatedAttentionTarget,
    is_power,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

# The proper orthogonal decomposition of a coupling: ρ(u, v) = Σ_k σ_k φ_k(u) ψ_k(v).
#
# The bases are orthonormal, σ decreases, and cutting the sum after r terms is the best
# that rank r can do in L²: its squared error is σ_{r+1}² + σ_{r+2}² + … (Eckart & Young
# 1936). It is found by Nyström's method: with a quadrature of nodes u_i and weights
# w_i, the matrix √w_i ρ(u_i, u_j) √w_j has singular values that tend to σ, and φ_k(u) =
# Σ_j w_j ρ(u, u_j) ψ_k(u_j) / σ_k continues a basis from the nodes to any point.


Coupling: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""ρ: points ``(a, d)`` and ``(b, d)`` to logits ``(a, b)``."""
MOST_NODES = 3000
"""A decomposition takes some seconds of dense algebra at most."""


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Nodes and weights: the integral of g over the inputs is Σ_i w_i g(u_i).

    Attributes:
        nodes: ``(n, d)``: points of [0, 1]^d.
        weights: ``(n,)``: positive; their sum is the volume, 1 for the cube.
        axes: How many nodes each axis has, if it is a grid of Gauss and Legendre's.
    """

    nodes: FloatArray
    weights: FloatArray
    axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        demand(self.nodes.ndim == 2, "nodes are a matrix: a row for each point")
        demand(len(self.nodes) <= MOST_NODES, f"more than {MOST_NODES:,} nodes")
        demand(self.weights.shape == self.nodes.shape[:1], "each node needs a weight")
        demand(self.weights > 0, "weights of nodes must be positive")

    def cardinal(self, points: FloatArray) -> FloatArray:
        """``(a, n)``: the polynomial of each node that is 1 there and 0 at all others.

        On [0, 1] it is w_i Σ_{k<n} (2k + 1) P_k(2u_i − 1) P_k(2u − 1), since Gauss' rule
        is exact for products of two polynomials of its size; on a cube, a product of them.

        Raises:
            Refused: If the nodes are no grid of Gauss and Legendre's.
        """
        demand(self.axes, "only a grid of Gauss and Legendre's interpolates")
        columns = zip(self.axes, points.T, strict=True)
        factors = [_cardinal(n, column) for n, column in columns]
        joined = reduce(
            lambda a, b: a[:, :, None] * b[:, None, :], factors[1:], factors[0]
        )
        return joined.reshape(len(points), -1)


def _line(count: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _cardinal(count: int, points: FloatArray) -> FloatArray:
    nodes, weights = _line(count)
    here = legendre.legvander(2 * points - 1, count - 1) * (2 * np.arange(count) + 1)
    at_nodes = legendre.legvander(2 * nodes - 1, count - 1)
    return np.asarray((here @ at_nodes.T) * weights, dtype=np.float64)


def gauss_legendre(count: int, dimensions: int = 1) -> Quadrature:
    """Gauss and Legendre's rule on [0, 1]^d, exact up to degree 2·count − 1 in each axis.

    Raises:
        Refused: If there would be more than ``MOST_NODES`` nodes.
    """
    demand(count >= 1 and dimensions >= 1, "a rule needs a node and a dimension")
    demand(count**dimensions <= MOST_NODES, f"more than {MOST_NODES:,} nodes")
    nodes, weights = _line(count)
    grid = np.meshgrid(*[nodes] * dimensions, indexing="ij")
    scale = reduce(np.multiply.outer, [weights] * dimensions)
    points = np.stack([axis.ravel() for axis in grid], axis=1)
    return Quadrature(points, scale.ravel(), (count,) * dimensions)


def interpolate_coupling(values: FloatArray, rule: Quadrature) -> Coupling:
    """The coupling that is a polynomial and has these values at the nodes.

    Args:
        values: ``(n, n)``: ρ(u_i, u_j) at the nodes of a grid.
        rule: The grid.

    Raises:
        Refused: If the matrix is of another size, or the nodes are no grid.
    """
    count = len(rule.weights)
    demand(values.shape == (count, count), f"the matrix must be {count} by {count}")
    demand(prod(rule.axes) == count, "only a grid of Gauss and Legendre's interpolates")
    return lambda u, v: rule.cardinal(u) @ values @ rule.cardinal(v).T


@dataclass(frozen=True, eq=False)
class Pod:
    """A decomposed coupling.

    Attributes:
        coupling: ρ.
        rule: The quadrature.
        values: ``(n, n)``: ρ at the nodes.
        sigma: ``(n,)``: the singular values, decreasing.
        left: ``(n, n)``: φ_k(u_i) in row i and column k.
        right: ``(n, n)``: ψ_k(u_i) likewise.
    """

    coupling: Coupling
    rule: Quadrature
    values: FloatArray
    sigma: FloatArray
    left: FloatArray
    right: FloatArray

    @property
    def rank(self) -> int:
        """How many singular values are more than rounding of the largest."""
        floor = self.sigma[0] * len(self.sigma) * np.finfo(float).eps
        return int((self.sigma > floor).sum())

    def phi(self, points: FloatArray, terms: int) -> FloatArray:
        """``(a, terms)``: φ_1 … at any points ``(a, d)``.

        Raises:
            Refused: If more terms are asked for than the rank.
        """
        self._has(terms)
        scaled = self.rule.weights[:, None] * self.right[:, :terms] / self.sigma[:terms]
        return self.coupling(points, self.rule.nodes) @ scaled

    def psi(self, points: FloatArray, terms: int) -> FloatArray:
        """``(b, terms)``: ψ_1 … at any points ``(b, d)``.

        Raises:
            Refused: If more terms are asked for than the rank.
        """
        self._has(terms)
        scaled = self.rule.weights[:, None] * self.left[:, :terms] / self.sigma[:terms]
        return self.coupling(self.rule.nodes, points).T @ scaled

    def sum_terms(self, u: FloatArray, v: FloatArray, terms: int) -> FloatArray:
        """``(a, b)``: the first terms of ρ at any points."""
        return (self.phi(u, terms) * self.sigma[:terms]) @ self.psi(v, terms).T

    def sup_norms(
        self, terms: int, points: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """``(terms,)`` twice: the largest |φ_k| and |ψ_k| at points."""
        functions = (self.phi(points, terms), self.psi(points, terms))
        return np.abs(functions[0]).max(axis=0), np.abs(functions[1]).max(axis=0)

    def _has(self, terms: int) -> None:
        demand(0 <= terms <= self.rank, f"ρ has rank {self.rank}, not {terms}")


def decompose(coupling: Coupling, rule: Quadrature) -> Pod:
    """Decompose a coupling, by Nyström's method.

    The sign of a pair of bases is that which makes the largest value of φ_k positive, so
    that the same coupling gives the same bases.

    Raises:
        Refused: If ρ is zero, not finite at a node, or gives another shape.
    """
    values = np.asarray(coupling(rule.nodes, rule.nodes), dtype=np.float64)
    count = len(rule.weights)
    demand(values.shape == (count, count), "ρ must give a row for each u")
    demand(np.isfinite(values), "ρ is not finite everywhere")
    root = np.sqrt(rule.weights)
    left, sigma, right = np.linalg.svd(root[:, None] * values * root)
    demand(sigma[0] > 0, "ρ is zero at all nodes")
    largest = np.abs(left).argmax(axis=0)
    sign = np.where(left[largest, np.arange(count)] < 0, -1.0, 1.0)
    left, right = left * sign / root[:, None], right.T * sign / root[:, None]
    return Pod(coupling, rule, values, sigma, left, right)


# A target of attention that a file can state, with its decomposition and its reference.


NODES = 192
"""Of the quadrature that decomposes ρ: exact for products of sines of up to 90 periods."""


@dataclass(frozen=True, eq=False, repr=False)
class AttentionTarget(StatedAttentionTarget):
    """A target.

    Attributes:
        rank: m_h that a network shall have; None to choose it.
        knots: How many pieces each axis of a network shall have; None to choose it.
    """

    outer: OuterFunction | None = None
    moduli: Moduli = field(default_factory=Moduli)
    causal: bool = False
    rank: int | None = None
    knots: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank is not None:
            demand(1 <= self.rank <= self.pod.rank, f"ρ has rank {self.pod.rank}")
        if self.knots is not None:
            demand(is_power(self.knots), "knots divide [0, 1] into 2, 4, 8, … pieces")
        if self.outer is not None:
            low, high = self.f.min() - self.moduli.f, self.f.max() + self.moduli.f
            inside = self.outer.low <= low and high <= self.outer.high
            demand(inside, f"F is needed from {low:g} to {high:g}")

    def __repr__(self) -> str:
        return f"<AttentionTarget {self.name}: {self.length} vectors, {self.points} pieces>"

    def coupling(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """ρ: points ``(a, 1)`` and ``(b, 1)`` to logits ``(a, b)``."""
        sides = ((u, self.left), (v, self.right))
        a, b = (interpolate_rows(x[:, 0] * self.points, table) for x, table in sides)
        return np.asarray(a @ b.T, np.float64)

    @cached_property
    def pod(self) -> Pod:
        """Its orthonormal bases."""
        return decompose(self.coupling, gauss_legendre(NODES))

    def run(self, x: FloatArray) -> FloatArray:
        """``(batch, t, n)``: H of inputs ``(batch, t, 1)``, in long doubles."""
        at: Any = x[..., 0].astype(np.longdouble) * self.points
        asked, keys, values = (
            interpolate_rows(at, table) for table in (self.left, self.right, self.f)
        )
        scores = asked @ keys.swapaxes(1, 2)
        if self.causal:
            later = np.triu(np.ones(scores.shape[1:], bool), 1)
            scores = np.where(later, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        mean = (weights @ values) / weights.sum(axis=2, keepdims=True)
        return np.asarray(
            mean if self.outer is None else interpolate(self.outer, mean), np.float64
        )

    @property
    def rounding(self) -> float:
        """How far `run` can be off: as the sums of its terms, one by one."""
        unit = float(np.finfo(np.longdouble).eps)
        peak = float((abs(self.left).max(axis=0) * abs(self.right).max(axis=0)).sum())
        terms = 2 * self.left.shape[1] + 3 * self.length + 32
        slope, largest = 1.0, abs(self.f).max()
        if self.outer is not None:
            rise = abs(np.diff(self.outer.values, axis=0)).max() / self.outer.step
            slope, largest = (
                max(slope, rise),
                max(largest, abs(self.outer.values).max()),
            )
        off = terms * unit * (1 + peak) * largest * slope
        return float(off + 2.0**-52 * largest)  # and the last rounding


def interpolate_rows(
    at: FloatArray, table: FloatArray, own: bool = False
) -> FloatArray:
    """A table whose rows are joined by lines, at places counted in rows.

    Args:
        at: Places from 0 to the last row, of any shape; those outside count as ends.
            With ``own`` the last axis has a place for each column.
        table: ``(rows, columns)``.
        own: Whether each column is looked up at its own place.

    Returns:
        The shape of ``at``, with an axis of columns behind it unless they are its own.
    """
    last = len(table) - 1
    at = np.clip(at, 0, last)
    below = np.minimum(at.astype(np.int64), last - 1)
    part = at - below
    rows: tuple[Any, ...] = (below,), (below + 1,)
    if own:
        rows = tuple((*row, np.arange(table.shape[1])) for row in rows)
    else:
        part = part[..., None]
    values: FloatArray = table[rows[0]] * (1 - part) + table[rows[1]] * part
    return values


def interpolate(outer: OuterFunction, a: FloatArray) -> FloatArray:
    """F of ``(…, n)`` numbers, each by its own function; constant outside the points."""
    return interpolate_rows((a - outer.low) / outer.step, outer.values, own=True)
