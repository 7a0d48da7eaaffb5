"""A head that looks where binary digits say."""

from collections.abc import Sequence

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy
from krohn.verify.checker.attention.heads import Bounds, Copies, Heads
from krohn.verify.checker.attention.kinds import SOFTMAX
from krohn.verify.checker.attention.scores import (
    CELLS,
    MOST,
    NEVER,
    scores_of,
    worst_leak,
)
from krohn.verify.checker.residual_stream import FEATURE


class Pointed(Copies):
    """The position that digits say, if it is one of 1, …, t; else BOS."""

    operation = "at"

    def look(self, heads: Heads, channel: Channel) -> Bounds:
        """The worst bounds over all that digits can say, from any position.

        Where functions of the position are the digits, each position asks for one only.
        """
        positions = heads.stream.positions
        digits = [heads.stream.channel(n) for n in channel.inputs[1:]]
        demand([c.integer for c in digits], "a digit is one-hot")
        query = heads.query[channel.head]
        used = np.flatnonzero(query.any(axis=1))
        own = np.isin(used, [d for c in digits for d in c.span])
        demand(own | (heads.stream.owner[used] == FEATURE), "scores depend on too much")
        j = np.arange(len(positions))
        k = heads.keys(channel, None, j)
        fixed = all(c.values.given is not None for c in digits)
        said, t = (_given(digits), j) if fixed else (numbers(channel.inputs[1:]), None)
        if t is None:
            demand(heads.kind.name == SOFTMAX, "a pointer may leave the head's sight")
            demand(positions[:, used] == positions[:1, used], "a pointer moves with t")
        demand(len(said) * len(j) <= MOST, "a head has too many scores to check")
        worst = np.array([NEVER, 0.0, 0.0])
        parts = len(said) * len(j) // CELLS + 1
        for rows in np.array_split(np.arange(len(said)), parts):
            x, asked = said[rows], positions[np.zeros(len(rows), np.int64)].copy()
            hidden, right = np.zeros((len(rows), len(j)), np.bool_), j == x[:, None]
            if t is not None:
                asked = positions[rows].copy()
                # A head that is not causal sees whatever word there is: all of it.
                if channel.operation.causal:
                    hidden = heads.kind.hidden(t[rows], len(j))
                    right &= j <= t[rows, None]
                    demand(~(right & hidden), f"a head may not see {channel.name!r}")
            noise = np.zeros(asked.shape)
            for b, c in enumerate(digits):
                asked[:, c.span] = (x >> b & 1)[:, None]
                noise[:, c.span] = heads.stream.noise[c.name].max()
            noise = heads.stream.seen(asked, noise)
            q = Noisy(asked, np.zeros((0, *asked.shape)), noise, heads.asking)
            q = q.columns(used).affine(query[used], np.zeros(query.shape[1]))
            scores, error, size = scores_of(q, k)
            seen, right = np.where(hidden, NEVER, scores), right & (j > 0)
            leak = worst_leak(seen, np.where(right, NEVER, seen), right, True)
            worst = np.maximum(worst, [leak, error.max(), size])
        return worst[0], worst[1], worst[1], worst[2]


def _given(digits: Sequence[Channel]) -> IntArray:
    """``(T + 1,)``: what digits say at each position, which decides them."""
    return np.asarray(np.sum([c.given << b for b, c in enumerate(digits)], axis=0))


def numbers(digits: Sequence[str]) -> IntArray:
    """What binary digits can say; those of one channel are equal."""
    said = np.arange(2 ** len(digits))
    for b, name in enumerate(digits):
        said = said[(said >> b & 1) == (said >> digits.index(name) & 1)]
    return said
