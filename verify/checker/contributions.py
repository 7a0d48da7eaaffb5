"""Inputs of an MLP grouped into independent sources, for bounds on its sums."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import AnyArray, BoolArray, IntArray
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.affine_arithmetic import Noisy, alike, finest
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.mlp import Layers, below
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.residual_stream import Stream

CELLS = 4_000_000


class Source(NamedTuple):
    """Dimensions that one value decides.

    Attributes:
        name: The channel that has this value.
        dims: The dimensions.
        x: ``(values, d)``: what is read of the stream at each value that occurs after
            BOS, then at that of BOS; 0 in all other dimensions.
        kept: The same for the residual sum.
    """

    name: str
    dims: IntArray
    x: Noisy
    kept: Noisy


class Spans(NamedTuple):
    """Bounds of all that a source alone adds to sums.

    Attributes:
        ends: ``(5, values, units)``: the least and the greatest sum, the size and the
            number of terms, and 1 where there is noise.
        bounds: ``(values + 1, 5, units)``: the same by `middles`; last of all values
            after BOS together.
        grid: What is below holds multiples of 2^-grid, but for noise.
    """

    ends: FloatArray
    bounds: FloatArray
    grid: int

    def classes(self) -> tuple[FloatArray, IntArray]:
        """Values taken together that add alike, BOS apart.

        Returns:
            ``(classes + 1, 5, units)``, as ``bounds``, and ``(values,)`` their classes.
        """
        first, of = alike((self.ends[0] + self.ends[1])[:-1])
        of = np.append(of, len(first))
        order = np.argsort(of, kind="stable")
        start = np.searchsorted(of[order], np.arange(len(first) + 1))
        bounds = middles(widest(self.ends[:, order], start))
        return np.concatenate([bounds, self.bounds[-1:]]), of


def as_bytes(numbers: AnyArray) -> tuple[str, tuple[int, ...], bytes]:
    """An array as what equals that of equal arrays alone."""
    return numbers.dtype.str, numbers.shape, numbers.tobytes()


def widest(ends: FloatArray, start: IntArray) -> FloatArray:
    """``(5, groups, units)``: the widest ends of the values from each start on."""
    low = np.minimum.reduceat(ends[:1], start, axis=1)
    return np.concatenate([low, np.maximum.reduceat(ends[1:], start, axis=1)])


def middles(ends: FloatArray) -> FloatArray:
    """``(rows, 5, units)``: in place of least and greatest the middle and half the width.

    The last of five is 1 where there is noise or more than one sum.
    """
    low, high, size, terms, noisy = ends
    several = (low != high) | (noisy != 0)
    middle, wide = Interval(low, high if several.any() else low).middle()
    return np.stack([middle, wide * several, size, terms, several], axis=1)


def _dimensions(channels: Iterable[Channel]) -> IntArray:
    return np.array([d for c in channels for d in c.span], np.int64)


def sources_alone(
    stream: Stream, sums: Iterable[Channel]
) -> tuple[Channel, list[Channel], list[Channel]]:
    """The letter, the channels that are tables of it, and others that are in no sum."""
    added = {n for s in sums for n in s.inputs}
    live = [stream.program.channels[n] for n in stream.noise if n not in added]
    token = next(iter(stream.program.channels.values()))
    tied = [c for c in live if c.op == "table" and c.inputs == (token.name,)]
    names = {c.name for c in tied}
    return token, tied, [c for c in live if c.name not in names]


@dataclass(frozen=True)
class Sources:
    """The sources of an MLP: the letter, the other channels, or sums of two of these.

    Attributes:
        program: The Program.
        each: The sources.
        layers: The weights of the MLP.
        activations: The names of those of its units.
        owner: ``(d,)``: the source that a dimension is of, or -1.
    """

    program: Statement
    each: list[Source]
    layers: Layers
    activations: list[StrArray]
    owner: IntArray
    _spans: dict[int, tuple["Spans", IntArray]] = field(
        init=False, default_factory=dict
    )
    _stated: dict[tuple[int, bytes], Any] = field(init=False, default_factory=dict)

    @staticmethod
    def of(
        stream: Stream,
        layers: Layers,
        activations: list[StrArray],
        sums: Sequence[Channel],
        known: dict[tuple[str, ...], Source],
    ) -> "Sources":
        """The sources of an MLP that reads the parts of some sums as these sums.

        Args:
            stream: What the MLP reads.
            layers: Its weights.
            activations: The names of those of its units.
            sums: The sums.
            known: Sources of this MLP that are no sums, by their channels; grows.
        """
        token, tied, others = sources_alone(stream, sums)

        def blank(channel: Channel) -> FloatArray:
            return np.zeros((len(channel.later) + 1, len(stream.owner)))

        # Tables of the letter have one row for each letter, and one for BOS.
        letters = {c.name: c.table.values for c in tied}
        groups = [(token, tied, letters)]
        groups += [(c, [c], {c.name: np.append(c.later, c.bos)}) for c in others]
        owner, each = np.full(len(stream.owner), -1), list[Source]()

        def put(source: Source) -> None:
            owner[source.dims] = len(each)
            each.append(source)

        for c, channels, values in groups:
            key = c.name, *(channel.name for channel in channels)
            if key not in known:
                x, dims = stream.at(values, blank(c)), _dimensions(channels)
                known[key] = Source(c.name, dims, x, stream.kept(values, x))
            put(known[key])
        for s in sums:
            x = stream.halves(s, blank(s))
            put(Source(s.name, _dimensions(map(stream.channel, s.inputs)), x, x))
        return Sources(stream.program, each, layers, activations, owner)

    @property
    def names(self) -> list[str]:
        """The names of the sources."""
        return [source.name for source in self.each]

    def state(self, source: int, dims: IntArray) -> Any:
        """The values of a source after BOS, and what is read of dimensions at each."""
        key = source, dims.tobytes()
        if key not in self._stated:
            later = self.program.channels[self.each[source].name].later
            x = self.each[source].x.columns(dims).rows(np.arange(len(later)))
            self._stated[key] = tuple(map(as_bytes, (later, x.value, x.slopes, x.rest)))
        return self._stated[key]

    @cached_property
    def depends(self) -> list[BoolArray]:
        """Of the input and each hidden layer ``(units, sources)``: what depends on what."""
        dependence = [self.owner[:, None] == np.arange(len(self.each))]
        for weight, _ in self.layers[:-1]:
            dependence.append((weight != 0).T.astype(float) @ dependence[-1] > 0)
        return dependence

    def at(
        self, named: Sequence[int], rows: IntArray, dims: IntArray, kept: bool = False
    ) -> Noisy:
        """``(rows, dims)``: what is read, or ``kept``, at joint values of some sources."""
        parts = [
            (self.each[i].kept if kept else self.each[i].x).columns(dims).rows(r)
            for i, r in zip(named, rows, strict=True)
        ]
        blank = np.zeros((rows.shape[1], len(dims)))
        slopes = [np.zeros((0, *blank.shape)), *(p.slopes for p in parts)]
        value = sum((p.value for p in parts), blank)
        rest = sum((p.rest for p in parts), blank)
        return Noisy(value, np.concatenate(slopes), rest, self.each[0].x.form)

    def mixes(self, needed: Sequence[IntArray]) -> list[bool]:
        """Whether a unit depends on several sources, in the input and each layer."""
        pairs = zip(self.depends, needed, strict=False)
        return [bool((reads[u].sum(axis=1) > 1).any()) for reads, u in pairs]

    def spans(self, source: int, units: IntArray) -> "Spans":
        """Bounds of all that a source alone adds inside units of the last hidden layer.

        Args:
            source: The source; -1 for what depends on none.
            units: The units.
        """
        width = self.layers[-2][0].shape[1]
        if len(self.each[source].x.value) * width > CELLS:
            (ends, bounds, grid), at = self._compute_spans(source, units)
        else:
            if source not in self._spans:
                self._spans[source] = self._compute_spans(source, np.arange(width))
            (ends, bounds, grid), at = self._spans[source]
            at = at[units]
        return Spans(ends[..., at], bounds[..., at], grid)

    def _compute_spans(self, source: int, units: IntArray) -> tuple["Spans", IntArray]:
        """Bounds for the units that a source adds to, and zeros; which of these each has.

        A source adds to few units, so that one column for each would be mostly zeros.
        """
        reads, weight = self.depends[len(self.layers) - 2], self.layers[-2][0]
        one = reads[:, source] if source >= 0 else np.ones(len(reads), bool)
        own = np.flatnonzero(one & (reads.sum(axis=1) == (source >= 0)))
        x = self.run(source, self.layers[:-2], own)
        weight = weight[np.ix_(own, units)]
        read = np.flatnonzero(weight.any(axis=0))
        sums = x.products(weight[:, read], grid=0)
        off, around = sums.total, Interval.of(sums.value).wider(sums.total)
        low, high = (
            np.where(off == 0, sums.value, x) for x in (around.low, around.high)
        )
        own_ends = np.stack([low, high, sums.size, sums.terms, ~sums.known])
        every = widest(own_ends[:, :-1], np.zeros(1, np.int64))
        bounds = middles(np.hstack([own_ends, every]))
        ends = np.zeros((5, len(x.value), len(read) + 1))
        both = np.zeros((len(bounds), 5, len(read) + 1))
        ends[..., :-1], both[..., :-1] = own_ends, bounds
        at = np.full(len(units), len(read))
        at[read] = np.arange(len(read))
        return Spans(ends, both, finest(x.value)), at

    def run(self, source: int, layers: Layers, units: IntArray) -> Noisy:
        """``(values, units)``: units that depend on a source alone; on none for -1."""
        needed, x = below(layers, units), self.each[source].x
        x = x.columns(needed[0])
        x = x if source >= 0 else x.where(np.zeros(1))
        above = zip(layers, self.activations, pairwise(needed), strict=False)
        for (weight, bias), names, at in above:
            x = x.affine(weight[np.ix_(*at)], bias[at[1]]).apply_activations(
                names[at[1]]
            )
        return x

    def total(self, source: int, names: Sequence[str]) -> FloatArray:
        """``(values,)``: the sum of some channels that one source decides."""
        channels = [self.program.channels[n] for n in names]
        own = [c for c in channels if self.owner[c.span.start] == source]
        x, rows = self.each[source].x.value, np.zeros(len(self.each[source].x.value))
        for c in own:
            width = np.ones(1) if c.integer else np.arange(len(c.span))
            rows = rows + x[:, c.span] @ width
        return np.asarray(rows)
