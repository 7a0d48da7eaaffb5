"""The heads of a model file that copy by position, which a runtime need not weigh.

Such a head has scores that are the same for all words, and one weight beside which all
others together are lost in rounding, whatever they multiply. The file's program says that
it fetches, and of a network that is proved Theorem 12 of docs/proofs/attention.md bounds
how far what it returns is from the value at the right position. A copy is that value.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from krohn.network.meaning.fast_tensors import Copy
from krohn.network.meaning.net import Heads, Net
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray, Precision
from krohn.program.attention import Sight, Softmax
from krohn.program.domains import IntArray
from krohn.program.operations import operation_named

Copies = tuple[Copy | None, ...]
"""For each block with heads what is known of its copies, if anything."""
PAIRS = 2**18
"""Scores that are looked at together."""
WORDS = 10
"""To look at the scores of a word takes as long as to read so many."""
MOST_ROOM = 64.0
"""The largest logarithm of a value that is copied.

e^64 is below 2^93, so float32 and bfloat16 hold a sum of 2^34 of such values.
"""


@dataclass
class _Fetching:
    """The heads of a block, all of which fetch, by dimensions that no block changes.

    Attributes:
        heads: The heads.
        features: The dimensions of the stream that queries and keys read.
        sources: ``(rows, heads)``: from which position each copies, as far as is known.
        room: The logarithm of the largest value beside which others are lost, as far as is
            known; below 0 they do not copy.
    """

    heads: Heads[FloatArray]
    features: slice
    sources: IntArray
    room: float = MOST_ROOM

    @property
    def copies(self) -> bool:
        """Whether they copy, as far as is known."""
        return self.room >= 0

    @np.errstate(all="ignore")  # what is not a number is no copy
    def look(self, stream: FloatArray, form: Precision) -> None:
        """Look at the scores of more rows ``(n, d)``.

        Args:
            stream: What is embedded.
            form: The format that all is stored in.
        """
        sources, count, heads = [self.sources], len(stream), self.heads
        read, unit = stream[:, self.features], form.accumulator_unit
        queries, off_q = _stored(read, heads.query[:, self.features], form)
        keys, off_k = _stored(read, heads.key[:, self.features], form)
        # By how much scores of a row are off, exponents included, with the largest keys:
        # in units of |query||key|, 1 for each product of the sum (Lemma 5), 8 for the
        # exponent (Lemma 11b), and 1 for second order and the exponential, which is off
        # by a few units where a head that copies has scores of 8 and more.
        largest, most_off = (np.abs(x).max(axis=1)[..., None] for x in (keys, off_k))
        size = (np.abs(queries) + off_q) @ (largest + most_off)
        off = off_q @ (largest + most_off) + np.abs(queries) @ most_off
        off = (off + (queries.shape[2] + 9) * unit * size)[..., 0]
        if not size.max() <= form.largest:  # a score can overflow, or is no number
            self.room = -np.inf
        keys = keys.swapaxes(1, 2)
        step = max(1, PAIRS // count)
        for at in range(len(self.sources), count, step):
            rows = np.arange(at, min(count, at + step))
            end = rows[-1] + 1
            scores = queries[:, at:end] @ keys[:, :, :end]
            scores[:, np.arange(end) > rows[:, None]] = -np.inf
            best = scores.argmax(axis=2)[..., None]
            ahead = np.take_along_axis(scores, best, axis=2)[..., 0]
            np.put_along_axis(scores, best, -np.inf, axis=2)
            ahead -= scores.max(axis=2)
            # All others together weigh at most half a unit: 1 added to them is 1.
            room = ahead - 2 * off[:, at:end] - np.log(2 * np.maximum(rows, 1) / unit)
            self.room = float(np.minimum(self.room, room.min()))
            sources.append(best[..., 0].T)
        self.sources = np.concatenate(sources)


def _stored(
    x: FloatArray, weight: FloatArray, form: Precision
) -> tuple[FloatArray, FloatArray]:
    """``x @ weight`` as a format stores it, and how far the order of sums can move it."""
    terms = (x != 0).astype(np.float64) @ (weight != 0)
    off = form.accumulator_unit * terms * (np.abs(x) @ np.abs(weight))
    value = x @ weight
    low, high = (form.round(value + sign * off) for sign in (-1, 1))
    return (low + high) / 2, (high - low) / 2


class CopyingHeads:
    """What is known of the heads of a file, for words of the lengths that were read.

    Two of one file are alike.
    """

    __slots__ = ("blocks", "file", "last", "scores")

    def __init__(self, file: ModelFile) -> None:
        self.file, self.scores = file, 0
        self.blocks: list[_Fetching | None] | None = None
        self.last: tuple[int, Copies] | None = None

    def __eq__(self, other: object) -> bool:
        """Whether they are about one file."""
        return isinstance(other, CopyingHeads) and self.file is other.file

    __hash__ = None  # type: ignore[assignment]

    def of_words(self, tokens: Tensor) -> Copies:
        """What is known for words ``(batch, n)`` on the CPU, BOS included.

        Nothing until so much was read that it pays to look.
        """
        if not tokens.is_cpu or type(tokens) is not Tensor:
            return ()
        (batch, count), last = tokens.shape, self.last
        if last is not None and last[0] == count:
            return last[1]
        self.scores += batch * count**2
        if self.scores < WORDS * count**2:
            return ()
        copies = self._look(count)
        self.last = count, copies
        return copies

    def _look(self, count: int) -> Copies:
        file, dtype = self.file, getattr(torch, self.file.precision.name)
        net = Net.of(file.architecture, file.tensors)
        if self.blocks is None:
            self.blocks = list(_fetching(file, net))
        if count > len(net.position):
            return ()
        # What an embedding of any word has in dimensions where all letters have 0.
        token, position = (
            torch.tensor(each, dtype=dtype)
            for each in (net.token, net.position[:count])
        )
        stream = position + torch.cat([token[-1:], token[:1].expand(count - 1, -1)])
        copies = list[Copy | None]()
        for block in self.blocks:
            if block is not None and block.copies and count > len(block.sources):
                block.look(stream.double().numpy(), file.precision)
            copies.append(_copy(block, stream))
        return tuple(copies)


def _copy(block: _Fetching | None, stream: Tensor) -> Copy | None:
    """What is known of a block, as a pass needs it."""
    if block is None or not block.copies:
        return None
    sources = block.sources[: len(stream)]
    rows = sources * sources.shape[1] + np.arange(sources.shape[1])
    query, key = (
        torch.tensor(each, dtype=stream.dtype)
        for each in (block.heads.query, block.heads.key)
    )
    embedded = stream[:, block.features].contiguous()
    source_rows = torch.tensor(rows.reshape(-1))
    largest = float(np.exp(block.room))
    return Copy(query, key, block.features, embedded, source_rows, largest)


def _fetching(file: ModelFile, net: Net[FloatArray]) -> Iterator[_Fetching | None]:
    """For each block with heads these, if all of them may copy by position."""
    fetch, features = _stated(file)
    for b, block in enumerate(net.blocks):
        if (heads := block.heads) is None:
            continue
        read = ((heads.query != 0) | (heads.key != 0)).any(axis=(0, 2)).nonzero()[0]
        if (
            heads.kind != Softmax()
            or {*heads.sights} != {Sight.CAUSAL}
            or not fetch.issuperset((b, h) for h in range(len(heads.query)))
            or not len(read)
            or not features.issuperset(range(read[0], read[-1] + 1))
        ):
            yield None
            continue
        along = slice(int(read[0]), int(read[-1]) + 1)
        none = np.zeros((0, len(heads.query)), np.int64)
        varies = net.token[:-1, along].any()
        yield None if varies else _Fetching(heads, along, none)


def _stated(file: ModelFile) -> tuple[set[tuple[int, int]], set[int]]:
    """The heads that fetch, by block and number, and the dimensions of features.

    As the program of the file says; what cannot be read says nothing.
    """
    program: Any = file.header.get("program")
    try:
        features = {d for pair in program["features"].values() for d in range(*pair)}
        fetch = {
            (channel["snapshots"][0] // 2, channel["head"])
            for channel in program["channels"]
            if "head" in channel
            and (operation := operation_named(channel["op"])) is not None
            and operation.check == "fetches"
        }
    except (AttributeError, LookupError, TypeError, ValueError):
        return set(), set()
    return fetch, features
