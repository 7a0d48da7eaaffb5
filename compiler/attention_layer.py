"""A target of attention as one attention layer (Jiang and Li, Theorem 4.1).

f̂ holds √σ_k φ_k, √σ_k ψ_k and f: functions of one number, by tents. A tent is the function
that is 1 at one knot, 0 at all others and linear between them; knots are at k/s, s a power
of two. Two layers of ReLUs make it without rounding, in any format: p_k = max(s·x − k, 0),
then max(p_{k−1} − 2·p_k, 0). A sum of tents has two terms that are not 0, so it is as
exact as a number can be; the one hidden layer of the paper has as many terms as knots,
and their sizes add up to the total curvature.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from krohn.compiler.transformer import Network
from krohn.network.precision import FloatArray, Precision
from krohn.sources.attention_targets.target import AttentionTarget, Outer, joined

NAME = "pod"
Tensors = dict[str, FloatArray]


class Axis(NamedTuple):
    """A function of one number, linear between knots.

    Attributes:
        scale: s: the knots are at k/s.
        values: ``(K + 1, outputs)``: at k/s, k = 0, …, K.
    """

    scale: float
    values: FloatArray


def tents(axes: Sequence[Axis], at: str) -> tuple[Tensors, list[int]]:
    """The ReLU network that adds up a function of each of its inputs; and its widths."""
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
    found = {f"{at}.{j}.weight": w for j, w in enumerate(weights)}
    return found | {f"{at}.{j}.bias": b for j, b in enumerate(biases)}, [low, high]


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
    pod, values = target.pod, joined(points * target.points, target.f)
    root, at = np.sqrt(pod.sigma[:rank]), points[:, None]
    output, shift, widths = _outer(target, knots)
    bases = (pod.phi(at, rank) * root, pod.psi(at, rank) * root, values - shift)
    features, hidden = tents(
        [Axis(float(knots), level_errors(np.hstack(bases)))], "features"
    )
    outputs, n = values.shape[1], 2 * rank + values.shape[1]
    parts = np.split(np.eye(n), [rank, 2 * rank], axis=1)
    heads = dict(zip(("query", "key", "value"), parts, strict=True))
    tensors = {**features, **output}
    tensors |= {f"attention.{name}": matrix for name, matrix in heads.items()}
    architecture = {
        "kind": "attention-layer",
        "dtype": precision.name,
        "length": target.length,
        "inputs": 1,
        "codes": 0,
        "features": n,
        "features_units": hidden,
        "d_qk": rank,
        "d_v": outputs,
        "memory": 0,
        "causal": target.causal,
        "output_units": widths,
        "outputs": outputs,
    }
    return Network(architecture, _normal(tensors, precision), {})


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


def _outer(target: AttentionTarget, knots: int) -> tuple[Tensors, float, list[int]]:
    """F̂, the shift that makes f's values start at 0, and its widths."""
    outer, n = target.outer, target.f.shape[1]
    if outer is None:
        return {"output.0.weight": np.eye(n), "output.0.bias": np.zeros(n)}, 0.0, []
    low, high = (float(x) for x in (target.f.min(), target.f.max()))
    step = max(2.0 ** np.ceil(np.log2(max(high - low, outer.step) / knots)), outer.step)
    shift = float(np.floor(low / step) * step)
    # One more, so that rounding does not lead beyond the last.
    count = int(np.ceil((high - shift) / step)) + 1
    places = shift + step / 2 * np.arange(2 * count + 1)
    values = level_errors(_extrapolate(outer, places))
    axes = [Axis(1 / step, values * (np.arange(n) == i)) for i in range(n)]
    made, widths = tents(axes, "output")
    return made, shift, widths


def _extrapolate(outer: Outer, places: FloatArray) -> FloatArray:
    """F, continued beyond its points by the lines of the last two: ``(places, n)``."""
    inside = np.clip(places, outer.low, outer.high)
    beyond = (places - inside)[:, None] / outer.step
    ends = np.diff(outer.values, axis=0)
    slope = np.where(beyond > 0, ends[-1], ends[0])
    found = outer(np.tile(inside[:, None], outer.values.shape[1]))
    return np.asarray(found + beyond * slope)


def _normal(tensors: Tensors, precision: Precision) -> Tensors:
    """Numbers below the normal range as 0: they may be flushed."""
    return {
        name: np.where(np.abs(tensor) < precision.smallest, 0.0, tensor)
        for name, tensor in tensors.items()
    }
