"""The tables that the MLPs of a model file hold, as gadgets.

Weights and places come from the file; what a channel must hold is worked out here from
the Program that the file states, value by value, without the code of the proof that
covers them by cases.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.program import Map, Refused
from krohn.program.domains import IntArray, joint
from krohn.program.statement import Channel, Statement, parse
from krohn.verify.errors import Rejected
from krohn.verify.smt.exact import Layers, Rationals, fractions, layers_of, mask_of
from krohn.verify.smt.gadgets import Gadget, Row

MOST_ROWS = 4096
MALFORMED = (Refused, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Block:
    """The MLP of a block, with the places of channels around it.

    Attributes:
        statement: The Program.
        snapshot: The snapshot before the MLP.
        held: For each dimension that holds a channel before it, the channel's name.
        layers: Its affine layers.
        mask: ``(d,)``: 1 where it keeps its input.
    """

    statement: Statement
    snapshot: int
    held: Mapping[int, str]
    layers: Layers
    mask: Rationals

    def gadgets(self) -> Iterator[Gadget]:
        """One gadget for every channel that the MLP writes.

        Raises:
            Rejected: If a channel depends on unstored channels, or on too many values.
        """
        for channel in self.statement.channels.values():
            if channel.stored and channel.stored.born == self.snapshot + 1:
                yield self._gadget(channel)

    def _gadget(self, channel: Channel) -> Gadget:
        layers, used = trim(self.layers, list(channel.span), self.mask)
        kept = np.full((len(used), len(channel.span)), Fraction(0), dtype=object)
        for i, dimension in enumerate(channel.span):
            kept[used == dimension, i] = self.mask[dimension]
        rows = tuple(self._rows(channel, used))
        return Gadget(channel.name, layers, kept, rows)

    def _rows(self, channel: Channel, used: IntArray) -> Iterator[Row]:
        features = self.statement.features.values()
        if any(d in range(*span) for span in features for d in used.tolist()):
            raise Rejected(f"the MLP of {channel.name!r} reads a position feature")
        read = {self.held[d] for d in used.tolist() if d in self.held}
        values = self._joint(channel.name, sorted(read | self._leaves(channel)))
        codes = np.full(
            (len(values[channel.name]), len(self.mask)), Fraction(0), object
        )
        for name in values.keys() & set(self.held.values()):
            leaf = self.statement.channels[name]
            codes[:, list(leaf.span)] = _codes(leaf, values[name])
        results = _codes(channel, values[channel.name])
        yield from map(Row, codes[:, used], results)

    def _joint(self, name: str, known: list[str]) -> dict[str, IntArray]:
        """The values at BOS, and all joint values later, with those of the Maps between."""
        read = [self.statement.channels[n].values for n in known]
        if np.prod([len(v.later) for v in read], dtype=object) > MOST_ROWS:
            raise Rejected(f"{name!r} depends on more than {MOST_ROWS} joint values")
        rows = np.vstack([[v.bos for v in read], joint([v.later for v in read])])
        found = dict(zip(known, rows.T, strict=True))
        self._follow(name, found)
        return found

    def _leaves(self, channel: Channel) -> set[str]:
        """The stored channels that a channel is defined by."""
        if channel.name in self.held.values():
            return {channel.name}
        if not isinstance(channel.operation, Map):
            raise Rejected(f"{channel.name!r} is not there where an MLP needs it")
        return set().union(*map(self._leaves, self.statement.reads(channel.name)))

    def _follow(self, name: str, known: dict[str, IntArray]) -> None:
        """Evaluate a channel, and the channels that it is computed from."""
        operation = self.statement.operations[name]
        if name not in known and isinstance(operation, Map):
            for below in operation.reads:
                self._follow(below, known)
            known[name] = operation.function([known[n] for n in operation.reads])


def _codes(channel: Channel, values: IntArray) -> Rationals:
    """``(values, dimensions)``."""
    return fractions(channel.code(values))


def trim(layers: Layers, dims: list[int], mask: Rationals) -> tuple[Layers, IntArray]:
    """The layers cut down to some output dimensions, and the inputs that these need."""
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
            no tables of stored channels.
    """
    if not kind_of(file.header["architecture"]).program:
        raise Rejected("only Transformers have MLPs that hold tables")
    letters = file.header["architecture"]["vocabulary"] - 1
    length, said = file.header["claim"].get("length"), file.header.get("program")
    if type(length) is not int or not isinstance(said, dict):
        raise Rejected("the file does not say what its channels are")
    try:
        statement = parse(said, letters, length)
    except MALFORMED as reason:
        raise Rejected(f"the Program cannot be read: {reason}") from None
    width = file.tensors["embed.token"].shape[1]
    for block, shape in enumerate(file.header["architecture"]["blocks"]):
        if shape["mlp"]:
            before = channels_of_dimensions(statement, 2 * block + 1, width)
            channels_of_dimensions(
                statement, 2 * block + 2, width
            )  # refuses places that are not there
            found = layers_of(file, block), mask_of(file, block)
            yield from Block(statement, 2 * block + 1, before, *found).gadgets()


def channels_of_dimensions(
    statement: Statement, snapshot: int, width: int
) -> dict[int, str]:
    """Which channel each dimension holds at a snapshot, if it holds one.

    Raises:
        Rejected: If two of them, or of the position features, claim a dimension, or one
            lies outside the stream.
    """
    live = {
        channel.name: channel.span
        for channel in statement.channels.values()
        if channel.stored and channel.stored.born <= snapshot <= channel.stored.dies
    }
    claims = [*live.values(), *(range(*span) for span in statement.features.values())]
    taken = [d for span in claims for d in span]
    if len(set(taken)) < len(taken) or not set(taken) <= set(range(width)):
        raise Rejected("two channels overlap, or one lies outside the residual stream")
    return {d: name for name, span in live.items() for d in span}
