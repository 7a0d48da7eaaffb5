"""LayerNorms that hardly change what is read: ground, a mirror, pairs ±K.

Lemmas L1 and L2 of docs/proofs/gpt2.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    INSIDE,
    STORED,
    Format,
    Interval,
    bound_underflow,
    fits,
    gamma,
)
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.reader import Reader
from krohn.verify.checker.residual_stream import Stream

Reads = Iterator[tuple[FloatArray, FloatArray, FloatArray]]


@dataclass(frozen=True)
class LayerNorms:
    """The LayerNorms of a network, and the ground that it adds to the stream.

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
        """The stream as readers see it at a snapshot (Lemma L2)."""
        form, unit = self.form, self.form.sum_unit
        ones, squares, noisy = (2 * size for size in _sizes(stream))
        demand(ones <= self.large, "the pairs are too small for the stream")
        there = Interval.of(self.large) * self.large * self.count
        fits(there + squares, form, "the square in a LayerNorm", INSIDE)
        fits(2 * self.large, form, "a LayerNorm", STORED)
        true, total = noisy / self.width, Interval.of(self.large) * self.count + ones
        mean = true + unit * (total + 4 * self.large)
        error = Interval.of((self.width + 8) * unit)
        least = there / self.width * (1 - error) - true * true * (1 + error)
        least += self.epsilon
        most = (there + squares) / self.width * (1 + error) + self.epsilon
        demand(least > 0, "the variance can be 0")
        weight, unsure = self.scales[snapshot], 8 * Interval.of(unit)
        high = weight / least.through(np.sqrt) * (1 + unsure)
        low = weight / most.through(np.sqrt) * (1 - unsure)
        shrink = (high - 1).maximum(1 - low)
        demand(shrink < 0.5, "a LayerNorm changes what is read")
        lost = bound_underflow(4 * max(weight, 1.0))
        mean = (1 + shrink) * mean * (1 + unsure) * (1 + Interval.of(form.unit)) + lost
        relative, absolute = self._bound_sum_errors(snapshot, mean, 2 * (ones + mean))
        absolute += lost
        near, sums = (shrink.most, mean.most), (relative.most, absolute.most)
        return Reader(form, *near, *sums)

    def _bound_sum_errors(
        self, snapshot: int, mean: Interval, size: Interval
    ) -> tuple[Interval, Interval]:
        """The error of sums with one more term, for each unit that they read.

        Args:
            snapshot: Where they read.
            mean: What ground can hold.
            size: What an entry can hold, ground included.
        """
        unit, absolute, more = self.form.sum_unit, Interval.of(0.0), Interval.of(0.0)
        for weight, ground, bias in self._reads(snapshot):
            total = np.abs(weight).sum(axis=0)
            demand((total > 0) | (ground == 0), "ground is read and nothing else")
            some = total > 0
            if not some.any():
                continue
            rows, most = (
                weight.T[some],
                Interval.of(np.abs(weight[:, some])).sum(axis=0),
            )
            reach = (most.max() * size + np.abs(bias).max()) * self.gain
            fits(reach, self.form, "a sum of what LayerNorm leaves", INSIDE)
            terms = (weight != 0).sum(axis=0).max() + 2.0
            grown = gamma(terms, unit)
            residue = (abs(Interval.of(rows).sum(axis=1) + ground[some]) / most).max()
            beside = (np.abs(bias)[some] / most).max()
            more = more.maximum(unit * (1 + grown) * (1 + grown))
            off = 2 * grown * mean + 2 * residue * mean + more * beside
            absolute = absolute.maximum(off)
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


def _sizes(stream: Stream) -> tuple[Interval, Interval, Interval]:
    """The largest sums of absolute values, of squares, and of noise."""
    noisy = Interval.of(stream.free).sum()
    parts = [np.abs(stream.positions), stream.free[None]]
    for name, noise in stream.noise.items():
        channel = stream.program.channels[name]
        code = channel.code(channel.domain)
        parts.append((np.abs(code) + Interval.of(noise[:, None])).high)
        noisy += len(channel.span) * Interval.of(noise.max())
    ones, squares = Interval.of(0.0), Interval.of(0.0)
    for x in map(Interval.of, parts):
        ones, squares = ones + x.sum(axis=1).max(), squares + (x * x).sum(axis=1).max()
    return ones, squares, noisy
