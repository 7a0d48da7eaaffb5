"""Gadgets from rows of fractions."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from krohn.instruments.smt.gadgets import (
    Gadget,
    Row,
)
from krohn.network.meaning.net import Affine, relus
from krohn.network.meaning.rationals import Rationals

Rows = Sequence[Sequence[Fraction | int]]
Layers = Sequence[tuple[Rows, Sequence[Fraction | int]]]
"""Weights ``(inputs, outputs)`` and biases."""


def gadget(
    name: str,
    layers: Layers,
    rows: Sequence[tuple[Sequence[Fraction | int], Sequence[Fraction | int]]],
) -> Gadget:
    """A gadget without a residual connection, from rows of fractions."""
    packed = relu_layers(layers)
    shape = len(packed[0].weight), len(packed[-1].bias)
    kept = np.full(shape, Fraction(0), dtype=object)
    table = tuple(Row(_array(x), _array(y)) for x, y in rows)
    return Gadget(name, packed, kept, table)


def relu_layers(layers: Layers) -> tuple[Affine[Rationals], ...]:
    """Affine layers with ReLUs between them."""
    hidden = relus([len(bias) for _, bias in layers[:-1]])
    each = zip(layers, [*hidden, ()], strict=True)
    return tuple(Affine(_array(w), _array(b), runs) for (w, b), runs in each)


def _array(values: Sequence[object]) -> Rationals:
    exact = np.frompyfunc(Fraction, 1, 1)(np.array(values, dtype=object))
    return np.asarray(exact, dtype=object)
