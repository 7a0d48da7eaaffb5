"""Posterior heads: one softmax head says the best guesses of a hidden Markov model.

The theorems are P1-P3 of docs/posterior-heads.md. Everything is derived from the numbers of
the model in the header, and from the tensors; the code that made them has no part in it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.errors import demand
from krohn.program.exact_numbers import real, reals
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
from krohn.verify.checker.model_file import FloatArray, Model, names
from krohn.verify.checker.real_networks import Established

KIND, LARGEST, LATEST, FARTHEST = "posterior-head", 64, 9, 2.0**20
INSIDE = 1e-9
RARE, RAREST = 2.0**-50, 2.0**-800
"""Less than the probability of a state, and of a letter in one state.

So no product that counts is below the normal range: what is lost there is 2^-1074 each,
and is divided by at most eight priors, or by the probability of a letter.
"""
# A logarithm and an exponential of the checker's own are off by so many units.
OWN = 4


@dataclass(frozen=True, eq=False)
class Stated:
    """What the header says of the model.

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
        demand(said["kind"] == KIND, "this is no posterior head")
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
            demand(np.abs(laws.sum(axis=0) - 1) <= INSIDE, "a law does not add up to 1")
        demand(self.prior >= RARE, "a state never occurs, or too rarely")
        kept = np.abs(self.transitions @ self.prior - self.prior).max()
        demand(kept <= INSIDE, "the prior is not stationary")

    def guesses(self, emissions: FloatArray) -> FloatArray:
        """``(k, outputs)``: E[x_b | h_c = j], or E[x_a ⊗ x_b | h_c = j] row by row."""
        back = self.prior[:, None] * self.transitions.T / self.prior

        def law(start: int, end: int) -> FloatArray:
            step = self.transitions if end > start else back
            return np.asarray(np.linalg.matrix_power(step, abs(end - start)))

        c, a, b = self.given, self.predicted[0], self.predicted[-1]
        if a == b:
            return np.asarray((emissions @ law(c, a)).T)
        if a < c < b:
            one, two = (emissions @ law(c, t) for t in (a, b))
            found = np.einsum("aj,bj->jab", one, two)
        else:
            near, far = (a, b) if c < a else (b, a)
            order = "ij,ai,bi->jab" if near == a else "ij,bi,ai->jab"
            then = emissions @ law(near, far)
            found = np.einsum(order, law(c, near), emissions, then)
        return np.asarray(found.reshape(len(back), -1))

    def values(self) -> tuple[FloatArray, FloatArray]:
        """``(k, outputs)`` each: guesses, and how far they are off in float64.

        At most nine factors of sums of k products, each of at most three roundings.
        """
        roundings = 20 * (len(self.prior) + 4) * OWN_UNIT
        sizes = self.guesses(np.abs(self.emissions))
        off = roundings * INFLATION * sizes + UNDERFLOW
        return self.guesses(self.emissions), off


def _numbers(said: Any, shape: tuple[int, ...]) -> FloatArray:
    found = reals(said, len(shape))
    demand(found.shape == shape, "its numbers have another shape")
    return found


def established(model: Model) -> Established:
    """The error of a posterior head, on all letters, or on all points of its box.

    Raises:
        Refused: If the network is no softmax over a memory, or nothing is shown.
    """
    layer, said = layer_of(model), Stated.of(model.header["source"])
    demand(layer.inputs == len(said.emissions), "it reads other vectors")
    _check_plain(layer)
    values, off = said.values()
    demand(layer.value.shape[1] == values.shape[1], "wrong number of guesses")
    shown = _letters if said.radius is None else _points
    parts = shown(layer, said, values, off)
    error = float(sum(parts.values())) * INFLATION
    demand(np.isfinite(error), "no error is shown")
    covers = "every letter"
    if said.radius is not None:
        covers = f"every point with coordinates within {said.radius!r}"
    return Established(model.format, layer.length, error, parts, covers)


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
    layer: Layer, said: Stated, values: FloatArray, off: FloatArray
) -> dict[str, float]:
    """Of points: slot i is state i, and scores differ by an affine function (P2)."""
    assert said.radius is not None
    assert layer.bias is not None
    means, radius = said.emissions, said.radius
    entering = layer.form.unit * radius + layer.form.smallest
    reach = (radius + entering) * INFLATION
    demand(len(layer.key) == len(said.prior), "it has not a slot for each state")
    squares = (means**2).sum(axis=0) / 2
    right = np.log(said.prior) - squares
    own = OWN * (len(means) + 2) * OWN_UNIT * (squares + np.abs(np.log(said.prior)) + 1)
    key, bias = layer.key - means.T, layer.bias - right
    apart = np.abs(key[:, None] - key[None]).sum(axis=2) * radius
    apart += np.abs(layer.key[:, None] - layer.key[None]).sum(axis=2) * entering
    apart += np.abs(bias[:, None] - bias[None]) + own[:, None] + own[None]
    means_size = float(np.abs(means).sum(axis=0).max()) * radius
    apart += 2 * OWN * OWN_UNIT * (apart + _size(layer, reach) + means_size)
    rounding = _rounding(layer, reach, len(means) + 1)
    spread = np.ptp(layer.value, axis=0)
    return {
        "scores": _moved(float(apart.max()), spread),
        "rounding": _moved(2 * rounding, spread) + _sums(layer),
        "values": float((np.abs(layer.value - values) * (1 + OWN_UNIT) + off).max()),
    }


def _letters(
    layer: Layer, said: Stated, values: FloatArray, off: FloatArray
) -> dict[str, float]:
    """Of letters: each is run, whatever the slots are (P3)."""
    assert layer.bias is not None
    joint = said.emissions * said.prior
    right = joint / joint.sum(axis=1, keepdims=True) @ values
    scores = layer.key.T + layer.bias
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    found = weights / weights.sum(axis=1, keepdims=True) @ layer.value
    spread, size = np.ptp(layer.value, axis=0), _size(layer, 1.0)
    largest = float(np.maximum(np.abs(values).max(), np.abs(layer.value).max()))
    own = _moved(2 * OWN * OWN_UNIT * (2 * size + 2), spread)
    own += 4 * (len(layer.key) + len(said.prior) + OWN) * OWN_UNIT * largest
    rounding = _rounding(layer, 1.0, 1)
    return {
        "letters": float(np.abs(found - right).max()) + own + float(off.max()),
        "rounding": _moved(2 * rounding, spread) + _sums(layer),
    }


def _size(layer: Layer, radius: float) -> float:
    """The largest score, in absolute value, and all partial sums."""
    assert layer.bias is not None
    found = np.abs(layer.key).sum(axis=1) * radius + np.abs(layer.bias)
    return float(found.max()) * INFLATION


def _rounding(layer: Layer, radius: float, terms: int) -> float:
    """How far the logarithm of a weight is off, but for what all weights share.

    A score of so many products that are not 0, and the bias, is off by γ of its size; the
    exponent by 8 units of it (A7); exponentials by ξ, and by ξ and a unit more for each
    time that a running maximum rises (A6, A8).
    """
    form, size = layer.form, _size(layer, radius)
    fits(size, form, "a score", SUM)
    unit, slots = form.sum_unit, len(layer.key)
    demand((terms + slots) * unit <= 2.0**-10, "too many terms for the format")
    sums = _gamma(terms + 1, form) * size + (terms + 1) * form.smallest
    return sums + 8 * unit * size + (slots + 1) * (form.exponential + unit) * 2


def _moved(apart: float, spread: FloatArray) -> float:
    """How far a mean of values moves if logarithms of weights move apart so far (P1)."""
    return float(np.tanh(np.minimum(apart, 1e3) / 4) * spread.max())


def _sums(layer: Layer) -> float:
    """The weighted sum, the sum of weights, the quotient, and what is below the range."""
    form, slots = layer.form, len(layer.key)
    largest = float(np.abs(layer.value).max())
    fits(largest * slots, form, "a sum of values", STEPS)
    relative = 3 * _gamma(slots + 2, form)
    return relative * largest + 4 * slots * form.smallest * max(largest, 1.0)


def _gamma(count: int, form: Format) -> float:
    return count * form.sum_unit / (1 - count * form.sum_unit)
