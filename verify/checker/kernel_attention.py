"""Kernels: an attention layer says Σ ρ(s)·x(t − s) up to a stated error.

Theorem K7 of docs/kernels.md. Where the head looks depends on positions alone, and so does
which units of F̂ are on. The tensors must be of the form of the theorem; its numbers (codes,
logits, thresholds, what is taken of each slot, how hard units are pressed) are read.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    INFLATION,
    OWN_UNIT,
    STEPS,
    SUM,
    UNDERFLOW,
    Format,
    fits,
)
from krohn.verify.checker.attention_layer import Layer, layer_of
from krohn.verify.checker.kernels import Source, deviations, inexact, source_of
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.real_networks import Established

MOST_INPUTS = 2**10
PRESSED = 2.0**-10
"""More than any sum of F̂ is off by, of its absolute values."""


class Dot(NamedTuple):
    """Products of matrices, and how far they can be off in the format and here.

    Attributes:
        value: What they are.
        error: How far off.
    """

    value: FloatArray
    error: FloatArray


class Looked(NamedTuple):
    """Where the head looks.

    Attributes:
        weights: ``(T, T)``: of exact logits.
        off: ``(T, T)``: how far each can be off.
    """

    weights: FloatArray
    off: FloatArray


def established(model: Model) -> Established:
    """The error of an attention layer; `real_networks.established` judges it.

    Raises:
        Refused: If the network is another one, or nothing can be shown.
    """
    source, layer = source_of(model.header["source"]), layer_of(model)
    size, form = source.length, layer.form
    demand(layer.length == size <= MOST_INPUTS, "it is for another length")
    demand(layer.causal == (source.order is None), "it sees other positions")
    demand(layer.bias is None and layer.inputs == 1, "it reads something else")
    slots = layer.value.shape[1] - 1
    demand(slots in (1, size), "slots are one, or one for each input")
    code = _code(layer, source, slots)
    looked = _looked(layer, code, slots)
    taken = _taken(layer, slots, code, looked, source)
    return _shown(source, form, slots, looked, taken)


def _code(layer: Layer, source: Source, slots: int) -> FloatArray:
    """``(T, c)``: what f̂ hands on of positions, if it hands inputs on as they are.

    Raises:
        Refused: If it does not.
    """
    code, held = layer.code, layer.code.shape[1] - (slots if slots > 1 else 0)
    demand(held > 0, "positions have no code")
    demand(layer.features[0][1].size >= 1 + held, "f̂ is another network")
    right = [np.eye(1 + held)]
    if slots > 1:
        most = source.largest * (1 + 2 * layer.form.unit)
        shut, code = code[:, :slots], code[:, slots:]
        own = np.eye(slots, dtype=bool)
        demand((shut[own] == 0) & (shut[~own].max() <= -most), "a slot is left open")
        demand(code >= 0, "a code is negative")
        ones, none = np.ones((1, slots)), np.zeros((slots, held))
        inner = [np.eye(slots), np.eye(slots), none], [none.T, none.T, np.eye(held)]
        outer = [np.eye(slots), none], [-np.eye(slots), none], [none.T, np.eye(held)]
        right = [
            np.block([[ones, -ones, np.zeros((1, held))], *inner]),
            np.block([*outer]),
        ]
    demand(len(layer.features) == len(right), "f̂ is another network")
    for (weight, bias), matrix in zip(layer.features, right, strict=True):
        demand(np.array_equal(weight, matrix), "f̂ is another network")
        demand(not bias.any(), "f̂ is shifted")
    value = np.zeros((slots + held, slots + 1))
    value[:slots, :slots], value[-1, -1] = np.eye(slots), 1.0
    demand(np.array_equal(layer.value, value), "it aggregates something else")
    for matrix in (layer.query, layer.key):
        demand(not matrix[:slots].any(), "it looks at inputs")
    return code


def _looked(layer: Layer, code: FloatArray, slots: int) -> Looked:
    """The weights, and by how much each is off: Lemma K8."""
    form, size = layer.form, len(code)
    exact = np.zeros_like(code)
    asked, keys = (
        _dot(Dot(code, exact), matrix[slots:], form)
        for matrix in (layer.query, layer.key)
    )
    logits = _dot(asked, keys.value.T, form, keys.error.T)
    sizes = (np.abs(x.value) + x.error for x in (asked, keys))
    most, largest = sizes
    fits(most @ largest.T, form, "a logit", SUM)
    seen = np.tri(size, dtype=bool) if layer.causal else np.ones((size, size), bool)
    value = np.where(seen, logits.value, -np.inf)
    peak = value.max(axis=1, keepdims=True)
    exponent = np.where(seen, np.abs(logits.value) + np.abs(peak), 0.0)
    relative = 2 * (size + 1) * (form.exponential + form.sum_unit)
    demand(relative <= 2.0**-6, "too long")
    apart = logits.error + 8 * form.sum_unit * exponent + relative
    apart += 8 * OWN_UNIT * (exponent + size + 4)
    demand(apart[seen] <= 0.125, "logits are not known")
    apart = np.where(seen, apart * INFLATION, 0.0)
    weights = np.exp(value - peak)
    weights /= weights.sum(axis=1, keepdims=True)
    above = weights * np.exp(apart) / (weights * np.exp(-apart)).sum(1, keepdims=True)
    below = weights * np.exp(-apart) / (weights * np.exp(apart)).sum(1, keepdims=True)
    off = np.maximum(above - weights, weights - below)
    # A weight may be flushed.
    return Looked(weights, (off + 16 * OWN_UNIT * weights) * INFLATION + UNDERFLOW)


def _dot(
    left: Dot, right: FloatArray, form: Format, noise: FloatArray | float = 0.0
) -> Dot:
    """A product in the format, each entry a sum; of one exact term it is exact.

    ``noise`` is how far ``right`` can be off.
    """
    noise = np.broadcast_to(noise, right.shape)
    one, other = np.abs(left.value), np.abs(right)
    off, apart = left.error > 0, noise > 0
    terms = ((one > 0) | off).astype(float) @ ((other > 0) | apart)
    # What can be off may be any number, and not the power of two that it should be.
    rough = (
        np.where(off, 1.0, inexact(left.value)),
        np.where(apart, 1.0, inexact(right)),
    )
    rounds = np.maximum(terms - 1, 0) + (rough[0] @ rough[1] > 0)
    unit = form.sum_unit + OWN_UNIT
    sums = rounds * unit / (1 - rounds * unit) * ((one + left.error) @ (other + noise))
    error = sums + left.error @ (other + noise) + one @ noise + terms * UNDERFLOW
    return Dot(left.value @ right, error * INFLATION)


def _taken(
    layer: Layer, slots: int, code: FloatArray, looked: Looked, source: Source
) -> FloatArray:
    """``(T, slots)``: what is taken of each slot at t: all units of other times are off.

    Raises:
        Refused: If F̂ is of another form, or a unit may be on at another time.
    """
    form, size = layer.form, len(code)
    demand(len(layer.output) == 3, "F̂ has another depth")
    (first, shift), (second, bias), (last, end) = layer.output
    demand(not (bias.any() or end.any()), "F̂ is shifted")
    right = np.zeros((slots + 1, 2 * slots + 2 * (size - 1)))
    right[:slots, : 2 * slots] = np.hstack([np.eye(slots), -np.eye(slots)])
    right[-1, 2 * slots :] = np.repeat([-1.0, 1.0], size - 1)
    demand(np.array_equal(first, right), "F̂ reads something else")
    between = shift[2 * slots :][: size - 1]
    ends = np.concatenate([np.zeros(2 * slots), between, -between])
    demand(np.array_equal(shift, ends), "thresholds differ")
    demand(second.shape[1] == 2 * size, "F̂ has another width")
    demand(
        np.array_equal(last[:, 0], np.tile([1.0, -1.0], size)), "outputs are weighed"
    )
    ups, downs = second[:, ::2], second[:, 1::2]
    taken = ups[:slots].T
    alike = np.array_equal(ups[slots : 2 * slots].T, -taken)
    alike &= np.array_equal(ups[: 2 * slots], -downs[: 2 * slots])
    press = -ups[2 * slots :]
    alike &= np.array_equal(press, -downs[2 * slots :])
    demand(alike and (press >= 0).all(), "units of F̂ are no pairs")
    _pressed(form, between, press, _reach(taken, slots, looked, source), code, looked)
    return taken


def _reach(taken: FloatArray, slots: int, looked: Looked, source: Source) -> FloatArray:
    """``(T, T)``: how large the sum of the pair of one time can be at another."""
    most = source.largest * (1 + 2.0**-8)
    heavy = looked.weights + looked.off
    held = heavy if slots > 1 else np.ones((len(heavy), 1)) * (1 + 2.0**-8)
    found: FloatArray = held @ np.abs(taken).T * most * (1 + 2.0**-8)
    return found


def _pressed(
    form: Format,
    between: FloatArray,
    press: FloatArray,
    reach: FloatArray,
    code: FloatArray,
    looked: Looked,
) -> None:
    """Nothing presses the pair of the time that it is, and all others are off.

    Raises:
        Refused: If that is not so at some time.
    """
    place = code[:, -1]
    mean, sizes = looked.weights @ place, looked.weights @ np.abs(place)
    off = looked.off @ np.abs(place) + _sums(form, len(code)) * sizes
    off = (off + len(code) * UNDERFLOW * (1 + sizes))[:, None] * INFLATION
    low = np.hstack([between - mean[:, None], mean[:, None] - between]) - off
    slack = 4 * form.sum_unit * (np.abs(mean[:, None]) + off)
    least = np.maximum(low - slack - 4 * form.sum_unit * np.abs(low), 0.0)
    most = np.maximum(low + 2 * off, 0.0) * (1 + 4 * form.sum_unit) + slack
    # A computed difference is above 0 only if the numbers are in that order.
    most = np.where(low + 2 * off <= 0, 0.0, most)
    weakest, strongest = least @ press, most @ press
    own = np.eye(len(code), dtype=bool)
    demand(strongest[own] == 0, "a unit is pressed at its own time")
    lost = (len(press) + reach.shape[1]) * UNDERFLOW
    firm = weakest - reach >= PRESSED * (strongest + reach) + lost
    demand(firm[~own], "a unit may be on at another time")
    fits(strongest + reach, form, "F̂", STEPS)


def _sums(form: Format, size: int) -> float:
    """The weighted sum, the sum of weights and the quotient, relative to what is summed."""
    unit = (2 * size + 12) * form.sum_unit
    demand(unit <= PRESSED, "too long for the format")
    return 2 * unit


def _shown(
    source: Source, form: Format, slots: int, looked: Looked, taken: FloatArray
) -> Established:
    """The error, from what is taken of each input at each time."""
    size, most = source.length, source.largest
    fits(2 * most * size, form, "a sum of inputs", STEPS)
    rows = np.abs(taken) if slots > 1 else np.broadcast_to(np.abs(taken), (size, size))
    right, found = _matrix(source), np.where(taken < 0, -1, 1) * rows * looked.weights
    gains = rows * looked.weights
    apart = np.abs(right - found) + 4 * OWN_UNIT * (np.abs(right) + gains)
    kernel = apart.sum(axis=1) * most
    weights = (rows * looked.off).sum(axis=1) * most * (1 + 2 * form.unit)
    terms = slots + 2
    unit = _sums(form, size) + terms * form.sum_unit / (1 - terms * form.sum_unit)
    heavy = (rows * (looked.weights + looked.off)).sum(axis=1)
    flushed = UNDERFLOW * (1 + most) * (1 + rows.sum(axis=1)) * (size + terms)
    rounding = 2 * unit * heavy * most + flushed
    inputs = (form.unit * most + UNDERFLOW) * heavy
    total = (kernel + weights + rounding + inputs) * INFLATION
    at = int(total.argmax())
    named = {
        "kernel": kernel,
        "weights": weights,
        "rounding": rounding,
        "inputs": inputs,
    }
    parts = {name: float(part[at]) for name, part in named.items()}
    covers = f"all real inputs of the box, up to {size} of them"
    if source.order is not None:
        covers = f"all {size} real inputs of the box"
    return Established(form, size, float(total[at]), parts, covers)


def _matrix(source: Source) -> FloatArray:
    """``(T, T)``: what the output at t takes of the input at each position."""
    size = source.length
    values = deviations(source.exact(), [0] * size)
    back = np.subtract.outer(np.arange(size), np.arange(size))
    causal = np.where(back >= 0, values[np.maximum(back, 0)], 0.0)
    found = np.empty_like(causal)
    found[:, list(source.order or range(size))] = causal
    return found
