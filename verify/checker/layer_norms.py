"""LayerNorms that hardly change what is read: ground, a mirror, pairs ±K.

docs/soundness.md, section 6a: Lemmas L1 and L2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import growth
from krohn.verify.checker.arithmetic import (
    INFLATION,
    INSIDE,
    OWN_UNIT,
    STORED,
    UNDERFLOW,
    Format,
    fits,
)
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.reader import Reader
from krohn.verify.checker.residual_stream import Stream

Reads = Iterator[tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True)
class LayerNorms:
    """What stands around the stream of a network with LayerNorms.

    Attributes:
        form: The format that is computed in.
        width: D, of the whole stream.
        large: K.
        count: How many entries are ±K, as many of either sign.
        epsilon: What is added to the variance.
        scales: The weight of the LayerNorm that reads each snapshot.
        gain: 2^k, the root of a head's width: queries are stored so much larger.
        tensors: Those of the model.
        ground: What each reader multiplies ground by, by its tensor.
    """

    form: Format
    width: int
    large: float
    count: int
    epsilon: float
    scales: tuple[float, ...]
    gain: float
    tensors: Mapping[str, FloatArray]
    ground: Mapping[str, FloatArray]

    def reader(self, stream: Stream, snapshot: int) -> Reader:
        """What those see who read the stream at a snapshot (Lemma L2)."""
        form, unit, wide = self.form, self.form.sum_unit, self.width + 8
        ones, squares, noisy = (2 * size for size in _sizes(stream))
        demand(ones <= self.large, "the pairs are too small for the stream")
        there, total = self.large**2 * self.count, self.large * self.count + ones
        fits(there + squares, form, "the square in a LayerNorm", INSIDE)
        fits(2 * self.large, form, "a LayerNorm", STORED)
        true = noisy / self.width
        mean = (true + unit * (total + 4 * self.large)) * INFLATION
        error, weight = wide * unit, self.scales[snapshot]
        least = there / self.width * (1 - error) - true**2 * (1 + error) + self.epsilon
        most = (there + squares) / self.width * (1 + error) + self.epsilon
        demand(least > 0, "the variance can be 0")
        high = weight / np.sqrt(least) * (1 + 8 * unit) * INFLATION
        low = weight / np.sqrt(most) * (1 - 8 * unit)
        shrink = float(np.maximum(high - 1, 1 - low) + 16 * OWN_UNIT)
        demand(shrink < 0.5, "a LayerNorm changes what is read")
        flushed = 4 * UNDERFLOW * max(weight, 1.0)
        mean = (1 + shrink) * mean * (1 + 8 * unit) * (1 + form.unit) + flushed
        relative, absolute = self._summed(snapshot, mean, 2 * (ones + mean))
        return Reader(form, shrink, mean, relative, absolute + flushed, self.gain)

    def _summed(self, snapshot: int, mean: float, size: float) -> tuple[float, float]:
        """What sums with one more term are off by, for each unit that they read.

        Args:
            snapshot: Where they read.
            mean: What ground can hold.
            size: What an entry can hold, ground included.
        """
        unit, absolute, more = self.form.sum_unit, 0.0, 0.0
        for weight, ground, bias in self._reads(snapshot):
            total = np.abs(weight).sum(axis=0)
            demand((total > 0) | (ground == 0), "ground is read and nothing else")
            some = total > 0
            if not some.any():
                continue
            reach = (total.max() * size + np.abs(bias).max()) * self.gain
            fits(reach, self.form, "a sum of what LayerNorm leaves", INSIDE)
            terms = (weight != 0).sum(axis=0).max() + 2.0
            residue = (_residue(weight.T, ground)[some] / total[some]).max()
            beside = (np.abs(bias)[some] / total[some]).max()
            rounded = 2 * growth(self.form, np.array([terms]))[0] * mean
            more = float(np.maximum(more, unit / (1 - terms * unit) ** 2))
            off = rounded + 2 * residue * mean + more * beside
            absolute = float(np.maximum(absolute, off))
        heads = snapshot % 2 == 0 and snapshot < len(self.scales) - 1
        return more + 4 * unit * heads, absolute

    def _reads(self, snapshot: int) -> Reads:
        """Weights ``(d, columns)``, what multiplies ground, and biases of the readers."""
        block, d = snapshot // 2, self.tensors["unembed.weight"].shape[0]
        if snapshot == len(self.scales) - 1:
            names = ["unembed.weight"]
        elif snapshot % 2:
            names = [f"blocks.{block}.mlp.0.weight"]
        else:
            parts = ("query", "key", "value")
            names = [f"blocks.{block}.attention.{part}" for part in parts]
        for name in names:
            if name in self.tensors:
                weight = np.moveaxis(self.tensors[name], -2, 0).reshape(d, -1)
                bias = np.zeros(weight.shape[1])
                if name.endswith("weight"):
                    bias = self.tensors[name.replace("weight", "bias")]
                yield weight, self.ground[name].reshape(-1), bias


def _residue(rows: FloatArray, more: FloatArray) -> FloatArray:
    """How far rows with one more entry each are from adding up to 0."""
    size = np.abs(rows).sum(axis=-1) + np.abs(more)
    rounded = (rows.shape[-1] + 1) * OWN_UNIT * size
    exact = size == 0
    return np.asarray((np.abs(rows.sum(axis=-1) + more) + rounded) * ~exact)


def _sizes(stream: Stream) -> tuple[float, float, float]:
    """The largest sums of absolute values, of squares, and of noise."""
    parts, noisy = [np.abs(stream.positions), stream.free[None]], stream.free.sum()
    for name, noise in stream.noise.items():
        channel = stream.program.channels[name]
        code = channel.code(channel.domain)
        parts.append(np.abs(code) + noise[:, None])
        noisy += len(channel.span) * noise.max()
    ones = sum(float(x.sum(axis=1).max()) for x in parts)
    squares = sum(float((x * x).sum(axis=1).max()) for x in parts)
    return ones * INFLATION, squares * INFLATION, float(noisy) * INFLATION
