"""One attention layer over real inputs: targets, selected means, functions on grids."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, log, log2, prod
from typing import NamedTuple

import numpy as np

from krohn.architectures.attention_layer.build import attention_layer_network
from krohn.compiler import CompileError
from krohn.compiler.transformer import Network
from krohn.kinds.attention_targets.source_grid_function import (
    GridFunction,
    Vector,
    aggregate,
    simple,
)
from krohn.kinds.attention_targets.source_selected_means import SelectedMean
from krohn.kinds.attention_targets.source_target import (
    AttentionTarget,
    interpolate,
    interpolate_rows,
)
from krohn.kinds.attention_targets.statement_selected_mean import GRAVITY, NEAREST
from krohn.kinds.attention_targets.statement_target import OuterFunction
from krohn.network.precision import FloatArray, Precision

# A target of attention as one attention layer (Jiang and Li, Theorem 4.1).
#
# f̂ holds √σ_k φ_k, √σ_k ψ_k and f: functions of one number, by tents. A tent is the
# function
# that is 1 at one knot, 0 at all others and linear between them; knots are at k/s, s a
# power
# of two. Two layers of ReLUs make it without rounding, in any format: p_k = max(s·x − k,
# 0),
# then max(p_{k−1} − 2·p_k, 0). A sum of tents has two terms that are not 0, so it is as
# exact as a number can be; the one hidden layer of the paper has as many terms as knots,
# and their sizes add up to the total curvature.


POD = "pod"
Tensors = dict[str, FloatArray]


class Axis(NamedTuple):
    """A function of one number, linear between knots.

    Attributes:
        scale: s: the knots are at k/s.
        values: ``(K + 1, outputs)``: at k/s, k = 0, …, K.
    """

    scale: float
    values: FloatArray


def tents(axes: Sequence[Axis], at: str) -> Tensors:
    """The ReLU network that adds up a function of each of its inputs."""
    pieces = [len(axis.values) - 1 for axis in axes]
    low, high = sum(pieces), sum(pieces) + len(axes)
    first, second = np.zeros((len(axes), low)), np.zeros((low, high))
    shift, ones = np.zeros(low), np.zeros(high)
    p = t = 0
    for i, (axis, count) in enumerate(zip(axes, pieces, strict=True)):
        here = np.arange(count)
        first[i, p + here], shift[p + here] = axis.scale, -here
        second[p + here, t + 1 + here] = 1.0
        second[p + here[1:], t + here[1:]] = -2.0
        second[p, t], ones[t] = -1.0, 1.0
        p, t = p + count, t + count + 1
    values = np.concatenate([axis.values for axis in axes])
    weights, biases = (first, second, values), (shift, ones, np.zeros(values.shape[1]))
    tensors = {f"{at}.{j}.weight": w for j, w in enumerate(weights)}
    return tensors | {f"{at}.{j}.bias": b for j, b in enumerate(biases)}


def attention_layer(
    target: AttentionTarget, precision: Precision, rank: int, knots: int
) -> Network:
    """The network of a target.

    Args:
        target: What is computed.
        precision: The format.
        rank: m_h: so many terms of ρ are kept.
        knots: The pieces that [0, 1] has, a power of two; about as many has the range of F.
    """
    points = np.arange(2 * knots + 1) / (2 * knots)
    pod, values = target.pod, interpolate_rows(points * target.points, target.f)
    root, at = np.sqrt(pod.sigma[:rank]), points[:, None]
    output, shift = _outer(target, knots)
    bases = (pod.phi(at, rank) * root, pod.psi(at, rank) * root, values - shift)
    features = tents([Axis(float(knots), level_errors(np.hstack(bases)))], "features")
    tensors = {**features, **output, **_parts(rank, values.shape[1])}
    least = precision.smallest
    tensors = {n: np.where(np.abs(t) < least, 0.0, t) for n, t in tensors.items()}
    return attention_layer_network(tensors, target.length, precision, target.causal)


def _parts(scores: int, values: int) -> Tensors:
    """Features are queries, keys and values, one behind the other."""
    parts = np.split(np.eye(2 * scores + values), [scores, 2 * scores], axis=1)
    names = ("attention.query", "attention.key", "attention.value")
    return dict(zip(names, parts, strict=True))


def level_errors(values: FloatArray) -> FloatArray:
    """The knots ``(K + 1, columns)`` of a line near ``(2K + 1, columns)`` values.

    The line through every other value misses the values between by Mh²/8, all to one side
    where a function is curved to one side. Each knot moves by half of the error next
    to it: both are then off by half as much, one to either side.
    """
    knots, between = values[::2], values[1::2]
    missed = between - (knots[1:] + knots[:-1]) / 2
    beside = np.concatenate([missed[:1], missed, missed[-1:]])
    return np.asarray(knots + (beside[1:] + beside[:-1]) / 4)


def _outer(target: AttentionTarget, knots: int) -> tuple[Tensors, float]:
    """F̂, and the shift that makes f's values start at 0."""
    outer, n = target.outer, target.f.shape[1]
    if outer is None:
        return {"output.0.weight": np.eye(n), "output.0.bias": np.zeros(n)}, 0.0
    low, high = (float(x) for x in (target.f.min(), target.f.max()))
    step = max(2.0 ** np.ceil(np.log2(max(high - low, outer.step) / knots)), outer.step)
    shift = float(np.floor(low / step) * step)
    # One more, so that rounding does not lead beyond the last.
    count = int(np.ceil((high - shift) / step)) + 1
    places = shift + step / 2 * np.arange(2 * count + 1)
    values = level_errors(_extrapolate(outer, places))
    axes = [Axis(1 / step, values * (np.arange(n) == i)) for i in range(n)]
    return tents(axes, "output"), shift


def _extrapolate(outer: OuterFunction, places: FloatArray) -> FloatArray:
    """F, continued beyond its points by the lines of the last two: ``(places, n)``."""
    inside = np.clip(places, outer.low, outer.high)
    beyond = (places - inside)[:, None] / outer.step
    ends = np.diff(outer.values, axis=0)
    slope = np.where(beyond > 0, ends[-1], ends[0])
    values = interpolate(outer, np.tile(inside[:, None], outer.values.shape[1]))
    return np.asarray(values + beyond * slope)


# Means over exactly selected positions, as one attention layer with explicit weights.
#
# Logits are Λ·(selecting score) + ln(weight). For the nearest, 2u·v − |v|² = |u|² − |u −
# v|²
# selects, as |u|² is the same for all candidates: m_h = d + 1 (A28). Of a centre of
# gravity
# 2e_t e_s − e_s² does, e the number of a segment: m_h = 2. A selection has a key for each
# position: m_h = τ.


SELECTED_MEAN = "selected-mean"
CHEAP = 4.0
"""The squared distance by which other vectors are farther off: two diagonals are 2."""


def selected_mean(source: SelectedMean, precision: Precision) -> Network:
    """The network of a target."""
    axes, queries = _axes(source, precision)
    codes = 0 if source.form in (NEAREST, GRAVITY) else source.length
    features = tents(axes, "features")
    tensors = {**features, **_parts(queries, source.values)}
    tensors["output.0.weight"] = np.eye(source.values)
    tensors["output.0.bias"] = np.zeros(source.values)
    if codes:
        tensors["code"] = np.eye(codes)
    return attention_layer_network(tensors, source.length, precision)


def sharpness(source: SelectedMean, precision: Precision) -> float:
    """Λ for a gap of 1: wrong positions weigh less than a rounding; a power of 2."""
    heaviest = log(source.sizes[0]) if source.form == GRAVITY else 0.0
    needed = log(source.length) - log(precision.accumulator_unit) + heaviest
    return float(2.0 ** ceil(log2(needed)))


def _axes(source: SelectedMean, precision: Precision) -> tuple[list[Axis], int]:
    """The tables of each number of an input, and m_h."""
    if source.form == NEAREST:
        return _nearest(source, precision), 3
    if source.form == GRAVITY:
        return _gravity(source, precision), 2
    return _selection(source, precision), source.length


def _nearest(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries 2λu_1, 2λu_2, −λ; keys v_1, v_2, |v|² + 4·(no candidate)."""
    (grid,) = source.sizes
    scale, x = sharpness(source, precision) * grid**2, np.arange(grid + 1) / grid
    axes = []
    for i in range(2):
        table = np.zeros((grid + 1, 8))
        table[:, i], table[:, 3 + i], table[:, 6 + i] = 2 * scale * x, x, x
        table[:, 5] = x**2
        axes.append(Axis(float(grid), table))
    role = np.zeros((2, 8))
    role[:, 2], role[0, 5] = -scale, CHEAP
    return [*axes, Axis(1.0, role)]


def _gravity(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries 2Λe, 1; keys e, ln m − Λe²."""
    scale, (masses, _) = sharpness(source, precision), source.sizes
    y, mass = np.zeros((2, 5)), np.zeros((masses + 1, 5))
    y[1, 4] = 1.0
    mass[1:, 3] = np.log(np.arange(1, masses + 1))
    e = np.arange(source.columns[2].high + 1.0)
    segment = np.zeros((len(e), 5))
    segment[:, 0], segment[:, 1], segment[:, 2] = 2 * scale * e, 1.0, e
    segment[:, 3] = -scale * e**2
    return [Axis(1.0, table) for table in (y, mass, segment)]


def _selection(source: SelectedMean, precision: Precision) -> list[Axis]:
    """Queries ln c_v, or −Λ where c_v is 0; keys say the position."""
    scale, length, (picks,) = sharpness(source, precision), source.length, source.sizes
    n = 2 * length + 2
    logs = np.concatenate([[-scale], np.log(np.arange(1, picks + 1))])

    def column(values: FloatArray, i: int) -> Axis:
        table = np.zeros((len(values), n))
        table[:, i] = values
        return Axis(1.0, table)

    unit = np.arange(2.0)
    return [
        *(column(unit, 2 * length + i) for i in range(2)),
        *(column(logs, v) for v in range(length)),
        *(column(unit, length + v) for v in range(length)),
    ]


# A function of finitely many encoded inputs as one attention layer (Theorem A.3).
#
# The triple is the simple one of `source_grid_function`. Its f and
# F have values at finitely many places, in the order of one number that tells them
# apart; a
# staircase is constant near each of them: r_k = max((z − a_k)/w_k, 0), then 1 − max(1 −
# r_k, 0) is 0 before the ramp of step k and 1 after it, without rounding. So neither
# rounding nor the softmax moves the value, as long as they stay on the step.


UNIVERSAL = "universal"
MOST_STEPS = 1024
"""A staircase has as many weights as the square of its steps."""
DIRECTIONS = 32
"""So many ways are tried to tell places apart by one number."""


def grid_function(function: GridFunction, precision: Precision) -> Network:
    """The network of a function.

    Raises:
        CompileError: If it has too many inputs, or inputs that the format does not hold.
    """
    length, count = function.length, prod(map(len, function.pieces))
    if length * count > MOST_STEPS:
        raise CompileError(
            f"{function.name} has {length} values for {count:,} inputs, and a network of "
            f"one layer is made for up to {MOST_STEPS:,} in all"
        )
    triple, n = simple(function), length * function.dimensions + 1
    owner = {point: s for s, piece in enumerate(function.pieces) for point in piece}
    _fits(owner, precision)
    rows = {p: [*triple.f[p], *_unit(owner[p], length)] for p in owner}
    outer = {
        aggregate(function.pieces, triple.f, x, t): [value]
        for x, t, value in function.enumerate_values()
    }
    tensors = staircase(rows, "features") | staircase(outer, "output")
    whole = np.eye(n + length)
    tensors |= {
        "attention.query": whole[:, n:],
        "attention.key": log(2) * whole[:, n:],
        "attention.value": whole[:, :n],
    }
    return attention_layer_network(tensors, length, precision)


def _unit(s: int, length: int) -> list[Fraction]:
    return [Fraction(k == s) for k in range(length)]


def _fits(points: Iterable[Vector], precision: Precision) -> None:
    numbers = np.array([float(x) for point in points for x in point])
    if not np.array_equal(precision.round(numbers), numbers):
        raise CompileError(f"{precision.name} does not hold these points; say float64")


def staircase(values: dict[Vector, list[Fraction]], at: str) -> Tensors:
    """A ReLU network with these values at these places."""
    direction = _apart(list(values))
    ordered = sorted(
        (_along(direction, place), value) for place, value in values.items()
    )
    steps = [
        (low + (high - low) / 4, (high - low) / 2, _less(w, v))
        for (low, v), (high, w) in pairwise(ordered)
        if v != w
    ]
    end = ordered[-1]
    steps = steps or [(end[0] + 1, Fraction(1), [Fraction(0)] * len(end[1]))]
    slopes = np.array([float(1 / width) for _, width, _ in steps])
    rises = np.array([[float(r) for r in rise] for *_, rise in steps])
    return {
        f"{at}.0.weight": np.outer([float(x) for x in direction], slopes),
        f"{at}.0.bias": -np.array([float(start / width) for start, width, _ in steps]),
        f"{at}.1.weight": -np.eye(len(steps)),
        f"{at}.1.bias": np.ones(len(steps)),
        f"{at}.2.weight": -rises,
        f"{at}.2.bias": np.array([float(x) for x in end[1]]),
    }


def _less(said: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [b - a for a, b in zip(other, said, strict=True)]


def _along(direction: Sequence[int], place: Vector) -> Fraction:
    return sum((w * x for w, x in zip(direction, place, strict=True)), Fraction(0))


def _apart(places: list[Vector]) -> tuple[int, ...]:
    """1, k, k², …: the direction along which the least gap is the largest of the range.

    Some k tells any places apart: two of them agree for fewer k than they have numbers.

    Raises:
        CompileError: If none that is tried does.
    """
    best, chosen = Fraction(-1), None
    for k in range(DIRECTIONS):
        direction = tuple(k**j for j in range(len(places[0])))
        along = sorted(_along(direction, place) for place in places)
        least = min((b - a for a, b in pairwise(along)), default=Fraction(1))
        share = least / max(along[-1] - along[0], least, Fraction(1, 2**64))
        if least > 0 and share > best:
            best, chosen = share, direction
    if chosen is None:
        raise CompileError("its points cannot be told apart by one number; use fewer")
    return chosen
