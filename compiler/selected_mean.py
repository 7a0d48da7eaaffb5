"""Means over exactly selected positions, as one attention layer with explicit weights.

Logits are Λ·(selecting score) + ln(weight). For the nearest, 2u·v − |v|² = |u|² − |u − v|²
selects, as |u|² is the same for all candidates: m_h = d + 1 (A28). Of a centre of gravity
2e_t e_s − e_s² does, e the number of a segment: m_h = 2. A selection has a key for each
position: m_h = τ.
"""

from math import ceil, log, log2

import numpy as np

from krohn.compiler.attention_layer import Axis, Tensors, tents
from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.sources.attention_targets.selected_means import (
    GRAVITY,
    NEAREST,
    SelectedMean,
)

NAME = "selected-mean"
CHEAP = 4.0
"""The squared distance by which other vectors are farther off: two diagonals are 2."""


def selected_mean(source: SelectedMean, precision: Precision) -> Network:
    """The network of a target."""
    axes, queries = _axes(source, precision)
    codes = 0 if source.form in (NEAREST, GRAVITY) else source.length
    features, hidden = tents(axes, "features")
    n = 2 * queries + source.values
    parts = np.split(np.eye(n), [queries, 2 * queries], axis=1)
    tensors: Tensors = {**features, "output.0.weight": np.eye(source.values)}
    tensors["output.0.bias"] = np.zeros(source.values)
    for name, part in zip(("query", "key", "value"), parts, strict=True):
        tensors[f"attention.{name}"] = part
    if codes:
        tensors["code"] = np.eye(codes)
    architecture = {
        "kind": "attention-layer",
        "dtype": precision.name,
        "length": source.length,
        "inputs": len(source.columns),
        "codes": codes,
        "features": n,
        "features_units": hidden,
        "d_qk": queries,
        "d_v": source.values,
        "memory": 0,
        "causal": False,
        "output_units": [],
        "outputs": source.values,
    }
    return Network(architecture, tensors, {})


def sharpness(source: SelectedMean, precision: Precision) -> float:
    """Λ for a gap of 1: wrong positions weigh less than a rounding; a power of 2."""
    heaviest = log(source.sizes[0]) if source.form == GRAVITY else 0.0
    needed = log(source.length) - log(precision.accumulator_unit) + heaviest
    return float(2.0 ** ceil(log2(needed)))


def _axes(source: SelectedMean, precision: Precision) -> tuple[list[Axis], int]:
    """The tables of each number of an input, and m_h."""
    if source.form == NEAREST:
        return _nearest(source, precision), 3
    if source.form == GRAVITY:
        return _gravity(source, precision), 2
    return _selection(source, precision), source.length


def _nearest(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries 2λu_1, 2λu_2, −λ; keys v_1, v_2, |v|² + 4·(no candidate)."""
    (grid,) = source.sizes
    scale, x = sharpness(source, precision) * grid**2, np.arange(grid + 1) / grid
    axes = []
    for i in range(2):
        table = np.zeros((grid + 1, 8))
        table[:, i], table[:, 3 + i], table[:, 6 + i] = 2 * scale * x, x, x
        table[:, 5] = x**2
        axes.append(Axis(float(grid), table))
    role = np.zeros((2, 8))
    role[:, 2], role[0, 5] = -scale, CHEAP
    return [*axes, Axis(1.0, role)]


def _gravity(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries 2Λe, 1; keys e, ln m − Λe²."""
    scale, (masses, _) = sharpness(source, precision), source.sizes
    y, mass = np.zeros((2, 5)), np.zeros((masses + 1, 5))
    y[1, 4] = 1.0
    mass[1:, 3] = np.log(np.arange(1, masses + 1))
    e = np.arange(source.columns[2].high + 1.0)
    segment = np.zeros((len(e), 5))
    segment[:, 0], segment[:, 1], segment[:, 2] = 2 * scale * e, 1.0, e
    segment[:, 3] = -scale * e**2
    return [Axis(1.0, table) for table in (y, mass, segment)]


def _selection(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries ln c_v, or −Λ where c_v is 0; keys say the position."""
    scale, length, (picks,) = sharpness(source, precision), source.length, source.sizes
    n = 2 * length + 2
    logs = np.concatenate([[-scale], np.log(np.arange(1, picks + 1))])

    def column(values: FloatArray, i: int) -> Axis:
        table = np.zeros((len(values), n))
        table[:, i] = values
        return Axis(1.0, table)

    unit = np.arange(2.0)
    return [
        *(column(unit, 2 * length + i) for i in range(2)),
        *(column(logs, v) for v in range(length)),
        *(column(unit, length + v) for v in range(length)),
    ]
