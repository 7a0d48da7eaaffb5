"""MLPs that compute maps: their values, in all cases (docs/proofs/mlps.md)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from krohn.program.domains import AnyArray, BoolArray, IntArray, distinct_values
from krohn.program.errors import Refused, demand
from krohn.program.statement import Channel, cone
from krohn.verify.checker.affine_arithmetic import Noisy, Sums, exact, finest, join_rows
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.cases import Cases, every, function_of, read_cases
from krohn.verify.checker.contributions import Sources, as_bytes
from krohn.verify.checker.mlp import Mlp, below
from krohn.verify.checker.model_file import FloatArray
from krohn.verify.checker.residual_stream import FREE, MOST_SLOPES, per_value

CELLS = 2**18
HALF = 0.5
FEW_ROWS = 100_000
MOST_PRODUCTS = 2**32
"""The most products of noises and weights in rows; only disguises are held to it."""


def bound_noise(mlp: Mlp, channel: Channel) -> FloatArray:
    """``(values,)``: the noise of each value of a map, whose cases evidence names."""
    maps, dims = Maps(mlp), np.array(channel.span)
    evidence, program = mlp.cases.get(channel.name), mlp.stream.program
    if evidence is None:
        raise Refused(f"nothing says which cases decide {channel.name!r}")
    sums = [program.channels[n] for n in evidence["sums"]]
    sources = maps.sources(sums, dims)
    statement = None if sums else maps.state(sources, channel)
    later = channel.place(channel.later)
    if statement in mlp.shown:
        bos = np.array([channel.bos])
        off = maps.distance_at_bos(sources, dims, channel.code(bos))
        noise = per_value(channel, bos, off)
        noise[later] = np.maximum(noise[later], mlp.shown[statement])
        return noise
    cases = read_cases(program, sources.names, channel, evidence)
    results = np.append(cases.values, channel.bos)
    off, of = maps.distance(sources, cases, dims, channel.code(results))
    noise = per_value(channel, results[of], off)
    if statement is not None:
        some = of < len(cases.each)
        after = per_value(channel, results[of[some]], off[some])
        mlp.shown[statement] = after[later]
    return noise


def left(mlp: Mlp, dim: int) -> float:
    """How far a dimension that must hold 0 can be from it, whatever the inputs are."""
    demand(mlp.stream.matrices is None, "an MLP writes beside all channels")
    maps = Maps(mlp)
    sources = maps.apart(())
    cases = every([sources.program.channels[n] for n in sources.names])
    off, _ = maps.distance(sources, cases, np.array([dim]), np.zeros((2, 1)))
    return float(off.max())


@dataclass(frozen=True)
class Maps:
    """An MLP, and what decides its units."""

    mlp: Mlp

    def apart(self, sums: tuple[Channel, ...]) -> Sources:
        """The sources that the MLP reads, some sums as one number."""
        names, mlp = tuple(s.name for s in sums), self.mlp
        sources: Sources | None = mlp.apart.get(names)
        if sources is None:
            arguments = mlp.stream, mlp.layers, mlp.activations, sums, mlp.single
            sources = Sources.of(*arguments)
            mlp.apart[names] = sources
        return sources

    def sources(self, sums: list[Channel], dims: IntArray) -> Sources:
        """Sources that decide some dimensions, sums among them: each has one weight.

        Raises:
            Refused: If the parts of a sum are not read so, or are those of another one.
        """
        needed = below(self.mlp.layers, dims)
        demand(
            [self.reads_as_sum(c, needed) for c in sums],
            "a sum is not read as one number",
        )
        parts = [n for c in sums for n in c.inputs]
        demand(len({*parts}) == len(parts), "a channel is read in two sums")
        return self.apart(tuple(sums))

    def state(self, sources: Sources, channel: Channel) -> tuple[Any, ...] | None:
        """What is shown of a map after BOS, without names (Theorem 16a).

        Returns:
            The function, with the values that each map on the way is said to take, and
            how its own are laid out; the weights and units that write it, in an order of
            their own, and what else stands in its dimensions; and what units read of each
            source at each of its values. None if these are too many numbers, or not all
            that a bound is made of.
        """
        mlp, stream, dims = self.mlp, self.mlp.stream, np.array(channel.span)
        needed = below(mlp.layers, dims)
        cells = sum(len(some) * len(others) for some, others in pairwise(needed))
        besides = stream.reader, stream.beside, stream.matrices
        owner, kept = sources.owner[needed[0]], dims[mlp.mask[dims] != 0]
        owned = (stream.owner[kept] != FREE).any() or (owner < 0).any()
        if owned or cells > CELLS or any(x is not None for x in besides):
            return None
        function, read = function_of(stream.program, channel.name, sources.names)
        each = dict.fromkeys([*map(sources.names.index, read), *owner.tolist()])
        at = [needed[0][owner == i] for i in each]
        inputs, parts = np.concatenate(at), list[AnyArray]()
        names = [*mlp.activations, None]
        for (w, b), kinds, units in zip(mlp.layers, names, needed[1:], strict=True):
            weight, bias = w[np.ix_(inputs, units)], b[units]
            if kinds is not None:
                order = np.lexsort([*weight, bias])
                weight, bias, units = weight[:, order], bias[order], units[order]
                parts.append(kinds[units])
            inputs, parts = units, [*parts, weight, bias]
        parts += [mlp.mask[dims], stream.free[dims]]
        parts += [channel.later, channel.code(channel.later)]
        # What no map is said to take is left out of the cases of the first.
        inside = cone(stream.program, channel.name, sources.names)
        parts += [stream.program.channels[n].domain for n in inside]
        known = [sources.state(i, here) for i, here in zip(each, at, strict=True)]
        return function, *map(as_bytes, parts), *known

    def reads_as_sum(self, added: Channel, needed: list[IntArray]) -> bool:
        """Whether what is needed reads both parts of a sum with one weight (14b)."""
        parts = [
            c for n, c in self.mlp.stream.program.channels.items() if n in added.inputs
        ]
        there = len(parts) == 2 == len(added.inputs) and added.op == "sum"
        there &= added.name not in self.mlp.stream.noise
        if not there or any(
            not c.integer or c.name not in self.mlp.stream.noise for c in parts
        ):
            return False
        first, second = (c.span.start for c in parts)
        weight = self.mlp.layers[0][0][:, needed[1]]
        kept = self.mlp.mask[needed[-1]] != 0
        alike = np.array_equal(weight[first], weight[second])
        return alike and not (kept & np.isin(needed[-1], (first, second))).any()

    def distance(
        self, sources: Sources, cases: Cases, dims: IntArray, target: FloatArray
    ) -> tuple[FloatArray, IntArray]:
        """How far dimensions can be from their targets in some cases.

        Where few sources are read, or units mix them below the last hidden layer, they
        have one value in each row; else sums of each source alone are added up. Cases
        that this leaves half a step apart are looked at by rows, if these are few.

        Args:
            sources: What the MLP reads.
            cases: The cases; that of BOS is added as the last one.
            dims: The dimensions.
            target: ``(cases, dimensions)``.

        Returns:
            The distance in each row, and the case of each row.
        """
        needed = below(self.mlp.layers, dims)
        kept = dims[self.mlp.mask[dims] != 0]
        read = {*sources.owner[[*needed[0], *kept]].tolist()} - {-1}
        named = sorted({*read, *cases.told_apart()})
        count, (*mixed, _) = cases.joint(named), sources.mixes(needed)
        steps = self._steps(sources, needed, count) and count <= FEW_ROWS
        owned = (self.mlp.mask != 0) & (self.mlp.stream.owner != FREE)
        if steps or len(named) < 2 or any(mixed) or owned[needed[-1]].any():
            return self._by_rows(sources, cases, named, needed, target)
        kept = exact(np.zeros((1, len(needed[-1]))), self.mlp.stream.form)
        out, of = self._summed_up(sources, cases, named, needed)
        off = self._off(kept, out, needed[-1], target[of])
        coarse = distinct_values(of[~(off < HALF)])
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
        rows, of = cases.rows(named, cases.mark_values_in_sets)
        parts = rows.shape[1] * len(needed[0]) ** 2 // MOST_SLOPES + 1
        distances = list[FloatArray]()
        for part in np.array_split(np.arange(rows.shape[1]), parts):
            some = rows[:, part]
            present = sources.at(named, some, needed[-1], kept=True)
            kept = present.where(self.mlp.mask[needed[-1]])
            out = self._through(sources.at(named, some, needed[0]), needed, kept)
            distances.append(self._off(kept, out, needed[-1], target[of[part]]))
        return np.concatenate(distances), of

    def distance_at_bos(
        self, sources: Sources, dims: IntArray, target: FloatArray
    ) -> FloatArray:
        """``(1,)``: the distance at BOS alone, where each source has one value."""
        mlp, everywhere = self.mlp, np.arange(len(self.mlp.mask))
        if not mlp.at_bos:
            needed = below(mlp.layers, everywhere)
            named = list(range(len(sources.each)))
            rows = np.array([[len(s.x.value) - 1] for s in sources.each])
            kept = sources.at(named, rows, everywhere, kept=True).where(mlp.mask)
            out = self._through(sources.at(named, rows, needed[0]), needed, kept)
            mlp.at_bos.append(self._after(kept, out, everywhere))
        return _distances(mlp.at_bos[0].columns(dims), target)

    def _off(
        self, kept: Noisy, out: Noisy, dims: IntArray, target: FloatArray
    ) -> FloatArray:
        """``(rows,)``: how far what is kept and what is added are from targets."""
        return _distances(self._after(kept, out, dims), target)

    def _after(self, kept: Noisy, out: Noisy, dims: IntArray) -> Noisy:
        """What is kept and what is added, with what free dimensions hold besides."""
        free = (self.mlp.stream.free * self.mlp.mask)[dims]
        return Noisy(kept.value, kept.slopes, kept.rest + free, kept.form).plus(out)

    def _steps(self, sources: Sources, needed: list[IntArray], count: float) -> bool:
        """Whether noise cancels in rows: in steps along sums of several integers.

        In a disguised network that of one-hot codes does, too, if rows are not too long.
        """
        products = count * len(needed[0]) * len(needed[1])
        if self.mlp.stream.beside is not None and products <= MOST_PRODUCTS:
            return True
        channels = self.mlp.stream.program.channels
        # A source may be the letter, which is stored as nothing.
        integer = [not channels[s.name].one_hot for s in sources.each]
        reads = sources.depends[1][needed[1]][:, integer]
        return bool((reads.sum(axis=1) > 1).any())

    def _through(self, x: Noisy, needed: list[IntArray], kept: Noisy) -> Noisy:
        """Sums for dimensions, where their sources have one value in each row."""
        pairs = zip(self.mlp.layers, pairwise(needed), strict=True)
        (weight, bias), *above = [(w[np.ix_(*at)], b[at[1]]) for (w, b), at in pairs]
        grid, apart = finest(x.value), bool(kept.value.any() or kept.total.any())
        # What is kept and what is added move together: such rows stay as they are.
        x, value, of = x.together(weight, apart)
        size, blocks = max(1, CELLS // max(map(len, needed))), list[Noisy]()
        for low in range(0, len(value), size):
            rows = np.arange(low, min(low + size, len(value)))
            part = (
                x.rows(rows).products(weight, value[rows], grid).store_with_bias(bias)
            )
            for names, at, layer in zip(
                self.mlp.activations, needed[1:], above, strict=False
            ):
                part = part.apply_activations(names[at]).affine(*layer)
            blocks.append(part)
        return join_rows(blocks).rows(of)

    def _summed_up(
        self, sources: Sources, cases: Cases, named: list[int], needed: list[IntArray]
    ) -> tuple[Noisy, IntArray]:
        """Sums in cases, from bounds of all that each source alone adds (Lemma 15)."""
        units, (weight, bias) = needed[-2], self.mlp.layers[-2]
        weight, bias = weight[np.ix_(needed[-3], units)], bias[units]
        constant = sources.spans(-1, units)
        tables, grids = list[FloatArray](), [constant.grid]

        def choices(i: int) -> BoolArray:
            spans, hit = sources.spans(i, units), cases.mark_values_in_sets(i)
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
        (above, after), names = self.mlp.layers[-1], self.mlp.activations[-1][units]
        above, after = above[np.ix_(units, needed[-1])], after[needed[-1]]
        size, blocks = max(1, CELLS // (5 * len(units) + 1)), list[Noisy]()
        for low in range(0, len(of), size):
            part = slice(low, low + size)
            total = free[:, part].T.astype(np.float64) @ every
            for row, named_value in zip(rows[:, part], ~free[:, part], strict=True):
                total[named_value] += table[row[named_value]]
            total += constant.bounds[:1].reshape(1, -1)
            value, rest, reach, count, noisy = np.hsplit(total, 5)
            none = np.zeros((0, *value.shape))
            sums = Sums(
                value, none, rest, reach, count, noisy == 0, grid, self.mlp.stream.form
            )
            blocks.append(
                sums.store_with_bias(bias).apply_activations(names).affine(above, after)
            )
        return join_rows(blocks), of


def _distances(found: Noisy, target: FloatArray) -> FloatArray:
    """``(rows,)``: how far numbers can be from targets."""
    off = abs(Interval.of(found.value) - target) + found.total
    return np.asarray(off.high.max(axis=1))
