"""MLPs: what they write is the stated function of what was there (docs/proofs/mlps.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.program.operations.map import Map
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import FARTHEST, STORED, fits
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.registry import rule
from krohn.verify.checker.residual_stream import FREE, Stream

Layers = list[tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Mlp:
    """An MLP over what is known of the stream before it.

    Attributes:
        layers: The weight ``(inputs, outputs)`` and bias of each affine layer.
        activations: The names of those of the units of each hidden layer.
        mask: ``(d,)``: which dimensions keep what they hold, 0 or 1.
        stream: What is known.
        cases: What evidence says of the cases that decide maps, by their names.
        apart: What `maps` has found of its inputs.
        single: The parts of that which are no sums.
        shown: The noise of maps of this network, by all that it depends on.
        at_bos: What stands in all dimensions after it at BOS, once `maps` has found it.
    """

    layers: Layers
    activations: list[StrArray]
    mask: FloatArray
    stream: Stream
    cases: Mapping[str, Any] = field(default_factory=dict)
    apart: dict[tuple[str, ...], Any] = field(init=False, default_factory=dict)
    single: dict[tuple[str, ...], Any] = field(init=False, default_factory=dict)
    shown: dict[Any, FloatArray] = field(default_factory=dict)
    at_bos: list[Noisy] = field(init=False, default_factory=list)

    def bound_noise(self, channel: Channel) -> FloatArray:
        """``(values,)``: the noise of each value of a channel that is written here."""
        operation = channel.operation
        name = (
            operation.function.check if isinstance(operation, Map) else operation.check
        )
        known = bool(name) and not operation.is_attention
        demand(known, f"no MLP computes {channel.name!r}")
        demand(len(self.layers) > 1, "a block without an MLP writes nothing")
        noise: FloatArray = rule(name).bound_noise(self, channel)
        return noise

    def check_fresh(self, channel: Channel) -> None:
        """Refuse a channel that is added to something."""
        alone = self.stream.fresh(channel.span) | (self.mask[channel.span] == 0)
        demand(alone, f"{channel.name!r} is added to something")

    def bound_residue(self, free: BoolArray) -> FloatArray:
        """``(d,)``: how far dimensions that must hold 0 can be from it after the MLP."""
        left = self.stream.free * self.mask * free
        adds = (self.mask != 0) & (self.stream.owner != FREE)
        for weight, bias in self.layers[-1:]:
            adds = adds | weight.any(axis=0) | (bias != 0)
        for dim in np.flatnonzero(free & adds).tolist():
            demand(bool(self.layers), "no layer clears a channel that ends")
            off = rule("erasure").left(self, dim)
            left[dim] = float(rule("maps").left(self, dim) if off is None else off)
        return left

    def keeps(self, dims: range) -> bool:
        """Whether dimensions stay exactly as they are."""
        adds = self.layers and any(x[..., dims].any() for x in self.layers[-1])
        return not adds and bool((self.mask[dims] == 1).all())

    def check_reads(self) -> None:
        """An MLP reads channels only; units that nothing reads are finite: 0 · ∞ is not 0.

        These are bounded from the largest numbers that all others can hold.
        """
        stream, every = self.stream, np.arange(len(self.mask))
        needed, reach = below(self.layers, every)[1:-1], np.zeros(len(every))
        for name in stream.noise:
            reach[stream.program.channels[name].span] = stream.reach(name)
        for weight, _ in self.layers[:1]:
            demand(stream.owner[weight.any(axis=1)] >= 0, "an MLP reads too much")
        for (weight, bias), live in zip(self.layers, needed, strict=False):
            reach = np.maximum(2 * (reach @ np.abs(weight) + np.abs(bias)), 2.0)
            idle = np.delete(reach, live)
            fits(idle, stream.form, "a unit that nothing reads", STORED)
            demand(idle <= FARTHEST, "a unit that nothing reads is far from 0")


def below(layers: Layers, units: IntArray) -> list[IntArray]:
    """Indices that some outputs of layers depend on: of the input, and of each layer."""
    needed = [units]
    for weight, _ in reversed(layers):
        needed.insert(0, np.flatnonzero(weight[:, needed[0]].any(axis=1)))
    return needed
