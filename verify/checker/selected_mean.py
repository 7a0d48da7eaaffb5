"""Means over what is selected exactly: an attention layer says them up to its leak.

Theorem T4 of docs/attention-targets.md. The tables must be those of the theorem for some
Λ, which is read from the tensors; only logarithms may be rounded.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, OWN_UNIT, SUM, UNDERFLOW, fits
from krohn.verify.checker.attention_layer import Layer, layer_of
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.real_networks import Established
from krohn.verify.checker.tents import Axis, axes_of

KIND = "selected-mean"
NEAREST, GRAVITY, SELECTION = "nearest-point", "centre-of-gravity", "selection"
SIZES = {NEAREST: ("grid",), GRAVITY: ("masses", "segments"), SELECTION: ("picks",)}
MOST_LENGTH, MOST_SIZE, FAR = 2**8, 2**10, 4.0


class Source(NamedTuple):
    """A target as a header states it (`krohn.sources.attention_targets.selected_means`)."""

    form: str
    length: int
    sizes: tuple[int, ...]


class Looks(NamedTuple):
    """What is known of the logits.

    Attributes:
        tables: What the features must be, along each axis.
        scales: The scale of each axis.
        logs: Which columns hold logarithms, which are rounded.
        gap: How far the logit of what is wrong stays below one that is right.
        peak: The largest sum of the terms of a logit, by absolute values.
        near: The largest logit of what is right, likewise by absolute value.
        exact: Whether all logits are without rounding.
    """

    tables: list[FloatArray]
    scales: list[float]
    logs: tuple[int, ...]
    gap: float
    peak: float
    near: float
    exact: bool


def source_of(said: Mapping[str, Any]) -> Source:
    """The target of a header.

    Raises:
        Refused: If it states none.
    """
    demand(said["kind"] == KIND, "this is no selected mean")
    demand(type(said["form"]) is str and said["form"] in SIZES, "an unknown form")
    sizes = tuple(said[name] for name in SIZES[said["form"]])
    for size in (said["length"], *sizes):
        demand(type(size) is int and 1 <= size <= MOST_SIZE, "no sensible sizes")
    demand(said["length"] <= MOST_LENGTH, "it is too long")
    if said["form"] == NEAREST:
        demand(sizes[0] & (sizes[0] - 1) == 0, "the grid is no power of two")
    return Source(said["form"], said["length"], sizes)


def established(model: Model) -> Established:
    """The least error that can be shown.

    Raises:
        Refused: If the network is another one.
    """
    source, layer = source_of(model.header["source"]), layer_of(model)
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
    unit, length = form.sum_unit, source.length
    relative = (length + 1) * (form.exponential + unit)
    demand(relative < 2.0**-4, "too long")
    # Key and logit are sums of two terms and of as many as there are queries.
    terms = layer.query.shape[1] + 4
    sums = 0.0 if looks.exact else terms * unit / (1 - terms * unit) * looks.peak
    fits(looks.peak, form, "a logit", SUM)
    noise = (relative / (1 - relative) + rounded + sums) * INFLATION
    # Equal logits are the maximum: what is left of their exponents is rounded once (A7).
    right = noise + (2 if looks.exact else 8) * unit * looks.near
    wrong = noise + 8 * unit * looks.peak
    leak = float((length - 1) * np.exp(2 * wrong - looks.gap) * INFLATION)
    demand(leak < 0.125, "the layer may read wrong positions")
    parts = {"leak": leak, "weights": float(np.tanh(right / 2) * INFLATION)}
    last = 2 * form.exponential + (2 * length + 10) * unit
    parts["rounding"] = float(last / (1 - last) + 4 * length * UNDERFLOW)
    if source.form != NEAREST:  # its points are numbers of the format
        parts["inputs"] = form.unit + form.smallest
    error = sum(parts.values()) * INFLATION
    return Established(form, length, error, parts, _covers(source))


def _covers(source: Source) -> str:
    words = {
        NEAREST: "all inputs of points of the grid, with a candidate",
        GRAVITY: "all inputs of masses in segments",
        SELECTION: "all inputs in which each vector picks one at least",
    }
    return f"{words[source.form]}, of up to {source.length} vectors"


def _check_projections(layer: Layer, values: int) -> None:
    """Features are queries, keys and values, in this order; outputs are the means."""
    n, m = layer.query.shape
    demand(n == 2 * m + values, "it has other features")
    right = np.split(np.eye(n), [m, 2 * m], axis=1)
    found = (layer.query, layer.key, layer.value)
    same = all(np.array_equal(a, b) for a, b in zip(found, right, strict=True))
    demand(same and len(layer.output) == 1, "it projects features elsewhere")
    weight, bias = layer.output[0]
    demand(np.array_equal(weight, np.eye(values)), "the outputs are no means")
    demand(not bias.any(), "something is added to a mean")


def _check_tables(axes: list[Axis], looks: Looks) -> float:
    """By how much logarithms are rounded, where everything else is as it must be."""
    rounded = 0.0
    for axis, table, scale in zip(axes, looks.tables, looks.scales, strict=True):
        demand(axis.scale == scale, "knots are elsewhere")
        demand(axis.values.shape == table.shape, "tables have other sizes")
        apart = np.abs(axis.values - table)
        logs = np.zeros(table.shape[1], bool)
        logs[list(looks.logs)] = True
        demand(not apart[:, ~logs].any(), "a feature is another one")
        found = apart[:, logs].max(initial=0.0)
        demand(found <= 2.0**-10, "a logarithm is another one")
        if looks.logs:
            rounded += float(found) + 4 * OWN_UNIT * float(np.abs(table).max())
    return rounded


def _scale(found: float) -> float:
    demand(found > 0 and np.frexp(found)[0] == 0.5, "Λ is no power of two")
    return float(found)


def _nearest(source: Source, axes: list[Axis], unit: float) -> Looks:
    """λ(2u·v − |v|²): exact, as all are few multiples of λ/G²."""
    (grid,) = source.sizes
    demand(axes[-1].values.shape == (2, 8), "there are no such features")
    scale, x = _scale(-axes[-1].values[0, 2]), np.arange(grid + 1) / grid
    tables = [np.zeros((grid + 1, 8)), np.zeros((grid + 1, 8)), np.zeros((2, 8))]
    for i, table in enumerate(tables[:2]):
        table[:, i], table[:, 3 + i], table[:, 5] = 2 * scale * x, x, x**2
        table[:, 6 + i] = x
    tables[2][:, 2], tables[2][0, 5] = -scale, FAR
    peak = (4 + 2 + FAR) * scale
    demand(16 * grid**2 * unit <= 1, "logits of so fine a grid are rounded")
    scales = [float(grid), float(grid), 1.0]
    return Looks(tables, scales, (), scale / grid**2, peak, 2 * scale, True)


def _gravity(source: Source, axes: list[Axis], unit: float) -> Looks:
    """Λ(2e_t e_s − e_s²) + ln m."""
    masses, segments = source.sizes
    e, mass = np.arange(max(segments, 2) * 1.0), np.zeros((masses + 1, 5))
    demand(len(axes) == 3 and axes[2].values.shape == (len(e), 5), "other features")
    scale = _scale(axes[2].values[1, 0] / 2)
    y, segment = np.zeros((2, 5)), np.zeros((len(e), 5))
    y[1, 4] = 1.0
    mass[1:, 3] = np.log(np.arange(1, masses + 1))
    segment[:, 0], segment[:, 1], segment[:, 2] = 2 * scale * e, 1.0, e
    segment[:, 3] = -scale * e**2
    heaviest = float(np.log(masses))
    peak = 3 * scale * e[-1] ** 2 + heaviest
    # Λe² is exact, and only what is in one column with logarithms is compared loosely.
    exact_part = np.array_equal(axes[2].values, segment)
    demand(exact_part, "a feature is another one")
    gap = scale - heaviest
    return Looks([y, mass, segment], [1.0] * 3, (3,), gap, peak, peak, False)


def _selection(source: Source, axes: list[Axis], unit: float) -> Looks:
    """Ln c_v at position v, or −Λ."""
    length, (picks,) = source.length, source.sizes
    n = 2 * length + 2
    demand(len(axes) == 2 + 2 * length, "the layer reads other numbers")
    demand(axes[2].values.shape == (picks + 1, n), "there are no such features")
    scale = _scale(-axes[2].values[0, 0])
    logs = np.concatenate([[-scale], np.log(np.arange(1, picks + 1))])
    columns = [2 * length, 2 * length + 1, *range(2 * length)]
    tables = []
    for i, column in enumerate(columns):
        values = logs if 2 <= i < 2 + length else np.arange(2.0)
        table = np.zeros((len(values), n))
        table[:, column] = values
        tables.append(table)
    for axis in axes[2 : 2 + length]:
        demand(axis.values[0].min() == -scale, "an unpicked vector has another logit")
    heaviest = float(np.log(picks))
    return Looks(
        tables,
        [1.0] * len(axes),
        tuple(range(length)),
        scale,
        max(scale, heaviest),
        heaviest,
        False,
    )


FORMS = {NEAREST: _nearest, GRAVITY: _gravity, SELECTION: _selection}
