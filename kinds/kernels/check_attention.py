"""Kernels: an attention layer says Σ ρ(s)·x(t − s) up to a stated error.

Theorem K7 of docs/proofs/kernels.md. Where the head looks depends on positions alone, and
so does which units of F̂ are on. The tensors must be of the form of the theorem; its numbers
(codes, logits, thresholds, what is taken of each slot, how hard units are pressed) are
read.
"""

from typing import Any

import numpy as np

from krohn.architectures.attention_layer.check import (
    Layer,
    layer_of,
)
from krohn.architectures.attention_layer.statement import mark_visible
from krohn.kinds.kernels.check_rnn import (
    deviations,
    exact_values,
    source_of,
)
from krohn.kinds.kernels.statement import StatedKernel
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    bound_underflow,
    fits,
    gamma,
    lost,
    store_error,
)
from krohn.verify.checker.established import REAL, Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import Weights, product, weights

MOST_INPUTS = 2**10
PRESSED = 2.0**-10
"""More than any sum of F̂ is off by, of its absolute values."""


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of an attention layer.

    Raises:
        Refused: If the network is another one, or nothing can be shown.
    """
    source, layer = source_of(model), layer_of(model)
    size, form = source.length, layer.form
    demand(layer.length == size <= MOST_INPUTS, "it is for another length")
    demand(layer.causal == source.causal, "it sees other positions")
    demand(layer.bias is None and layer.inputs == 1, "it reads something else")
    slots = layer.value.shape[1] - 1
    demand(slots in (1, size), "slots are one, or one for each input")
    code = _code(layer, source, slots)
    looked = _attention_weights(layer, code, slots)
    taken = _take_slots(layer, slots, code, looked, source)
    return _bound_error(source, form, layer.causal, looked, taken)


def _code(layer: Layer, source: StatedKernel, slots: int) -> FloatArray:
    """``(T, c)``: what f̂ hands on of positions, if it hands inputs on as they are.

    Raises:
        Refused: If it does not.
    """
    code, code_width = layer.code, layer.code.shape[1] - (slots if slots > 1 else 0)
    demand(code_width > 0, "positions have no code")
    demand(layer.features[0][1].size >= 1 + code_width, "f̂ is another network")
    right = [np.eye(1 + code_width)]
    if slots > 1:
        most = source.largest_input * (1 + 2 * layer.form.unit)
        shut, code = code[:, :slots], code[:, slots:]
        own = np.eye(slots, dtype=bool)
        demand((shut[own] == 0) & (shut[~own].max() <= -most), "a slot is left open")
        demand(code >= 0, "a code is negative")
        ones, none = np.ones((1, slots)), np.zeros((slots, code_width))
        inner = (
            [np.eye(slots), np.eye(slots), none],
            [none.T, none.T, np.eye(code_width)],
        )
        outer = (
            [np.eye(slots), none],
            [-np.eye(slots), none],
            [none.T, np.eye(code_width)],
        )
        right = [
            np.block([[ones, -ones, np.zeros((1, code_width))], *inner]),
            np.block([*outer]),
        ]
    demand(len(layer.features) == len(right), "f̂ is another network")
    for (weight, bias), matrix in zip(layer.features, right, strict=True):
        demand(np.array_equal(weight, matrix), "f̂ is another network")
        demand(not bias.any(), "f̂ is shifted")
    value = np.zeros((slots + code_width, slots + 1))
    value[:slots, :slots], value[-1, -1] = np.eye(slots), 1.0
    demand(np.array_equal(layer.value, value), "it aggregates something else")
    for matrix in (layer.query, layer.key):
        demand(not matrix[:slots].any(), "it looks at inputs")
    return code


def _attention_weights(layer: Layer, code: FloatArray, slots: int) -> Weights:
    """Of each position at each time, by Theorem 12a."""
    asked, keys = (
        product(code, matrix[slots:], layer.form, "a query or key")
        for matrix in (layer.query, layer.key)
    )
    logits = product(asked, keys.each(np.transpose), layer.form, "a logit")
    return weights(logits, mark_visible(layer.causal, len(code)), layer.form)


def _take_slots(
    layer: Layer, slots: int, code: FloatArray, looked: Weights, source: StatedKernel
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
    pairs = np.tile([[1.0], [-1.0]], (size, 1))
    demand(np.array_equal(last, pairs), "outputs are weighed, or several")
    ups, downs = second[:, ::2], second[:, 1::2]
    taken = ups[:slots].T
    alike = np.array_equal(ups[slots : 2 * slots].T, -taken)
    alike &= np.array_equal(ups[: 2 * slots], -downs[: 2 * slots])
    press = -ups[2 * slots :]
    alike &= np.array_equal(press, -downs[2 * slots :])
    demand(alike and (press >= 0).all(), "units of F̂ are no pairs")
    reach = _reach(taken, slots, looked.whole, source)
    _check_presses(form, between, press, reach, looked.whole @ code[:, -1], code)
    return taken


def _reach(
    taken: FloatArray, slots: int, looked: Interval, source: StatedKernel
) -> Interval:
    """``(T, T)``: how large the sum of the pair of one time can be at another."""
    more = 1 + 2.0**-8  # what is rounded on the way
    shares = looked.size if slots > 1 else np.ones((looked.shape[0], 1))
    return shares @ Interval.of(np.abs(taken).T) * source.largest_input * more**3


def _check_presses(
    form: Format,
    between: FloatArray,
    press: FloatArray,
    reach: Interval,
    mean: Interval,
    code: FloatArray,
) -> None:
    """Nothing presses the pair of the time that it is, and all others are off.

    Raises:
        Refused: If that is not so at some time.
    """
    size = len(code)
    mean = mean.wider(lost(size, np.abs(code[:, -1]).max()))
    mean = mean.each(lambda x: x[:, None])
    sides = [between - mean, mean - between]
    low, high = (
        np.maximum(np.hstack([x.low for x in sides]), 0.0),
        np.hstack([x.high for x in sides]),
    )
    # A computed difference is above 0 only if the numbers are in that order.
    can = high > 0
    around = Interval.of(1.0).wider(4 * form.sum_unit)
    pressing = Interval(low, np.where(can, high, 0.0)) * around @ press
    own = np.eye(size, dtype=bool)
    touched = can.astype(np.float64) @ (press > 0)
    demand(touched[own] == 0, "a unit is pressed at its own time")
    reach = Interval.of(reach.size)
    firm = pressing - reach - PRESSED * (pressing + reach)
    least = firm.low - bound_underflow(press.shape[0] + size).size
    demand(least[~own] > 0, "a unit may be on at another time")
    fits(pressing + reach, form, "F̂", STEPS)


def _bound_error(
    source: StatedKernel, form: Format, causal: bool, looked: Weights, taken: FloatArray
) -> Established:
    """The error, from what is taken of each input at each time."""
    size, most = source.length, Interval.of(source.largest_input)
    fits(2 * most * size, form, "a sum of inputs", STEPS)
    rows = np.broadcast_to(taken, (size, size))
    apart = looked.share * rows - _matrix(source)
    gains = abs(looked.whole * rows).sum(axis=1)
    slots = np.minimum(taken.shape[1], mark_visible(causal, size).sum(axis=1))
    read = gamma(slots + 2, form.sum_unit)
    below = lost(size, most) * (2 + np.abs(rows).sum(axis=1))
    sums = abs(looked.share * rows * looked.rounded).sum(axis=1)
    named = {
        "weights": abs(apart).sum(axis=1) * most,
        "rounding": (sums + read * gains) * most * (1 + form.unit) + below,
        "inputs": gains * store_error(form, most),
    }
    total = sum(named.values(), Interval.of(0.0)).high
    at = int(total.argmax())
    parts = {name: float(part.high[at]) for name, part in named.items()}
    facts = {**REAL, "parts": parts}
    return Established(form, source.box, facts, float(total[at]))


def _matrix(source: StatedKernel) -> Interval:
    """``(T, T)``: what the output at t takes of the input at each position."""
    size = source.length
    values = deviations(exact_values(source), [0] * size)
    back = np.subtract.outer(np.arange(size), np.arange(size))
    causal = np.where(back >= 0, values[np.maximum(back, 0)], 0.0)
    matrix = np.empty_like(causal)
    matrix[:, list(source.order or range(size))] = causal
    return Interval.of(matrix) * Interval.of(1.0).wider(2.0**-52)
