"""What is known of the residual stream between two sublayers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from program.domains import IntArray, Matrices
from program.errors import Refused, demand
from program.statement import Channel, Statement
from verify.checker.affine_arithmetic import Noisy
from verify.checker.matrix_errors import MatrixErrors
from verify.checker.model_file import FloatArray, Format

FREE, FEATURE = -1, -2


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
    """

    program: Statement
    form: Format
    positions: FloatArray
    owner: IntArray
    noise: Mapping[str, FloatArray]
    free: FloatArray
    matrices: MatrixErrors | None = None

    def channel(self, name: str) -> Channel:
        """A live channel by its name."""
        demand(name in self.noise, f"{name!r} is not there where it is read")
        return self.program.channels[name]

    def reach(self, name: str) -> FloatArray:
        """``(dimensions,)``: the largest numbers that a channel can hold."""
        channel, noise = self.program.channels[name], self.noise[name]
        if isinstance(channel.values, Matrices):
            return np.full(len(channel.span), self.of_matrices.largest(noise))
        most: FloatArray = np.abs(channel.code(channel.domain)).max(axis=0)
        return np.asarray(most + noise.max())

    @property
    def of_matrices(self) -> MatrixErrors:
        """How errors are measured, where there are matrices."""
        assert self.matrices is not None
        return self.matrices

    def at(self, values: Mapping[str, IntArray], base: FloatArray) -> Noisy:
        """The stream with channels at values ``(rows,)`` of theirs, else as in ``base``."""
        x, rest, slopes = base.copy(), np.zeros_like(base), []
        for name, column in values.items():
            channel = self.channel(name)
            noise = self.noise[name][channel.place(column)][:, None]
            x[:, channel.span] = channel.code(column)
            if channel.one_hot or channel.vectors is not None:
                rest[:, channel.span] = noise
            elif noise.any():
                slopes.append(np.zeros_like(x))
                slopes[-1][:, channel.span] = noise
        return Noisy(x, np.array(slopes).reshape(-1, *x.shape), rest, self.form)

    def halves(self, added: Channel, base: FloatArray) -> Noisy:
        """The stream with half a sum in either of its two parts, with noise of both."""
        parts = [self.channel(n) for n in added.inputs]
        dims, x = [c.span.start for c in parts], base.copy()
        slopes = np.zeros((2, *x.shape))
        x[:, dims] = np.append(added.later, added.bos)[:, None] / 2
        slopes[[0, 1], :, dims] = [[self.noise[c.name].max()] for c in parts]
        return Noisy(x, slopes, np.zeros_like(x), self.form)


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
        raise Refused(f"{channel.name!r} can be off by {noise.max():.2g}, half a step")
    return noise
