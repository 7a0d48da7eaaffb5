"""Sums of channels, put together from parts, passed on and stored (Theorems 14a, 14c)."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker import maps
from krohn.verify.checker.affine_arithmetic import (
    FINEST,
    Noisy,
    Sums,
    exact,
    finest,
    rounding,
)
from krohn.verify.checker.arithmetic import Format, Interval
from krohn.verify.checker.mlp import Layers, Mlp
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.residual_stream import FREE, Stream, per_value


def bound_noise(mlp: Mlp, channel: Channel) -> FloatArray:
    """``(values,)``: the noise of each value of a sum of channels.

    It is put together from its parts, if these are there, or else decided in cases.
    """
    if not adds_up(mlp.stream, channel):
        return maps.bound_noise(mlp, channel)
    return per_value(channel, channel.domain, _bound_sum(mlp, channel))


def adds_up(stream: Stream, channel: Channel) -> bool:
    """Whether a channel is a sum of channels that are there."""
    return channel.op == "sum" and stream.noise.keys() >= set(channel.inputs)


def _bound_sum(mlp: Mlp, channel: Channel) -> FloatArray:
    """``(values,)``: how far a sum of channels can be from each value (14a)."""
    sources, (weight, bias) = maps.Maps(mlp).apart(()), mlp.layers[-1]
    dims = np.array(channel.span)
    units = np.flatnonzero(weight[:, dims].any(axis=1))
    lone = sources.depends[-1][units].sum(axis=1) == 1
    demand(channel.integer, "a sum of stored channels is written one-hot")
    demand(lone, "a sum is not put together from its parts")
    demand(bias[dims] == 0, "something else is added to a sum")
    parts = list[tuple[Sums, FloatArray]]()
    for i in range(len(sources.each)):
        own = units[sources.depends[-1][units, i]]
        x = sources.run(i, mlp.layers[:-1], own)
        goal = sources.total(i, channel.inputs)[:, None]
        parts.append((x.products(weight[np.ix_(own, dims)]), goal))
    return total(mlp, channel, independent(parts, 0.0, mlp.stream.form))


def total(mlp: Mlp, channel: Channel, off: float, bias: float = 0.0) -> FloatArray:
    """``(values,)``: how far a channel is off that is written so far off.

    A bias may be added after the rest was stored (A2).
    """
    dims, stream = np.array(channel.span), mlp.stream
    kept = (mlp.mask[dims] != 0) & (stream.owner[dims] != FREE)
    demand(~kept, "something else is added to a sum")
    value = channel.domain[:, None].astype(np.float64)
    out = stored_either_way(value, off, bias, stream.form)
    left = np.full_like(value, (stream.free * mlp.mask)[dims].max())
    both = Noisy(np.zeros_like(value), out.slopes, left, stream.form).plus(out)
    return both.total[:, 0]


class Passing(NamedTuple):
    """A unit that passes a sum on.

    Attributes:
        place: Which unit of its layer.
        weight: What it is multiplied by.
        name: Its activation.
    """

    place: int
    weight: float
    name: str

    @property
    def faithful(self) -> bool:
        """Whether it is a ReLU with weight 1, or a GeLU with a power of two up to 1."""
        if self.name == "relu":
            return self.weight == 1
        # Beyond 1, what is flushed to 0 inside (A9) would be larger outside.
        binary = 0 < self.weight <= 1 and np.frexp(self.weight)[0] == 0.5
        return self.name == "gelu" and bool(binary)


def passing_on(layers: Layers, activations: list[StrArray], at: int) -> list[Passing]:
    """The unit of each layer but the first that passes on a sum, the last layer first.

    Args:
        layers: The weights of an MLP.
        activations: The names of those of its units.
        at: The dimension that the sum is written to.

    Raises:
        Refused: If it is not passed on as it is.
    """
    chain = list[Passing]()
    above = zip(layers[2:], activations[1:], strict=True)
    for (weight, bias), names in reversed(list(above)):
        units = np.flatnonzero(weight[:, at])
        demand(len(units) == 1 and bias[at] == 0, "a sum is changed on its way")
        unit = Passing(int(units[0]), float(weight[units[0], at]), str(names[units[0]]))
        demand(unit.faithful, "a sum is changed on its way")
        chain.append(unit)
        at = unit.place
    # Sums inside are larger by as much, and must not overflow on the way.
    demand(whole_gain(chain) >= 2.0**-FINEST, "a sum is passed on at too large a scale")
    return chain


def whole_gain(passing: Sequence[Passing]) -> float:
    """The product of all factors of a sum."""
    return prod(unit.weight for unit in passing)


def bound_passed_sum(
    passing: Sequence[Passing], values: IntArray, off: float, bias: float, form: Format
) -> float:
    """How far off a sum is after units that pass it on; it is never negative.

    Args:
        passing: The units, the last one first.
        values: What the sum can be.
        off: How far it is off before it is first stored, multiplied by what units do.
        bias: The bias that is part of it, multiplied likewise.
        form: The format.
    """
    gain = whole_gain(passing)
    value = values[:, None] / gain
    x = stored_either_way(value, off / gain, bias / gain, form)
    for unit in reversed(passing):
        x = x.apply_activations(np.array([unit.name]))
        x = x.affine(np.array([[unit.weight]]), np.zeros(1))
    return float(x.total.max())


def independent(
    parts: Iterable[tuple[Sums, FloatArray]], bias: float, form: Format
) -> float:
    """How far a sum can be off before it is stored, each part having any of its values.

    Args:
        parts: What each part adds, ``(values, 1)``, and what it should add.
        bias: What else is added.
        form: The format.
    """
    off, size = Interval.of(0.0), Interval.of(abs(bias))
    terms, known, grid = 1.0, True, finest(np.array([bias]))
    for sums, goal in parts:
        off += (abs(Interval.of(sums.value) - goal) + sums.total).max()
        size, terms = size + float(sums.size.max()), terms + float(sums.terms.max())
        known, grid = known and bool(sums.known.all()), max(grid, sums.grid)
    one = np.ones(1)
    rest = rounding(form, terms * one, size.high * one, one * known > 0, grid)
    return (off + float(rest[0])).most


def stored_either_way(
    value: FloatArray, off: float, bias: float, form: Format
) -> Noisy:
    """Numbers ``(rows, width)`` so far off before they are stored, and how far after it.

    A bias may be added after the rest was stored (A2).
    """
    none, error = np.zeros((0, *value.shape)), np.full_like(value, off)
    ways = [Noisy(value, none, error, form).store_rounded()]
    if bias:
        rest = Noisy(value - bias, none, error, form).store_rounded()
        ways.append(rest.plus(exact(np.full_like(value, bias), form)))
    return Noisy(value, none, np.maximum.reduce([way.total for way in ways]), form)
