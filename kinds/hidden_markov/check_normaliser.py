"""An MLP that gives matrices the mass 1 by ReLU and GeLU units (docs/proofs/beliefs.md)."""

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krohn.kinds.linear_systems.check_matrix_errors import MatrixErrors
from krohn.kinds.linear_systems.check_product_gates import (
    Gates,
    single,
)
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.program.operations.normalised import Normalised
from krohn.program.statement import Channel
from krohn.verify.checker.arithmetic import Format, Interval, bound_underflow, sum_error
from krohn.verify.checker.model_file import StrArray

if TYPE_CHECKING:
    from krohn.verify.checker.mlp import Mlp


class Normaliser(NamedTuple):
    """The shape of all units that multiply the entries of a matrix by c(v).

    c(v) = (base + Σ_k steps_k·max(points_k − v, 0))/w of the mass v.

    Attributes:
        gates: w, and what units are multiplied by.
        base: w·c beyond all points; not negative.
        points: ``(pieces,)``.
        steps: ``(pieces,)``; not negative.
        vector: What is summed is the matrix, applied to it.
    """

    gates: Gates
    base: float
    points: FloatArray
    steps: FloatArray
    vector: FloatArray

    @property
    def terms(self) -> int:
        """How many numbers are added inside a unit, and two roundings of products."""
        return len(self.points) + 4

    def masses(self, mass: Interval) -> Interval:
        """Between which numbers v·c(v) is, for each of some masses v ``(T + 1,)``.

        Each piece is a concave parabola v·(α − βv): it is least at an end of a piece, and
        largest there or at α/(2β), where it is α²/(4β).
        """
        low, high, order = mass.low[:, None], mass.high[:, None], np.sort(self.points)
        ends = np.hstack([low, np.clip(order, low, high), high])
        before = self.points[None, :] >= np.append(order, np.inf)[:, None]
        falls = np.asarray((before * self.steps).any(axis=1))
        one = Interval.of(before.astype(float))
        flat = self.base + one @ (Interval.of(self.steps) * self.points)
        fall = (one @ self.steps).where(falls, 1.0)
        top, peak = flat / (2 * fall), flat * flat / (4 * fall) / self.gates.inside
        reached = falls & (top.high >= ends[:, :-1]) & (top.low <= ends[:, 1:])
        products = Interval.of(ends) * self.factor(Interval.of(ends))
        most = np.where(reached, peak.high, -np.inf).max(axis=1)
        return Interval(
            products.low.min(axis=1), np.maximum(products.high.max(axis=1), most)
        )

    def factor(self, mass: Interval) -> Interval:
        """The factor c of exact masses."""
        above = (self.points - mass[..., None]).maximum(0.0)
        return (self.base + above @ self.steps) / self.gates.inside

    def astray(self, high: Interval, form: Format) -> Interval:
        """How far c can be off: by the rounding of masses of terms up to ``high``."""
        count = len(self.vector) ** 2 + 2
        off = sum_error(form, count, high[:, None] + np.abs(self.points))
        return (off + bound_underflow(1)) @ self.steps / self.gates.inside


class MassErrors(MatrixErrors):
    """Errors of positive matrices, which a mass says how to normalise."""

    @abstractmethod
    def bound_normalisation(
        self, name: str, noise: FloatArray, units: Normaliser, form: Format
    ) -> FloatArray:
        """The noise of matrices that are made to have mass 1.

        Raises:
            Refused: If nothing is left of them, or something can overflow.
        """


def bound_noise(mlp: "Mlp", channel: Channel) -> FloatArray:
    """The noise of matrices that are made to have mass 1."""
    mlp.check_fresh(channel)
    stream, operation = mlp.stream, channel.operation
    assert isinstance(operation, Normalised)
    errors = stream.of_matrices
    if not isinstance(errors, MassErrors):
        said = "is normalised, and a norm does not say by what"
        raise Refused(f"{channel.name!r} {said}")
    source, vector = stream.channel(operation.source), np.array(operation.vector)
    spans = source.span, channel.span
    units = normaliser(mlp.layers, mlp.activations, *spans, vector)
    noise = stream.noise[source.name]
    return errors.bound_normalisation(channel.name, noise, units, stream.form)


def normaliser(
    layers: list[tuple[FloatArray, FloatArray]],
    activations: list[StrArray],
    source: range,
    result: range,
    vector: FloatArray,
) -> Normaliser:
    """The units that multiply the entries of a matrix, each of which is the right one.

    Each entry is passed on by a ReLU, the mass is read by others with weights −b_j and a
    bias; an entry times c(v) is put together by four GeLUs, as in a product.

    Raises:
        Refused: If a unit reads or writes anything else.
    """
    demand(len(layers) == 3, "a normalised matrix needs two hidden layers")
    (below, before), (middle, shift), (above, after) = layers
    units = np.flatnonzero(above[:, result].any(axis=1))
    demand(len(units) == 4 * len(source), "a matrix is normalised by wrong units")
    demand(activations[1][units] == "gelu", "a unit that multiplies is no GeLU")
    demand(after[result] == 0, "a normalised matrix has a bias")
    used = np.flatnonzero(middle[:, units].any(axis=1))
    demand(activations[0][used] == "relu", "a unit that reads a mass is no ReLU")
    passes, entry = _passing(below[:, used].T, before[used], source, vector)
    weights, bias = middle[np.ix_(used, units)].T, shift[units]
    read, sign_read, inside = single(weights[:, passes])
    base, steps, sign = _alike(bias, weights[:, ~passes])
    written, sign_written, outside = single(above[units][:, result])
    demand(entry[read] == written, "an entry is written to another place")
    demand(sign_written == sign_read * sign, "a unit that multiplies has a wrong sign")
    ways = np.stack([written, sign_read, sign], axis=1)
    demand(len(np.unique(ways, axis=0)) == len(units), "a unit is missing")
    w, c = float(inside[0]), float(outside[0])
    demand((inside == w) & (outside == c), "units that multiply have unlike weights")
    return Normaliser(Gates(w, c), base, before[used][~passes], steps, vector)


def _passing(
    weights: FloatArray, bias: FloatArray, source: range, vector: FloatArray
) -> tuple[BoolArray, IntArray]:
    """Which units pass an entry on, where others read the mass; and which entry."""
    demand(np.delete(weights, source, axis=1) == 0, "a mass has parts elsewhere")
    own = weights[:, source]
    masses = (own == -np.tile(vector, len(vector))).all(axis=1)
    alone = ((own != 0).sum(axis=1) == 1) & (own.max(axis=1) == 1) & (bias == 0)
    demand(masses != alone, "a unit reads neither an entry nor the mass")
    return alone, own[alone].argmax(axis=1)


def _alike(bias: FloatArray, weights: FloatArray) -> tuple[float, FloatArray, IntArray]:
    """The bias and weights that all units have up to the sign; and their signs."""
    both = np.hstack([bias[:, None], weights])
    first = np.abs(both[0])
    demand(np.isfinite(first) & (first.sum() > 0), "a factor is no number, or always 0")
    plus, minus = (both == first).all(axis=1), (both == -first).all(axis=1)
    demand(plus | minus, "units multiply by unlike factors")
    return float(first[0]), first[1:], np.where(plus, 1, -1)
