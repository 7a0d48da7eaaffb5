"""An MLP that multiplies two matrices by GeLU units (docs/within.md, 3)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from program.domains import FloatArray, IntArray
from program.errors import demand
from verify.checker.affine_arithmetic import (
    GELU,
    GELU_SMALL,
    INFLATION,
    SMALL,
    UNDERFLOW,
)
from verify.checker.matrix_norms import Norm
from verify.checker.model_file import LARGEST_FLOAT32, Format, StrArray

SLACK = 1 + 2.0**-10
"""What rounded numbers may be larger than true ones."""


class Gates(NamedTuple):
    """What all units of a product have in common.

    Attributes:
        inside: w, the absolute value of both weights of a unit: 1/λ.
        outside: c, what a unit is multiplied by.
    """

    inside: float
    outside: float


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
    a, sign_a, inside = _single(read[:, left])
    b, sign_b, also = _single(read[:, right])
    entry, sign, outside = _single(written)
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


def _single(weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Of rows with one entry that is not 0: its place, its sign, its absolute value."""
    demand((weights != 0).sum(axis=1) == 1, "a unit of a product reads or writes amiss")
    place = np.abs(weights).argmax(axis=1)
    value = weights[np.arange(len(weights)), place]
    return place, np.sign(value).astype(np.int64), np.abs(value)


def product_error(
    units: Gates, norm: Norm, left: float, right: float, form: Format
) -> float:
    """How far a product can be off in a norm, beside its factors' errors (Theorem W4).

    Args:
        units: Their weights.
        norm: The norm.
        left: A bound of the left factor as it is held.
        right: One of the right factor.
        form: The format.

    Raises:
        Refused: If the format stores sums more coarsely than it makes them, or a sum can
            overflow.
    """
    narrow = form.unit > form.sum_unit
    demand(not narrow, f"{form.name} cannot hold products of real numbers")
    w, c = units
    size, u, n = SLACK * w * (left + right), form.sum_unit, norm.size
    demand(4 * n * (u + c * UNDERFLOW) < 2.0**-10, "a product has too many terms")
    demand(8 * n * c * max(size, 1.0) <= LARGEST_FLOAT32, "a product can overflow")
    curve = w * w * (left**3 * right + left * right**3) / 3
    rest = 12 * left**5 * right + 40 * left**3 * right**3 + 12 * left * right**5
    curve += n * n * w**4 * rest / 160
    gain = abs(8 * c * w * w / np.sqrt(2 * np.pi) - 1) + 2.0**-50
    exact = np.frexp(w)[0] == 0.5
    inner = (0.5 + 0.8 * size) * _growth(1 if exact else 3, u)
    outer = (GELU_SMALL if size < SMALL else GELU) * u
    outer += _growth(4 * n, u) * (0.5 + 0.4 * size)
    rounded = inner * norm.sums(left, right) + outer * norm.maxima(left, right)
    flushed = 4 * n * n * (8 * c + 1) * UNDERFLOW
    total = (
        gain * (left * right + curve) + curve + SLACK * 4 * c * w * rounded + flushed
    )
    return float(total * INFLATION)


def _growth(terms: int, unit: float) -> float:
    return terms * unit / (1 - terms * unit)


def multiplied(
    name: str, errors: Sequence[float], units: Gates, norm: Norm, form: Format
) -> float:
    """The error of a channel that holds a product, in a norm (Theorem W5).

    Args:
        name: The channel.
        errors: Those of the left and of the right factor.
        units: The weights of its units.
        norm: The norm.
        form: The format.
    """
    most = norm.growth
    left, right = errors
    passed = most * (left + right) + left * right
    found = passed + product_error(units, norm, most + left, most + right, form)
    demand(found < most, f"{name!r} can be off by {found:.2g}, its own size")
    return found * INFLATION
