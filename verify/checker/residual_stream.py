"""Bounds of the residual stream between two sublayers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from krohn.program.domains import BoolArray, IntArray, Matrices
from krohn.program.errors import Refused, demand
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.arithmetic import ERASED, Format, Interval
from krohn.verify.checker.model_file import FloatArray

if TYPE_CHECKING:
    from krohn.verify.checker.heads import Heads
    from krohn.verify.checker.reader import Reader

FREE, FEATURE = -1, -2
MOST_SLOPES = 2**24
"""The most numbers for common noises; of larger one-hot codes units have their own."""


class RealErrors(Protocol):
    """What a slice means by the noise of a channel that holds real matrices."""

    def codes(self, channel: Channel) -> FloatArray:
        """``(tokens, n²)``: the matrices of a channel that is embedded, BOS last."""

    def bound_embedding(self) -> FloatArray:
        """Their noise."""

    def largest(self, noise: FloatArray) -> float:
        """The largest absolute value of an entry."""

    def describe_noise(self, noise: FloatArray) -> float:
        """How far a channel is off, for people."""

    def bound_copies(
        self, heads: "Heads", channel: Channel, leak: float, astray: float
    ) -> FloatArray:
        """The noise of a channel whose head copies matrices."""


class Beside(NamedTuple):
    """What a disguised stream holds besides the plain one (docs/proofs/disguise.md).

    Attributes:
        waste: ``(waste,)``: the most that stands in directions which mean nothing.
        rest: ``(D,)``: the most that each entry is off by, all of these apart.
        size: ``(D,)``: the largest numbers of the disguised stream in all.
        longest: Its greatest Euclidean length, each number in units of the largest.
        gains: ``(units,)``: before an MLP, how much larger each unit is that stands for
            one of the plain network.
        moved: ``(d,)``: how far all units see a number of x from where it is, alike.
    """

    waste: FloatArray
    rest: FloatArray
    size: FloatArray = np.zeros(0)
    longest: float = 0.0
    gains: FloatArray = np.zeros(0)
    moved: FloatArray = np.zeros(0)


@dataclass(frozen=True)
class Stream:
    """Every live channel holds the code of its value up to noise.

    Attributes:
        program: What the network claims to compute.
        form: The format that it computes in.
        positions: ``(T + 1, d)``: the position features, 0 elsewhere.
        owner: ``(d,)``: the place of the owner in ``noise``, `FREE` or `FEATURE`.
        noise: For each live channel ``(values,)``: how far each value can be off; of one
            that holds matrices what ``matrices`` means by it.
        free: ``(d,)``: how far free dimensions can be from 0.
        matrices: How errors of matrices are measured; None if no channel holds any.
        reader: What a LayerNorm or a disguise does to what is read; None if it is read
            as it is.
        beside: What a disguised network holds besides; None if it is not disguised.
    """

    program: Statement
    form: Format
    positions: FloatArray
    owner: IntArray
    noise: Mapping[str, FloatArray]
    free: FloatArray
    matrices: RealErrors | None = None
    reader: "Reader | None" = None
    beside: Beside | None = None

    def channel(self, name: str) -> Channel:
        """A live channel by its name."""
        demand(name in self.noise, f"{name!r} is not there where it is read")
        return self.program.channels[name]

    def reach(self, name: str) -> FloatArray:
        """``(dimensions,)``: the largest numbers that a channel can hold."""
        channel = self.program.channels[name]
        if isinstance(channel.values, Matrices):
            most = self.of_matrices.largest(self.noise[name])
            return np.full(len(channel.span), most)
        noise = self.common(name)
        largest: FloatArray = np.abs(channel.code(channel.domain)).max(axis=0)
        ground = self.reader.mean if self.reader else 0.0
        return np.asarray(largest + self.bound_reading(largest, noise.max()) + ground)

    def fresh(self, span: range) -> BoolArray:
        """Where nothing is held but what is below the normal range (Lemma 16a).

        It moves a number that is added to it by at most two such numbers.
        """
        empty: BoolArray = self.owner[span] == FREE
        return empty & (self.free[span] <= ERASED)

    def common(self, name: str) -> FloatArray:
        """``(values,)``: the noise of a channel that all units see, where they read it."""
        noise, moved = self.noise[name], self.bound_common_shift(name)
        return (Interval.of(noise) + moved).high if moved else noise

    def bound_common_shift(self, name: str) -> float:
        """How far all units see the numbers of a channel from where they are, alike."""
        if self.beside is None or not len(self.beside.moved):
            return 0.0
        return float(self.beside.moved[self.program.channels[name].span].max())

    def bound_reading(self, code: FloatArray, noise: FloatArray | float) -> FloatArray:
        """How far what is read can be from codes that the stream is so far from."""
        noise = np.broadcast_to(noise, code.shape)
        return self.reader.off(code, noise) if self.reader else noise

    def bound_own_error(
        self, code: FloatArray, noise: FloatArray | float
    ) -> FloatArray:
        """How much of that units which read the same do not have in common."""
        noise = np.broadcast_to(noise, code.shape)
        return (
            self.reader.bound_own_error(code, noise)
            if self.reader
            else np.zeros(code.shape)
        )

    def alone(self, name: str) -> float:
        """The bound at any value of a channel."""
        channel = self.channel(name)
        code = channel.code(channel.domain)
        return float(self.bound_own_error(code, self.common(name)[:, None]).max())

    def read(self, name: str) -> FloatArray:
        """``(values,)``: how far off a channel is where it is read."""
        channel, noise = self.channel(name), self.common(name)
        code = channel.code(channel.domain)
        return np.asarray(self.bound_reading(code, noise[:, None]).max(axis=1))

    @property
    def of_matrices(self) -> RealErrors:
        """How errors are measured, where there are matrices."""
        assert self.matrices is not None
        return self.matrices

    def at(
        self, values: Mapping[str, IntArray], base: FloatArray, kept: bool = False
    ) -> Noisy:
        """The stream with channels at values ``(rows,)`` of theirs, else as in ``base``.

        It is what is read, or ``kept`` for the residual sum.
        """
        x, rest, slopes = base.copy(), np.zeros_like(base), []
        for name, column in values.items():
            channel = self.channel(name)
            every = self.noise[name] if kept else self.common(name)
            noise = every[channel.place(column)][:, None]
            x[:, channel.span] = code = channel.code(column)
            own = np.zeros_like(code) if kept else self.bound_own_error(code, noise)
            noise = noise if kept else self.bound_reading(code, noise)
            disguised = self.beside is not None and self.reader is not None
            many = x.size * len(channel.span) > MOST_SLOPES or not disguised
            if len(channel.span) > 1 and many:
                rest[:, channel.span] = noise
            elif noise.any():
                rest[:, channel.span] = own
                alike = (Interval.of(noise) - own).high
                for dim, column in zip(channel.span, alike.T, strict=True):
                    slopes.append(np.zeros_like(x))
                    slopes[-1][:, dim] = column
        return Noisy(x, np.array(slopes).reshape(-1, *x.shape), rest, self.form)

    def kept(self, values: Mapping[str, IntArray], read: Noisy) -> Noisy:
        """The part of ``read`` that the residual sum keeps: all, without a LayerNorm."""
        if self.reader is None:
            return read
        x = self.at(values, np.zeros_like(read.value), kept=True)
        return Noisy(x.value, np.zeros_like(read.slopes), x.total, x.form)

    def halves(self, added: Channel, base: FloatArray) -> Noisy:
        """The stream with half a sum in either of its two parts, with noise of both.

        Of each part it is the largest noise of the values that it can have in the sum.
        """
        parts = [self.channel(n) for n in added.inputs]
        dims, x = [c.span.start for c in parts], base.copy()
        slopes, sums = np.zeros((2, *x.shape)), np.append(added.later, added.bos)
        x[:, dims] = sums[:, None] / 2
        first, second = parts
        noise = [self.beneath(first, second, sums), self.beneath(second, first, sums)]
        slopes[[0, 1], :, dims] = noise
        rest = np.zeros_like(x)
        rest[:, dims] = [self.alone(c.name) for c in parts]
        return Noisy(x, slopes, rest, self.form)

    def beneath(self, part: Channel, other: Channel, sums: IntArray) -> FloatArray:
        """``(sums,)``: the largest noise of a part of sums, its values below each.

        The other part is not below the least value of its domain.
        """
        most = np.maximum.accumulate(self.read(part.name))
        at = np.searchsorted(part.domain, sums - other.domain[0], side="right") - 1
        return np.asarray(most[np.maximum(at, 0)])


class Norms(Protocol):
    """Layer norms, through which all is read."""

    def reader(self, stream: Stream, snapshot: int) -> "Reader":
        """The stream as readers see it at a snapshot."""


class Disguise(Protocol):
    """A network that runs, beside the plain one that the rules are about."""

    def follow_sublayer(
        self, stream: Stream, before: Stream | None, snapshot: int
    ) -> Stream:
        """The plain stream after a sublayer, with what stands beside it."""

    def scores(self, stream: Stream, block: int) -> FloatArray:
        """``(heads,)``: how far scores of a block are off from the plain ones."""

    def read_out(self, stream: Stream) -> tuple[Stream, FloatArray]:
        """The stream as the read-out sees it, and how far each logit is off."""


def owners(program: Statement, snapshot: int, d: int) -> tuple[IntArray, list[str]]:
    """Who owns each dimension at a snapshot, and the live channels."""
    live = [
        c
        for c in program.channels.values()
        if c.stored and c.born <= snapshot <= c.dies
    ]
    owner = np.full(d, FREE)
    claims = [(range(*span), FEATURE) for span in program.features.values()]
    for span, who in claims + [(c.span, i) for i, c in enumerate(live)]:
        demand(0 <= span.start < span.stop <= d, "a channel lies outside the stream")
        demand(owner[span.start : span.stop] == FREE, "two channels overlap")
        owner[span.start : span.stop] = who
    return owner, [c.name for c in live]


def per_value(channel: Channel, values: IntArray, totals: FloatArray) -> FloatArray:
    """The noise of each value of a channel from that of the rows that give it."""
    noise = np.zeros(len(channel.domain))
    np.maximum.at(noise, channel.place(values), totals)
    if not noise.max() < 0.5:
        raise Refused(
            f"{channel.name!r} can be off by {noise.max():.2g}; the limit is 0.5, "
            "half a step"
        )
    return noise
