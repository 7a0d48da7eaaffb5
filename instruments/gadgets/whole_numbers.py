"""Gadgets that read one whole number, from real numbers near it.

A step rises from 0 to 1 around the middle of two whole numbers. With slope 1/(1 − 2τ) it
is flat within τ of each, so that noise of up to τ < 1/2 is removed.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np

from krohn.compiler.units import Expression, HiddenLayers, Stage, step
from krohn.instruments.gadgets.certificates import as_rounded
from krohn.instruments.gadgets.record import (
    Case,
    Gadget,
    Number,
    between,
    gadget,
    near,
)
from krohn.program.errors import demand

QUARTER = Fraction(1, 4)
GRID = 1024
"""Slopes are multiples of 1/1024, so that a step is exactly 1 above its ramp."""


def at_least(stage: Stage, limit: Number, tolerance: Number) -> Expression:
    """1 where the first input is at least a whole number, 0 where it is less."""
    demand(0 <= tolerance < 0.5, "a tolerance is at least 0 and less than 1/2")
    slope = Fraction(ceil(GRID / (1 - 2 * Fraction(tolerance))), GRID)
    middle = slope * (Fraction(limit) - Fraction(1, 2))
    return step(stage, {0: float(slope)}, float(middle))


def thermometer(
    most: int, tolerance: Number = QUARTER, *, falling: bool = False
) -> Gadget:
    """For x in 0..n whether x ≥ k, for k = 1..n; or if it falls, whether x ≤ k (A.5, A.6).

    Args:
        most: n.
        tolerance: How far x may be from a whole number.
        falling: Whether it falls.

    Raises:
        Refused: If the tolerance is not less than 1/2.
    """
    stage, marks = Stage(), range(1, most + 1)
    if falling:
        steps = [at_least(stage, k + 1, tolerance) for k in marks]
        outputs = [Expression({}, 1.0).add(one, -1.0) for one in steps]
    else:
        outputs = [at_least(stage, k, tolerance) for k in marks]

    def says(x: int) -> list[int]:
        return [x <= k if falling else x >= k for k in marks]

    name = "falling thermometer" if falling else "thermometer"
    return gadget(name, [stage], outputs, _numbers(range(most + 1), tolerance, says))


def one_hot(most: int, tolerance: Number = QUARTER) -> Gadget:
    """For x in 0..n the unit vector of x, without a product of two thermometers.

    Args:
        most: n.
        tolerance: How far x may be from a whole number.

    Raises:
        Refused: If the tolerance is not less than 1/2.
    """
    stage = Stage()
    steps = [at_least(stage, k, tolerance) for k in range(1, most + 1)]
    ends = [Expression({}, 1.0), *steps, Expression()]
    outputs = [Expression().add(a).add(b, -1.0) for a, b in pairwise(ends)]

    def says(x: int) -> list[int]:
        return [int(x == k) for k in range(most + 1)]

    return gadget(
        "one-hot", [stage], outputs, _numbers(range(most + 1), tolerance, says)
    )


def lookup(values: Sequence[Number]) -> Gadget:
    """For x in 0..n a value of a table; x may be off by 1/4.

    2n units, as tables of compiled networks have them: steps rise above the middle of the
    table and fall below it. With the values 0..n it rounds.

    Args:
        values: Those for 0, 1, …, n.
    """
    hidden = HiddenLayers(1)

    def change(index: int, rising: bool) -> Expression:
        return hidden.rise({0: 2.0}, 2 * index + 1, rising)

    codes = np.array([[float(value)] for value in values])
    outputs = hidden.steps(codes, change)
    cases = _numbers(range(len(values)), QUARTER, lambda x: [codes[x, 0]])
    return as_rounded(gadget("table", hidden.stages, outputs, cases))


def rounding(most: int) -> Gadget:
    """For x in 0..n, off by up to 1/4, the whole number.

    Args:
        most: n.
    """
    return lookup(range(most + 1))


def division(divisor: int, most: int, tolerance: Number = QUARTER) -> Gadget:
    """For x in 0..n the quotient x // d, and x mod d, which is off by as much as x.

    Args:
        divisor: d.
        most: n.
        tolerance: How far x may be from a whole number.

    Raises:
        Refused: If the tolerance is not less than 1/2, or the divisor is not positive.
    """
    demand(divisor > 0, "a divisor is at least 1")
    return _division("division", divisor, range(most + 1), tolerance)


def block_number(size: int, tolerance: Number = QUARTER) -> Gadget:
    """For i in 1..n² the block ⌈i/n⌉, the one before, and the place in it, 1..n (A.7).

    The place is off by as much as i, as a sum of it. `thermometer` takes that.

    Args:
        size: n.
        tolerance: How far i may be from a whole number.

    Raises:
        Refused: If the tolerance is not less than 1/2.
    """
    return _division("block number", size, range(1, size * size + 1), tolerance)


def _division(name: str, divisor: int, numbers: range, tolerance: Number) -> Gadget:
    """Quotient and remainder; numbers that begin at 1 are in blocks from 1 on."""
    first, stage = numbers.start, Stage()
    quotient = Expression({}, float(first))
    for start in range(first + divisor, numbers.stop, divisor):
        quotient.add(at_least(stage, start, tolerance))
    above = first - 0.5
    rest = Expression({}, above).add(stage.unit(Expression({0: 1.0}, -above)))
    rest.add(quotient, -divisor).constant += first * divisor
    outputs = [quotient, rest]
    if first:
        outputs.insert(1, Expression({}, -1.0).add(quotient))
    cases, off = [], Fraction(tolerance)
    for x in numbers:
        block = (x - first) // divisor
        said = [block + first, *[block] * first, -block * divisor]
        row = [*[0] * (len(said) - 1), 1]
        cases.append(between([(x - off, x + off)], [row], said))
    return gadget(name, [stage], outputs, cases)


def bends(values: Sequence[Number]) -> Gadget:
    """For x in 0..n, whole or not, the line through the values at whole numbers.

    n ReLUs, exact: so are polynomials of whole numbers, as j(j − 1)/2 or squares.

    Args:
        values: Those at 0, 1, …, n.

    Raises:
        Refused: If there are fewer than two.
    """
    demand(len(values) > 1, "a line needs two points")
    stage, slope = Stage(), Fraction(0)
    output = Expression({}, float(values[0]))
    cases = list[Case]()
    for x, (a, b) in enumerate(pairwise(values)):
        rise = Fraction(b) - Fraction(a)
        output.add(stage.unit(Expression({0: 1.0}, -float(x))), float(rise - slope))
        slope = rise
        cases.append(between([(x, x + 1)], [[rise]], [Fraction(a) - x * rise]))
    return as_rounded(gadget("line that bends", [stage], [output], cases))


def _numbers(
    numbers: range, tolerance: Number, says: Callable[[int], Sequence[Number]]
) -> list[Case]:
    return [near([x], tolerance, [Fraction(y) for y in says(x)]) for x in numbers]
