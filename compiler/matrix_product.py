"""Products of matrices by GeLU units (Lemma D.1 of Hu et al. 2024, repaired)."""

from math import log2, pi, sqrt

from krohn.compiler.errors import CompileError
from krohn.compiler.units import Expression, Stage
from krohn.network.precision import Precision

GELU = "gelu"
SIGNS = ((1, 1), (-1, -1), (1, -1), (-1, 1))
"""The four units of a product, by the signs of the factors; the sign of their product
is that of the unit."""


def gain(scale: float) -> float:
    """The factor behind the units: g(x) + g(−x) = √(2/π)·x² to second order."""
    return sqrt(2 * pi) * scale * scale / 8


def matrix_product(
    stage: Stage, left: range, right: range, size: int, scale: float
) -> list[Expression]:
    """The entries of a product of two matrices, row by row: 4n³ units.

    ab is c·(g((a+b)/λ) + g(−(a+b)/λ) − g((a−b)/λ) − g((b−a)/λ)) with c = √(2π)·λ²/8, up to
    ab(a² + b²)/(3λ²).

    Args:
        stage: The hidden layer.
        left: The dimensions of the left factor, row by row.
        right: The dimensions of the right factor, row by row.
        size: n.
        scale: λ.
    """
    outputs = []
    for i in range(size):
        for j in range(size):
            entry = Expression()
            for k in range(size):
                a, b = left[i * size + k], right[k * size + j]
                for sign_a, sign_b in SIGNS:
                    inside = Expression({a: sign_a / scale, b: sign_b / scale})
                    entry.add(stage.unit(inside, GELU), sign_a * sign_b * gain(scale))
            outputs.append(entry)
    return outputs


def product_scale(size: int, precision: Precision) -> float:
    """λ, a power of two, by which the proof's error of a product is least.

    The error of a product of n × n matrices of norm 1 is 2/(3λ²) + ρ·λ, of which the first
    part is the curve of GeLU, and the second the rounding of 4n terms of size λ: at
    most ρ = √(π/2)·n·√(2n)·(2n + 4)·u (Theorems W4 and W5 of docs/within.md). The checker
    finds its own bounds; this one only says where they are least.

    Raises:
        CompileError: If the format rounds sums more coarsely when it stores them.
    """
    demand_wide(precision)
    rounded = sqrt(pi / 2) * size * sqrt(2 * size) * (2 * size + 4) * precision.unit
    return float(2.0 ** round(log2(4 / (3 * rounded)) / 3))


def demand_wide(precision: Precision) -> None:
    """Refuse formats that cannot hold products of real numbers.

    Raises:
        CompileError: If the format rounds sums more coarsely when it stores them.
    """
    if precision.unit > precision.accumulator_unit:
        raise CompileError(
            f"{precision.name} cannot hold products of real numbers; use float64"
        )
