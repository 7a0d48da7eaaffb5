"""Tables of a sum of two integers that the MLP takes them from without storing the sum.

Every unit of the first hidden layer reads both integers with one weight, and so their sum:
one row for each value of the sum, not one for each pair (docs/soundness.md, Theorem 14b).
"""

import numpy as np

from network.precision import FloatArray
from verify.errors import Rejected
from verify.mlp import Mlp
from verify.noisy import Noisy
from verify.statement import Channel
from verify.stream import per_value


def sum_of(mlp: Mlp, channel: Channel) -> Channel | None:
    """The sum of two stored integers that a table is one of, if it is not stored."""
    if channel.op != "table" or len(channel.inputs) != 1:
        return None
    (name,) = channel.inputs
    summed = mlp.statement.channels[name]
    if name in mlp.stream.names or summed.op != "sum" or len(summed.inputs) != 2:
        return None
    parts = [mlp.statement.channels[n] for n in summed.inputs]
    integers = not any(p.one_hot or p.name not in mlp.stream.names for p in parts)
    return summed if integers and parts[0] != parts[1] else None


def check_along(mlp: Mlp, channel: Channel, summed: Channel) -> FloatArray:
    """The noise of each value of a table of a sum that is not stored.

    Raises:
        Rejected: If the MLP reads anything but the sum, or adds to another channel.
    """
    units = mlp.writers(channel.span)
    dims = [mlp.statement.channels[n].span.start for n in summed.inputs]
    read = mlp.layers[0][0][:, mlp.needed(units)[1]]
    alike = np.array_equal(read[dims[0]], read[dims[1]])
    if not alike or np.delete(read, dims, axis=0).any():
        raise Rejected(f"an MLP does not read {channel.name!r} from the sum alone")
    if mlp.kept_channels(channel.span):
        raise Rejected("an MLP adds to dimensions that hold another channel")
    occur = [s for s in summed.domain if (s,) in channel.table]
    x = _halves(mlp, dims, summed, occur)
    results = np.array([channel.table[(s,)] for s in occur], dtype=np.int64)
    above, after = mlp.layers[-1]
    above, after = above[np.ix_(units, np.array(channel.span))], after[channel.span]
    out = mlp.activations(x, units).affine(above, after)
    distance = mlp.off(x, out, channel.span, channel.code(results))
    return per_value(channel, results, distance)


def _halves(mlp: Mlp, dims: list[int], summed: Channel, sums: list[int]) -> Noisy:
    """The stream with half of each sum in either dimension, and the noise of both."""
    x = np.zeros((len(sums), len(mlp.mask)))
    x[:, dims] = np.array(sums, dtype=np.float64)[:, None] / 2
    slopes = []
    for dim, name in zip(dims, summed.inputs, strict=True):
        slopes.append(np.zeros_like(x))
        slopes[-1][:, dim] = mlp.stream.noise[name].max()
    return Noisy(x, tuple(slopes), (1.0, 1.0), np.zeros_like(x), mlp.precision)
