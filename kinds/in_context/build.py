"""A Transformer that learns in context by gradient descent (Hao et al. 2025, repaired).

The formulas of Theorems 1 and 2 were not at hand: this is a construction of their shape.
L − 1 blocks copy the letter before, and the one before that, …; M blocks copy the letters
that follow, by a head that sees the whole prompt. So each position holds a window z and its
target y: *decoupled features*. T_0 blocks of ReLU attention take a step of gradient descent
each, and one more applies W to the last window: L + M + T_0 blocks.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isqrt, log, log2

import numpy as np

from krohn.compiler.transformer import Network, transformer_network
from krohn.kinds.in_context.source import InContext
from krohn.network.precision import FloatArray, Precision

NAME = "in-context"
Tensors = dict[str, FloatArray]


@dataclass(frozen=True)
class Rows:
    """The dimensions of the residual stream, by their content.

    Attributes:
        width: How many there are.
        token: The letter, the delimiter last; in `past` and `future` letters around it.
        position: A point on a half circle.
        one: 1 everywhere.
        last: 1 at the last position.
        test: 1 at the positions of the test history.
        past: For k = 1, 2, … the letter k before.
        future: For k = 1, 2, … the letter k after.
        target: The tuple of the M letters after, one-hot; the letter after if M = 1.
        weights: W, row by row.
        out: W z.
    """

    width: int
    token: range
    position: range
    one: int
    last: int
    test: int
    past: tuple[range, ...]
    future: tuple[range, ...]
    target: range
    weights: range
    out: range

    @classmethod
    def of(cls, source: InContext) -> "Rows":
        """The layout of a source's network."""
        end = 0

        def take(count: int) -> range:
            nonlocal end
            end += count
            return range(end - count, end)

        size, targets = source.count + 1, source.targets
        token, position, (one, last, test) = take(size), take(2), take(3)
        past = tuple(take(size) for _ in range(source.window - 1))
        future = tuple(take(size) for _ in range(source.ahead))
        target = future[0][:-1] if source.ahead == 1 else take(targets)
        weights, out = take(targets * source.features), take(targets)
        around = (past, future, target, weights, out)
        return cls(end, token, position, one, last, test, *around)

    @property
    def windows(self) -> list[int]:
        """The dimensions of z: letters without delimiters, latest first."""
        return [d for block in (self.token, *self.past) for d in block[:-1]]

    @property
    def delimiters(self) -> list[int]:
        """The dimensions that say of each letter of a window and target if it is none."""
        return [block[-1] for block in (self.token, *self.past, *self.future)]

    def weights_of(self, source: InContext, target: int) -> range:
        """The dimensions of one row of W."""
        return self.weights[target * source.features :][: source.features]


def in_context(
    source: InContext, precision: Precision, flagged: bool = True
) -> Network:
    """The network of a source.

    Args:
        source: Which prompts, how many steps.
        precision: The format.
        flagged: Whether windows of the test history are kept out of the regression. If
            not, they leak into it: the network is wrong.
    """
    rows, blocks, tensors = Rows.of(source), list[dict[str, object]](), Tensors()

    def append(told: dict[str, object], found: Tensors) -> None:
        at = f"blocks.{len(blocks)}"
        tensors.update({f"{at}.{name}": tensor for name, tensor in found.items()})
        blocks.append(told)

    for into, source_row, by in _copies(rows):
        shape = {"heads": 1, "d_qk": 2, "d_v": len(into), "causal": [by < 0]}
        weights = _copying(source, rows, source_row, into, by, precision)
        ends = into == rows.future[-1] and source.ahead > 1
        mlp = _joint(source, rows) if ends else Tensors()
        append({**shape, "mlp": [source.targets] if ends else []}, {**weights, **mlp})
    relus: dict[str, object] = {"attention": {"kind": "relu"}, "mlp": []}
    heads = 2 * source.targets
    relus |= {"heads": heads, "causal": [False] * heads}
    for _ in range(source.steps):
        weights = _descending(source, rows, flagged)
        append({**relus, "d_qk": source.features + 2, "d_v": source.features}, weights)
    append({**relus, "d_qk": source.features + 1, "d_v": 1}, _predicting(source, rows))
    tensors |= _ends(source, rows)
    return transformer_network(tensors, blocks, precision, True, {})


def limit(source: InContext) -> float:
    """R: a power of two above every score, so that excluded positions add nothing.

    A row of W after t steps is at most √(t/L) in the 2-norm (Theorem W12), a window √L, and
    an entry of a target 1.
    """
    return float(2 ** ceil(log2(isqrt(source.steps) + 3)))


def _copies(rows: Rows) -> list[tuple[range, range, int]]:
    """The copying heads of the features: their targets, their sources, and the distance."""
    past, future = ((rows.token, *of) for of in (rows.past, rows.future))
    back = [(into, of, -1) for of, into in pairwise(past)]
    return back + [(into, of, 1) for of, into in pairwise(future)]


def _angle(source: InContext) -> float:
    """Between neighbours on the half circle: N + 1 positions, and one more on each side."""
    return float(np.pi / (source.length + 2))


def _copying(
    source: InContext,
    rows: Rows,
    of: range,
    into: range,
    by: int,
    precision: Precision,
) -> Tensors:
    """A head that copies from the next position, or the one before, by turning its point.

    Where there is none, the nearest position is right: its own. All weights of others are
    below the least positive number of the format, as the accumulator has it.
    """
    angle, least = _angle(source), log(precision.smallest) + log(precision.unit)
    scale = (log(source.length) - least) / (1 - np.cos(angle))
    turn = by * angle
    query, key = (np.zeros((1, rows.width, 2)) for _ in range(2))
    circle = [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
    query[0, rows.position] = scale * np.array(circle)
    key[0, rows.position] = np.eye(2)
    value, out = _selection(rows, of)[None], _selection(rows, into).T[None]
    return _attention(query, key, value, out)


def _joint(source: InContext, rows: Rows) -> Tensors:
    """One ReLU for each tuple of M letters: all of its letters are there, or 0."""
    shape = (source.count,) * source.ahead
    weight = np.zeros((rows.width, source.targets))
    tuples = np.unravel_index(np.arange(source.targets), shape)
    for block, letters in zip(rows.future, tuples, strict=True):
        weight[np.array(block)[letters], np.arange(source.targets)] = 1
    return {
        "mlp.0.weight": weight,
        "mlp.0.bias": np.full(source.targets, 1.0 - source.ahead),
        "mlp.1.weight": _selection(rows, rows.target).T.copy(),
        "mlp.1.bias": np.zeros(rows.width),
    }


def _descending(source: InContext, rows: Rows, flagged: bool) -> Tensors:
    """One step: W_r ← W_r − (η/n) Σ_j (W_r z_j − y_jr) z_j over valid positions j.

    Two heads for each r, s = ±1: max(s(W_r z_j − y_jr) − R·invalid_j, 0). Invalid are a
    window or a target with a delimiter, and the positions of the test history.
    """
    features, large = source.features, limit(source)
    query, key = (
        np.zeros((2 * source.targets, rows.width, features + 2)) for _ in "qk"
    )
    value = np.tile(_selection(rows, rows.windows), (2 * source.targets, 1, 1))
    out = np.zeros((2 * source.targets, features, rows.width))
    key[:, :, :features] = value
    for head, (target, sign) in enumerate(_heads(source)):
        row = rows.weights_of(source, target)
        query[head, row, range(features)] = sign
        query[head, rows.one, features:] = 1
        key[head, rows.target[target], features] = -sign
        key[head, rows.delimiters, features + 1] = -large
        key[head, rows.test, features + 1] = -large * flagged
        step = 1 / (source.window * source.demonstrations)
        out[head, range(features), row] = -sign * step
    return _attention(query, key, value, out)


def _predicting(source: InContext, rows: Rows) -> Tensors:
    """W z of the last position, at all positions: max(s W_r z_j − R·(j is not last), 0)."""
    features, large, heads = source.features, limit(source), 2 * source.targets
    query, key = (np.zeros((heads, rows.width, features + 1)) for _ in "qk")
    value, out = np.zeros((heads, rows.width, 1)), np.zeros((heads, 1, rows.width))
    key[:, :, :features] = _selection(rows, rows.windows)
    key[:, rows.one, features], key[:, rows.last, features] = -large, large
    value[:, rows.one] = query[:, rows.one, features:] = 1
    for head, (target, sign) in enumerate(_heads(source)):
        row = rows.weights_of(source, target)
        query[head, row, range(features)] = sign
        out[head, 0, rows.out[target]] = sign
    return _attention(query, key, value, out)


def _heads(source: InContext) -> list[tuple[int, int]]:
    return [(target, sign) for target in range(source.targets) for sign in (1, -1)]


def _ends(source: InContext, rows: Rows) -> Tensors:
    """The embedding, where BOS is a delimiter, and the read-out of the prediction."""
    token = _selection(rows, rows.token).T[[*range(source.count + 1), source.count]]
    t, angle = np.arange(source.length + 1), _angle(source)
    position = np.zeros((len(t), rows.width))
    position[:, rows.position] = np.stack(
        [np.cos(angle * t), np.sin(angle * t)], axis=1
    )
    position[:, rows.one] = 1
    position[-1, rows.last] = position[source.examples + 1 :, rows.test] = 1
    return {
        "embed.token": token,
        "embed.position": position,
        "unembed.weight": _selection(rows, rows.out),
        "unembed.bias": np.zeros(source.targets),
    }


def _selection(rows: Rows, chosen: range | list[int]) -> FloatArray:
    """``(d, chosen)``: a matrix that selects some dimensions."""
    return np.eye(rows.width)[:, list(chosen)]


def _attention(
    query: FloatArray, key: FloatArray, value: FloatArray, out: FloatArray
) -> Tensors:
    both = {"query": query, "key": key, "value": value, "out": out}
    return {f"attention.{name}": matrix for name, matrix in both.items()}
