"""An MLP that multiplies two matrices by GeLU units (docs/proofs/linear_systems.md)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krohn.kinds.linear_systems.check_matrix_errors import MatrixErrors
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    Operand,
    bound_underflow,
    fits,
    gamma,
    gelu_units,
)
from krohn.verify.checker.model_file import StrArray

if TYPE_CHECKING:
    from krohn.verify.checker.mlp import Mlp

ROUNDED = 1 + 2.0**-10
"""The factor by which numbers of the network may exceed true ones (Theorem W4)."""
ROOT = Interval.from_ends(np.array(2.5066282746310002), np.array(2.506628274631001))
"""√(2π)."""


class Gates(NamedTuple):
    """The shape of all units of a product.

    Attributes:
        inside: w, the absolute value of both weights of a unit: 1/λ.
        outside: c, what a unit is multiplied by.
    """

    inside: float
    outside: float

    @property
    def gain(self) -> Interval:
        """The factor of products: 8cw²/√(2π), 1 if c is the right one."""
        return 8 * Interval.of(self.outside) * self.inside * self.inside / ROOT

    def rounding(
        self, reach: Operand, terms: tuple[int, int], form: Format
    ) -> tuple[Interval, Interval]:
        """The errors i and o of Theorem W4, of sums inside and outside of units.

        Of its own size a product is off by `Gates.astray` besides.

        Args:
            reach: The largest |a| + |b| of two factors.
            terms: How many numbers are added inside, in two units less than what is
                rounded there, and outside.
            form: The format.

        Raises:
            Refused: If the format stores sums more coarsely than it makes them, or a sum
                can overflow.
        """
        demand(not form.narrow, f"{form.name} cannot hold products of real numbers")
        (below, above), unit = terms, form.sum_unit
        size, outside = ROUNDED * Interval.of(reach) * self.inside, Interval.of(above)
        outside = outside * self.outside
        few = above * Interval.of(unit) + bound_underflow(outside) <= 2.0**-13
        demand(few, "a product has too many terms")
        fits(outside * size.maximum(1.0), form, "a product", STEPS)
        inner = (0.5 + 0.8 * size) * gamma(below, unit)
        outer = gelu_units(size.high, form) * Interval.of(unit)
        return inner, outer + above * unit / 2 * (0.5 + 0.4 * size)

    def astray(self, above: int, form: Format) -> Interval:
        """The largest error of sums outside of units, in units of their value."""
        return gamma(above, form.sum_unit)

    @property
    def exact(self) -> bool:
        """Whether products with w are: it is a power of two."""
        return bool(np.frexp(self.inside)[0] == 0.5)


def bound_noise(mlp: "Mlp", channel: Channel) -> FloatArray:
    """The noise of a product of matrices."""
    mlp.check_fresh(channel)
    stream, errors = mlp.stream, mlp.stream.of_matrices
    assert isinstance(errors, MatrixErrors)
    left, right = (stream.channel(n) for n in channel.inputs)
    spans, noise = (left.span, right.span), stream.noise
    units = gates(mlp.layers, mlp.activations, spans, channel.span, errors.size)
    both = noise[left.name], noise[right.name]
    return errors.bound_product(channel.name, *both, units, stream.form)


def gates(
    layers: list[tuple[FloatArray, FloatArray]],
    activations: list[StrArray],
    factors: tuple[range, range],
    result: range,
    size: int,
) -> Gates:
    """The units that write a product, each of which is the right one (Theorem W3).

    Entry (i, j) is read from 4n units, four for each k: they read X_ik and Y_kj with the
    weights ±w, and are multiplied by c, or by −c if the signs differ.

    Raises:
        Refused: If a unit reads or writes anything else.
    """
    demand(len(layers) == 2, "a product needs one hidden layer")
    (below, before), (above, after) = layers
    units = np.flatnonzero(above[:, result].any(axis=1))
    demand(len(units) == 4 * size**3, "a product has too few or too many units")
    demand(activations[0][units] == "gelu", "a unit of a product is no GeLU")
    demand(before[units] == 0, "a unit of a product has a bias")
    demand(after[result] == 0, "a product has a bias")
    left, right = factors
    demand(not set(left) & set(right), "a product of a matrix with itself")
    read, written = below[:, units].T, above[units][:, result]
    demand((read != 0).sum(axis=1) == 2, "a unit of a product reads too much")
    a, sign_a, inside = single(read[:, left])
    b, sign_b, also = single(read[:, right])
    entry, sign, outside = single(written)
    row, column = a // size, b % size
    demand(a % size == b // size, "a unit multiplies entries that do not meet")
    demand(entry == row * size + column, "a product is added to another entry")
    demand(sign == sign_a * sign_b, "a unit of a product has the wrong sign")
    ways = np.stack([a, b, sign_a, sign_b], axis=1)
    demand(len(np.unique(ways, axis=0)) == len(units), "a unit of a product is missing")
    w, c = float(inside[0]), float(outside[0])
    alike = np.all(inside == w) and np.all(also == w) and np.all(outside == c)
    demand(alike, "units of a product have unlike weights")
    return Gates(w, c)


def single(weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Of rows with one entry that is not 0: its place, its sign, its absolute value."""
    demand((weights != 0).sum(axis=1) == 1, "a unit of a product uses a wrong entry")
    place = np.abs(weights).argmax(axis=1)
    value = weights[np.arange(len(weights)), place]
    return place, np.sign(value).astype(np.int64), np.abs(value)
