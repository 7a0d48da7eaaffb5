"""A linear head that adds up the block before."""

import numpy as np

from program.domains import IntArray
from program.errors import demand
from program.operations.block_sum import BlockSum, before_block
from program.statement import Channel
from verify.checker.affine_arithmetic import INFLATION, OWN_UNIT, Noisy
from verify.checker.attention.heads import CELLS, MOST, Heads, Look, Rule
from verify.checker.attention.kinds import LINEAR
from verify.checker.model_file import FloatArray
from verify.checker.residual_stream import per_value

FEATURE_ERROR = 50
"""How far elu(x) + 1 may be off, in roundings of the larger of it and 1 (A13)."""
Range = tuple[FloatArray, FloatArray]


class BlockSummed(Rule):
    """The sum over the block of positions before."""

    operation = "block-sum"
    kinds = frozenset({LINEAR})

    def noise(
        self, heads: Heads, channel: Channel, gain: float
    ) -> tuple[FloatArray, Look]:
        """Theorem 13b."""
        operation, form = channel.operation, heads.stream.form
        assert isinstance(operation, BlockSum)
        source = heads.stream.channel(channel.inputs[0])
        demand(not source.one_hot, "a sum of what is no number")
        demand(gain == operation.size, "a mean is not multiplied by its block")
        demand(form.unit == form.sum_unit, "linear attention in a narrow format")
        t = np.arange(len(heads.stream.positions))
        q, k = (
            features(heads.projected(matrix[channel.head], None, t))
            for matrix in (heads.query, heads.key)
        )
        parts = np.array_split(t, len(t) ** 2 // CELLS + 1)
        demand(len(t) ** 2 <= MOST, "a head has too many weights to check")
        uneven, astray, lost, most = np.max(
            [_weights(heads, operation.size, q, k, rows) for rows in parts], axis=0
        )
        noise = float(heads.stream.noise[source.name].max())
        largest = float(max(source.domain))
        heads.check_sums((largest + noise) * max(1.0, most))
        far = uneven + astray
        error = largest * far + noise * (1 + far) + lost * (1 + largest + noise)
        error += 4 * form.unit * (largest + noise) * (1 + far)
        sums = channel.domain[-1:].astype(np.float64)
        worst = heads.written(channel, sums, gain * error * INFLATION).max()
        look = Look(float(astray), 0.0, float(uneven), float(uneven))
        values = channel.domain
        return per_value(channel, values, np.full(len(values), worst)), look


def features(x: Noisy) -> Range:
    """Between which bounds the computed elu(x) + 1 lie."""
    phi = np.where(x.value > 0, x.value + 1, np.exp(np.minimum(x.value, 0)))
    unit = FEATURE_ERROR * x.form.sum_unit + 8 * OWN_UNIT
    off = (x.total + unit * np.maximum(phi, 1)) * INFLATION
    return np.maximum(phi - off, 0), phi + off


def _weights(
    heads: Heads, size: int, q: Range, k: Range, t: IntArray
) -> tuple[float, float, float, float]:
    """Of the rows t: how uneven weights are, what is astray, what is lost, the most.

    What is uneven is by how much weights of one block can differ, in units of the least;
    what is astray is that of all other positions, and what is lost in products that are
    too small, in units of the least that the block has together.
    """
    form, entries = heads.stream.form, k[0].shape[1]
    j = np.arange(len(k[0]))
    own = -(-j // size) == before_block(t, size)[:, None]
    hidden = heads.kind.hidden(t, len(j))
    demand(~(own & hidden), "a block is out of sight")
    load = (2 * len(j) + 2 * entries + 32) * form.sum_unit
    demand(load < 0.25, "too many weights to add up")
    small = (entries + 1) * form.smallest * (1 + q[1].max() + k[1].max())
    low = (q[0][t] @ k[0].T) * (1 - load / (1 - load)) - small
    high = (q[1][t] @ k[1].T) * (1 + load / (1 - load)) + small
    least = np.where(own, low, np.inf).min(axis=1)
    demand(least > 0, "a block may have no weight")
    together = own.sum(axis=1) * least
    uneven = np.where(own, high, 0).max(axis=1) / least - 1
    astray = np.where(own | hidden, 0, high).sum(axis=1) / together
    lost = len(j) * small * np.maximum(1 / together, 1)
    most = max(float(high.max()), float(k[1].max()))
    return float(uneven.max()), float(astray.max()), float(lost.max()), most
