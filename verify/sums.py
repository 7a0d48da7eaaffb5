"""The MLP of a block adds up channels: many inputs, no table of their joint values.

A sum of n channels of m values would have a table of m^n rows. Where every unit depends
on one of the n only, each channel is looked at by itself (docs/soundness.md, section 5).
"""

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray
from verify.errors import Rejected
from verify.mlp import Mlp
from verify.noisy import INFLATION, UNDERFLOW, Noisy, summation
from verify.statement import Channel
from verify.stream import per_value


def check_sum(mlp: Mlp, channel: Channel) -> FloatArray:
    """The noise of each value of a channel that is the sum of others.

    Raises:
        Rejected: If the MLP does not add them up.
    """
    missing = [n for n in channel.inputs if n not in mlp.stream.names]
    if missing:
        raise Rejected(f"channel {missing[0]!r} is not there where it is added")
    units = mlp.writers(channel.span)
    _check_form(mlp, channel, units)
    off, size = 0.0, 0.0
    for name in channel.inputs:
        part = mlp.reads[-1][units][:, mlp.stream.names.index(name)]
        found = _part(mlp, mlp.statement.channels[name], channel.span, units[part])
        off, size = off + found[0], size + found[1]
    terms = np.array([len(units) + 1.0])
    rounding = float(summation(mlp.precision, terms)[0]) * size
    off = (off + rounding + float(terms[0]) * UNDERFLOW) * INFLATION
    values = np.array(channel.domain)
    x = values[:, None].astype(np.float64)
    out = Noisy(x, (), (), np.full_like(x, off), mlp.precision).stored()
    rest = np.full_like(x, float((mlp.stream.free * mlp.mask)[channel.span].max()))
    kept = Noisy(np.zeros_like(x), (), (), rest, mlp.precision)
    return per_value(channel, values, kept.plus(out).total[:, 0] * INFLATION)


def _check_form(mlp: Mlp, channel: Channel, units: IntArray) -> None:
    """Every unit depends on one input, each of which occurs once, and nothing else adds.

    Raises:
        Rejected: If not.
    """
    inputs = [mlp.stream.names.index(n) for n in channel.inputs]
    reads = mlp.reads[-1][units]
    apart = (reads.sum(axis=1) == 1).all() and (reads[:, inputs].sum(axis=1) == 1).all()
    if channel.one_hot or len(set(inputs)) < len(inputs) or not apart:
        raise Rejected(f"the sum {channel.name!r} is not put together from its parts")
    kept = any(mlp.mask[d] and mlp.stream.channel_of(d) for d in channel.span)
    if kept or mlp.layers[-1][1][channel.span].any():
        raise Rejected(f"something else is added to the sum {channel.name!r}")


def _part(mlp: Mlp, read: Channel, dims: range, units: IntArray) -> tuple[float, float]:
    """How far the part of one channel can be from its value, and how large its terms."""
    values = np.array(read.domain)
    weight = mlp.layers[-1][0][np.ix_(units, np.array(dims))]
    hidden = mlp.hidden({read.name: values}, units)
    off = np.abs(hidden.value @ weight - values[:, None])
    off = off + hidden.total @ np.abs(weight)
    size = (np.abs(hidden.value) + hidden.total) @ np.abs(weight)
    return float(off.max()), float(size.max())
