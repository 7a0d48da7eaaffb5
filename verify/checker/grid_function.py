"""Functions of finitely many inputs: an attention layer says their values, on all inputs.

Theorem U of docs/attention-rates.md. Each point is followed through f̂ once, and each
choice of points through the softmax and F̂, with what rounding can do (A1-A8).
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.exact_numbers import reals
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import (
    INFLATION,
    OWN_UNIT,
    STEPS,
    UNDERFLOW,
    Format,
    fits,
)
from krohn.verify.checker.attention_layer import Affine, layer_of
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.real_networks import Established
from krohn.verify.checker.scores import scores_of

KIND = "grid-function"
MOST_INPUTS, MOST_LENGTH, CELLS = 2**17, 2**10, 2**24
STORED = {"float64": np.float64, "float32": np.float32}


class Source(NamedTuple):
    """A function as a header states it (`krohn.sources.attention_targets.grid_function`).

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
    demand(said["kind"] == KIND, "this is no function on a grid")
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


def established(model: Model) -> Established:
    """How far any output can be off, over all inputs.

    Raises:
        Refused: If the network is another one, or a number can overflow.
    """
    source, layer = source_of(model.header["source"]), layer_of(model)
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
        features.affine(weight, np.zeros(weight.shape[1]))
        for weight in (layer.query, layer.key, layer.value)
    )
    error = UNDERFLOW  # a claim is above 0
    for t in range(length):
        mean = _mean(asked, offered, values, source.chosen, t)
        found = through(layer.output, mean)
        off = np.abs(found.value[:, 0] - source.values[:, t]) + found.total[:, 0]
        own = 2 * OWN_UNIT * (np.abs(found.value).max() + np.abs(source.values).max())
        own *= not np.array_equal(found.value[:, 0], source.values[:, t])
        error = float(np.maximum(error, (off.max() + own) * INFLATION))
    many = f"all {len(source.values):,} inputs of {length} points of the grid"
    return Established(form, length, error, {}, many)


def through(layers: list[Affine], x: Noisy) -> Noisy:
    """Affine layers with a ReLU between any two of them."""
    for j, (weight, bias) in enumerate(layers):
        x = (x.relu() if j else x).affine(weight, bias)
    return x


def _mean(q: Noisy, k: Noisy, v: Noisy, chosen: IntArray, t: int) -> Noisy:
    """What is aggregated at t, for each input (Lemma U1).

    Raises:
        Refused: If weights can be far off.
    """
    form, length = v.form, chosen.shape[1]
    scores = scores_of(q, k)
    true = scores.true[chosen[:, t][:, None], chosen]
    weights = np.exp(true - true.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    ratio = _ratio(form, length, float(scores.error.max()), scores.size)
    values, total = v.value[chosen], v.total[chosen]
    size = np.abs(values) * ratio + total * (1 + ratio)
    rest = (weights[:, :, None] * size).sum(axis=1)
    rest += length * UNDERFLOW * (1 + np.abs(values) + total).max()
    mean = (weights[:, :, None] * values).sum(axis=1)
    fits(length * (np.abs(values) + total), form, "a mean", STEPS)
    return Noisy(mean, np.zeros((0, *mean.shape)), rest * INFLATION, form)


def _ratio(form: Format, length: int, error: float, peak: float) -> float:
    """How far a term of the mean can be off, relative to itself."""
    rescaled = (length + 2) * (form.exponential + form.sum_unit)
    summed = (4 * length + 16) * form.sum_unit
    own = (4 * peak + 4 * length + 32) * OWN_UNIT
    exponent = 2 * error + 3 * rescaled + summed + own
    demand(exponent <= 0.125, "weights can be far off")
    return float(np.expm1(exponent) * INFLATION)
