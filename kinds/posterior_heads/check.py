"""Posterior heads: one softmax head says the best guesses of a hidden Markov model.

The theorems are P1-P3 of docs/proofs/posterior_heads.md. Everything is derived from the
numbers of the model in the header, and from the tensors; the code that made them has no
part in it.
"""

from typing import Any

import numpy as np

from krohn.architectures.attention_layer.check import (
    Layer,
    layer_of,
)
from krohn.kinds.posterior_heads.statement import StatedPosteriorHead
from krohn.kinds.posterior_heads.statement_inputs import UnitVectors
from krohn.program.errors import demand
from krohn.program.inputs import Box
from krohn.verify.checker.arithmetic import (
    STEPS,
    Interval,
    Operand,
    bound_underflow,
    fits,
    gamma,
    lost,
    store_error,
)
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import FloatArray, Machine, Model
from krohn.verify.checker.softmax import bound_sway, mean_error, product, weights

RARE, RAREST = 2.0**-50, 2.0**-800
"""Less than the probability of a state, and of a letter in one state.

So no product that counts is below the normal range: what is lost there is 2^-1074 each,
and is divided by at most eight priors, or by the probability of a letter.
"""


def source_of(model: Model) -> StatedPosteriorHead:
    """The model of a file, if nothing in it is too rare for float64.

    Its laws add up to 1, and stay as they are, up to some roundings. How far they are off
    is in the error (P1b).

    Raises:
        Refused: If it states none, or a state or letter is too rare.
    """
    source = StatedPosteriorHead.from_wire(model.source)
    demand(source.prior >= RARE, "a state occurs too rarely")
    often = source.emissions.max(axis=1) >= RAREST
    demand(source.radius is not None or often.all(), "one of the letters is too rare")
    return source


def token_law(source: StatedPosteriorHead) -> Interval:
    """``(d, k)``: the law of a letter, however it is rounded; or the means."""
    return (
        _law(source.emissions)
        if source.radius is None
        else Interval.of(source.emissions)
    )


def priors_of(source: StatedPosteriorHead) -> Interval:
    """``(k,)``: the law of the state at each of the times of the task (P1b)."""
    step = _law(source.transitions) @ source.prior / source.prior
    drift = Interval(step.low.min(), step.high.max()).join_with(1.0)
    law = _law(source.prior[:, None])[:, 0]
    for _ in range(max(*source.task.predicted, source.task.given) - 1):
        law = law * drift
    return law


def guesses_of(source: StatedPosteriorHead) -> Interval:
    """``(k, outputs)``: E[x_b | h_c = j], or E[x_a ⊗ x_b | h_c = j] row by row."""
    emissions, prior = token_law(source), priors_of(source)

    def law(start: int, end: int) -> Interval:
        power = Interval.of(np.eye(len(source.prior)))
        for _ in range(abs(end - start)):
            power = _law(source.transitions) @ power
        if end >= start:
            return power
        return prior[:, None] * power.each(np.transpose) / prior

    def both(one: Operand, other: Operand) -> Interval:
        pairs = Interval.of(one)[:, None] * Interval.of(other)[None]
        return pairs.each(lambda x: x.reshape(-1, x.shape[-1]))

    c, a, b = source.task.given, source.task.predicted[0], source.task.predicted[-1]
    if a == b:
        guesses = emissions @ law(c, a)
    elif a < c < b:
        guesses = both(emissions @ law(c, a), emissions @ law(c, b))
    elif c < a:
        guesses = both(emissions, emissions @ law(a, b)) @ law(c, a)
    else:
        guesses = both(emissions @ law(b, a), emissions) @ law(c, b)
    return guesses.each(np.transpose)


def _law(columns: FloatArray) -> Interval:
    """Columns as they stand, and made to add up to 1, and all between."""
    laws = Interval.of(columns)
    return laws.join_with(laws / laws.sum(axis=0))


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of a posterior head, on all letters, or on all points of its box.

    Raises:
        Refused: If the network is no softmax over a memory, or nothing is shown.
    """
    layer, said = layer_of(model), source_of(model)
    demand(layer.inputs == len(said.emissions), "it reads other vectors")
    _check_plain(layer)
    values = guesses_of(said)
    demand(layer.value.shape[1] == values.shape[1], "wrong number of guesses")
    largest = Interval.of(np.abs(layer.value).max())
    fits(largest * len(layer.key), layer.form, "a sum of values", STEPS)
    shown = _letters if said.radius is None else _points
    parts = shown(layer, said, values, largest)
    d, radius = len(said.emissions), said.radius
    inputs: UnitVectors | Box = UnitVectors(d, layer.length)
    if radius is not None:
        inputs = Box(((-radius, radius),) * d, 1, layer.length)
    return added_up(model.format, inputs, parts)


def _check_plain(layer: Layer) -> None:
    """The head reads the inputs as they are, and what it reads is the output.

    A product with an identity matrix is exact: a number, and zeros.
    """
    demand(layer.bias is not None and not layer.causal, "it has no memory")
    demand(layer.code.size == 0, "positions have codes")
    for (weight, bias), *more in (layer.features, layer.output):
        plain = not more and _identity(weight) and not bias.any()
        demand(plain, "inputs or outputs are changed")
    demand(_identity(layer.query), "queries are not the inputs")


def _identity(matrix: FloatArray) -> bool:
    return matrix.shape[0] == matrix.shape[1] and bool(
        (matrix == np.eye(len(matrix))).all()
    )


def _points(
    layer: Layer, said: StatedPosteriorHead, values: Interval, largest: Interval
) -> dict[str, Interval]:
    """Of points: slot i is state i, and scores differ by an affine function (P2)."""
    assert said.radius is not None
    assert layer.bias is not None
    means, radius, form = Interval.of(said.emissions), said.radius, layer.form
    entering = store_error(form, radius)
    slots, n = layer.key.shape
    demand(slots == len(said.prior), "it has not a slot for each state")
    right = priors_of(said).through(np.log) - (means * means).sum(axis=0) / 2
    key, bias = layer.key - means.each(np.transpose), layer.bias - right
    keys = Interval.of(layer.key)
    apart = _pairs(key).sum(axis=2) * radius + _pairs(keys).sum(axis=2) * entering
    apart = (apart + _pairs(bias)).max()
    reach = np.append((radius + entering).high.repeat(n), 1.0)[:, None]
    read = np.abs(np.hstack([layer.key, layer.bias[:, None]]))
    size = product(read, reach, form, "a score").max()
    sums = gamma(n + 1, form.sum_unit) * size + bound_underflow(n + 1)
    spread = (Interval.of(layer.value.max(axis=0)) - layer.value.min(axis=0)).max()
    return {
        "scores": bound_sway(apart, spread),
        "rounding": bound_sway(2 * sums, spread)
        + mean_error(form, slots, size + sums, spread, largest),
        "values": abs(layer.value - values).max(),
    }


def _pairs(numbers: Interval) -> Interval:
    """How far each row is from each other one."""
    return abs(numbers[:, None] - numbers[None])


def _letters(
    layer: Layer, said: StatedPosteriorHead, values: Interval, largest: Interval
) -> dict[str, Interval]:
    """Of letters: each is run, whatever the slots are (P3)."""
    assert layer.bias is not None
    joint = token_law(said) * priors_of(said)
    right = joint / joint.sum(axis=1)[:, None] @ values
    letters = np.hstack([np.eye(len(said.emissions)), np.ones((len(joint.low), 1))])
    read = np.vstack([layer.key.T, layer.bias])
    scores = product(letters, read, layer.form, "a score")
    looked = weights(scores, np.ones(scores.shape, bool), layer.form)
    said_of = looked.mean(Interval.of(layer.value[None]))
    below = lost(len(layer.key), largest)
    return {"letters": abs(said_of - right).max() + below}
