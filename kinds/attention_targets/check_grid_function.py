"""Functions of finitely many inputs: an attention layer says their values, on all inputs.

Theorem U of docs/proofs/attention_targets.md. Each point is followed through f̂ once, and
each choice of points through the softmax and F̂, with what rounding can do (A1-A8).
"""

from typing import Any

import numpy as np

from krohn.architectures.attention_layer.check import (
    Affine,
    layer_of,
)
from krohn.kinds.attention_targets.statement_grid_function import StatedGridFunction
from krohn.kinds.attention_targets.statement_inputs import Points
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    bound_underflow,
    fits,
    lost,
)
from krohn.verify.checker.established import REAL, Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import product, weights

CELLS = 2**24
STORED = {"float64": np.float64, "float32": np.float32}


def inputs_of(source: StatedGridFunction) -> tuple[FloatArray, IntArray]:
    """All points ``(points, d)``, and which of them each input has: ``(inputs, τ)``."""
    sizes = source.sizes
    first = np.cumsum([0, *sizes[:-1]])
    chosen = np.indices(sizes).reshape(len(sizes), -1).T + first
    return np.concatenate(source.pieces), chosen


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """How far any output can be off, over all inputs.

    Raises:
        Refused: If the network is another one, or a number can overflow.
    """
    source, layer = StatedGridFunction.from_wire(model.source), layer_of(model)
    grid, chosen = inputs_of(source)
    form, length = layer.form, source.values.shape[1]
    demand(layer.bias is None, "the layer has a memory")
    demand(not layer.code.size, "the layer sees positions")
    demand(not layer.causal, "the layer does not see later positions")
    demand(layer.length == length, "another length")
    demand(layer.inputs == grid.shape[1], "points of another dimension")
    demand(layer.output[-1][1].size == 1, "it says several numbers")
    stored_grid = grid.astype(STORED[form.name]).astype(np.float64)
    demand(np.array_equal(stored_grid, grid), f"{form.name} does not hold a point")
    widest = max(bias.size for _, bias in [*layer.features, *layer.output])
    points, keys = len(grid), layer.query.shape[1]
    wide = max(widest, length * layer.value.shape[1])
    demand(max(len(source.values), points) * wide <= CELLS, "too many inputs")
    demand(points * max(points, keys) <= CELLS, "too many points")
    features = through(layer.features, exact(grid, form))
    asked, offered, values = (
        _bound_entries(features.affine(weight, np.zeros(weight.shape[1])))
        for weight in (layer.query, layer.key, layer.value)
    )
    scores = product(asked, offered.each(np.transpose), form, "a score")
    error = bound_underflow(1).most  # a claim is above 0
    for t in range(length):
        mean = _mean(scores, values, chosen, t, form)
        outputs = _bound_entries(through(layer.output, mean))[:, 0]
        off = abs(outputs - source.values[:, t]).most
        error = float(np.maximum(error, off))
    inputs = Points(len(source.values), length)
    return Established(form, inputs, {**REAL, "parts": {}}, error)


def _bound_entries(numbers: Noisy) -> Interval:
    """Each number, apart from the others; exact ones stay so."""
    value, total = numbers.value, numbers.total
    bounds = Interval.of(value).wider(total)
    low, high = (np.where(total == 0, value, x) for x in (bounds.low, bounds.high))
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
    length, chosen_values = chosen.shape[1], values[chosen]
    fits(length * Interval.of(chosen_values.size), form, "a mean", STEPS)
    seen = np.ones(chosen.shape, bool)
    mean = weights(scores[chosen[:, t][:, None], chosen], seen, form).mean(
        chosen_values
    )
    value, rest = mean.wider(lost(length, chosen_values.size.max())).middle()
    return Noisy(value, np.zeros((0, *value.shape)), rest, form)
