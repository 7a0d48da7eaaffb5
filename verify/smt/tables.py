"""The tables that the MLPs of a model file hold, as gadgets.

Weights and places come from the file; what a channel must hold is worked out here from
the Program that the file states, value by value, without the code of the proof that
covers them by cubes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.modelfile import ModelFile
from verify.errors import Rejected
from verify.smt.exact import Layers, Rationals, layers_of, mask_of
from verify.smt.gadgets import Gadget, Row
from verify.statement import Channel, Reach, Statement, check_domains, parse
from verify.stream import FEATURE, owners

MOST_ROWS = 4096


@dataclass(frozen=True)
class Block:
    """The MLP of a block, with what the file says of the stream around it.

    Attributes:
        statement: The Program.
        reach: The values of each channel.
        snapshot: That before the MLP.
        owner: ``(d,)``: the channel of each dimension, as `verify.stream.owners` says.
        names: The channels that are stored before it.
        layers: Its affine layers.
        mask: ``(d,)``: what it keeps of its input.
    """

    statement: Statement
    reach: Mapping[str, Reach]
    snapshot: int
    owner: IntArray
    names: tuple[str, ...]
    layers: Layers
    mask: Rationals

    def gadgets(self) -> Iterator[Gadget]:
        """One gadget for every channel that the MLP writes.

        Raises:
            Rejected: If a channel depends on what is not stored, or on too much.
        """
        for channel in self.statement.channels.values():
            if channel.dims and channel.born == self.snapshot + 1:
                yield self._gadget(channel)

    def _gadget(self, channel: Channel) -> Gadget:
        layers, used = trimmed(self.layers, list(channel.span), self.mask)
        kept = np.full((len(used), len(channel.span)), Fraction(0), dtype=object)
        for i, dimension in enumerate(channel.span):
            kept[used == dimension, i] = self.mask[dimension]
        rows = tuple(self._rows(channel, used))
        return Gadget(channel.name, layers, kept, rows)

    def _rows(self, channel: Channel, used: IntArray) -> Iterator[Row]:
        if (self.owner[used] == FEATURE).any():
            raise Rejected(f"the MLP of {channel.name!r} reads a position feature")
        read = {self.names[i] for i in self.owner[used] if i >= 0}
        known = sorted(read | self._leaves(channel))
        for values in self._joint(channel.name, known):
            row = dict(zip(known, values, strict=True))
            codes = np.full(len(self.owner), Fraction(0), dtype=object)
            for name, value in row.items():
                leaf = self.statement.channels[name]
                codes[list(leaf.span)] = _code(leaf, value)
            yield Row(codes[used], _code(channel, self._value(channel, row)))

    def _joint(self, name: str, known: list[str]) -> Iterator[tuple[int, ...]]:
        """The values at BOS, and all joint values later."""
        later = [sorted(self.reach[n].later) for n in known]
        if prod(map(len, later)) > MOST_ROWS:
            raise Rejected(f"{name!r} depends on more than {MOST_ROWS} joint values")
        yield tuple(self.reach[n].bos for n in known)
        yield from product(*later)

    def _leaves(self, channel: Channel) -> set[str]:
        """The stored channels that a channel is defined by."""
        if channel.name in self.names:
            return {channel.name}
        if channel.op not in ("table", "select", "sum"):
            raise Rejected(f"{channel.name!r} is not there where an MLP needs it")
        inputs = (self.statement.channels[n] for n in channel.inputs)
        return set().union(*map(self._leaves, inputs))

    def _value(self, channel: Channel, known: Mapping[str, int]) -> int:
        if channel.name in known:
            return known[channel.name]
        inputs = tuple(
            self._value(self.statement.channels[n], known) for n in channel.inputs
        )
        if channel.op == "table":
            return channel.table[inputs]
        return sum(inputs) if channel.op == "sum" else inputs[1 + inputs[0]]


def _code(channel: Channel, value: int) -> Rationals:
    if not channel.one_hot:
        return np.array([Fraction(value)], dtype=object)
    return np.array([Fraction(int(i == value)) for i in range(len(channel.span))])


def trimmed(
    layers: Layers, dims: list[int], mask: Rationals
) -> tuple[Layers, IntArray]:
    """The layers with what bears on some output dimensions, and the inputs of these."""
    parts: list[tuple[Rationals, Rationals]] = []
    alive = np.array(dims)
    for weight, bias in reversed(layers):
        below = np.flatnonzero((weight[:, alive] != 0).any(axis=1))
        parts.insert(0, (weight[np.ix_(below, alive)], bias[alive]))
        alive = below
    stay = [d for d in dims if mask[d]]
    used = np.union1d(alive, np.array(stay, dtype=np.int64)).astype(np.int64)
    first, bias = parts[0]
    wide = np.full((len(used), first.shape[1]), Fraction(0), dtype=object)
    wide[np.searchsorted(used, alive)] = first
    return ((wide, bias), *parts[1:]), used


def gadgets(file: ModelFile) -> Iterator[Gadget]:
    """The gadgets of all blocks of a Transformer, in order.

    Raises:
        Rejected: If the file holds no Transformer with a Program, or one whose MLPs are
            no tables of what is stored.
    """
    if file.header["architecture"]["kind"] != "transformer":
        raise Rejected("only Transformers have MLPs that hold tables")
    letters = file.header["architecture"]["vocabulary"] - 1
    length = file.header["claim"].get("length")
    if type(length) is not int or "program" not in file.header:
        raise Rejected("the file does not say what its channels are")
    statement = parse(file.header["program"], letters, length)
    reach = check_domains(statement)
    width = file.tensors["embed.token"].shape[1]
    for block, shape in enumerate(file.header["architecture"]["blocks"]):
        if shape["mlp"]:
            owner, names = owners(statement, 2 * block + 1, width)
            owners(statement, 2 * block + 2, width)  # refuses places that are not there
            found = layers_of(file, block), mask_of(file, block)
            at = (2 * block + 1, owner.astype(np.int64), names)
            yield from Block(statement, reach, *at, *found).gadgets()
