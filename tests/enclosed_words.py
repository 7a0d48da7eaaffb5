"""The engine of intervals on given words, against which the checker's bounds are held."""

from typing import Any

import numpy as np

from krohn.network.meaning.arrays import points, with_bos
from krohn.network.meaning.forward import read_out, through
from krohn.network.meaning.net import Net
from krohn.network.precision import FloatArray, one_thread
from krohn.program.domains import BoolArray, IntArray
from krohn.verify.checker.arithmetic import TINY, Interval
from krohn.verify.enclosures.intervals import Boxes, Intervals


class Enclosed(Intervals):
    """Intervals on words: a head sees what it sees from there."""

    who = "an enclosure"

    def gather(self, table: Interval, index: Any) -> Interval:
        """Rows of a table."""
        return table[index]

    def combine(self, weights: Interval, values: Interval, seen: Any) -> Interval:
        """Numbers that are not finite spoil those that see them, and no others."""
        wrong = np.asarray(~np.isfinite(values.size).all(axis=-1, keepdims=True))
        spoilt = (seen & wrong.swapaxes(2, 3)).any(axis=-1, keepdims=True)
        mixed = weights @ values.where(~wrong, 0.0)
        return mixed.where(~spoilt, np.nan)

    def keep_seen(self, x: Interval, seen: Any) -> Interval:
        """``x`` where it is seen, and 0 elsewhere."""
        return x.where(seen, 0.0)

    def softmax(self, scores: Interval, seen: Any) -> Interval:
        """By exponentials of differences to the largest score."""
        return shares(scores, np.broadcast_to(seen, scores.shape))


def enclosed(net: Net[FloatArray], words: IntArray) -> Boxes:
    """What a network computes on words ``(batch, time)`` of letters, if nothing is rounded.

    Returns:
        Bounds at each place, those of BOS among them, but for ``logits``
        ``(batch, time, classes)``.

    Raises:
        Refused: If the network has what no engine of intervals is about.
    """
    o, held = Enclosed(), net.each(Interval.of)
    with one_thread(), np.errstate(all="ignore"):
        x, _ = through(held, o, points(with_bos(net, words)))
        read_out(held, o, x[:, 1:])
    return o.boxes


def shares(exponents: Interval, seen: BoolArray) -> Interval:
    """Numbers in proportion to e^x that add up to 1 along the last axis.

    Each rises with its own exponent and falls with every other one, so that its bounds
    stand where its own is at one end and all others are at the other.

    Args:
        exponents: ``(…, j)``.
        seen: ``(…, j)``: of which of them; the others are 0, whatever their exponents.
    """
    wrong = seen & ~np.isfinite(exponents.size)
    known = np.asarray(~wrong.any(axis=-1, keepdims=True))
    exponents = exponents.where(seen & known, 0.0)
    top = np.where(seen, exponents.high, -np.inf).max(axis=-1, keepdims=True)
    raised = (exponents - top).through(np.exp).maximum(0.0).where(seen, 0.0)
    least, most = Interval.of(raised.low), Interval.of(raised.high)
    low = least / (least + _others(most)).maximum(TINY)
    high = most / (most + _others(least)).where(seen, 1.0)
    found = Interval(low.low, high.high).maximum(0.0).minimum(1.0)
    return found.where(seen, 0.0).where(known, np.nan)


def _others(x: Interval) -> Interval:
    """Sums of all entries along the last axis but each one itself."""
    whole = x.sum(axis=-1).each(lambda y: y[..., None])
    return (whole - x).maximum(0.0)
