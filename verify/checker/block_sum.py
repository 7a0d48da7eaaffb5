"""A linear head that adds up a block."""

import numpy as np

from krohn.program.attention import Linear
from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.program.operations.block_sum import BlockSum, members
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import Interval, gamma
from krohn.verify.checker.heads import Heads, Look, hidden_positions
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import per_value
from krohn.verify.checker.scores import CELLS, MOST

FEATURE_ERROR, SILENT_ERROR = 50, 10
"""How far elu(x) + 1 may be off, in roundings of the larger of it and 1; and where e^x is
below one rounding (A13)."""
KINDS = frozenset({Linear})


def noise(heads: Heads, channel: Channel, gain: float) -> tuple[FloatArray, Look]:
    """The sum over a block, filled up by BOS to its full weight (Theorem 13b)."""
    operation, form = channel.operation, heads.stream.form
    assert isinstance(operation, BlockSum)
    source, block = (heads.stream.channel(name) for name in channel.inputs)
    demand(source.integer, "a sum of values that are no numbers")
    demand(gain == operation.size, "a mean is not multiplied by its block")
    demand(not form.narrow, "linear attention in a narrow format")
    t = np.arange(len(heads.stream.positions))
    q, k = (
        features(projected(channel, {}, t)) for projected in (heads.queries, heads.keys)
    )
    demand(len(t) ** 2 <= MOST, "a head has too many weights to check")
    parts = np.array_split(t, len(t) ** 2 // CELLS + 1)
    losses = []
    for rows in parts:
        own = members(block.values_by_position, rows, operation.size)
        losses.append(_weights(heads, own, gain, q, k, rows))
    uneven, astray, lost, whole, most = map(float, np.max(losses, axis=0))
    noise = float(heads.stream.noise[source.name].max())
    largest, total = float(max(source.domain)), float(channel.domain[-1])
    heads.check_sums(max(largest + noise, 1.0) * max(1.0, most))
    error = total * Interval.of(uneven) + largest * Interval.of(astray)
    error += gain * (
        noise * Interval.of(whole) + lost * (1 + Interval.of(largest) + noise)
    )
    error += 4 * form.unit * (total + Interval.of(gain) * noise + error)
    sums = channel.domain[-1:].astype(np.float64)
    worst = heads.bound_write_error(channel, sums, error.high.reshape(1)).max()
    look = Look(astray, 0.0, uneven, uneven)
    values = channel.domain
    return per_value(channel, values, np.full(len(values), worst)), look


def features(x: Noisy) -> Interval:
    """Bounds of the computed elu(x) + 1, which is never negative (A13)."""
    value = Interval.of(x.value)
    phi = value.minimum(0.0).through(np.exp) + value.maximum(0.0)
    silent = value.wider(x.total).through(np.exp) <= x.form.sum_unit / 2
    unit = np.where(silent, SILENT_ERROR, FEATURE_ERROR) * x.form.sum_unit
    return phi.wider(x.total + unit * phi.maximum(1.0)).maximum(0.0)


def _weights(
    heads: Heads, own: BoolArray, gain: float, q: Interval, k: Interval, t: IntArray
) -> tuple[float, ...]:
    """Of the rows t: how uneven weights are, what is astray, and more.

    What is uneven is by how much the weight of a position of the block, times the gain,
    can differ from 1; what is astray is that of all others together but BOS, times the
    gain. Then products that are flushed, beside the sum that is divided by; what this sum
    can be beside the least that it can be; and the largest weight.
    """
    form, j, entries = heads.stream.form, np.arange(own.shape[1]), q.shape[1]
    hidden = hidden_positions(heads.block.attention, t, len(j))
    demand(~(own & hidden), "a head may not see its block")
    load = gamma(2 * len(j) + 2 * entries + 32, form.sum_unit)
    demand(load < 0.25, "too many weights to add up")
    small = (entries + 1) * (1 + q.max() + k.max()) * form.smallest
    weights = q[t] @ k.each(np.transpose)
    weights = weights.wider(weights * load + small).maximum(0.0)
    total = weights.each(lambda x: np.where(hidden, 0, x)).sum(axis=1)
    total = total.each(lambda x: x[:, None])
    demand(total > 0, "a block may have no weight")
    share = gain * weights / total
    uneven = abs(share - 1).each(lambda x: np.where(own, x, 0))
    others = ~(own | hidden) & (j > 0)
    astray = share.each(lambda x: np.where(others, x, 0)).sum(axis=1)
    lost = len(j) * small * (1 / total).maximum(1.0)
    largest = max(weights.most, k.most)
    return uneven.most, astray.most, lost.most, (total / total).most, largest
