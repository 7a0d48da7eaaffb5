"""Units of an MLP and affine expressions over them, from which tables are built."""

from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from krohn.network.precision import FloatArray


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
            (`krohn.compiler.gelu_units`); None for ReLU units.
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
