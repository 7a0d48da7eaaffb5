"""MLPs: what they write is the stated function of what was there (docs/soundness.md, 5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from krohn.program.domains import BoolArray, IntArray, Matrices
from krohn.program.errors import Refused, demand
from krohn.program.functions import FUNCTIONS
from krohn.program.operations.matrix_product import MatrixProduct
from krohn.program.operations.normalised import Normalised
from krohn.program.piecewise import Piecewise
from krohn.program.statement import Channel
from krohn.verify.checker.affine_arithmetic import Noisy, Sums, exact, finest, joined
from krohn.verify.checker.arithmetic import FARTHEST, STORED, Interval, fits
from krohn.verify.checker.cases import Cases, decided, every
from krohn.verify.checker.contributions import Sources, below
from krohn.verify.checker.erasure import erased, eraser
from krohn.verify.checker.model_file import FloatArray, StrArray
from krohn.verify.checker.normaliser import normaliser
from krohn.verify.checker.passed_sums import independent, stored_either_way
from krohn.verify.checker.piecewise import Ridges
from krohn.verify.checker.product_gates import gates
from krohn.verify.checker.residual_stream import FREE, Stream, per_value

CELLS = 2**18
HALF = 0.5
FEW_ROWS = 100_000


@dataclass(frozen=True)
class Mlp:
    """An MLP over what is known of the stream before it.

    Attributes:
        layers: The weight ``(inputs, outputs)`` and bias of each affine layer.
        activations: The names of those of the units of each hidden layer.
        mask: ``(d,)``: which dimensions keep what they hold, 0 or 1.
        stream: What is known.
        cases: What evidence says of the cases that decide maps, by their names.
    """

    layers: list[tuple[FloatArray, FloatArray]]
    activations: list[StrArray]
    mask: FloatArray
    stream: Stream
    cases: Mapping[str, Any] = field(default_factory=dict)
    _sources: dict[tuple[str, ...], Sources] = field(init=False, default_factory=dict)

    def written(self, channel: Channel) -> FloatArray:
        """``(values,)``: the noise of each value of a channel that is written here."""
        if isinstance(channel.values, Matrices):
            return self._matrices(channel)
        demand(channel.op in FUNCTIONS, f"{channel.name!r} is no map")
        demand(len(self.layers) > 1, "a block without an MLP writes nothing")
        dims = np.array(channel.span)
        if channel.op == Piecewise.wire:
            ridges = Ridges(channel, self.layers, self.activations, self.stream)
            off = self._total(channel, *ridges.noise())
            return per_value(channel, channel.domain, off)
        if self.adds_up(channel):
            return per_value(channel, channel.domain, self._added(channel, dims))
        said, program = self.cases.get(channel.name), self.stream.program
        if said is None:
            raise Refused(f"nothing says which cases decide {channel.name!r}")
        sources = self.sources([program.channels[n] for n in said["sums"]], dims)
        cases = decided(program, sources.names, channel, said)
        results, needed = np.append(cases.values, channel.bos), below(self.layers, dims)
        named = sorted({*self._read(sources, needed), *cases.told_apart()})
        off, of = self._distance(sources, cases, named, needed, channel.code(results))
        return per_value(channel, results[of], off)

    def adds_up(self, channel: Channel) -> bool:
        """Whether a channel is a sum of channels that are there."""
        return channel.op == "sum" and self.stream.noise.keys() >= set(channel.inputs)

    def _matrices(self, channel: Channel) -> FloatArray:
        """How far a product of matrices, or one that is normalised, is off."""
        stream, span, operation = self.stream, channel.span, channel.operation
        fresh = (stream.owner[span] == FREE) & (stream.free[span] == 0)
        demand(
            fresh | (self.mask[span] == 0), f"{channel.name!r} is added to something"
        )
        errors, read = stream.of_matrices, [stream.channel(n) for n in channel.inputs]
        noise = [stream.noise[c.name] for c in read]
        units = self.layers, self.activations
        if isinstance(operation, Normalised):
            vector = np.array(operation.vector)
            found = normaliser(*units, read[0].span, span, vector)
            return errors.normalised(channel.name, noise[0], found, stream.form)
        known = isinstance(operation, MatrixProduct)
        demand(known, f"no MLP computes {channel.name!r}")
        spans = read[0].span, read[1].span
        alike = gates(*units, spans, span, errors.size)
        return errors.multiplied(channel.name, noise[0], noise[1], alike, stream.form)

    def cleared(self, free: BoolArray) -> FloatArray:
        """``(d,)``: how far dimensions that must hold 0 can be from it after the MLP."""
        left = self.stream.free * self.mask * free
        adds = (self.mask != 0) & (self.stream.owner != FREE)
        for weight, bias in self.layers[-1:]:
            adds = adds | weight.any(axis=0) | (bias != 0)
        for dim in np.flatnonzero(free & adds).tolist():
            demand(bool(self.layers), "no layer clears a channel that ends")
            pair = eraser(self.layers, self.activations, self.mask, dim)
            off = None if pair is None else erased(self.stream, dim, *pair)
            if off is not None:
                left[dim] = off
                continue
            demand(self.stream.matrices is None, "an MLP writes beside all channels")
            needed, sources = below(self.layers, np.array([dim])), self._apart(())
            cases = every([sources.program.channels[n] for n in sources.names])
            named, zero = self._read(sources, needed), np.zeros((2, 1))
            left[dim] = self._distance(sources, cases, named, needed, zero)[0].max()
        return left

    def keeps(self, dims: range) -> bool:
        """Whether dimensions stay exactly as they are."""
        adds = self.layers and any(x[..., dims].any() for x in self.layers[-1])
        return not adds and bool((self.mask[dims] == 1).all())

    def check_reads(self) -> None:
        """An MLP reads channels only; units that nothing reads are finite: 0 · ∞ is not 0.

        These are bounded from the largest numbers that all others can hold.
        """
        stream, every = self.stream, np.arange(len(self.mask))
        needed, reach = below(self.layers, every)[1:-1], np.zeros(len(every))
        for name in stream.noise:
            reach[stream.program.channels[name].span] = stream.reach(name)
        for weight, _ in self.layers[:1]:
            demand(stream.owner[weight.any(axis=1)] >= 0, "an MLP reads too much")
        for (weight, bias), live in zip(self.layers, needed, strict=False):
            reach = np.maximum(2 * (reach @ np.abs(weight) + np.abs(bias)), 2.0)
            idle = np.delete(reach, live)
            fits(idle, stream.form, "a unit that nothing reads", STORED)
            demand(idle <= FARTHEST, "a unit that nothing reads is far from 0")

    def _apart(self, sums: tuple[Channel, ...]) -> Sources:
        names = tuple(s.name for s in sums)
        if names not in self._sources:
            self._sources[names] = Sources.of(
                self.stream, self.layers, self.activations, sums
            )
        return self._sources[names]

    def sources(self, sums: list[Channel], dims: IntArray) -> Sources:
        """What decides some dimensions, some sums among it: each read with one weight.

        Raises:
            Refused: If the parts of a sum are not read so, or are those of another one.
        """
        needed = below(self.layers, dims)
        demand(
            [self.summed(c, needed) for c in sums], "a sum is not read as one number"
        )
        parts = [n for c in sums for n in c.inputs]
        demand(len({*parts}) == len(parts), "a channel is read in two sums")
        return self._apart(tuple(sums))

    def summed(self, added: Channel, needed: list[IntArray]) -> bool:
        """Whether what is needed reads both parts of a sum with one weight (14b)."""
        parts = [
            c for n, c in self.stream.program.channels.items() if n in added.inputs
        ]
        there = len(parts) == 2 == len(added.inputs) and added.op == "sum"
        there &= added.name not in self.stream.noise
        if not there or any(
            not c.integer or c.name not in self.stream.noise for c in parts
        ):
            return False
        first, second = (c.span.start for c in parts)
        weight = self.layers[0][0][:, needed[1]]
        kept = self.mask[needed[-1]] != 0
        alike = np.array_equal(weight[first], weight[second])
        return alike and not (kept & np.isin(needed[-1], (first, second))).any()

    def _read(self, sources: Sources, needed: list[IntArray]) -> list[int]:
        """The sources that some dimensions depend on."""
        kept = needed[-1][self.mask[needed[-1]] != 0]
        return sorted({*sources.owner[[*needed[0], *kept]].tolist()} - {-1})

    def _distance(
        self,
        sources: Sources,
        cases: Cases,
        named: list[int],
        needed: list[IntArray],
        target: FloatArray,
    ) -> tuple[FloatArray, IntArray]:
        """How far dimensions can be from their targets in some cases.

        Where few sources are read, or units mix them below the last hidden layer, they
        have one value in each row; else sums of each source alone are added up. Cases
        that this leaves half a step apart are looked at by rows, if these are few.

        Args:
            sources: What the MLP reads.
            cases: The cases; that of BOS is added as the last one.
            named: The sources that are read or that cases tell apart.
            needed: What the dimensions depend on, and last the dimensions themselves.
            target: ``(cases, dimensions)``.

        Returns:
            The distance in each row, and the case of each row.
        """
        count, (*mixed, _) = cases.joint(named), sources.mixes(needed)
        steps = self._steps(sources, needed) and count <= FEW_ROWS
        owned = (self.mask != 0) & (self.stream.owner != FREE)
        if steps or len(named) < 2 or any(mixed) or owned[needed[-1]].any():
            return self._by_rows(sources, cases, named, needed, target)
        kept = exact(np.zeros((1, len(needed[-1]))), self.stream.form)
        out, of = self._summed_up(sources, cases, named, needed)
        off = self._off(kept, out, needed[-1], target[of])
        coarse = np.unique(of[~(off < HALF)])
        coarse = coarse[coarse < len(cases.each)]
        some = cases.some(coarse)
        if not len(coarse) or some.joint(named) > FEW_ROWS:
            return off, of
        again = np.append(coarse, len(cases.each))
        finer, part = self._by_rows(sources, some, named, needed, target[again])
        fine = ~np.isin(of, again)
        return np.append(off[fine], finer), np.append(of[fine], again[part])

    def _by_rows(
        self,
        sources: Sources,
        cases: Cases,
        named: list[int],
        needed: list[IntArray],
        target: FloatArray,
    ) -> tuple[FloatArray, IntArray]:
        """The distances of `_distance`, at every joint value of the sources."""
        rows, of = cases.rows(named, cases.held)
        held = sources.at(named, rows, needed[-1], kept=True)
        kept = held.where(self.mask[needed[-1]])
        out = self._through(sources.at(named, rows, needed[0]), needed, kept)
        return self._off(kept, out, needed[-1], target[of]), of

    def _off(
        self, kept: Noisy, out: Noisy, dims: IntArray, target: FloatArray
    ) -> FloatArray:
        """``(rows,)``: how far what is kept and what is added are from targets."""
        free = (self.stream.free * self.mask)[dims]
        both = Noisy(kept.value, kept.slopes, kept.rest + free, kept.form).plus(out)
        off = abs(Interval.of(both.value) - target) + both.total
        return np.asarray(off.high.max(axis=1))

    def _steps(self, sources: Sources, needed: list[IntArray]) -> bool:
        """Whether units read several integers: steps along sums, which cancel in rows."""
        channels = self.stream.program.channels
        # A source may be the letter, which is stored as nothing.
        integer = [not channels[s.name].one_hot for s in sources.each]
        reads = sources.depends[1][needed[1]][:, integer]
        return bool((reads.sum(axis=1) > 1).any())

    def _through(self, x: Noisy, needed: list[IntArray], kept: Noisy) -> Noisy:
        """What is added to dimensions, where their sources have one value in each row."""
        pairs = zip(self.layers, pairwise(needed), strict=True)
        (weight, bias), *above = [(w[np.ix_(*at)], b[at[1]]) for (w, b), at in pairs]
        grid, apart = finest(x.value), bool(kept.value.any() or kept.total.any())
        # What is kept and what is added move together: such rows stay as they are.
        x, value, of = x.together(weight, apart)
        size, found = max(1, CELLS // max(map(len, needed))), list[Noisy]()
        for low in range(0, len(value), size):
            rows = np.arange(low, min(low + size, len(value)))
            part = x.rows(rows).products(weight, value[rows], grid).stored(bias)
            for names, at, layer in zip(
                self.activations, needed[1:], above, strict=False
            ):
                part = part.activated(names[at]).affine(*layer)
            found.append(part)
        return joined(found).rows(of)

    def _summed_up(
        self, sources: Sources, cases: Cases, named: list[int], needed: list[IntArray]
    ) -> tuple[Noisy, IntArray]:
        """The same in cases, from bounds of what each source alone adds (Lemma 15)."""
        units, (weight, bias) = needed[-2], self.layers[-2]
        weight, bias = weight[np.ix_(needed[-3], units)], bias[units]
        constant = sources.spans(-1, units)
        tables, grids = list[FloatArray](), [constant.grid]

        def choices(i: int) -> BoolArray:
            spans, hit = sources.spans(i, units), cases.held(i)
            several = hit.sum(axis=1)[cases.each[:, i]] > 1
            table, of = spans.bounds, np.arange(len(spans.bounds) - 1)
            if (several & (cases.each[:, i] > 0)).any():
                table, of = spans.classes()
                hit = hit.astype(float) @ (of[:, None] == np.arange(len(table) - 1)) > 0
            tables.append(table)
            grids.append(spans.grid)
            any_value = np.arange(len(hit))[:, None] == 0  # the set of all
            return np.hstack([hit & ~any_value, any_value])

        rows, of = cases.rows(named, choices)
        ends = np.cumsum([len(table) for table in tables])[:, None]
        free = np.diff(ends, axis=0, prepend=0) - 1 == rows
        rows = rows + np.vstack([[[0]], ends[:-1]])
        table = np.concatenate(tables).reshape(ends[-1, 0], -1)
        every, grid = table[ends[:, 0] - 1], max(grids) + finest(weight)
        (above, after), names = self.layers[-1], self.activations[-1][units]
        above, after = above[np.ix_(units, needed[-1])], after[needed[-1]]
        size, found = max(1, CELLS // (5 * len(units) + 1)), list[Noisy]()
        for low in range(0, len(of), size):
            part = slice(low, low + size)
            total = free[:, part].T.astype(np.float64) @ every
            for row, named_value in zip(rows[:, part], ~free[:, part], strict=True):
                total[named_value] += table[row[named_value]]
            total += constant.bounds[:1].reshape(1, -1)
            value, rest, reach, count, noisy = np.hsplit(total, 5)
            none = np.zeros((0, *value.shape))
            sums = Sums(
                value, none, rest, reach, count, noisy == 0, grid, self.stream.form
            )
            found.append(sums.stored(bias).activated(names).affine(above, after))
        return joined(found), of

    def _added(self, channel: Channel, dims: IntArray) -> FloatArray:
        """``(values,)``: how far a sum of channels can be from each value (14a)."""
        sources, (weight, bias) = self._apart(()), self.layers[-1]
        units = np.flatnonzero(weight[:, dims].any(axis=1))
        lone = sources.depends[-1][units].sum(axis=1) == 1
        demand(channel.integer, "a sum of stored channels is written one-hot")
        demand(lone, "a sum is not put together from its parts")
        demand(bias[dims] == 0, "something else is added to a sum")
        parts = list[tuple[Sums, FloatArray]]()
        for i in range(len(sources.each)):
            own = units[sources.depends[-1][units, i]]
            x = sources.run(i, self.layers[:-1], own)
            goal = sources.total(i, channel.inputs)[:, None]
            parts.append((x.products(weight[np.ix_(own, dims)]), goal))
        return self._total(channel, independent(parts, 0.0, self.stream.form))

    def _total(self, channel: Channel, off: float, bias: float = 0.0) -> FloatArray:
        """``(values,)``: how far a channel is off that is written so far off.

        A bias may be added after the rest was stored (A2).
        """
        dims, form = np.array(channel.span), self.stream.form
        kept = (self.mask[dims] != 0) & (self.stream.owner[dims] != FREE)
        demand(~kept, "something else is added to a sum")
        value = channel.domain[:, None].astype(np.float64)
        out = stored_either_way(value, off, bias, form)
        left = np.full_like(value, (self.stream.free * self.mask)[dims].max())
        both = Noisy(np.zeros_like(value), out.slopes, left, form).plus(out)
        return both.total[:, 0]
