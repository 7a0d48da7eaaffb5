"""A head that looks where binary digits say."""

from collections.abc import Sequence

import numpy as np

from program.domains import IntArray
from program.errors import demand
from program.statement import Channel
from verify.checker.affine_arithmetic import Noisy
from verify.checker.attention.heads import (
    CELLS,
    MOST,
    NEVER,
    Bounds,
    Heads,
    Look,
    Rule,
    scores_of,
    worst_leak,
)
from verify.checker.model_file import FloatArray
from verify.checker.residual_stream import FEATURE


class Pointed(Rule):
    """The position that digits say, if it is one of 1, …, t; else BOS."""

    operation = "at"

    def noise(
        self, heads: Heads, channel: Channel, gain: float
    ) -> tuple[FloatArray, Look]:
        """Theorem 12."""
        demand(gain == 1, f"the head of {channel.name!r} changes what it copies")
        return heads.copied(channel, self.look)

    def look(self, heads: Heads, channel: Channel) -> Bounds:
        """The worst bounds over all that digits can say."""
        positions = heads.stream.positions
        digits = [heads.stream.channel(n) for n in channel.inputs[1:]]
        demand(not any(c.one_hot for c in digits), "a digit is one-hot")
        query = heads.query[channel.head]
        used = np.flatnonzero(query.any(axis=1))
        own = np.isin(used, [d for c in digits for d in c.span])
        demand(own | (heads.stream.owner[used] == FEATURE), "scores depend on too much")
        demand(positions[:, used] == positions[:1, used], "a pointer moves with t")
        k = heads.projected(heads.key[channel.head], None, np.arange(len(positions)))
        said, j = numbers([c.name for c in digits]), np.arange(len(positions))
        demand(len(said) * len(j) <= MOST, "a head has too many scores to check")
        worst = np.array([NEVER, 0.0, 0.0])
        for x in np.array_split(said, len(said) * len(j) // CELLS + 1):
            noise = np.zeros((len(x), positions.shape[1]))
            asked = np.tile(positions[:1], (len(x), 1))
            for b, c in enumerate(digits):
                asked[:, c.span] = (x >> b & 1)[:, None]
                noise[:, c.span] = heads.stream.noise[c.name].max()
            q = Noisy(asked, np.zeros((0, *asked.shape)), noise, heads.stream.form)
            q = q.columns(used).affine(query[used], np.zeros(query.shape[1]))
            scores, error, size = scores_of(q, k)
            right = (j == x[:, None]) & (j > 0)
            leak = worst_leak(scores, np.where(right, NEVER, scores), right, True)
            worst = np.maximum(worst, [leak, error.max(), size])
        return worst[0], worst[1], worst[1], worst[2]


def numbers(digits: Sequence[str]) -> IntArray:
    """What binary digits can say; those of one channel are equal."""
    said = np.arange(2 ** len(digits))
    for b, name in enumerate(digits):
        said = said[(said >> b & 1) == (said >> digits.index(name) & 1)]
    return said
