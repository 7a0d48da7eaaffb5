"""Units of an MLP: affine expressions, hidden layers, and steps between integers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from math import exp, pi, sqrt

import numpy as np

from krohn.network.precision import FloatArray, Precision
from krohn.program import expressions

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
    for unit, code in zip(units, codes.tolist(), strict=True):
        for output, amount in zip(outputs, code, strict=True):
            if amount:
                output.add(unit, amount)
    return outputs


def step(stage: Stage, along: Mapping[int, float], middle: float) -> Expression:
    """A sum rises above its middle: 0 up to 1/2 before it, and 1 from 1/2 after it on."""
    ramp = stage.unit(Expression(dict(along), 0.5 - middle))
    flat = stage.unit(Expression(dict(along), -0.5 - middle))
    return Expression().add(ramp).add(flat, -1.0)


def piecewise(
    stage: Stage, function: expressions.Expression, places: Sequence[int]
) -> Expression:
    """A unit for each term max(e, 0), and one to pass each input on (G2–G12).

    Args:
        stage: The hidden layer.
        function: A sum of inputs that are never negative, and of terms max(e, 0).
        places: The dimensions of the inputs.
    """
    result = Expression({}, function.constant)
    for atom, weight in function.terms:
        inside = Expression({}, 0.0)
        if isinstance(atom.inside, int):
            inside.add(Expression({places[atom.inside]: 1.0}))
        else:
            inside.constant = atom.inside.constant
            for place, factor in atom.inside.terms:
                assert isinstance(place.inside, int)
                inside.add(Expression({places[place.inside]: 1.0}), factor)
        result.add(stage.unit(inside), weight)
    return result


def layers(
    stages: Sequence[Stage], inputs: int, outputs: Sequence[Expression]
) -> list[tuple[FloatArray, FloatArray]]:
    """The weight and bias of each affine layer, the last one included.

    Args:
        stages: The hidden layers.
        inputs: How many numbers the first one reads.
        outputs: Sums of units of the last one.
    """
    result = []
    for stage in stages:
        result.append(stage.matrices(inputs))
        inputs = len(stage.units)
    weight, bias = np.zeros((inputs, len(outputs))), np.zeros(len(outputs))
    for i, output in enumerate(outputs):
        bias[i] = output.constant
        for unit, value in output.terms.items():
            weight[unit, i] = value
    return [*result, (weight, bias)]


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


def sharpness(gap: FloatArray | float) -> FloatArray:
    """By which power of two, 1 at least, neighbours are to be moved 1 or more apart."""
    return np.asarray(2.0 ** np.maximum(0, np.ceil(-np.log2(gap))))


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
        along = {dimension: sign * weight for dimension, weight in twice.items()}
        return step(self.recognise, along, sign * middle)

    def beyond(
        self, dimension: int, inside: float, outside: float, sharp: float
    ) -> Expression:
        """Exactly 0 up to 1/4 before the midpoint, at least 1 from ``outside`` on."""
        slope = 2.0 * sharp
        slope = slope if outside > inside else -slope
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
        for index, change in enumerate(np.diff(codes, axis=0).tolist()):
            rising = index >= middle
            for output, amount in zip(outputs, change, strict=True):
                if amount:
                    sign = 1.0 if rising else -1.0
                    output.add(step(index, rising), sign * amount)
        return self.lift(outputs, 1)

    def saturating(
        self, along: Mapping[int, float], values: Sequence[float], codes: FloatArray
    ) -> list[Expression]:
        """A table of one number whose hidden units end at exactly 0 or 1.

        Above the ramp ReLU(1 − 2·ReLU(x − ramp)) is 0 whatever the noise, below it is 1,
        so that no rounding error of the first layer reaches the sum.

        Args:
            along: The number, as a sum of residual dimensions.
            values: Its values, ascending.
            codes: ``(values, dimensions)``: the code of the result for each.
        """
        outputs = [Expression({}, last) for last in codes[-1]]
        sharp = sharpness(np.diff(values)).tolist()
        for index, change in enumerate(np.diff(codes, axis=0).tolist()):
            if any(change):
                (low, high), steep = values[index : index + 2], sharp[index]
                ramp = steep * (low + high) / 2 - 0.25
                inside = {place: steep * weight for place, weight in along.items()}
                passed = self.recognise.unit(Expression(inside, -ramp))
                below = self.combine.unit(Expression({}, 1.0).add(passed, -2.0))
                for output, amount in zip(outputs, change, strict=True):
                    if amount:
                        output.add(below, -amount)
        return self.lift(outputs, 2)

    def lift(self, outputs: list[Expression], layers: int) -> list[Expression]:
        """Pass finished values, never negative, through all but the first layers."""
        for stage in self.stages[layers:]:
            outputs = [stage.unit(output) for output in outputs]
        return outputs
