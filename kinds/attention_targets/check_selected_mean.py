"""Means over what is selected exactly: an attention layer says them up to its leak.

Theorem T4 of docs/proofs/attention_targets.md. The tables must be those of the theorem for
some Λ, which is read from the tensors; only logarithms may be rounded.
"""

from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.attention_layer.check import (
    Layer,
    layer_of,
)
from krohn.kinds.attention_targets.check_tents import (
    Axis,
    axes_of,
)
from krohn.kinds.attention_targets.statement_inputs import Selections
from krohn.kinds.attention_targets.statement_selected_mean import (
    GRAVITY,
    NEAREST,
    SELECTION,
    StatedSelectedMean,
)
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import SUM, Interval, fits, gamma, store_error
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import bound_leak, bound_sway, mean_error

FAR = 4.0


class Looks(NamedTuple):
    """Bounds of the logits.

    Attributes:
        tables: What the features must be, along each axis; logarithms are rounded.
        scales: The scale of each axis.
        gap: How far the logit of what is wrong stays below one that is right.
        peak: The largest sum of the terms of a logit, by absolute values.
        near: The largest logit of what is right, likewise by absolute value.
        sums: How often one of those is rounded.
        kinds: How many different logits can be right; None if all may differ.
    """

    tables: list[Interval]
    scales: list[float]
    gap: Interval
    peak: Interval
    near: Interval
    sums: int
    kinds: int | None


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The least error that can be shown.

    Raises:
        Refused: If the network is another one.
    """
    source, layer = StatedSelectedMean.from_wire(model.source), layer_of(model)
    demand(layer.bias is None and not layer.causal, "the layer sees other positions")
    demand(layer.length == source.length, "another length")
    axes, form = axes_of(layer.features), layer.form
    looks = FORMS[source.form](source, axes, form.sum_unit)
    demand(len(axes) == len(looks.tables), "the layer reads other numbers")
    coded = source.form == SELECTION
    codes = np.eye(source.length) if coded else layer.code[:0, :0]
    demand(np.array_equal(layer.code, codes), "positions have other codes")
    values = 1 if source.form == GRAVITY else 2
    _check_projections(layer, values)
    rounded = _check_tables(axes, looks)
    fits(looks.peak, form, "a logit", SUM)
    length, most = source.length, looks.peak
    # Key and logit are sums of two terms and of as many as there are queries.
    terms = (layer.query.shape[1] + 4) * (looks.sums > 0)
    off = rounded + gamma(looks.sums, form.sum_unit) * looks.near
    wrong = rounded + gamma(terms, form.sum_unit) * most
    astray = bound_leak(form, length, most, looks.gap - off - wrong)
    demand(astray < 0.125, "the layer may read wrong positions")
    near, kinds = looks.near + off, looks.kinds
    parts = {
        "weights": bound_sway(2 * off, 1.0),
        "rounding": mean_error(form, length, near, 1.0, 1.0, kinds, astray),
    }
    if source.form != NEAREST:  # its points are numbers of the format
        parts["inputs"] = store_error(form, 1.0)
    least = length if source.form == SELECTION else 1
    return added_up(form, Selections(source.form, least, length), parts)


def _check_projections(layer: Layer, values: int) -> None:
    """Features are queries, keys and values, in this order; outputs are the means."""
    n, m = layer.query.shape
    demand(n == 2 * m + values, "it has other features")
    right = np.split(np.eye(n), [m, 2 * m], axis=1)
    projections = (layer.query, layer.key, layer.value)
    same = all(np.array_equal(a, b) for a, b in zip(projections, right, strict=True))
    demand(same and len(layer.output) == 1, "it projects features elsewhere")
    weight, bias = layer.output[0]
    demand(np.array_equal(weight, np.eye(values)), "the outputs are no means")
    demand(not bias.any(), "something is added to a mean")


def _check_tables(axes: list[Axis], looks: Looks) -> Interval:
    """By how much logarithms are rounded, where everything else is as it must be."""
    rounded = Interval.of(0.0)
    for axis, table, scale in zip(axes, looks.tables, looks.scales, strict=True):
        demand(axis.scale == scale, "knots are elsewhere")
        demand(axis.values.shape == table.shape, "tables have other sizes")
        logs = table.low < table.high
        demand((axis.values == table.low) | logs, "a feature is another one")
        if logs.any():
            difference = abs(axis.values - table)[logs].max()
            demand(difference <= 2.0**-10, "a logarithm is another one")
            rounded += difference
    return rounded


def _scale(found: float) -> float:
    demand(found > 0 and np.frexp(found)[0] == 0.5, "Λ is no power of two")
    return float(found)


def _logarithms(first: float, most: int) -> Interval:
    """A number; then 0, ln 2, …, up to the logarithm of the most."""
    logs = Interval.of(np.arange(2.0, most + 1)).through(np.log)
    return logs.each(lambda x: np.concatenate([[first, 0.0], x]))


def _nearest(source: StatedSelectedMean, axes: list[Axis], unit: float) -> Looks:
    """λ(2u·v − |v|²): exact, as all are few multiples of λ/G²."""
    (grid,) = source.sizes
    demand(axes[-1].values.shape == (2, 8), "there are no such features")
    scale, x = _scale(-axes[-1].values[0, 2]), np.arange(grid + 1) / grid
    tables = [np.zeros((grid + 1, 8)), np.zeros((grid + 1, 8)), np.zeros((2, 8))]
    for i, table in enumerate(tables[:2]):
        table[:, i], table[:, 3 + i], table[:, 5] = 2 * scale * x, x, x**2
        table[:, 6 + i] = x
    tables[2][:, 2], tables[2][0, 5] = -scale, FAR
    demand(16 * grid**2 * unit <= 1, "logits of so fine a grid are rounded")
    return Looks(
        list(map(Interval.of, tables)),
        [float(grid), float(grid), 1.0],
        gap=Interval.of(scale / grid**2),
        peak=Interval.of((4 + 2 + FAR) * scale),
        near=Interval.of(2 * scale),
        sums=0,
        kinds=1,
    )


def _gravity(source: StatedSelectedMean, axes: list[Axis], unit: float) -> Looks:
    """Λ(2e_t e_s − e_s²) + ln m: a key is rounded once, and a logit of it once more."""
    masses, segments = source.sizes
    e = np.arange(max(segments, 2) * 1.0)
    demand(len(axes) == 3 and axes[2].values.shape == (len(e), 5), "other features")
    scale = _scale(axes[2].values[1, 0] / 2)
    y, segment = np.zeros((2, 5)), np.zeros((len(e), 5))
    y[1, 4] = 1.0
    logs = _logarithms(0.0, masses)
    mass = logs.each(lambda x: x[:, None] * (np.arange(5) == 3))
    segment[:, 0], segment[:, 1], segment[:, 2] = 2 * scale * e, 1.0, e
    segment[:, 3] = -scale * e**2
    heaviest, far = logs.max(), scale * e[-1] ** 2
    return Looks(
        [Interval.of(y), mass, Interval.of(segment)],
        [1.0] * 3,
        gap=scale - heaviest,
        peak=3 * far + heaviest,
        near=far + heaviest,
        sums=2,
        kinds=None,
    )


def _selection(source: StatedSelectedMean, axes: list[Axis], unit: float) -> Looks:
    """Ln c_v at position v, or −Λ: exact, but for logarithms."""
    length, (picks,) = source.length, source.sizes
    n = 2 * length + 2
    demand(len(axes) == 2 + 2 * length, "the layer reads other numbers")
    demand(axes[2].values.shape == (picks + 1, n), "there are no such features")
    scale = _scale(-axes[2].values[0, 0])
    logs = _logarithms(-scale, picks)
    columns = [2 * length, 2 * length + 1, *range(2 * length)]
    tables = []
    for i, column in enumerate(columns):
        values = logs if 2 <= i < 2 + length else Interval.of(np.arange(2.0))
        own = np.arange(n) == column
        ends = (x[:, None] * own + 0.0 for x in (values.low, values.high))
        tables.append(Interval(*ends))
    demand(all(axis.values.shape[1] == n for axis in axes), "other features")
    distinct_values = np.unique(
        [a.values[1:, i] for i, a in enumerate(axes[2 : 2 + length])]
    )
    return Looks(
        tables,
        [1.0] * len(axes),
        gap=Interval.of(scale),
        peak=Interval.of(scale).maximum(logs.max()),
        near=logs.max(),
        sums=0,
        kinds=len(distinct_values),
    )


FORMS = {NEAREST: _nearest, GRAVITY: _gravity, SELECTION: _selection}
