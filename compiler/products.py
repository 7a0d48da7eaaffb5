"""Products of matrices by GeLU units, and matrices made to have mass 1."""

from dataclasses import dataclass
from math import log2, pi, sqrt

import numpy as np

from krohn.compiler import CompileError
from krohn.compiler.units import Expression, Stage
from krohn.network.precision import FloatArray, Precision
from krohn.program import LetterMatrix, MatrixProduct, Normalised, Program, Shift

# Products of matrices by GeLU units (Lemma D.1 of Hu et al. 2024, repaired).


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
    most ρ = √(π/2)·n·√(2n)·(2n + 4)·u (Theorems W4 and W5, proofs/linear_systems.md). The
    checker finds its own bounds; this one only says where they are least.

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


# Matrices made to have mass 1, by ReLU and GeLU units (docs/proofs/beliefs.md).
#
# The mass of X is the sum of Xb for the vector b of the Program. A ReLU function c, near
# to 1/v up to a factor that nobody needs, is multiplied with all entries by GeLU gates.


PIECES, LAST = 8, 64
"""How many pieces the function has that stands for 1/v, and that of a matrix that was
normalised before. What is left of a mass is within (q − 1)²/8 of 1 for pieces from v to
q·v: 10⁻² for v from 1/5 to 2, then 10⁻⁸. Each piece is rounded in each unit."""
SLACK = 1 + 2.0**-12
"""How far beyond the masses of exact matrices a function still serves."""


@dataclass(frozen=True)
class Masses:
    """Between which numbers masses lie, and in how many pieces they are normalised."""

    low: float
    high: float
    pieces: int = PIECES

    @property
    def points(self) -> FloatArray:
        """``(pieces + 1,)``: where pieces of the reciprocal end, in equal ratios."""
        ends = self.low / SLACK, self.high * SLACK
        return np.asarray(np.geomspace(*ends, self.pieces + 1))

    @property
    def excess(self) -> float:
        """x: on its pieces chords of 1/v are between 1/v and (1 + x)/v."""
        ratio = float(self.points[1] / self.points[0])
        return (1 + ratio) ** 2 / (4 * ratio) - 1

    @property
    def after_normalisation(self) -> "Masses":
        """The bounds of the masses after normalisation."""
        middle = 1 + self.excess / 2
        return Masses(1 / middle, (1 + self.excess) / middle, LAST)


def masses(program: Program) -> dict[str, Masses]:
    """Of each channel of matrices, if its letters have positive matrices (Lemma W9a)."""
    masses_of: dict[str, Masses] = {}
    vector = np.array(program.vector)
    for name, operation in program.operations.items():
        if isinstance(operation, LetterMatrix):
            each = (operation.rows @ vector).sum(axis=1)
            masses_of[name] = Masses(float(each.min()), float(each.max()))
            low, high = _columns(operation.rows[:-1], vector)
        elif isinstance(operation, Shift):
            masses_of[name] = masses_of[operation.source]
        elif isinstance(operation, MatrixProduct):
            x, y = masses_of[operation.left], masses_of[operation.right]
            least, most = min(low, 1.0), max(high, 1.0)
            masses_of[name] = Masses(x.low * y.low * least, x.high * y.high * most)
        elif isinstance(operation, Normalised):
            masses_of[name] = masses_of[operation.source].after_normalisation
    return masses_of


def _columns(letters: FloatArray, vector: FloatArray) -> tuple[float, float]:
    """The least and the largest column sum of a product of letters of mass 1."""
    rows = letters / (letters @ vector)[:, :, None]
    return float(rows.min()), float(rows.max())


def normalise(
    stages: list[Stage],
    source: range,
    vector: FloatArray,
    before: Masses,
    scale: float,
) -> list[Expression]:
    """The entries of a matrix made to have mass 1, row by row: 4n² GeLU units.

    c(v) = c(p_K) + Σ_k d_k·max(p_k − v, 0) has only positive terms, so that nothing
    cancels; it joins points of s/v, s such that v·c(v) is around 1.

    Args:
        stages: Two hidden layers.
        source: The dimensions of the matrix, row by row.
        vector: b.
        before: The bounds of its mass.
        scale: λ.
    """
    reads = np.tile(vector, len(vector))
    mass = {d: -float(x) for d, x in zip(source, reads, strict=True) if x}
    points = before.points
    slopes = 1 / (points[:-1] * points[1:]) / (1 + before.excess / 2)
    steps = slopes - np.append(slopes[1:], 0.0)
    factor = Expression({}, float(slopes[-1] * points[-2]))
    for point, step in zip(points[1:].tolist(), steps.tolist(), strict=True):
        factor.add(stages[0].unit(Expression(dict(mass), point)), step)
    outputs = []
    for dimension in source:
        entry = stages[0].unit(Expression({dimension: 1.0}))
        output = Expression()
        for sign, other in SIGNS:
            inside = Expression().add(entry, sign / scale).add(factor, other / scale)
            output.add(stages[1].unit(inside, GELU), sign * other * gain(scale))
        outputs.append(output)
    return outputs


def normalised_scale(letters: FloatArray, precision: Precision) -> float:
    """λ, a power of two, by which the proof's error of a level is least, nearly.

    For letters of mass 1 with entries from m to M, a product and its normalisation are
    off by M²/λ² + ρ·λ of themselves: the first part is the curve of GeLU, the second the
    rounding of sums, ρ = √(2π)·(2n + 11 + PIECES)·u/m (Theorem W9, proofs/beliefs.md).

    Args:
        letters: ``(letters, n, n)``, of mass 1.
        precision: The format.

    Raises:
        CompileError: If the format rounds sums more coarsely when it stores them.
    """
    demand_wide(precision)
    terms = 2 * letters.shape[1] + 11 + PIECES
    rounded = sqrt(2 * pi) * terms * precision.unit / float(letters.min())
    return float(2.0 ** round(log2(2 * float(letters.max()) ** 2 / rounded) / 3))
