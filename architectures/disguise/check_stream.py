"""All that the stream of a disguised network can hold: Lemma D1.

docs/proofs/disguise.md has the proof.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import FEATURE, Beside, Stream


class Sized(NamedTuple):
    """Bounds of the entries of vectors, ``(columns,)``, and of their lengths."""

    each: Interval
    length: Interval

    def times(self, other: "Sized") -> Interval:
        """The most that terms of an inner product add up to."""
        each = (self.each * other.each).sum()
        return each.minimum(self.length * other.length)


def measure_product(stream: Stream, matrix: Interval) -> Sized:
    """How large x·matrix is."""
    off = Interval.of(stream.free) @ lengths(matrix).high
    each = Interval.of(ranges(stream, matrix).size)
    return Sized(each, _longest(stream, matrix) + off)


def ranges(stream: Stream, matrix: Interval) -> Interval:
    """``(columns,)``: all that x·matrix can be, for each x that the stream can be (D1).

    Args:
        stream: What is known of x.
        matrix: ``(d, columns)``.
    """
    total = Interval.of(0.0).wider(Interval.of(stream.free) @ matrix.size)
    for dims, rows, noise in _parts(stream):
        part = Interval.of(rows) @ matrix[dims]
        off = noise * Interval.of(matrix[dims].size).sum(axis=0)
        total = total + _hull(part).wider(off)
    return total


def together(
    stream: Stream, read: Interval, inside: Interval, out: FloatArray
) -> tuple[Interval, int]:
    """The most that units add, at any one x, and how many are not 0 then (D6).

    Each unit counts with the part of x that moves it most; what others add to it is at
    its greatest.

    Args:
        stream: What is known of x.
        read: ``(d, units)``: what units read of it.
        inside: ``(units,)``: all that can be in them.
        out: ``(units, D)``: the sizes of what they write.
    """
    sums = [Interval.of(np.zeros((1, len(out))))]  # of nothing
    sums += [Interval.of(rows) @ read[dims] for dims, rows, _ in _parts(stream, True)]
    spread = np.array([x.high.max(axis=0) - x.low.min(axis=0) for x in sums])
    total, terms, of = Interval.of(np.zeros(out.shape[1])), 0, spread.argmax(axis=0)
    for i, x in enumerate(sums):
        own = x[:, of == i]
        beside = Interval.of(inside.high[of == i]) - own.low.max(axis=0)
        most = np.maximum((own + beside).high, 0.0)
        total = total + (Interval.of(most) @ out[of == i]).max(axis=0)
        terms += int((most > 0).sum(axis=1).max(initial=0))
    return total, terms


def _parts(
    stream: Stream, every: bool = False
) -> Iterator[tuple[IntArray, FloatArray, float]]:
    """Independent parts of x, which add up to it but for what is free (D1).

    Each is a row of a matrix ``(rows, dims)`` in some dimensions, and a noise. Of a
    number these are all rows, or the first and the last one unless ``every`` is asked.
    """
    at = np.flatnonzero(stream.owner == FEATURE)
    if len(at):
        yield at, stream.positions[:, at], 0.0
    for name, noise in stream.noise.items():
        channel = stream.program.channels[name]
        ends = np.array([channel.domain.min(), channel.domain.max()])
        values = ends if channel.integer and not every else channel.domain
        yield np.array(channel.span), channel.code(values), float(noise.max())


def _longest(stream: Stream, matrix: Interval) -> Interval:
    """The greatest length of x·matrix, but for what is free (D1)."""
    parts, off = list(_parts(stream)), Interval.of(0.0)
    each = np.zeros((sum(len(rows) for _, rows, _ in parts), len(matrix.low)))
    start = np.cumsum([0, *(len(rows) for _, rows, _ in parts)])
    for (dims, rows, noise), first in zip(parts, start, strict=False):
        each[first : first + len(rows), dims] = rows
        off = off + noise * lengths(matrix[dims]).sum()
    read = Interval.of(each) @ matrix
    pairs = (read @ read.each(np.transpose)).high
    for axis in (0, 1):
        pairs = np.maximum.reduceat(pairs, start[:-1], axis=axis)
    return Interval.of(pairs).sum().root() + off


def length_of(vector: Interval) -> Interval:
    """The greatest Euclidean length."""
    return lengths(vector.each(lambda x: x[None]))[0]


def lengths(rows: Interval) -> Interval:
    """The greatest Euclidean lengths of rows."""
    size = Interval.of(rows.size)
    return (size * size).sum(axis=1).root()


def _hull(rows: Interval) -> Interval:
    return Interval(rows.low.min(axis=0), rows.high.max(axis=0))


def beside_of(stream: Stream) -> Beside:
    """What stands beside x in a disguised stream."""
    assert stream.beside is not None
    return stream.beside


def samples(stream: Stream) -> FloatArray:
    """Some x of a stream, whose differences span those of all; nothing rests on them."""
    codes, base = list[tuple[range, FloatArray]](), stream.positions[0].copy()
    for name in stream.noise:
        channel = stream.program.channels[name]
        codes.append((channel.span, channel.code(channel.domain)))
        base[channel.span] = codes[-1][1][0]
    rows = [base[None], stream.positions[1:] - stream.positions[:1] + base]
    for span, code in codes:
        each = np.repeat(base[None], len(code), axis=0)
        each[:, span] = code
        rows.append(each)
    return np.concatenate(rows)
