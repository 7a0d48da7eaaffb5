"""A head that looks as many positions back as a channel says."""

import numpy as np

from krohn.program.domains import BoolArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import INFLATION, SUM, fits
from krohn.verify.checker.attention.heads import Bounds, Copies, Heads
from krohn.verify.checker.attention.scores import MOST, NEVER, worst_leak
from krohn.verify.checker.model_file import FloatArray


class ShiftedBy(Copies):
    """Position t − by, or BOS, where ``by`` is a whole number with noise."""

    operation = "shift-by"

    def look(self, heads: Heads, channel: Channel) -> Bounds:
        """The worst bounds over all distances, from any position."""
        by, j = (
            heads.stream.channel(channel.inputs[1]),
            np.arange(len(heads.stream.positions)),
        )
        distances = np.union1d(by.later, by.bos)
        demand(len(distances) * len(j) ** 2 <= MOST, "a head has too many scores")
        k = heads.keys(channel, None, j)
        demand(not k.total.any(), "a key is not exact")
        hidden = heads.kind.hidden(j, len(j))
        worst = np.array([NEVER, 0.0, 0.0])
        for distance in distances:
            asked = np.full(len(j), distance)
            q = heads.queries(channel, by, asked)
            right = j == np.maximum(j - distance, 0)[:, None]
            demand(~(right & hidden), f"a head may not see {channel.name!r}")
            worst = np.maximum(worst, _bounds(q, k, right, hidden))
        return worst[0], worst[1], worst[1], worst[2]


def _bounds(q: Noisy, k: Noisy, right: BoolArray, hidden: BoolArray) -> FloatArray:
    """The leak, the error of a score with its exponent, and the largest score.

    The noise of a query moves all scores of its row at once, each in proportion to its
    key: against the right one a rival gains what noise makes of the difference of keys.
    """
    form, where = q.form, right.argmax(axis=1)
    size = np.abs(k.value) @ (np.abs(q.value) + q.total).max(axis=0)
    largest = float(size.max()) * INFLATION
    fits(largest, form, "a score", SUM)
    scores = q.value @ k.value.T
    apart = np.zeros_like(scores)
    for total, keys in zip(q.total.T, k.value.T, strict=True):
        apart += total[:, None] * np.abs(keys - keys[where][:, None])
    scores = np.where(hidden, NEVER, scores + apart * INFLATION)
    units = 2 * (k.value.shape[1] + 1) + 8
    error = units * form.sum_unit * largest
    error += form.unit * (largest + error) * (form.unit > form.sum_unit)
    alone = np.where(right, NEVER, scores)
    leak = worst_leak(scores, alone, right, False)
    return np.array([leak, error, largest])
