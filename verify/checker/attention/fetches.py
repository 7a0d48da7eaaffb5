"""Heads that find the position that they copy (docs/soundness.md, 4; Theorem R1)."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.attention.heads import Bounds, Copies, Heads
from krohn.verify.checker.attention.kinds import SOFTMAX, SPARSE, Kind
from krohn.verify.checker.attention.scores import (
    CELLS,
    MOST,
    NEVER,
    flagged,
    scores_of,
    worst_leak,
)


class Fetches(Copies):
    """A head that finds the position that it copies by flags, keys and queries.

    Attributes:
        first: Whether the first position that is flagged is the right one, not the last.
        last_asks: Whether of positions that ask the same the last has all their rivals.
        bounded: Whether one of the positions where the right one can be always is, so
            that those suffice that are as near as `Statement.near` says.
    """

    first: ClassVar[bool] = False
    last_asks: ClassVar[bool] = False
    bounded: ClassVar[bool] = False

    @abstractmethod
    def right(self, channel: Channel, t: IntArray, size: int) -> tuple[BoolArray, bool]:
        """``(rows, T + 1)``: where the right one can be; whether BOS is it if none is."""

    def looking(self, q: Noisy, kind: Kind) -> IntArray:
        """The positions from which to look; sparse heads see less of the past later."""
        t = np.arange(1, len(q.value))
        if not self.last_asks or kind.name == SPARSE:
            return t
        asked = np.hstack([q.value, q.total])[:0:-1]
        return t[::-1][np.unique(asked, axis=0, return_index=True)[1]]

    def within(self, heads: Heads, channel: Channel, t: IntArray) -> BoolArray:
        """``(rows, T + 1)``: what is near enough, if more is known than the rule knows.

        It is asked only where heads are sparse: elsewhere one row may stand for others.
        """
        j, near = np.arange(len(heads.stream.positions)), len(heads.stream.positions)
        if self.bounded and heads.kind.name == SPARSE:
            near = heads.stream.program.near.get(channel.name, near)
        return np.asarray(t[:, None] - j <= near)

    def look_far(self, q: Noisy, k: Noisy) -> Bounds:
        """The bounds where there are too many scores to look at each.

        Raises:
            Refused: If there is no rule for it.
        """
        raise Refused("a head has too many scores to check")

    def look(self, heads: Heads, channel: Channel) -> Bounds:
        """The bounds over all that can be flagged and asked.

        Every position is right for some word or for none; all ways to set flags, and
        all keys and queries, are covered term by term (Theorem R1).
        """
        key = heads.stream.channel(channel.inputs[1]) if channel.inputs[1:] else None
        query = heads.stream.channel(channel.inputs[2]) if channel.inputs[2:] else None
        said = np.union1d(key.later, key.bos) if key else np.zeros(1, np.int64)
        demand(
            len(said) * heads.stream.positions.size <= MOST, "too many keys to check"
        )
        every = np.ones(len(heads.stream.positions), np.int64)
        k = heads.keys(channel, key, np.kron(said, every))
        worst = np.array([NEVER, 0.0, 0.0, 0.0])
        asked = query.later if query else np.ones(1, np.int64)
        for value in asked:
            q = heads.queries(channel, query, value * every)
            demand(channel.operation.causal or _alike(q), "a query moves with t")
            looking = self.looking(q, heads.kind)
            work = len(asked) * len(looking) * len(k.value)
            if work > MOST and len(said) == 2 and heads.kind.name == SOFTMAX:
                return self.look_far(q, k)
            demand(work <= MOST, "a head has too many scores to check")
            parts = work // len(asked) // CELLS + 1
            kinds = (
                np.isin(said, key.later) if key else np.array([True]),
                said == value if key else np.array([True]),
                said == (key.bos if key else 0),
            )
            for t in np.array_split(looking, min(parts, len(looking))):
                inside, default = self.right(channel, t, len(every))
                inside &= self.within(heads, channel, t)
                hidden = heads.kind.hidden(t, len(every))
                demand(~(inside & hidden), f"a head may not see {channel.name!r}")
                on, off, *bounds = flagged(scores_of(q.rows(t), k), hidden, *kinds)
                leak = worst_leak(on, off, inside, default, self.first)
                worst = np.maximum(worst, [leak, *bounds])
        return worst[0], worst[1], worst[2], worst[3]


def _alike(q: Noisy) -> bool:
    """Whether all positions ask the same, so that it does not matter which one looks."""
    asked = np.hstack([q.value, q.total])
    return bool((asked == asked[:1]).all())
