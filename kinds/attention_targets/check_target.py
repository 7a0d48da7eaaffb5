"""Targets of attention: an attention layer says F(Σ softmax[ρ] f) up to a derived error.

Theorem T3 of docs/proofs/attention_targets.md. Both what is stated and what the tensors
compute are linear between knots, along each axis; so the largest difference is at a knot of
one or the other, and is found by looking at all of them.
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
    interpolate_rows,
    rounding,
    steepest,
)
from krohn.kinds.attention_targets.statement_target import (
    MOST_POINTS,
    OuterFunction,
    StatedAttentionTarget,
)
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.program.inputs import Box
from krohn.verify.checker.arithmetic import (
    STEPS,
    SUM,
    Format,
    Interval,
    bound_underflow,
    fits,
    gamma,
    store_error,
)
from krohn.verify.checker.established import REAL, Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import bound_sway, mean_error

ENTRIES = 2**21
EXACT = 2.0**50
"""Whole numbers below, and sums of two of them, are exact in float64."""
SEVERAL = "F̂ is not one function for each number"


class Mean(NamedTuple):
    """Bounds of the aggregated vector that F̂ reads.

    Attributes:
        error: ``(n,)``: how far it can be from that of the target, less a shift.
        high: ``(n,)``: its largest values, as it is computed.
        size: ``(n,)``: the largest by absolute value.
    """

    error: Interval
    high: Interval
    size: Interval


class Logits(NamedTuple):
    """Bounds of the logits.

    Attributes:
        off: How far one can be from that of the two features, computed.
        size: How large they are at most, with that.
    """

    off: Interval
    size: Interval


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The least error that can be shown.

    Raises:
        Refused: If the network is another one.
    """
    source, layer = StatedAttentionTarget.from_wire(model.source), layer_of(model)
    demand(layer.bias is None, "the layer has a memory")
    demand(not layer.code.size, "the layer sees positions")
    demand(layer.inputs == 1, "the layer reads several numbers of each vector")
    demand(layer.causal == source.causal, "the layer sees other positions")
    demand(layer.length == source.length, "another length")
    (axis,) = axes_of(layer.features)
    demand(axis.high == 1, "the knots do not span the inputs")
    asked, keys, values = (
        select_features(axis, matrix)
        for matrix in (layer.query, layer.key, layer.value)
    )
    demand(values.values.shape[1] == source.f.shape[1], "another number of values")
    spread, logits = (
        differences(source, asked, keys),
        bound_logits(layer.form, asked, keys),
    )
    entering, moved = moved_by_inputs(layer.form, source)
    half = spread + source.moduli.rho + logits.off + entering
    shift = _shift(layer, source, values)
    mean = means(layer, source, values, half, logits, shift, moved)
    error, of_outer = _outer(layer, source, mean, shift)
    parts = {"logits": spread.most, "logits_rounding": logits.off.most}
    parts |= {"f_and_mean": mean.error.most, "modulus": source.moduli.rho}
    parts |= {"outer": of_outer, "inputs": entering.most}
    box = Box(((0.0, 1.0),), 1, source.length)
    return Established(layer.form, box, {**REAL, "parts": parts}, error)


def select_features(axis: Axis, matrix: FloatArray) -> Axis:
    """The features that a projection selects.

    Raises:
        Refused: If it does anything else.
    """
    one = (matrix != 0).sum(axis=0) == 1
    demand(one & (matrix.max(axis=0) == 1), "a projection does not select features")
    return Axis(axis.scale, axis.values[:, matrix.argmax(axis=0)])


def differences(source: StatedAttentionTarget, asked: Axis, keys: Axis) -> Interval:
    """Half of what ρ̂ − ρ ranges over for one query, at most, as the tables say ρ."""
    size = max(len(source.left), len(asked.values)) - 1
    grid = np.arange(size + 1) / size
    points = len(source.left) - 1
    left, right = (
        interpolate_rows(grid * points, t) for t in (source.left, source.right)
    )
    one, other = _beside(asked.at(grid), -left), _beside(keys.at(grid), right)
    widest, other = 0.0, other.each(np.transpose)
    for rows in np.array_split(np.arange(size + 1), max(1, size**2 // ENTRIES)):
        apart = one[rows] @ other
        widest = np.maximum(widest, (apart.max(axis=1) - apart.min(axis=1)).most)
    return Interval.of(widest) / 2


def _beside(one: Interval, other: Interval) -> Interval:
    pairs = (one.low, other.low), (one.high, other.high)
    return Interval(*map(np.hstack, pairs))


def moved_by_inputs(
    form: Format, source: StatedAttentionTarget
) -> tuple[Interval, Interval]:
    """By how much ρ and f of the tables move where inputs are rounded to the format."""
    steps = store_error(form, 1.0) * (len(source.f) - 1)
    left, right, f = (
        steepest(table) * steps for table in (source.left, source.right, source.f)
    )
    one, other = (np.abs(t).max(axis=0) for t in (source.left, source.right))
    return left @ other + one @ right, f


def bound_logits(form: Format, asked: Axis, keys: Axis) -> Logits:
    """Logits as they are computed, beside the sums of tents in real numbers."""
    q, k = (Interval.of(np.abs(a.values).max(axis=0)) for a in (asked, keys))
    off_q, off_k = (rounding([axis], form) for axis in (asked, keys))
    terms, peak = q.shape[0], (q + off_q) @ (k + off_k)
    fits(peak, form, "a logit", SUM)
    sums = gamma(terms + 1, form.sum_unit) * peak + bound_underflow(terms + 1)
    off = off_q @ k + q @ off_k + off_q @ off_k + sums
    return Logits(off, q @ k + off)


def means(
    layer: Layer,
    source: StatedAttentionTarget,
    values: Axis,
    half: Interval,
    logits: Logits,
    shift: FloatArray,
    moved: Interval,
) -> Mean:
    """Of the vectors that are aggregated: Theorem 12a, and the error of f̂.

    ``moved``, ``(n,)``, is by how much f moves where inputs are rounded.
    """
    form, off, length = layer.form, rounding([values], layer.form), layer.length
    low, high = (Interval.of(f(values.values, axis=0)) for f in (np.min, np.max))
    size = max(len(source.f), len(values.values)) - 1
    grid = np.arange(size + 1) / size
    right = interpolate_rows(grid * (len(source.f) - 1), source.f)
    apart = abs(values.at(grid) + shift - right).max(axis=0)
    largest = np.abs(values.values).max(axis=0) + off
    fits(largest * length, form, "a mean", STEPS)
    spread = high - low + 2 * off
    rounded = mean_error(form, length, logits.size, spread, largest)
    swing = bound_sway(2 * half, spread)
    error = swing + apart + source.moduli.f + moved + off + rounded
    more = off + rounded
    return Mean(error, high + more, largest + more)


def _shift(layer: Layer, source: StatedAttentionTarget, values: Axis) -> FloatArray:
    """``(n,)``: by how much f̂ is less than f, each a multiple of its `_step`.

    Any such number is right, for some the error is less.
    """
    if source.outer is None:
        bias = layer.output[-1][1]
        demand(bias.shape == source.f.shape[1:], "another number of outputs")
        return bias
    axes = axes_of(layer.output)
    demand(len(axes) == source.f.shape[1], SEVERAL)
    steps = np.array([_step(source.outer, axis) for axis in axes])
    apart = np.rint((source.f[0] - values.values[0]) / steps)
    demand(np.abs(apart) < EXACT, "f̂ is too far from f")
    return np.asarray(apart * steps)


def _step(outer: OuterFunction, axis: Axis) -> float:
    """All knots of F, and those of F̂ along an axis, are multiples of it (Theorem T3)."""
    return min(outer.step, 1 / axis.scale)


def _outer(
    layer: Layer, source: StatedAttentionTarget, mean: Mean, shift: FloatArray
) -> tuple[float, float]:
    """How far an output can be off, and by how much F̂ differs from F at worst."""
    form, n = layer.form, len(shift)
    if source.outer is None:
        demand(len(layer.output) == 1, "F̂ is not the identity")
        demand(np.array_equal(layer.output[0][0], np.eye(n)), "F̂ is not the identity")
        size = mean.size + np.abs(shift)
        fits(size, form, "an output", STEPS)
        rounded = 2 * form.sum_unit * size * (shift != 0)
        return (mean.error + rounded + source.moduli.outer).most, 0.0
    axes = axes_of(layer.output)
    roundings = rounding(axes, form)
    demand(axes[0].values.shape[1] == n, SEVERAL)
    error, worst = 0.0, 0.0
    for i, axis in enumerate(axes):
        own = np.arange(n) == i
        demand(not axis.values[:, ~own].any(), SEVERAL)
        demand(mean.high[i] <= axis.high, "the mean can lie beyond the last knot")
        apart = _apart(source, axis, i, float(shift[i]))
        slope = axis.slope * mean.error[i]
        total = (slope + apart + source.moduli.outer + roundings[i]).most
        demand(np.isfinite(total), "no error is shown")
        error, worst = (float(x) for x in np.maximum((error, worst), (total, apart)))
    return error, worst


def _apart(source: StatedAttentionTarget, axis: Axis, i: int, shift: float) -> float:
    """The largest |F̂_i(a − shift) − F_i(a)| over all means a of f."""
    outer, off = source.outer, source.moduli.f
    assert outer is not None
    step = _step(outer, axis)
    ends = source.f[:, i].min(), source.f[:, i].max()
    if off:
        around = Interval.of(np.array(ends)).wider(off)
        ends = around.low[0], around.high[1]
    first, last = np.floor(ends[0] / step), np.ceil(ends[1] / step)
    demand(max(-first, last) < EXACT, "the knots of F̂ are no numbers of float64")
    demand(last - first <= 8 * MOST_POINTS, "the knots of F̂ are too close")
    # Differences are linear between knots, and so largest there or at an end.
    points = Interval.of(np.clip(step * np.arange(first, last + 1), *ends))
    demand(outer.low <= ends[0] and ends[1] <= outer.high, "F is not said everywhere")
    demand(ends[1] - shift <= axis.high, "F̂ does not reach as far as F")
    right = interpolate_rows((points - outer.low) / outer.step, outer.values[:, [i]])
    own_axis = Axis(axis.scale, axis.values[:, [i]])
    return abs(own_axis.at(points - shift) - right).most
