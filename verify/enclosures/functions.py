"""Functions of units on intervals: each has all values on them, rounded outwards.

Functions of numpy and of Python are off by a few units in the last place of float64, far
less than is left for them here.
"""

from math import erfc

import numpy as np

from krohn.program.domains import FloatArray
from krohn.verify.checker.arithmetic import Interval, own_error

_erfc = np.frompyfunc(erfc, 1, 1)
LOWEST, TURN = -0.16997120748, (-0.7517915247, -0.7517915246)
"""GeLUs are above the first number. They fall up to a point between the two others, where
their slope Φ(x) + x·φ(x) is 0, and rise from there on."""


def sine(x: Interval) -> Interval:
    """The sine, of what is finite: it moves no faster than its argument."""
    middle, radius = x.middle()
    near = Interval.of(np.sin(middle)).wider(Interval.of(radius) + own_error(2, 1.0))
    return near.maximum(-1.0).minimum(1.0).where(np.isfinite(x.size), np.nan)


def gelu(x: Interval) -> Interval:
    """The GeLU: between its values at both ends, but for its least value."""
    low, high = (_gelu_at(end) for end in (x.low, x.high))
    turns = (x.low < TURN[1]) & (x.high > TURN[0])
    least = np.where(turns, LOWEST, np.minimum(low.low, high.low))
    return Interval(least, np.maximum(low.high, high.high))


def elu_and_one(x: Interval) -> Interval:
    """The features of linear heads, x + 1 above 0 and e^x below: they rise with x."""
    return x.through(lambda y: np.where(y > 0, y + 1, np.exp(np.minimum(y, 0))))


def _gelu_at(x: FloatArray) -> Interval:
    """GeLUs, within 2^-50 of |x|."""
    value = x * _erfc(-x / np.sqrt(2)).astype(np.float64) / 2
    return Interval.of(value).wider(own_error(2, np.abs(x)))
