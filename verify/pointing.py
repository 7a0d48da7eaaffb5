"""Heads that look at the position whose binary digits a query holds.

docs/soundness.md, section 4.4, proves that the worst case over all values of the digits
covers every word.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from network.precision import FloatArray, Precision
from verify.errors import Rejected
from verify.matching import compared
from verify.noisy import Noisy
from verify.rivals import leak_pointed
from verify.statement import Channel, Statement
from verify.stream import Stream

CELLS = 8_000_000


@dataclass(frozen=True)
class Pointing:
    """A head that looks where digits say.

    Attributes:
        query: ``(d, k)``.
        keys: ``(T + 1, k)``, what positions alone make of them.
        positions: ``(T + 1, d)``, the position embedding.
        stream: What is known before the head.
        statement: The Program.
        precision: The format that it computes in.
    """

    query: FloatArray
    keys: Noisy
    positions: FloatArray
    stream: Stream
    statement: Statement
    precision: Precision

    def worst(self, digits: tuple[str, ...]) -> tuple[float, float, float, float]:
        """The worst leak, the smallest gap, the error of a score, and the largest one.

        Raises:
            Rejected: If a digit is not there, or the query depends on the position.
        """
        leak, gap, error, largest = 0.0, np.inf, 0.0, 0.0
        for first, queries in self._queries(digits):
            scores = compared(queries, self.keys)
            found = leak_pointed(scores.value.T, first)
            leak, gap = max(leak, found[0]), min(gap, found[1])
            error, largest = max(error, scores.error), max(largest, scores.largest)
        return leak, gap, error, largest

    def _queries(self, names: tuple[str, ...]) -> Iterator[tuple[int, Noisy]]:
        """The queries of all values of the digits in order, in parts."""
        if len(set(names)) < len(names):
            raise Rejected("a head that points reads one digit twice")
        digits = [self._digit(name) for name in names]
        used = np.flatnonzero(self.query.any(axis=1))
        fixed = self.positions[:, used]
        if (fixed != fixed[0]).any():
            raise Rejected("the query of a head that points depends on the position")
        noise = np.zeros(self.positions.shape[1])
        for digit in digits:
            noise[digit.span] = self.stream.noise[digit.name].max()
        size = max(1, CELLS // len(self.positions))
        for low in range(0, 2 ** len(digits), size):
            asked = np.arange(low, min(low + size, 2 ** len(digits)))
            x = np.tile(self.positions[0], (len(asked), 1))
            for b, digit in enumerate(digits):
                x[:, digit.span] = (asked >> b & 1)[:, None]
            rest = np.broadcast_to(noise[used], (len(asked), len(used)))
            noisy = Noisy(x[:, used], (), (), rest, self.precision)
            yield low, noisy.affine(self.query[used], np.zeros(self.query.shape[1]))

    def _digit(self, name: str) -> Channel:
        channel = self.statement.channels[name]
        if name not in self.stream.names or channel.one_hot:
            raise Rejected(f"{name!r} is not there where a head reads it as a digit")
        return channel
