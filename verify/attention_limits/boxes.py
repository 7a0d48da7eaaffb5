"""Between which bounds the residual stream and the scores of heads lie, for all words.

Interval arithmetic over the real numbers, one interval for each dimension; it knows
nothing of what the network means. docs/independent.md, section 2.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from krohn.network.architectures.transformer import StrArray, activations
from krohn.network.attention_kind import Softmax, attention_kind
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray


@dataclass(frozen=True)
class Box:
    """All vectors between two.

    Attributes:
        low: ``(…, d)``.
        high: ``(…, d)``.
    """

    low: FloatArray
    high: FloatArray

    def by(self, matrix: FloatArray) -> "Box":
        """The image under ``(d, n)``, coordinate by coordinate."""
        middle, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        image, spread = middle @ matrix, radius @ np.abs(matrix)
        return Box(image - spread, image + spread)

    def plus(self, other: "Box | FloatArray") -> "Box":
        """Sums of a vector of each."""
        if isinstance(other, Box):
            return Box(self.low + other.low, self.high + other.high)
        return Box(self.low + other, self.high + other)

    @property
    def largest(self) -> FloatArray:
        """The largest absolute value of each coordinate."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def activate(self, names: StrArray) -> "Box":
        """After the activations of its coordinates."""
        low, high = np.maximum(self.low, 0), np.maximum(self.high, 0)
        low[..., names == "sine"], high[..., names == "sine"] = -1.0, 1.0
        low[..., names == "gelu"] = -0.17  # its least value is −0.16998
        return Box(low, high)


@dataclass(frozen=True)
class HeadBox:
    """A head with the bounds of its inputs.

    Attributes:
        block: The number of its block.
        head: Its number there.
        query: ``(d, k)``.
        key: ``(d, k)``.
        stream: The bounds of the stream at each position, BOS among them.
    """

    block: int
    head: int
    query: FloatArray
    key: FloatArray
    stream: Box

    @property
    def spread(self) -> float:
        """How far two scores of one query can differ at most."""
        key = self.stream.by(self.key)
        queries = self.stream.by(self.query).largest
        return float(queries @ (key.high - key.low))


def head_boxes(file: ModelFile) -> Iterator[HeadBox]:
    """Every head of a Transformer that sees all before, with the bounds of its input."""
    at = file.tensors
    rows = at["embed.position"]
    letters = at["embed.token"][:-1]
    start = at["embed.token"][-1:] + rows[:1]
    words = (letters[:, None] + rows[1:]).reshape(-1, rows.shape[1])
    every = np.concatenate([start, words])
    stream = Box(every.min(axis=0), every.max(axis=0))
    for i, block in enumerate(file.header["architecture"]["blocks"]):
        added = []
        for h in range(block["heads"]):
            names = ("query", "key", "value", "out")
            query, key, value, out = (at[f"blocks.{i}.attention.{n}"][h] for n in names)
            if attention_kind(block) == Softmax():
                yield HeadBox(i, h, query, key, stream)
            added.append(stream.by(value).by(out))
        for box in added:
            stream = stream.plus(box)
        stream = _mlp(file, i, stream)


def _mlp(file: ModelFile, block: int, stream: Box) -> Box:
    at, where = file.tensors, f"blocks.{block}.mlp"
    shape = file.header["architecture"]["blocks"][block]
    mask = at.get(f"{where}.residual", np.ones(stream.low.shape[-1]))
    kept = stream.by(np.diag(mask))
    if not shape["mlp"]:
        return kept
    for j, names in enumerate((*activations(shape), None)):
        stream = stream.by(at[f"{where}.{j}.weight"]).plus(at[f"{where}.{j}.bias"])
        if names is not None:
            stream = stream.activate(names)
    return kept.plus(stream)
