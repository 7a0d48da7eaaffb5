"""Gadgets that read several numbers: products, gates, choices and comparisons."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, log2, sqrt

import numpy as np

from krohn.compiler.products import matrix_product
from krohn.compiler.units import Expression, Stage, piecewise
from krohn.instruments.gadgets.certificates import curved, largest_deviation
from krohn.instruments.gadgets.record import (
    Case,
    Gadget,
    Number,
    Product,
    between,
    gadget,
    mlp,
    rational,
    round_up,
)
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused, demand
from krohn.program.expressions import Expression as Function, argument, greater, rectify


def multiplication(largest: Number, error: Number) -> Product:
    """The product ab for |a|, |b| ≤ M, by four GeLUs (A.1).

    The scale λ is the least power of two that will do. Numbers of a format add to the
    error about u·λ·M, u their unit: products of large numbers need float64.

    Args:
        largest: M.
        error: How far off it may be.

    Raises:
        Refused: If they are not positive.
    """
    demand(largest > 0 and error > 0, "a size and an error are above 0")
    most, within = Fraction(largest), Fraction(error)
    needed = ceil(log2(most * most * Fraction(sqrt(2 / (3 * within)))))
    for scale in (2.0**needed, 2.0 ** (needed + 1)):
        stage = Stage()
        outputs = matrix_product(stage, range(1), range(1, 2), 1, scale)
        made = Product("product", mlp([stage], 2, outputs), (), within, None, most)
        if largest_deviation(made).error <= within:
            return made
    raise Refused("float64 has too few digits for a product of this size and error")


def with_gelus(asked: Gadget, error: Number) -> Gadget:
    """A gadget of ReLUs with GeLUs in their place, g(Kx)/K, of the same size (A.2).

    Args:
        asked: The gadget.
        error: How far it may be off beside its own error.

    Raises:
        Refused: If the error is not positive.
    """
    demand(error > 0, "an error is above 0")
    runs = [(("gelu", len(each.bias)),) for each in asked.layers[:-1]]
    smooth = zip(asked.layers, [*runs, ()], strict=True)
    twin = replace(asked, layers=tuple(replace(a, runs=of) for a, of in smooth))
    once = max(curved(twin))
    slope = 2.0 ** max(0, ceil(log2(once / Fraction(error)))) if once else 1.0
    changed = list(twin.layers)
    for i, layer in enumerate(twin.layers):
        up, down = slope if layer.runs else 1.0, slope if i else 1.0
        changed[i] = replace(
            layer, weight=layer.weight * up / down, bias=layer.bias * up
        )
    within = asked.error + Fraction(error)
    name = f"{asked.name}, by GeLUs"
    return replace(twin, name=name, layers=tuple(changed), error=within)


def linear(
    matrix: FloatArray | Sequence[Sequence[float]],
    largest: Number,
    *,
    gelu: bool = False,
) -> Gadget:
    """The map x · W by pairs of units, f(z) − f(−z) = z: exact, of both kinds (A.3, L43).

    Args:
        matrix: W, ``(inputs, outputs)``.
        largest: The largest input, in absolute value.
        gelu: Whether its units are GeLUs.
    """
    stage, outputs = Stage(), []
    for column in np.asarray(matrix, dtype=np.float64).T:
        output = Expression()
        for sign in (1.0, -1.0):
            inside = {i: sign * float(w) for i, w in enumerate(column) if w}
            unit = stage.unit(Expression(inside), "gelu" if gelu else "relu")
            output.add(unit, sign)
        outputs.append(output)
    box = [(-Fraction(largest), Fraction(largest))] * len(matrix)
    weight = rational(np.asarray(matrix, dtype=np.float64))
    right = between(box, weight, [0] * len(outputs))
    return gadget("linear map", [stage], outputs, [right])


def selection(size: int, largest: Number, gap: Number, farthest: Number) -> Gadget:
    """Of (x, y, t) x where t ≥ α, and y where t ≤ −α (A.4); 2d + 2 units.

    Args:
        size: d, the numbers of x and of y.
        largest: The largest of them, in absolute value.
        gap: α. Nearer to 0 it says neither.
        farthest: The largest |t|; exact for all, but large t cost digits of x.

    Raises:
        Refused: If the gap is not positive.
    """
    demand(0 < gap <= farthest, "a gap is above 0, and not beyond the farthest number")
    stage, t = Stage(), 2 * size
    slope = float(2.0 ** ceil(log2(Fraction(largest) / Fraction(gap))))
    outputs = []
    for i in range(size):
        output = Expression()
        for place, sign in ((i, 1.0), (size + i, -1.0)):
            output.add(stage.unit(Expression({place: 1.0, t: sign * slope})))
            output.add(stage.unit(Expression({t: sign * slope})), -1.0)
        outputs.append(output)
    cases = [_chosen(size, largest, first, gap, farthest) for first in (True, False)]
    return gadget("selection", [stage], outputs, cases)


def _chosen(size: int, largest: Number, first: bool, near: Number, far: Number) -> Case:
    """The case in which (x, y, t) says x, for t from near to far; or y, for −t."""
    most = Fraction(largest)
    t = (near, far) if first else (-Fraction(far), -Fraction(near))
    keep = np.eye(size, dtype=int)
    rows = [keep * first, keep * (not first), np.zeros((1, size), dtype=int)]
    return between([*[(-most, most)] * (2 * size), t], np.vstack(rows), [0] * size)


def gate(largest: Number, noise: Number = 0) -> Gadget:
    """The number v where a bit b is 1, and 0 where it is 0, for |v| ≤ M: two units, exact.

    Args:
        largest: M, above every v that comes, also where the bit is 0.
        noise: How far b may be off; then v·b is by M times as much.
    """
    most, off, shut = Fraction(largest), Fraction(noise), round_up(largest)
    stage, output = Stage(), Expression()
    for sign in (1.0, -1.0):
        inside = Expression({0: sign, 1: shut}, -shut)
        output.add(stage.unit(inside), sign)
    boxes = {bit: [(-most, most), (bit - off, bit + off)] for bit in (0, 1)}
    cases = [between(box, [[bit], [0]], [0]) for bit, box in boxes.items()]
    return gadget("gate", [stage], [output], cases, Fraction(shut) * off)


def _function(name: str, function: Function, cases: Sequence[Case]) -> Gadget:
    """A sum of terms max(e, 0), as networks of dynamic programs have them."""
    stage = Stage()
    output = piecewise(stage, function, range(len(cases[0].low)))
    return gadget(name, [stage], [output], cases)


A, B = argument(0), argument(1)


Claim = tuple[Sequence[int], int, Sequence[int], int]


def _pair(most: Number, *claims: Claim) -> list[Case]:
    """Cases of (a, b) in [0, M]²: where u · (a, b) ≥ c it is w · (a, b) + v."""
    box = [(0, Fraction(most))] * 2
    return [
        between(box, [[w] for w in right], [added], [(row, least)])
        for row, least, right, added in claims
    ]


def minimum(most: Number) -> Gadget:
    """The less of two numbers from 0 to M, whole or not.

    Args:
        most: M.
    """
    cases = _pair(most, ((1, -1), 0, (0, 1), 0), ((-1, 1), 0, (1, 0), 0))
    return _function("minimum", B - rectify(B - A), cases)


def maximum(most: Number) -> Gadget:
    """The greater of two numbers from 0 to M, whole or not.

    Args:
        most: M.
    """
    cases = _pair(most, ((1, -1), 0, (1, 0), 0), ((-1, 1), 0, (0, 1), 0))
    return _function("maximum", B + rectify(A - B), cases)


def distance(most: Number) -> Gadget:
    """|a − b| of two numbers from 0 to M, whole or not.

    Args:
        most: M.
    """
    cases = _pair(most, ((1, -1), 0, (1, -1), 0), ((-1, 1), 0, (-1, 1), 0))
    return _function("distance", rectify(A - B) + rectify(B - A), cases)


def comparison(most: Number) -> Gadget:
    """Whether a > b: 1 where a ≥ b + 1, 0 where a ≤ b, for numbers from 0 to M.

    Args:
        most: M.
    """
    cases = _pair(most, ((1, -1), 1, (0, 0), 1), ((-1, 1), 0, (0, 0), 0))
    return _function("comparison", greater(A, B), cases)


def equality(most: Number) -> Gadget:
    """Whether a = b: 1 where they are equal, 0 where they are 1 apart or more.

    Args:
        most: M.
    """
    apart = (((1, -1), 1, (0, 0), 0), ((-1, 1), 1, (0, 0), 0))
    equal = between(
        [(0, Fraction(most))] * 2, [[0], [0]], [1], [((1, -1), 0), ((-1, 1), 0)]
    )
    unequal = greater(A, B) + greater(B, A)
    return _function("equality", 1 - unequal, [*_pair(most, *apart), equal])


def slots(count: int, largest: Number, noise: Number = 0) -> Gadget:
    """Of (v, r) with r in 0..B − 1, v in slot r + 1 of B, and 0 in the others (A.12).

    v is the difference of two numbers that are not negative, so that no sign is lost.

    Args:
        count: B.
        largest: M ≥ |v|.
        noise: How far r may be off; then a slot is by M times as much.
    """
    most, off, shut = Fraction(largest), Fraction(noise), round_up(largest)
    read, closed = Stage(), Stage()
    halves = [read.unit(Expression({0: sign})) for sign in (1.0, -1.0)]
    outputs = []
    for place in range(count):
        away = Expression()
        for sign in (1.0, -1.0):
            away.add(read.unit(Expression({1: sign}, -sign * place)))
        both = [closed.unit(Expression().add(half).add(away, -shut)) for half in halves]
        outputs.append(Expression().add(both[0]).add(both[1], -1.0))
    cases = [
        between(
            [(-most, most), (r - off, r + off)],
            [[int(place == r) for place in range(count)], [0] * count],
            [0] * count,
        )
        for r in range(count)
    ]
    return gadget("slots", [read, closed], outputs, cases, Fraction(shut) * off)
