"""What heads must do, and what their channels hold (docs/proofs/attention.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from krohn.program.architectures.transformer import Block
from krohn.program.attention import (
    Attention,
    Sight,
    Softmax,
    Sparse,
    sees_ahead,
    visible,
)
from krohn.program.domains import BoolArray, IntArray, Matrices
from krohn.program.errors import demand
from krohn.program.operations.base import LookBack
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy, join_rows, snaps
from krohn.verify.checker.arithmetic import (
    GROWN,
    INSIDE,
    STORED,
    Format,
    Interval,
    fits,
    lost,
    own_error,
    store_error,
)
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.registry import rule
from krohn.verify.checker.residual_stream import FEATURE, FREE, Stream, per_value
from krohn.verify.checker.softmax_weights import at_zero, exponentials, factors


def hidden_positions(attention: Attention, t: IntArray, size: int) -> BoolArray:
    """``(rows, size)``: where positions t do not look, though it may be before."""
    i, j, alone = t[:, None], np.arange(size), (Sight.CAUSAL,)
    return ~np.asarray(visible(attention, alone, i, j, np.asarray, "the checker"))


IDLE = (Softmax, Sparse)
"""Kinds by which a head whose tensors are all 0 adds 0 (Lemma L6)."""
ROWS = 2**14
"""Queries, or keys, that are computed at once."""
Bounds: TypeAlias = tuple[float, float, float, float]
"""The worst leak's logarithm, the error of a score that can be right, with its exponent,
that of any score, and the largest score. Where other scores can be off by more than
those, the leak has them raised by the difference."""
Looking: TypeAlias = "Callable[[Heads, Channel], Bounds]"


@dataclass(frozen=True)
class Look:
    """Where a head looks.

    Attributes:
        leak: Bound of the weight on wrong positions, in units of the right one.
        gap: How far the right score is above the logarithm of the summed exponentials
            of all others, at least, without errors; 0 for heads that add up.
        error: Bound of the error of a score that can be right, with that of its
            exponent; the gap has others raised by what theirs is above it.
        widest: The same bound of any score.
    """

    leak: float
    gap: float
    error: float
    widest: float


@dataclass(frozen=True)
class Heads:
    """The heads of a block: their matrices, and what is known of the stream before.

    Scores of each can be off by ``unsure`` besides, in a disguised network. Queries, and
    scores that are stored, are ``gain`` times those of the tensors.
    """

    stream: Stream
    query: FloatArray
    key: FloatArray
    value: FloatArray
    out: FloatArray
    block: Block
    unsure: FloatArray
    gain: float
    looks: dict[Any, Any]

    def copies(self, channels: Sequence[Channel]) -> None:
        """The heads write the given channels' sources to them, and nothing else."""
        expected = set[tuple[int | None, int, int]]()
        for channel in channels:
            source = self.stream.channel(channel.inputs[0])
            own = channel.operation.numbers is not None
            alike = source.integer if own else source.code_name == channel.code_name
            demand(alike and len(source.span) == len(channel.span), "unlike codes")
            demand(channel.head in range(len(self.out)), f"{channel.name!r}: no head")
            demand(self.stream.owner[channel.span] == FREE, "a head overwrites a value")
            both = zip(source.span, channel.span, strict=True)
            expected |= {(channel.head, *pair) for pair in both}
        serving = {head for head, _, _ in expected}
        idle = [head for head in range(len(self.out)) if head not in serving]
        parts = self.query, self.key, self.value, self.out
        nothing = not any(part[idle].any() for part in parts)
        nothing &= not idle or type(self.block.attention) in IDLE
        demand(nothing, "a head serves no channel")
        single = (self.value != 0).sum(axis=1) <= 1
        demand(single & np.isin(self.value, (0, 1)).all(axis=1), "values are no copies")
        demand(self.value.any(axis=1) == self.out.any(axis=2), "a value is not written")
        demand((self.out != 0).sum(axis=(0, 1)) <= 1, "heads write to one dimension")
        head, column, written = self.out.nonzero()
        read = (self.value != 0).argmax(axis=1)[head, column]
        actual = set(zip(*(x.tolist() for x in (head, read, written)), strict=True))
        demand(actual == expected, "the heads of a block copy something else")

    def noise(self, channel: Channel) -> tuple[FloatArray, Look]:
        """``(values,)``: the noise of each value of a channel; and where its head looks."""
        name, attends = channel.operation.check, channel.operation.is_attention
        demand(bool(name) and attends, f"no head computes {channel.name!r}")
        check = rule(name)
        kind = self.block.attention
        demand(
            type(kind) in check.KINDS,
            f"there is no rule for {channel.op!r} where attention is {kind.kind}",
        )
        ahead = sees_ahead(self.block.sights[channel.head or 0], "the checker")
        right = ahead is not channel.operation.causal
        demand(right, f"the head of {channel.name!r} sees other positions")
        gain = self.out[channel.head][:, channel.span].sum(axis=0)
        demand((gain == gain[0]) & (np.frexp(gain)[0] == 0.5), "an uneven gain")
        demand(
            len(self.stream.positions) * self.stream.form.sum_unit <= 0.25, "too long"
        )
        noise_and_look: tuple[FloatArray, Look] = check.noise(
            self, channel, float(gain[0])
        )
        return noise_and_look

    def bound_copies(self, channel: Channel, looks: Looking) -> tuple[FloatArray, Look]:
        """Copies by a head that fetches, which finds positions in a way (Theorem 12)."""
        source = self.stream.channel(channel.inputs[0])
        look, astray = self._bound_fetch(channel, looks)
        if isinstance(source.values, Matrices):
            matrices = self.stream.of_matrices
            return matrices.bound_copies(self, channel, look.leak, astray), look
        carried = self.bound_carried_values(source)
        largest = max(source.domain) + carried.max()
        noise = carried[source.place(channel.domain)][:, None]
        code = np.abs(channel.code(channel.domain))
        off = noise + (Interval.of(code) + noise) * astray
        off += 4 * Interval.of(look.leak) * max(largest, 1.0) + self.below(largest)
        self.check_sums(largest)
        written = self.bound_write_error(channel, code, off.high).max(axis=1)
        return per_value(channel, channel.domain, written), look

    def bound_carried_values(self, source: Channel) -> FloatArray:
        """``(values,)``: how far off the values are that heads carry of a channel.

        Nothing is rounded where they are copied from the stream itself.
        """
        if self.stream.reader is None:
            return self.stream.noise[source.name]
        code = source.code(source.domain)
        noise = self.stream.bound_reading(code, self.stream.noise[source.name][:, None])
        read = Noisy(code, np.zeros((0, *code.shape)), noise, self.stream.form)
        return np.asarray(read.store_rounded().total.max(axis=1))

    def _bound_fetch(self, channel: Channel, looks: Looking) -> tuple[Look, float]:
        """Where the head of a channel looks; by how much of itself a value can be off."""
        assert isinstance(channel.operation, LookBack)
        near = self.stream.program.near.get(channel.name)
        alike = channel.head, replace(channel.operation, source=""), near
        if alike not in self.looks:
            self.looks[alike] = self._weigh(channel, looks(self, channel))
        known: tuple[Look, float] = self.looks[alike]
        return known

    def _weigh(self, channel: Channel, bounds: Bounds) -> tuple[Look, float]:
        """What bounds of the scores of a head make of its weights."""
        form, (log_leak, error, widest, peak) = self.stream.form, bounds
        more = self.besides(channel)
        error, widest, peak = (x + more.most for x in (error, widest, peak))
        count, gap = len(self.stream.positions), float(-log_leak)
        wrong = exponentials(factors(count, count, form), form, peak)
        wrong += 2 * Interval.of(error) + own_error(count, peak)
        ratio = (Interval.of(log_leak) + wrong).through(np.exp)
        leak = ratio.most
        demand(leak < 0.125, f"the head of {channel.name!r} may read wrong positions")
        astray = 2 * ratio + 96 * form.sum_unit
        if form.narrow:
            top = min(peak, error / (8 * form.sum_unit))  # of scores that can be right
            astray += 1.5 * form.sum_unit * top + at_zero(top, form)
            astray += 2 * form.unit if astray.most >= form.unit / 2 else 0.0
        return Look(leak, gap, float(error), float(widest)), astray.most

    def besides(self, channel: Channel) -> Interval:
        """How far a score is off besides, with its exponent.

        Lemma D3 of docs/proofs/disguise.md.
        """
        unit = Interval.of(self.stream.form.sum_unit)
        return float(self.unsure[channel.head or 0]) * (1 + 16 * unit)

    def check_sums(self, largest: float) -> None:
        """Refuse values of which a sum over all positions can overflow.

        That of the largest weight is not 1 where its exponent is off (4.2).
        """
        most = GROWN * largest * len(self.stream.positions)
        fits(most, self.stream.form, "a sum of values", INSIDE)

    def below(self, largest: float) -> Interval:
        """What a mean of values, as computed and stored, loses below the normal range."""
        form, count = self.stream.form, len(self.stream.positions)
        return store_error(form, 0.0) + GROWN * lost(count, largest)

    def bound_write_error(
        self, channel: Channel, code: FloatArray, off: FloatArray
    ) -> FloatArray:
        """The error after storing a result and adding it to a free dimension."""
        form, free = self.stream.form, self.stream.free[channel.span].max()
        for more in (0.0, free) if free else (0.0,):
            off = (Interval.of(off) + more).high if more else off
            fits(code + off, form, repr(channel.name), STORED)
            coarse = off + store_error(form, Interval.of(code) + off)
            off = np.where(snaps(code, off, form), 0.0, coarse.high)
        return off

    @property
    def asking(self) -> Format:
        """The format of queries and scores, divided by what they are multiplied by."""
        return self.stream.form.divide_range(self.gain)

    def queries(
        self, channel: Channel, read: Mapping[str, IntArray], t: IntArray
    ) -> Noisy:
        """``(rows, k)``: queries at positions t, of channels at values ``(rows,)``.

        Raises:
            Refused: If they depend on anything else, but for features of positions.
        """
        return self._project_rows(self.query[channel.head], read, t, self.asking)

    def keys(
        self, channel: Channel, read: Mapping[str, IntArray], j: IntArray
    ) -> Noisy:
        """``(rows, k)``: the same of keys."""
        return self._project_rows(self.key[channel.head], read, j, self.stream.form)

    def _project_rows(
        self,
        matrix: FloatArray,
        read: Mapping[str, IntArray],
        rows: IntArray,
        form: Format,
    ) -> Noisy:
        used = np.flatnonzero(matrix.any(axis=1))
        own = np.isin(used, [d for n in read for d in self.stream.channel(n).span])
        demand(own | (self.stream.owner[used] == FEATURE), "scores depend on too much")
        parts = []
        for first in range(0, max(1, len(rows)), ROWS):
            some = slice(first, first + ROWS)
            base = self.stream.positions[rows[some]]
            x = self.stream.at({n: v[some] for n, v in read.items()}, base).columns(
                used
            )
            rest = np.where(own, x.rest, self.stream.bound_reading(x.value, 0.0))
            x = Noisy(x.value, x.slopes, rest, form)
            parts.append(x.affine(matrix[used], np.zeros(matrix.shape[1])))
        return join_rows(parts)
