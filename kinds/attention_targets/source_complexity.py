"""How hard a target is for one head: C0, C1, C2 and the bounds that are made of them.

The measures are those of Jiang and Li (their equations 12 to 15), of one representation
(F, f, ρ): the infimum over all representations of a function is no larger. The bound of
their Theorem 4.1 is given as it is printed, and as it can be proved (erratum A24):
docs/proofs/attention_targets.md has the proof.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Protocol

import numpy as np

from krohn.kinds.attention_targets.source_target import (
    Pod,
    Quadrature,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand

TAIL = 2
"""The decay is fitted on the singular values from this one on: σ_1 is often a mean."""
GRID = 1024
"""Curvatures are looked for between so many points of a line."""
FREQUENCIES = 2
"""A Fourier sum has so many frequencies for each node of an axis."""


def norm_measure(lipschitz: float, value: float, bases: float) -> float:
    """C0 = max{K_F ‖f‖ sup_i(‖φ_i‖ + ‖ψ_i‖), 1}; printed as the infimum of the two.

    With the infimum C0 ≤ 1, and the bound would not grow with F or f.
    """
    return max(lipschitz * value * bases, 1.0)


def decay(sigma: FloatArray) -> float:
    """α: minus the slope of log σ_k against log k, by least squares, from `TAIL` on.

    Infinite if fewer than two singular values are left: a finite rank decays at any rate.
    """
    tail = sigma[TAIL - 1 :]
    if len(tail) < 2:
        return float("inf")
    places = np.log(np.arange(TAIL, TAIL + len(tail)))
    return -float(np.polyfit(places, np.log(tail), 1)[0])


def coupling_measure(sigma: FloatArray, alpha: float) -> float:
    """C1^(α): the least c with σ_k ≤ c k^(−α) for all k.

    Raises:
        Refused: If α ≤ 1/2, where the squares of k^(−α) have no sum.
    """
    demand(alpha > 0.5, "C1 needs α > 1/2")
    return float((sigma * np.arange(1, len(sigma) + 1) ** alpha).max())


def curvature_measure(values: FloatArray) -> float:
    """C_FF for β = 2, one input: max|g″| / 8, from second differences.

    The line through the values of g at knots 1/m apart is off by max|g″| / (8m²) at most,
    and it is a network of m rectified units: so C_FF / m² bounds the error in sup norm.

    Args:
        values: ``(points,)``: g at points of [0, 1] with equal steps.
    """
    steps = len(values) - 1
    return float(np.abs(np.diff(values, n=2)).max() * steps**2 / 8)


def fourier_measure(values: FloatArray, rule: Quadrature) -> float:
    """C_FF for β = 1/2 (Barron 1993): a moment Σ |c_ω| ‖ω‖₁ of a Fourier sum for g.

    On the cube ‖g − ĝ‖ ≤ C_FF / √m in L², m units wide: Barron's 2r ∫|ω||ĝ| / √m, with
    r‖ω‖ replaced by the largest |ω · (x − c)| = ‖ω‖₁ / 2. The sum agrees with g at the
    nodes, has period 2 in each direction, and is the one whose moment is least: g is free
    outside of the cube. Sines and cosines of a frequency count apart, so the moment is up
    to √2 too large.

    Args:
        values: ``(n,)``: g at the nodes.
        rule: A grid of Gauss and Legendre's.

    Raises:
        Refused: If the nodes are no grid, or no sum agrees with g.
    """
    from scipy.optimize import linprog

    waves = _waves(rule.axes)
    angles = rule.nodes @ waves.T
    columns = np.hstack([np.cos(angles), np.sin(angles)])
    cost = np.tile(np.abs(waves).sum(axis=1), 2)
    system = np.hstack([columns, -columns])
    solution = linprog(np.tile(cost, 2), A_eq=system, b_eq=values, method="highs")
    demand(solution.success, "no Fourier sum agrees with the function at the nodes")
    return float(solution.fun or 0.0)


def _waves(axes: tuple[int, ...]) -> FloatArray:
    """``(waves, d)``: multiples of π, one of each pair of opposite ones."""
    demand(axes, "only a grid of Gauss and Legendre's has frequencies")
    sides = [np.arange(-FREQUENCIES * n, FREQUENCIES * n + 1) for n in axes]
    grid = np.stack([a.ravel() for a in np.meshgrid(*sides, indexing="ij")], axis=1)
    half = grid[len(grid) // 2 :]  # the order is symmetric about 0
    return np.asarray(np.pi * half, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Complexity:
    """The complexity of a target in one representation.

    Attributes:
        pod: Its coupling, decomposed.
        lipschitz: K_F, in the sup norm of aggregates.
        value: ‖f‖: the largest |f| in sup norm.
        outer: C_FF of F and of f together, for the β that is used.
        beta: 2 for knots on a line, 1/2 for Fourier moments.
        alpha: The decay for which C1 is stated.
        points: Curvatures are looked for between so many points of a line.

    Raises:
        Refused: If β is another, or 2 where inputs have several dimensions.
    """

    pod: Pod
    lipschitz: float
    value: float
    outer: float
    beta: float
    alpha: float
    points: int = GRID

    def __post_init__(self) -> None:
        demand(self.beta in (0.5, 2), "β is 2 or 1/2")
        line = self.beta != 2 or self.pod.rule.nodes.shape[1] == 1
        demand(line, "knots are laid on a line: β = 2 is for one dimension")

    @cached_property
    def c1(self) -> float:
        """C1 of the singular values that are more than rounding."""
        return coupling_measure(self.pod.sigma[: self.pod.rank], self.alpha)

    @cached_property
    def _norms(self) -> FloatArray:
        """``(2, rank)``: the largest |φ_k| and |ψ_k| at the nodes."""
        return np.asarray(np.abs(self._bases).max(axis=1))

    @property
    def _bases(self) -> FloatArray:
        """``(2, n, rank)``: φ and ψ at the nodes."""
        rank = self.pod.rank
        return np.stack([self.pod.left[:, :rank], self.pod.right[:, :rank]])

    def measures(self, terms: int) -> FloatArray:
        """``(2, terms)``: C_FF of each of the first φ and ψ."""
        pod, terms = self.pod, min(terms, self.pod.rank)
        if self.beta == 2:
            line = np.linspace(0, 1, self.points + 1)[:, None]
            bases = [pod.phi(line, terms), pod.psi(line, terms)]
            return np.array([[curvature_measure(g) for g in b.T] for b in bases])
        kept = self._bases[:, :, :terms]
        return np.array([[fourier_measure(g, pod.rule) for g in b.T] for b in kept])

    def c0(self, terms: int) -> float:
        """C0, its supremum over the first bases; φ and ψ are looked at at the nodes."""
        bases = self._norms[:, :terms].sum(axis=0).max()
        return norm_measure(self.lipschitz, self.value, float(bases))

    def c2(self, terms: int) -> float:
        """C2(terms): F, f and the first bases on either side."""
        return self.outer + float(self.measures(terms).sum())

    def bound_as_printed(self, length: int, width: int, neurons: float) -> float:
        """Theorem 4.1 as printed: τ²C0 (C1 / m_h^(2α−1) + C2 m_h^(β+1) / m_FF^β).

        Its first term has the rate of a squared error beside an error that is none.
        """
        heads = self.c1 / width ** (2 * self.alpha - 1)
        units = self.c2(width) * width ** (self.beta + 1) / neurons**self.beta
        return float(length**2 * self.c0(width) * (heads + units))

    def tail(self, width: int) -> float:
        """C1 m_h^(−(α−1/2)) / √(2α − 1): what bounds √(σ_{m_h+1}² + …)."""
        power = self.alpha - 0.5
        return float(self.c1 / sqrt(2 * power) / width**power)

    def diagonal(self, width: int) -> float:
        """The root of ∫ (ρ − ρ̃)(u, u)² du, at the nodes: no norm of ρ − ρ̃ bounds it."""
        pod = self.pod
        terms = (pod.left * pod.sigma * pod.right)[:, : min(width, pod.rank)]
        off = np.diag(pod.values) - terms.sum(axis=1)
        return float(np.sqrt(pod.rule.weights @ off**2))

    def mean_error(
        self, length: int, width: int, neurons: float = float("inf")
    ) -> float:
        """A bound of E Σ_t |H_t − Ĥ_t|, the repaired Theorem 4.1.

        ½ K_F ‖f‖ (τ(τ−1) · tail + τ · diagonal + τ² · bases) + τ · max(K_F, 1) · outer,
        where each of the 2 m_h bases, and f and F, have m_FF / (2 m_h) units.
        """
        pairs = length * (length - 1) * self.tail(width) + length * self.diagonal(width)
        share = (2 * width / neurons) ** self.beta
        units = length**2 * self._by_units(width, share)
        outer = length * max(self.lipschitz, 1.0) * self.outer * share
        return float(self.lipschitz * self.value / 2 * (pairs + units) + outer)

    def _by_units(self, width: int, share: float) -> float:
        """Σ σ_i (‖φ_i‖ δψ_i + ‖ψ_i‖ δφ_i + δφ_i δψ_i), δ = C_FF · share."""
        if not share:
            return 0.0
        off = share * self.measures(width)
        kept = off.shape[1]
        left, right = self._norms[:, :kept]
        each = left * off[1] + right * off[0] + off[0] * off[1]
        return float(self.pod.sigma[:kept] @ each)

    def squared_error(self, length: int, width: int) -> float:
        """A bound of E Σ_t |H_t − Ĥ_t|² if ρ is cut and all else is exact.

        K_F²‖f‖² (τ(τ−1) · tail² + τ · diagonal²).
        """
        pairs = length * (length - 1) * self.tail(width) ** 2
        pairs += length * self.diagonal(width) ** 2
        return (self.lipschitz * self.value) ** 2 * pairs


class Outer(Protocol):
    """F: piecewise linear, one function for each number that is aggregated."""

    @property
    def step(self) -> float:
        """From point to point."""

    @property
    def values(self) -> FloatArray:
        """``(points, n)``: at points with equal steps."""


class Target(Protocol):
    """The facts of a target with inputs on a line."""

    @property
    def length(self) -> int:
        """τ."""

    @property
    def pod(self) -> Pod:
        """Its coupling, decomposed."""

    @property
    def f(self) -> FloatArray:
        """``(points, n)``: at points with equal steps."""

    @property
    def outer(self) -> Outer | None:
        """F; None for the identity."""


def complexity_of(target: Target) -> Complexity:
    """The measures of a target whose parts are tables of equal steps on a line."""
    slope = bend = 0.0
    if target.outer is not None:
        table, step = target.outer.values, target.outer.step
        slope = float(np.abs(np.diff(table, axis=0)).max() / step)
        bend = max(curvature_measure(g) for g in table.T)
    slope = slope if target.outer is not None else 1.0
    inner = max(curvature_measure(g) for g in target.f.T)
    pod = target.pod
    alpha = decay(pod.sigma[: pod.rank])
    stated = alpha if 0.5 < alpha < np.inf else 1.0
    points = min(GRID, len(target.f) - 1)
    largest = float(np.abs(target.f).max())
    return Complexity(pod, slope, largest, bend + inner, 2.0, stated, points)


def facts(target: Target) -> dict[str, Any]:
    """The facts on the complexity of a target that `krohn explain` prints.

    ``bound`` is of E Σ_t |H_t − Ĥ_t| for uniform inputs if only ρ is cut, after 1, 2, 4, …
    terms; ``bound_as_printed`` is that of the paper, which is not proved (A24).
    ``without_bound`` holds of any ρ: τ times the range of what is averaged, or of F.
    """
    averaged = target.f if target.outer is None else target.outer.values
    complexity = complexity_of(target)
    rank, length = complexity.pod.rank, target.length
    widths = [2**k for k in range(rank.bit_length()) if 2**k < rank] + [rank]
    return {
        "alpha": complexity.alpha,
        "c0": complexity.c0(rank),
        "c1": complexity.c1,
        "c2": complexity.c2(rank),
        "beta": complexity.beta,
        "without_bound": float(length * np.ptp(averaged, axis=0).max()),
        "bound": {m: complexity.mean_error(length, m) for m in widths},
        "bound_as_printed": {
            m: complexity.bound_as_printed(length, m, np.inf) for m in widths
        },
    }
