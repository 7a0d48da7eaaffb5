"""What is known of the residual stream at a snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray
from verify.errors import Rejected
from verify.statement import Channel, Statement

FREE = -1
FEATURE = -2


@dataclass(frozen=True)
class Stream:
    """The invariant: every live channel holds the code of its value up to its noise.

    Attributes:
        snapshot: Which snapshot this is.
        owner: ``(d,)``: for each dimension the index of its channel in ``names``, or
            `FEATURE` for a position feature, or `FREE`: then it holds 0 up to ``free``.
        names: The live channels.
        noise: For each live channel the bound of its noise when it has each value of
            its domain, ``(values,)``.
        free: ``(d,)``: the bound of the noise in free dimensions.
    """

    snapshot: int
    owner: FloatArray
    names: tuple[str, ...]
    noise: Mapping[str, FloatArray]
    free: FloatArray

    def noise_at(self, channel: Channel, values: IntArray) -> FloatArray:
        """``(rows,)``: the noise of a channel when it has the given values.

        Values outside its domain, which never occur, get the noise of the largest one.
        """
        place = np.searchsorted(channel.domain, values)
        return self.noise[channel.name][np.minimum(place, len(channel.domain) - 1)]

    def channel_of(self, dimension: int) -> str | None:
        """The live channel that owns a dimension, if one does."""
        index = int(self.owner[dimension])
        return self.names[index] if index >= 0 else None


def owners(
    statement: Statement, snapshot: int, d_model: int
) -> tuple[FloatArray, tuple[str, ...]]:
    """Who owns each dimension at a snapshot, as the file states it.

    Raises:
        Rejected: If two channels claim a dimension, or one lies outside the stream.
    """
    live = statement.live.get(snapshot, [])
    owner = np.full(d_model, FREE)
    for low, high in statement.features.values():
        _claim(owner, range(low, high), FEATURE, "a position feature")
    for index, channel in enumerate(live):
        _claim(owner, channel.span, index, f"channel {channel.name!r}")
    return owner, tuple(c.name for c in live)


def _claim(owner: FloatArray, span: range, index: int, what: str) -> None:
    if len(span) == 0 or span.stop > len(owner):
        raise Rejected(f"{what} lies outside the residual stream")
    if (owner[span.start : span.stop] != FREE).any():
        raise Rejected(f"{what} overlaps another one")
    owner[span.start : span.stop] = index


def per_value(channel: Channel, values: IntArray, totals: FloatArray) -> FloatArray:
    """The noise bound of each value of a channel from those of the rows that give it.

    Args:
        channel: The channel.
        values: ``(rows,)``: its value in each row.
        totals: ``(rows,)``: how far it can be off in each row.

    Raises:
        Rejected: If two values could be confused.
    """
    noise = np.zeros(len(channel.domain))
    np.maximum.at(noise, np.searchsorted(channel.domain, values), totals)
    if not noise.max() < 0.5:
        raise Rejected(
            f"channel {channel.name!r} can be off by {noise.max():.2g}, half the distance "
            "between two values or more"
        )
    return noise
