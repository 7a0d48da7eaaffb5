"""The engine of numpy."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from krohn.network.meaning.attention import PROJECT, SCORES, Points
from krohn.network.meaning.engine import Engine, operation
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Net


class Arrays(Engine):
    """Arrays of numpy, in the format that they have."""

    who = "the runtime by numpy"
    sine, tanh = operation(np.sin), operation(np.tanh)
    join = operation(partial(np.concatenate, axis=-1))
    append = operation(lambda *both: np.concatenate(both, axis=2))
    stack = operation(partial(np.stack, axis=1))
    roll = operation(partial(np.roll, axis=-1))

    def gather(self, table: Any, index: Any) -> Any:
        """Rows of a table."""
        return table[index]

    def contract(self, axes: str, x: Any, y: Any) -> Any:
        """A sum of products."""
        if axes == PROJECT:
            return x[:, None] @ y
        if axes == SCORES:
            return x @ y.swapaxes(-1, -2)
        words, heads, count, v = x.shape
        wide = x.swapaxes(1, 2).reshape(words, count, heads * v)
        return wide @ y.reshape(heads * v, y.shape[2])

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """A sum that is not finite is made again, of what is seen alone: 0 · ∞ is none."""
        mixed = weights @ values
        wrong = ~np.isfinite(mixed)
        if wrong.any():
            apart, seen = np.zeros_like(mixed), np.broadcast_to(seen, weights.shape)
            for j in range(values.shape[-2]):
                terms = weights[..., j, None] * values[..., None, j, :]
                apart += np.where(seen[..., j, None], terms, 0)
            mixed = np.where(wrong, apart, mixed)
        return mixed

    def keep_seen(self, x: Any, seen: Any) -> Any:
        """``x`` where it is seen, and 0 elsewhere."""
        return np.where(seen, x, x.dtype.type(0))

    def softmax(self, scores: Any, seen: Any) -> Any:
        """By exponentials of differences to the largest score."""
        if not seen.all():
            scores = np.where(seen, scores, scores.dtype.type(-np.inf))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / self.total(weights)

    def total(self, x: Any) -> Any:
        """The sum over j."""
        return x.sum(axis=-1, keepdims=True)

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""
        return np.maximum(x, 0)

    def gelu(self, x: Any) -> Any:
        """By the distribution function, in float64."""
        from scipy.special import ndtr

        wide = x.astype(np.float64)
        return (wide * ndtr(wide)).astype(x.dtype)

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + e^−x)."""
        return 1 / (1 + np.exp(-x))

    def phi(self, x: Any) -> Any:
        """elu(x) + 1."""
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    def split(self, x: Any, sizes: Sequence[int]) -> Sequence[Any]:
        """Parts of the last axis."""
        return np.split(x, np.cumsum(sizes)[:-1], axis=-1)

    def parts(self, x: Any, count: int) -> Sequence[Any]:
        """Equal parts of the last axis."""
        return np.split(x, count, axis=-1)

    def flags(self, bits: Sequence[bool], like: Any) -> Any:
        """``(h, 1, 1)``: truth values, where such positions are."""
        del like
        return np.array(bits)[:, None, None]

    def one_hot(self, index: Any, count: int, like: Any) -> Any:
        """Rows of the identity."""
        return np.eye(count, dtype=like.dtype)[index]

    def spread(self, x: Any, like: Any) -> Any:
        """``x`` for each word of ``like``."""
        return np.broadcast_to(x, (len(like), *x.shape))

    def layer_norm(self, x: Any, constant: Any) -> Any:
        """LN_C."""
        centred = x - x.mean(axis=-1, keepdims=True)
        length = np.sqrt((centred * centred).sum(axis=-1, keepdims=True))
        return centred / np.maximum(length, constant)


def points(tokens: Any, seen: int = 0, n: int | None = None) -> Points:
    """New tokens after so many, as points of an engine on arrays.

    Args:
        tokens: ``(batch, n)``, or all of them in a row.
        seen: How many there were before.
        n: How many are new; None to take it from the tokens.
    """
    new = tokens.shape[1] if n is None else n
    last = seen + new

    def places() -> tuple[Any, Any]:
        return np.arange(seen, last)[:, None], np.arange(last)

    return Points(tokens, slice(seen, last), places, seen > 0, new == 1)


def with_bos(net: Net[Any], words: Any) -> Any:
    """``(batch, time)`` letters to ``(batch, time + 1)`` tokens: BOS in front."""
    bos = np.full((len(words), 1), len(net.token) - 1)
    return np.concatenate([bos, words], axis=1)


def whole(net: Net[Any], o: Engine, words: Any) -> Any:
    """The logits ``(batch, time, classes)`` of words ``(batch, time)``, read at once."""
    x, _ = through(net, o, points(with_bos(net, words)))
    return read_out(net, o, x[:, 1:])
