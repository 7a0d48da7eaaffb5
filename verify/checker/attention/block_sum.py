"""A linear head that adds up a block."""

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.program.operations.block_sum import BlockSum, members
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import INFLATION, OWN_UNIT
from krohn.verify.checker.attention.heads import Heads, Look, Rule
from krohn.verify.checker.attention.kinds import LINEAR
from krohn.verify.checker.attention.scores import CELLS, MOST
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import per_value

FEATURE_ERROR, SILENT_ERROR = 50, 10
"""How far elu(x) + 1 may be off, in roundings of the larger of it and 1; and where e^x is
below one rounding (A13)."""
Range = tuple[FloatArray, FloatArray]


class BlockSummed(Rule):
    """The sum over a block of positions, filled up by BOS to its full weight."""

    operation = "block-sum"
    kinds = frozenset({LINEAR})

    def noise(
        self, heads: Heads, channel: Channel, gain: float
    ) -> tuple[FloatArray, Look]:
        """Theorem 13b."""
        operation, form = channel.operation, heads.stream.form
        assert isinstance(operation, BlockSum)
        source, block = (heads.stream.channel(name) for name in channel.inputs)
        demand(source.integer, "a sum of values that are no numbers")
        demand(gain == operation.size, "a mean is not multiplied by its block")
        demand(form.unit == form.sum_unit, "linear attention in a narrow format")
        t = np.arange(len(heads.stream.positions))
        q, k = (
            features(projected(channel, None, t))
            for projected in (heads.queries, heads.keys)
        )
        demand(len(t) ** 2 <= MOST, "a head has too many weights to check")
        parts = np.array_split(t, len(t) ** 2 // CELLS + 1)
        weights = [
            _weights(
                heads, members(block.given, rows, operation.size), gain, q, k, rows
            )
            for rows in parts
        ]
        uneven, astray, lost, whole, most = np.max(weights, axis=0)
        noise = float(heads.stream.noise[source.name].max())
        largest, total = float(max(source.domain)), float(channel.domain[-1])
        heads.check_sums(max(largest + noise, 1.0) * max(1.0, most))
        error = total * uneven + largest * astray
        error += gain * (noise * whole + lost * (1 + largest + noise))
        error += 4 * form.unit * (total + gain * noise + error)
        sums = channel.domain[-1:].astype(np.float64)
        worst = heads.written(channel, sums, np.array([error * INFLATION])).max()
        look = Look(float(astray), 0.0, float(uneven), float(uneven))
        values = channel.domain
        return per_value(channel, values, np.full(len(values), worst)), look


def features(x: Noisy) -> Range:
    """Between which bounds the computed elu(x) + 1 lie."""
    phi = np.where(x.value > 0, x.value + 1, np.exp(np.minimum(x.value, 0)))
    silent = np.exp(x.value + x.total) <= x.form.sum_unit / 2
    unit = np.where(silent, SILENT_ERROR, FEATURE_ERROR) * x.form.sum_unit
    off = (x.total + (unit + 8 * OWN_UNIT) * np.maximum(phi, 1)) * INFLATION
    return np.maximum(phi - off, 0), phi + off


def _weights(
    heads: Heads, own: BoolArray, gain: float, q: Range, k: Range, t: IntArray
) -> tuple[float, ...]:
    """Of the rows t: how uneven weights are, what is astray, and more.

    What is uneven is by how much the weight of a position of the block, times the gain,
    can differ from 1; what is astray is that of all others together but BOS, times the
    gain. Then products that are flushed, beside the sum that is divided by; what this sum
    can be beside the least that it can be; and the largest weight.
    """
    form, j, entries = heads.stream.form, np.arange(own.shape[1]), q[0].shape[1]
    hidden = heads.kind.hidden(t, len(j))
    demand(~(own & hidden), "a head may not see its block")
    load = (2 * len(j) + 2 * entries + 32) * form.sum_unit
    demand(load < 0.25, "too many weights to add up")
    small = (entries + 1) * form.smallest * (1 + q[1].max() + k[1].max())
    low = (q[0][t] @ k[0].T) * (1 - load / (1 - load)) - small
    high = (q[1][t] @ k[1].T) * (1 + load / (1 - load)) + small
    least = np.where(hidden, 0, np.maximum(low, 0)).sum(axis=1)[:, None]
    most = np.where(hidden, 0, high).sum(axis=1)[:, None]
    demand(least > 0, "a block may have no weight")
    below = np.where(own, 1 - gain * low / most, 0).max()
    above = np.where(own, gain * high / least - 1, 0).max()
    others = ~(own | hidden) & (j > 0)
    astray = gain * (np.where(others, high, 0) / least).sum(axis=1).max()
    lost = len(j) * small * np.maximum(1 / least, 1).max()
    largest = max(float(high.max()), float(k[1].max()))
    whole = (most / least).max()
    return max(below, above, 0.0), float(astray), float(lost), float(whole), largest
