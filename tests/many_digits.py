"""The referee of tests: forward passes in 40 digits, with true softmaxes and functions."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.engine import operation
from krohn.network.meaning.net import Net
from krohn.program.domains import FloatArray, IntArray

DIGITS = 40


def _each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    entries = np.frompyfunc(change, 1, 1)
    return lambda x: np.asarray(entries(x), dtype=object)


exact = _each(mpmath.mpf)
"""Numbers as they are, to be computed with in many digits."""
exp, sine, tanh = (_each(f) for f in (mpmath.exp, mpmath.sin, mpmath.tanh))
root = _each(mpmath.sqrt)
gelu = _each(lambda x: x * mpmath.ncdf(x))
sigmoid = _each(lambda x: 1 / (1 + mpmath.exp(-x)))
phi = _each(lambda x: x + 1 if x > 0 else mpmath.exp(x))


def near(x: Any) -> FloatArray:
    """The nearest numbers of float64."""
    return np.asarray(x, dtype=object).astype(np.float64)


def many_digits(net: Net[Any], words: IntArray) -> Any:
    """``(batch, time, classes)``: the true logits of words, as numbers of mpmath."""
    with mpmath.workdps(DIGITS):
        return whole(net.each(exact), ManyDigits(), words)


def exactly(name: str, x: FloatArray) -> FloatArray:
    """A function of engines at numbers, to the last digit of float64."""
    with mpmath.workdps(DIGITS):
        return near(getattr(ManyDigits(), name)(exact(x)))


class ManyDigits(Arrays):
    """Arrays of numbers of mpmath, in as many digits as it is set to."""

    who = "the referee"
    sine, tanh, gelu = map(operation, (sine, tanh, gelu))
    sigmoid, phi = operation(sigmoid), operation(phi)

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """What is hidden is left out, whatever it is."""
        parts = weights[..., None] * values[..., None, :, :]
        return np.where(seen[..., None], parts, 0).sum(axis=-2)

    def softmax(self, scores: Any, seen: Any) -> Any:
        """By exponentials of differences to the largest score that is seen."""
        scores = np.where(seen, scores, mpmath.mpf("-inf"))
        weights = exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / self.total(weights)

    def layer_norm(self, x: Any, constant: Any) -> Any:
        """By a true root."""
        centred = x - x.mean(axis=-1, keepdims=True)
        length = root((centred * centred).sum(axis=-1, keepdims=True))
        return centred / np.maximum(length, constant)
