"""Functions of finitely many inputs: an attention layer says their values, on all inputs.

Theorem U of docs/proofs/attention_targets.md. Each point is followed through f̂ once, and
each choice of points through the softmax and F̂, with what rounding can do (A1-A8).
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.attention_layer.check import (
    Affine,
    layer_of,
)
from krohn.kinds.attention_targets.statement_inputs import Points
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.strict_json import reals
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import STEPS, Format, Interval, fits, flushed, lost
from krohn.verify.checker.established import REAL, Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import product, weights

MOST_INPUTS, MOST_LENGTH, CELLS = 2**17, 2**10, 2**24
STORED = {"float64": np.float64, "float32": np.float32}


class Source(NamedTuple):
    """A function as a header states it (`source_grid_function`).

    Attributes:
        points: ``(points, d)``: those of position 1, of position 2, ….
        chosen: ``(inputs, τ)``: which point each position of an input has.
        values: ``(inputs, τ)``: what is right.
    """

    points: FloatArray
    chosen: IntArray
    values: FloatArray


def source_of(said: Mapping[str, Any]) -> Source:
    """The function of a header.

    Raises:
        Refused: If it states none.
    """
    demand(type(said["pieces"]) is list, "it has no points")
    demand(1 <= len(said["pieces"]) <= MOST_LENGTH, "too many positions, or none")
    pieces = [reals(piece, 2) for piece in said["pieces"]]
    for piece in pieces:
        demand(piece.size > 0, "points are no real vectors")
        demand(piece.shape[1] == pieces[0].shape[1], "points of several dimensions")
    sizes = [len(piece) for piece in pieces]
    demand(prod(sizes) <= MOST_INPUTS, "too many inputs to be looked at")
    values = reals(said["values"], 2)
    demand(values.shape == (prod(sizes), len(sizes)), "a value is missing")
    first = np.cumsum([0, *sizes[:-1]])
    chosen = np.indices(sizes).reshape(len(sizes), -1).T + first
    return Source(np.concatenate(pieces), chosen, values)


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """How far any output can be off, over all inputs.

    Raises:
        Refused: If the network is another one, or a number can overflow.
    """
    source, layer = source_of(model.source), layer_of(model)
    form, length = layer.form, source.values.shape[1]
    demand(layer.bias is None, "the layer has a memory")
    demand(not layer.code.size, "the layer sees positions")
    demand(not layer.causal, "the layer does not see later positions")
    demand(layer.length == length, "another length")
    demand(layer.inputs == source.points.shape[1], "points of another dimension")
    demand(layer.output[-1][1].size == 1, "it says several numbers")
    held = source.points.astype(STORED[form.name]).astype(np.float64)
    demand(np.array_equal(held, source.points), f"{form.name} does not hold a point")
    widest = max(bias.size for _, bias in [*layer.features, *layer.output])
    points, keys = len(source.points), layer.query.shape[1]
    wide = max(widest, length * layer.value.shape[1])
    demand(max(len(source.values), points) * wide <= CELLS, "too many inputs")
    demand(points * max(points, keys) <= CELLS, "too many points")
    features = through(layer.features, exact(source.points, form))
    asked, offered, values = (
        _held(features.affine(weight, np.zeros(weight.shape[1])))
        for weight in (layer.query, layer.key, layer.value)
    )
    scores = product(asked, offered.each(np.transpose), form, "a score")
    error = flushed(1).most  # a claim is above 0
    for t in range(length):
        mean = _mean(scores, values, source.chosen, t, form)
        found = _held(through(layer.output, mean))[:, 0]
        off = abs(found - source.values[:, t]).most
        error = float(np.maximum(error, off))
    inputs = Points(len(source.values), length)
    return Established(form, inputs, {**REAL, "parts": {}}, error)


def _held(numbers: Noisy) -> Interval:
    """Each number, apart from the others; exact ones stay so."""
    value, total = numbers.value, numbers.total
    found = Interval.of(value).wider(total)
    low, high = (np.where(total == 0, value, x) for x in (found.low, found.high))
    return Interval(low, high)


def through(layers: list[Affine], x: Noisy) -> Noisy:
    """Affine layers with a ReLU between any two of them."""
    for j, (weight, bias) in enumerate(layers):
        x = (x.relu() if j else x).affine(weight, bias)
    return x


def _mean(
    scores: Interval, values: Interval, chosen: IntArray, t: int, form: Format
) -> Noisy:
    """The aggregated vector at t, for each input (Theorem 12a).

    Raises:
        Refused: If weights can be far off.
    """
    length, held = chosen.shape[1], values[chosen]
    fits(length * Interval.of(held.size), form, "a mean", STEPS)
    seen = np.ones(chosen.shape, bool)
    mean = weights(scores[chosen[:, t][:, None], chosen], seen, form).mean(held)
    value, rest = mean.wider(lost(length, held.size.max())).middle()
    return Noisy(value, np.zeros((0, *value.shape)), rest, form)
