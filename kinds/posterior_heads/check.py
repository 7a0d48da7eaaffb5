"""Posterior heads: one softmax head says the best guesses of a hidden Markov model.

The theorems are P1-P3 of docs/proofs/posterior_heads.md. Everything is derived from the
numbers of the model in the header, and from the tensors; the code that made them has no
part in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.architectures.attention_layer.check import (
    Layer,
    layer_of,
)
from krohn.kinds.posterior_heads.statement_inputs import UnitVectors
from krohn.program.errors import demand
from krohn.program.inputs import Box
from krohn.program.strict_json import real, reals
from krohn.verify.checker.arithmetic import (
    STEPS,
    Interval,
    Operand,
    fits,
    flushed,
    gamma,
    lost,
    store_error,
)
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import FloatArray, Machine, Model, names
from krohn.verify.checker.softmax import mean_error, product, swayed, weights

LARGEST, LATEST, FARTHEST = 64, 9, 2.0**20
ROUNDED = 1e-9
"""Laws that are farther from adding up to 1, or from staying as they are, are no rounded
ones. How far they are is in the error (P1b)."""
RARE, RAREST = 2.0**-50, 2.0**-800
"""Less than the probability of a state, and of a letter in one state.

So no product that counts is below the normal range: what is lost there is 2^-1074 each,
and is divided by at most eight priors, or by the probability of a letter.
"""


@dataclass(frozen=True, eq=False)
class Stated:
    """The model as the header states it.

    Attributes:
        emissions: ``(d, k)``: laws of letters, or means of points.
        transitions: ``(k, k)``.
        prior: ``(k,)``.
        predicted: One time or two.
        given: Another one.
        radius: The largest coordinate of a point; None for letters.
    """

    emissions: FloatArray
    transitions: FloatArray
    prior: FloatArray
    predicted: tuple[int, ...]
    given: int
    radius: float | None

    @classmethod
    def of(cls, said: Any) -> "Stated":
        """From the header.

        Raises:
            Refused: If it states no such model.
        """
        letters = names(said, "letters")
        d, k = len(letters), len(said["prior"])
        demand(
            0 < d <= LARGEST and 0 < k <= LARGEST, "it has too many states or letters"
        )
        demand(type(said["task"]) is str, "the task of the head is not known")
        predicted, _, given = said["task"].partition("given")
        found = cls(
            _numbers(said["emissions"], (d, k)),
            _numbers(said["transitions"], (k, k)),
            _numbers(said["prior"], (k,)),
            tuple(map(int, predicted)),
            int(given),
            real(said["radius"]) if "radius" in said else None,
        )
        found._check_times()
        pairs = [f"{a},{b}" for a in letters for b in letters]
        right = letters if len(found.predicted) == 1 else pairs
        demand(said["classes"] == right, "its outputs have other names")
        found._check_laws()
        return found

    def _check_times(self) -> None:
        known = all(1 <= t <= LATEST for t in (*self.predicted, self.given))
        known &= len(self.predicted) in (1, 2) and self.given not in self.predicted
        ascends = list(self.predicted) == sorted(set(self.predicted))
        demand(known and ascends, "the task of the head is not known")

    def _check_laws(self) -> None:
        columns = [self.transitions, self.prior[:, None]]
        if self.radius is None:
            columns.append(self.emissions)
            said = (self.emissions > 0).any(axis=1)
            demand(said, "no state says one of the letters")
            often = self.emissions.max(axis=1) >= RAREST
            demand(often, "one of the letters is too rare")
        else:
            demand(0 < self.radius <= FARTHEST, "no radius is said")
            demand(np.abs(self.emissions) <= FARTHEST, "a mean is too far away")
        for laws in columns:
            demand(laws >= 0, "a probability is negative")
            near = np.abs(laws.sum(axis=0) - 1) <= ROUNDED
            demand(near, "a law does not add up to 1")
        demand(self.prior >= RARE, "a state never occurs, or too rarely")
        kept = np.abs(self.transitions @ self.prior - self.prior)
        demand(kept <= ROUNDED * self.prior, "the prior of a state is not stationary")

    @property
    def token_law(self) -> Interval:
        """``(d, k)``: the law of a letter, however it is rounded; or the means."""
        return (
            _law(self.emissions) if self.radius is None else Interval.of(self.emissions)
        )

    @property
    def priors(self) -> Interval:
        """``(k,)``: the law of the state at each of the times of the task (P1b)."""
        step = _law(self.transitions) @ self.prior / self.prior
        drift = Interval(step.low.min(), step.high.max()).joined(1.0)
        found = _law(self.prior[:, None])[:, 0]
        for _ in range(max(*self.predicted, self.given) - 1):
            found = found * drift
        return found

    def guesses(self) -> Interval:
        """``(k, outputs)``: E[x_b | h_c = j], or E[x_a ⊗ x_b | h_c = j] row by row."""
        emissions, prior = self.token_law, self.priors

        def law(start: int, end: int) -> Interval:
            found = Interval.of(np.eye(len(self.prior)))
            for _ in range(abs(end - start)):
                found = _law(self.transitions) @ found
            if end >= start:
                return found
            return prior[:, None] * found.each(np.transpose) / prior

        def both(one: Operand, other: Operand) -> Interval:
            pairs = Interval.of(one)[:, None] * Interval.of(other)[None]
            return pairs.each(lambda x: x.reshape(-1, x.shape[-1]))

        c, a, b = self.given, self.predicted[0], self.predicted[-1]
        if a == b:
            found = emissions @ law(c, a)
        elif a < c < b:
            found = both(emissions @ law(c, a), emissions @ law(c, b))
        elif c < a:
            found = both(emissions, emissions @ law(a, b)) @ law(c, a)
        else:
            found = both(emissions @ law(b, a), emissions) @ law(c, b)
        return found.each(np.transpose)


def _law(columns: FloatArray) -> Interval:
    """Columns as they stand, and made to add up to 1, and all between."""
    laws = Interval.of(columns)
    return laws.joined(laws / laws.sum(axis=0))


def _numbers(said: Any, shape: tuple[int, ...]) -> FloatArray:
    found = reals(said, len(shape))
    demand(found.shape == shape, "its numbers have another shape")
    return found


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of a posterior head, on all letters, or on all points of its box.

    Raises:
        Refused: If the network is no softmax over a memory, or nothing is shown.
    """
    layer, said = layer_of(model), Stated.of(model.source)
    demand(layer.inputs == len(said.emissions), "it reads other vectors")
    _check_plain(layer)
    values = said.guesses()
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
    layer: Layer, said: Stated, values: Interval, largest: Interval
) -> dict[str, Interval]:
    """Of points: slot i is state i, and scores differ by an affine function (P2)."""
    assert said.radius is not None
    assert layer.bias is not None
    means, radius, form = Interval.of(said.emissions), said.radius, layer.form
    entering = store_error(form, radius)
    slots, n = layer.key.shape
    demand(slots == len(said.prior), "it has not a slot for each state")
    right = said.priors.through(np.log) - (means * means).sum(axis=0) / 2
    key, bias = layer.key - means.each(np.transpose), layer.bias - right
    keys = Interval.of(layer.key)
    apart = _pairs(key).sum(axis=2) * radius + _pairs(keys).sum(axis=2) * entering
    apart = (apart + _pairs(bias)).max()
    reach = np.append((radius + entering).high.repeat(n), 1.0)[:, None]
    read = np.abs(np.hstack([layer.key, layer.bias[:, None]]))
    size = product(read, reach, form, "a score").max()
    sums = gamma(n + 1, form.sum_unit) * size + flushed(n + 1)
    spread = (Interval.of(layer.value.max(axis=0)) - layer.value.min(axis=0)).max()
    return {
        "scores": swayed(apart, spread),
        "rounding": swayed(2 * sums, spread)
        + mean_error(form, slots, size + sums, spread, largest),
        "values": abs(layer.value - values).max(),
    }


def _pairs(numbers: Interval) -> Interval:
    """How far each row is from each other one."""
    return abs(numbers[:, None] - numbers[None])


def _letters(
    layer: Layer, said: Stated, values: Interval, largest: Interval
) -> dict[str, Interval]:
    """Of letters: each is run, whatever the slots are (P3)."""
    assert layer.bias is not None
    joint = said.token_law * said.priors
    right = joint / joint.sum(axis=1)[:, None] @ values
    letters = np.hstack([np.eye(len(said.emissions)), np.ones((len(joint.low), 1))])
    read = np.vstack([layer.key.T, layer.bias])
    scores = product(letters, read, layer.form, "a score")
    looked = weights(scores, np.ones(scores.shape, bool), layer.form)
    said_of = looked.mean(Interval.of(layer.value[None]))
    below = lost(len(layer.key), largest)
    return {"letters": abs(said_of - right).max() + below}
