"""Every number of the residual stream beside its right value and its bound."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from krohn.instruments.attack.worst_seen import (
    Batch,
    Key,
)
from krohn.network.precision import FloatArray
from krohn.program import LookBack
from krohn.program.interpreter import interpret
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.established import Established
from krohn.verify.checker.residual_stream import FEATURE, FREE, Stream

# The right values of a Program's channels, as tensors.


Values = Mapping[str, Tensor]
"""For each channel ``(batch, time + 1)`` integers; column 0 is BOS."""


def values(statement: Statement, words: Tensor) -> Values:
    """The true values on words ``(batch, time)`` of letter indices."""
    columns = interpret(statement, words.numpy())
    return {name: torch.from_numpy(column.copy()) for name, column in columns.items()}


def sources(operation: LookBack, true: Values) -> Tensor:
    """``(batch, time + 1)``: the position that each position fetches from."""
    first, *read = (true[name].numpy() for name in operation.reads)
    at = operation.position(read, np.arange(first.shape[1]))
    return torch.from_numpy(np.broadcast_to(at, first.shape).copy())


# Every number of the residual stream beside its right value and its bound.


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Tensor:
    return torch.from_numpy(rng.integers(2, size=shape) * 2.0 - 1.0)


def _columns(rng: np.random.Generator, shape: tuple[int, ...]) -> Tensor:
    return _signs(rng, shape[-1:]).expand(shape)


def _inside(rng: np.random.Generator, shape: tuple[int, ...]) -> Tensor:
    return torch.from_numpy(rng.random(shape) * 2.0 - 1.0)


SIDES = (_signs, _columns, _inside)
"""To which end of its bound each number is moved: each by itself, all of one dimension
alike, or anywhere between."""


@dataclass(frozen=True)
class Code:
    """How a channel is laid out, and how far it may be off.

    Attributes:
        channel: The channel.
        codes: ``(values, dimensions)``: the code of each value.
        noise: ``(values, 1)``: the bound of each value.
        columns: Where it stands among all channels beside each other.
    """

    channel: Channel
    codes: Tensor
    noise: Tensor
    columns: range

    @property
    def exact(self) -> bool:
        """Whether nothing may be off."""
        return not bool(self.noise.any())


@dataclass(frozen=True)
class Snapshot:
    """The dimensions of a snapshot, by their content.

    Attributes:
        index: Which snapshot it is.
        dims: ``(numbers,)``: dimensions that hold channels.
        columns: Their places among the codes of all channels, side by side.
        keys: The bound that each of them is held against.
        born: ``(numbers,)``: whether it first stands here. All others are kept.
        exact: ``(numbers,)``: whether nothing may be off.
        features: Dimensions of position features.
        free: Dimensions that hold nothing.
        bound: ``(free,)``: the bound of each free dimension.
        count: How many numbers of each operation there are.
    """

    index: int
    dims: Tensor
    columns: Tensor
    keys: list[Key]
    born: Tensor
    exact: Tensor
    features: Tensor
    free: Tensor
    bound: Tensor
    count: Counter[str]


@dataclass(frozen=True)
class Stored:
    """The bounds of a proof on the residual stream.

    Attributes:
        codes: Every stored channel.
        snapshots: The content of the dimensions at each snapshot.
        positions: ``(T + 1, d)``: the position embedding.
        wide: The format in which differences are taken, which is exact near a code.
    """

    codes: tuple[Code, ...]
    snapshots: tuple[Snapshot, ...]
    positions: Tensor
    wide: torch.dtype

    @staticmethod
    def of(bounds: Established, positions: FloatArray, dtype: str) -> "Stored":
        """Lay out all bounds for a network in a number format."""
        wide = torch.float64 if dtype == "float64" else torch.float32
        codes, top = [], 0
        noise = {n: x for stream in bounds.streams for n, x in stream.noise.items()}
        for name, bound in noise.items():
            channel = bounds.program.channels[name]
            columns = range(top, top + len(channel.span))
            codes.append(_code(channel, bound, columns, wide))
            top = columns.stop
        places = {code.channel.name: code for code in codes}
        snapshots = tuple(
            _snapshot(index, stream, places, wide)
            for index, stream in enumerate(bounds.streams)
        )
        table = torch.from_numpy(positions).to(wide)
        return Stored(tuple(codes), snapshots, table, wide)

    @property
    def width(self) -> int:
        """How many numbers hold channels, all snapshots together."""
        return self.codes[-1].columns.stop

    def expected_codes(self, true: Values) -> tuple[Tensor, Tensor]:
        """Codes ``(batch, positions, width)`` and bounds of true values."""
        some = true[self.codes[0].channel.name]
        right = torch.empty((*some.shape, self.width), dtype=self.wide)
        allowed = torch.zeros_like(right)
        for code in self.codes:
            values, at = true[code.channel.name], code.columns
            right[..., at.start : at.stop] = code.codes[values]
            if not code.exact:
                allowed[..., at.start : at.stop] = code.noise[values]
        return right, allowed

    def judge(
        self,
        batch: Batch,
        seen: Sequence[Tensor],
        given: Sequence[Tensor],
        expected: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Hold every number of every snapshot against its bound.

        Args:
            batch: The words.
            seen: The stream ``(batch, positions, d)`` at each snapshot.
            given: The stream that each sublayer read.
            expected: Codes and bounds of the true values.

        Returns:
            ``(batch, width)``: the greatest share of its bound by word and number.
        """
        best = expected[0].new_zeros((len(seen[0]), self.width))
        wide = [x.to(self.wide) for x in seen]
        read = [x.to(self.wide) for x in given]
        for known, x in zip(self.snapshots, wide, strict=True):
            self._judge_born(batch, known, x, expected, best)
            self._judge_others(batch, known, x)
            if known.index:
                _judge_kept(batch, known, x, read[known.index - 1])
            for operation, count in known.count.items():
                batch.record.numbers[operation] += count * x.shape[0] * x.shape[1]
        return best

    def push(
        self,
        expected: tuple[Tensor, Tensor],
        rng: np.random.Generator,
        narrow: torch.dtype,
        snapshot: int,
        x: Tensor,
    ) -> Tensor:
        """Move every number of a snapshot to an end of its allowed interval, by chance.

        Args:
            expected: Codes and bounds of the true values.
            rng: Where chance comes from.
            narrow: The format of the network, whose numbers the result holds.
            snapshot: Which one.
            x: ``(batch, positions, d)``; it is kept where no such number is found.
        """
        known = self.snapshots[snapshot]
        right, allowed = (e[..., known.columns] for e in expected)
        far = allowed * SIDES[rng.integers(len(SIDES))](rng, right.shape).to(self.wide)
        new = x.to(self.wide, copy=True)
        before = new[..., known.dims]
        for shrunk in (1.0, 0.99, 0.9):
            moved = (right + shrunk * far).to(narrow).to(self.wide)
            within = (allowed > 0) & ((moved - right).abs() <= allowed)
            before = torch.where(within, moved, before)
            far = torch.where(within, 0.0, far)
            allowed = torch.where(within, 0.0, allowed)
        new[..., known.dims] = before
        return new.to(x.dtype)

    def _judge_born(
        self,
        batch: Batch,
        known: Snapshot,
        x: Tensor,
        expected: tuple[Tensor, Tensor],
        best: Tensor,
    ) -> None:
        """Judge the numbers that this sublayer has made."""
        right, allowed = expected
        dims, columns = known.dims[known.born], known.columns[known.born]
        off = (x[..., dims] - right[..., columns]).abs()
        # Most numbers may not be off at all, and are not.
        wanted = ~known.exact[known.born] | (off != 0).flatten(0, 1).any(dim=0)
        columns = columns[wanted]
        if len(columns):
            keys = [known.keys[i] for i in known.born.nonzero()[wanted, 0].tolist()]
            share = batch.judge(keys, off[..., wanted], allowed[..., columns])
            best[:, columns] = torch.maximum(best[:, columns], share)

    def _judge_others(self, batch: Batch, known: Snapshot, x: Tensor) -> None:
        if len(known.free):
            keys = [("free", "", known.index)] * len(known.free)
            batch.judge(keys, x[..., known.free].abs(), known.bound)
        if len(known.features):
            keys = [("features", "", known.index)] * len(known.features)
            table = self.positions[: x.shape[1], known.features]
            batch.judge(keys, (x[..., known.features] - table).abs(), x.new_zeros(1))


def _judge_kept(batch: Batch, known: Snapshot, x: Tensor, before: Tensor) -> None:
    """Judge the numbers that this sublayer must leave as they are, to the last bit."""
    dims = known.dims[~known.born]
    if len(dims):
        moved = (x[..., dims] - before[..., dims]).abs().amax(dim=2, keepdim=True)
        batch.judge([("kept", "", known.index)], moved, x.new_zeros(1))


def _code(
    channel: Channel, bound: FloatArray, columns: range, wide: torch.dtype
) -> Code:
    """Values outside the domain, which do not occur, have no code: nothing equals it."""
    values = channel.domain.tolist()
    codes = torch.full((values[-1] + 1, len(columns)), torch.nan, dtype=wide)
    codes[values] = torch.from_numpy(channel.code(channel.domain)).to(wide)
    noise = torch.zeros((values[-1] + 1, 1), dtype=torch.float64)
    noise[values, 0] = torch.from_numpy(bound)
    return Code(channel, codes, rounded_down(noise, wide), columns)


def rounded_down(bound: Tensor, wide: torch.dtype) -> Tensor:
    """A bound rounded down to a format."""
    near = bound.to(wide)
    below = torch.nextafter(near, torch.zeros_like(near))
    return torch.where(near.to(bound.dtype) > bound, below, near)


def _snapshot(
    index: int, stream: Stream, places: dict[str, Code], wide: torch.dtype
) -> Snapshot:
    live = [places[name] for name in stream.noise]
    keys = [
        (code.channel.op, code.channel.name, index)
        for code in live
        for _ in code.columns
    ]
    owner = torch.from_numpy(stream.owner)
    free = (owner == FREE).nonzero()[:, 0]
    features = (owner == FEATURE).nonzero()[:, 0]
    born = [code.channel.born == index for code in live for _ in code.columns]
    count = Counter(k[0] if new else "kept" for k, new in zip(keys, born, strict=True))
    count.update({"free": len(free), "features": len(features)})
    bound = torch.from_numpy(stream.free)[free]
    return Snapshot(
        index,
        torch.tensor([d for c in live for d in c.channel.span], dtype=torch.int64),
        torch.tensor([i for c in live for i in c.columns], dtype=torch.int64),
        keys,
        torch.tensor(born, dtype=torch.bool),
        torch.tensor([c.exact for c in live for _ in c.columns], dtype=torch.bool),
        features,
        free,
        rounded_down(bound, wide),
        count,
    )
