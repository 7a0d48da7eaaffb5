"""Units of an MLP: affine expressions, hidden layers, products and masses of matrices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from math import exp, log2, pi, sqrt

import numpy as np

from krohn.compiler import CompileError
from krohn.network.precision import FloatArray, Precision
from krohn.program import LetterMatrix, MatrixProduct, Normalised, Program, Shift

# Units of an MLP and affine expressions over them, from which tables are built.


@dataclass
class Expression:
    """``constant + Σ weight · term``, the terms being units or residual dimensions."""

    terms: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def add(self, other: "Expression", factor: float = 1.0) -> "Expression":
        """This expression plus ``factor`` times another, in place."""
        for term, weight in other.terms.items():
            total = self.terms.get(term, 0.0) + factor * weight
            if total:
                self.terms[term] = total
            else:
                self.terms.pop(term, None)
        self.constant += factor * other.constant
        return self


@dataclass
class Stage:
    """One hidden layer under construction; equal units are shared.

    Attributes:
        slope: K, where a ReLU max(x, 0) is made of a GeLU unit g(Kx)/K
            (`krohn.compiler.units`); None for ReLU units.
        units: The affine expression inside each unit with its activation, and its index.
    """

    slope: float | None = None
    units: dict[tuple[frozenset[tuple[int, float]], float, str], int] = field(
        default_factory=dict
    )

    def unit(self, inside: Expression, activation: str = "relu") -> Expression:
        """A function of an expression of the layer below, as an expression."""
        outside = 1.0
        if activation == "relu" and self.slope is not None:
            inside, activation = Expression().add(inside, self.slope), "gelu"
            outside = 1.0 / self.slope
        key = (frozenset(inside.terms.items()), inside.constant, activation)
        return Expression({self.units.setdefault(key, len(self.units)): outside})

    @property
    def activations(self) -> list[list[str | int]]:
        """How many units in a row have which activation, as model files say it."""
        names = groupby(name for _, _, name in self.units)
        return [[name, len(list(run))] for name, run in names]

    def matrices(self, inputs: int) -> tuple[FloatArray, FloatArray]:
        """Weights ``(inputs, units)`` and biases ``(units,)``."""
        weight = np.zeros((inputs, len(self.units)))
        bias = np.zeros(len(self.units))
        for (terms, constant, _), unit in self.units.items():
            for term, value in terms:
                weight[term, unit] = value
            bias[unit] = constant
        return weight, bias


def combination(units: list[Expression], codes: FloatArray) -> list[Expression]:
    """The sum of units weighted by the rows of ``codes``, one for each column."""
    outputs = [Expression() for _ in range(codes.shape[1])]
    for unit, code in zip(units, codes, strict=True):
        for output, amount in zip(outputs, code, strict=True):
            if amount:
                output.add(unit, float(amount))
    return outputs


# ReLUs made of GeLU units: g(Kx)/K (docs/numerics.md).


NEAREST = 1 / 4
"""No unit of a table is nearer to its kink at whole numbers, unless it is at the kink:
that of a saturating step, whose ramp begins 1/4 before the middle of two numbers."""


def slope(precision: Precision) -> float:
    """K: the least power of two at which GeLUs miss ReLUs by less than the format rounds.

    |g(z) - max(z, 0)| is at most the density of a normal number at z (Lemma 8b of
    docs/proofs/arithmetic.md); half of the distance to the kink is left to noise. A unit at
    its kink needs nothing: |g(z)| is at most |z|, also where z is noise. The checker finds
    the errors by itself; K only makes them small.
    """
    powers = (2.0**n for n in count())
    return next(
        k
        for k in powers
        if exp(-((k * NEAREST / 2) ** 2) / 2) / sqrt(2 * pi) <= precision.unit
    )


# The hidden layers of an MLP: steps between neighbouring integers, made of ReLUs.
#
# Steps have ramps of width 1/2 around the midpoint, so that every value has a plateau of
# ±1/4 on which noise is removed; all constants are multiples of 1/2 and survive every
# precision that can hold the integers (Lemmas 10, 11).


@dataclass
class HiddenLayers:
    """The hidden layers of an MLP under construction.

    Attributes:
        count: How many there are: 1, always in the strict form; 2, to recognise and to
            combine; 3, if some table is read from a circle.
        slope: K, where ReLUs are made of GeLUs; else None.
        stages: Each of them, the lowest first.
    """

    count: int
    slope: float | None = None
    stages: list[Stage] = field(init=False)

    def __post_init__(self) -> None:
        self.stages = [Stage(self.slope) for _ in range(self.count)]

    @property
    def deep(self) -> bool:
        """Whether values are recognised one layer before they are combined."""
        return self.count > 1

    @property
    def recognise(self) -> Stage:
        """The first hidden layer."""
        return self.stages[0]

    @property
    def combine(self) -> Stage:
        """The second hidden layer, where there is one."""
        return self.stages[1 if self.deep else 0]

    def rise(
        self, twice: Mapping[int, float], middle: float, rising: bool
    ) -> Expression:
        """The step of twice a sum at its middle value, rising or falling."""
        sign = 1.0 if rising else -1.0
        inside = {dimension: sign * weight for dimension, weight in twice.items()}
        ramp = self.recognise.unit(Expression(inside, 0.5 - sign * middle))
        flat = self.recognise.unit(Expression(inside, -0.5 - sign * middle))
        return Expression().add(ramp).add(flat, -1.0)

    def beyond(self, dimension: int, inside: int, outside: int) -> Expression:
        """Exactly 0 up to 1/4 before the midpoint, at least 1 from ``outside`` on."""
        slope = 2.0 if outside > inside else -2.0
        middle = slope * (inside + outside) / 2
        return self.recognise.unit(Expression({dimension: slope}, 0.5 - middle))

    def pass_on(self, dimension: int) -> Expression:
        """A value that is never negative, passed on to where tables are combined."""
        inside = Expression({dimension: 1.0})
        return self.recognise.unit(inside) if self.deep else inside

    def conjunction(self, inside: Expression) -> Expression:
        """A unit where tables are combined."""
        return (self.combine if self.deep else self.recognise).unit(inside)

    def steps(
        self, codes: FloatArray, step: Callable[[int, bool], Expression]
    ) -> list[Expression]:
        """Rising steps above the middle and falling ones below it, which is nearer."""
        middle = (len(codes) - 1) // 2
        outputs = [Expression({}, code) for code in codes[middle]]
        for index, change in enumerate(np.diff(codes, axis=0)):
            rising = index >= middle
            for output, amount in zip(outputs, change, strict=True):
                if amount:
                    sign = 1.0 if rising else -1.0
                    output.add(step(index, rising), sign * float(amount))
        return self.lift(outputs, 1)

    def saturating(
        self, along: Mapping[int, float], values: Sequence[int], codes: FloatArray
    ) -> list[Expression]:
        """A table of one integer whose hidden units end at exactly 0 or 1.

        Above the ramp ReLU(1 − 2·ReLU(x − ramp)) is 0 whatever the noise, below it is 1,
        so that no rounding error of the first layer reaches the sum.

        Args:
            along: The integer, as a sum of residual dimensions.
            values: Its values, ascending.
            codes: ``(values, dimensions)``: the code of the result for each.
        """
        outputs = [Expression({}, last) for last in codes[-1]]
        for index, change in enumerate(np.diff(codes, axis=0)):
            if change.any():
                ramp = (values[index] + values[index + 1]) / 2 - 0.25
                passed = self.recognise.unit(Expression(dict(along), -ramp))
                below = self.combine.unit(Expression({}, 1.0).add(passed, -2.0))
                for output, amount in zip(outputs, change, strict=True):
                    if amount:
                        output.add(below, -float(amount))
        return self.lift(outputs, 2)

    def lift(self, outputs: list[Expression], layers: int) -> list[Expression]:
        """Pass finished values, never negative, through all but the first layers."""
        for stage in self.stages[layers:]:
            outputs = [stage.unit(output) for output in outputs]
        return outputs


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
# to
# 1/v up to a factor that nobody needs, is multiplied with all entries by GeLU gates.


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
