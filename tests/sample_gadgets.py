"""Gadgets from rows of fractions."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from krohn.verify.smt.exact import Rationals
from krohn.verify.smt.gadgets import Gadget, Row


def gadget(
    name: str,
    layers: Sequence[tuple[Sequence[Sequence[Fraction]], Sequence[Fraction]]],
    rows: Sequence[tuple[Sequence[Fraction | int], Sequence[Fraction | int]]],
) -> Gadget:
    """A gadget without a residual connection, from rows of fractions."""
    packed = tuple((_array(w), _array(b)) for w, b in layers)
    shape = len(packed[0][0]), len(packed[-1][1])
    kept = np.full(shape, Fraction(0), dtype=object)
    table = tuple(Row(_array(x), _array(y)) for x, y in rows)
    return Gadget(name, packed, kept, table)


def _array(values: Sequence[object]) -> Rationals:
    exact = np.frompyfunc(Fraction, 1, 1)(np.array(values, dtype=object))
    return np.asarray(exact, dtype=object)
