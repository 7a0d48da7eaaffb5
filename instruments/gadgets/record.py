"""Gadgets: MLPs with what they must say, and how far off they may be."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf, nextafter
from typing import Any, Self

import numpy as np

from krohn.compiler.units import Expression, Stage, layers
from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.forward import feed
from krohn.network.meaning.net import Affine
from krohn.network.meaning.rationals import Rationals
from krohn.network.precision import FloatArray
from krohn.program.errors import demand

Number = int | float | Fraction
Layers = tuple[Affine[Any], ...]
ARRAYS = Arrays()
_fraction = np.frompyfunc(Fraction, 1, 1)


def rational(values: Any) -> Rationals:
    """Numbers as the fractions that they are, in an array."""
    return np.asarray(_fraction(np.asarray(values, dtype=object)), dtype=object)


def affine(weight: Any, bias: Any) -> Layers:
    """X ↦ x · weight + bias, as a network of one layer."""
    return (Affine(rational(weight), rational(bias)),)


@dataclass(frozen=True)
class Case:
    """What a gadget must say in a part of its inputs, all real numbers of it.

    Attributes:
        low: ``(inputs,)``: the least of each input.
        high: ``(inputs,)``: the greatest.
        wanted: The network that says what is right there; mostly an affine map.
        above: Rows r with a number c: only inputs with r · x ≥ c belong to it.
    """

    low: Rationals
    high: Rationals
    wanted: Layers
    above: tuple[tuple[Rationals, Fraction], ...] = ()

    def holds(self, x: Rationals) -> bool:
        """Whether an input belongs to it."""
        inside = (self.low <= x).all() and (x <= self.high).all()
        return bool(inside) and all(row @ x >= least for row, least in self.above)


def near(code: Sequence[Number], noise: Number, value: Sequence[Number]) -> Case:
    """The case of inputs that are near a code: they have a value."""
    middle, off = rational(code), Fraction(noise)
    return Case(middle - off, middle + off, constant(len(code), value))


def between(
    box: Sequence[tuple[Number, Number]],
    weight: Any,
    bias: Any,
    above: Sequence[tuple[Sequence[Number], Number]] = (),
) -> Case:
    """The case of inputs in a box, where an affine map is right."""
    low, high = rational(box).reshape(-1, 2).T
    demand(low <= high, "a range of a gadget is empty")
    cuts = tuple((rational(row), Fraction(least)) for row, least in above)
    return Case(low, high, affine(weight, bias), cuts)


def constant(inputs: int, value: Sequence[Number]) -> Layers:
    """A network that says the same whatever it reads."""
    return affine(np.zeros((inputs, len(value)), dtype=int), value)


@dataclass(frozen=True)
class Gadget:
    """An MLP by itself.

    Attributes:
        name: What it computes.
        layers: Affine, with the functions of units between them.
        cases: What it must say, and where.
        error: How far off each output may be.
        kept: ``(inputs, outputs)``: what is added beside the units, as by a residual
            connection; None if nothing is.
    """

    name: str
    layers: Layers
    cases: tuple[Case, ...]
    error: Fraction = Fraction(0)
    kept: Any = None

    def __call__(self, x: Any, o: Engine = ARRAYS) -> Any:
        """The outputs ``(…, outputs)`` for inputs ``(…, inputs)``."""
        x = x if o is not ARRAYS else np.asarray(x, dtype=self.layers[0].weight.dtype)
        said = feed(o, self.layers, x)
        return said if self.kept is None else o.add(x @ self.kept, said)

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """W1, b1, W2, b2 and so on; h = f(x W1 + b1), and then h W2 + b2."""
        return tuple(part for each in self.layers for part in (each.weight, each.bias))

    @property
    def widths(self) -> tuple[int, ...]:
        """How many units each hidden layer has."""
        return tuple(len(each.bias) for each in self.layers[:-1])

    @cached_property
    def exact(self) -> Self:
        """The same with the fractions that its floats are."""
        kept = None if self.kept is None else rational(self.kept)
        return replace(
            self, layers=tuple(each.each(rational) for each in self.layers), kept=kept
        )

    def with_noise(self, noise: Fraction) -> Self:
        """The same, of inputs that may be so far beyond the ranges of each case."""
        wider = (
            replace(case, low=case.low - noise, high=case.high + noise)
            for case in self.cases
        )
        return replace(self, cases=tuple(wider))

    def rounded(self, dtype: Any) -> Self:
        """The same with weights rounded to a number format, as numpy names it."""

        def store(values: Any) -> Any:
            return np.asarray(values, dtype=np.float64).astype(dtype)

        return replace(self, layers=tuple(each.each(store) for each in self.layers))


@dataclass(frozen=True)
class Product(Gadget):
    """Units whose sum is a product of two numbers, nearly.

    Attributes:
        largest: The largest number, in absolute value.
    """

    largest: Fraction = Fraction(1)


def mlp(stages: Sequence[Stage], inputs: int, outputs: Sequence[Expression]) -> Layers:
    """The layers of hidden units and of sums of them, as networks have them."""
    runs = [tuple((str(f), int(n)) for f, n in stage.activations) for stage in stages]
    each = zip(layers(stages, inputs, outputs), [*runs, ()], strict=True)
    return tuple(Affine(weight, bias, of) for (weight, bias), of in each)


def gadget(
    name: str,
    stages: Sequence[Stage],
    outputs: Sequence[Expression],
    cases: Sequence[Case],
    error: Number = 0,
) -> Gadget:
    """A gadget of the units that the compiler makes (`krohn.compiler.units`).

    Args:
        name: What it computes.
        stages: Its hidden layers.
        outputs: Sums of units of the last one.
        cases: What it must say.
        error: How far off each output may be.
    """
    made = mlp(stages, len(cases[0].low), outputs)
    return Gadget(name, made, tuple(cases), Fraction(error))


def round_up(number: Number) -> float:
    """The least float that is not below a number."""
    given = float(number)
    return given if Fraction(given) >= Fraction(number) else nextafter(given, inf)


def gaps(points: Sequence[Fraction]) -> Fraction:
    """The least distance of two points.

    Raises:
        Refused: If there are fewer than two, or two are equal.
    """
    demand(len(points) > 1, "a table needs two points")
    least = min(b - a for a, b in pairwise(sorted(points)))
    demand(least > 0, "two points of a table are equal")
    return least
