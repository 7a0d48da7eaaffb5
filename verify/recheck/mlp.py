"""MLPs: what they write is the stated function of what was there (docs/recheck.md, 5)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from verify.recheck.bounds import INFLATION, Noisy, exact, finest, rounding, stored_sum
from verify.recheck.model import BoolArray, FloatArray, IntArray, StrArray, demand
from verify.recheck.program import MAPS, Channel, Sets, spread
from verify.recheck.stream import FREE, Stream, per_value

CELLS = 4_000_000
MOST = 200_000_000
TINY = INFLATION - 1


@dataclass(frozen=True)
class Mlp:
    """An MLP over what is known of the stream before it.

    Attributes:
        layers: The weight ``(inputs, outputs)`` and bias of each affine layer.
        activations: The names of those of the units of each hidden layer.
        mask: ``(d,)``: which dimensions keep what they hold, 0 or 1.
        stream: What is known.
    """

    layers: list[tuple[FloatArray, FloatArray]]
    activations: list[StrArray]
    mask: FloatArray
    stream: Stream

    @property
    def live(self) -> dict[str, Channel]:
        """The channels that are there."""
        return {n: self.stream.program.channels[n] for n in self.stream.noise}

    def written(self, channel: Channel, said: Any) -> FloatArray:
        """``(values,)``: the noise of each value of a channel that is written here."""
        demand(channel.op in MAPS, f"{channel.name!r} is no map")
        if "along" in (said or {}):
            return self._along(channel)
        worst = np.zeros(len(channel.domain))
        for sets in self._cases(said):
            found = spread(self.stream.program, dict(sets), channel.name)
            if not (occurs := found.any(axis=1)).any():
                continue
            demand(found.sum(axis=1) <= 1, f"{channel.name!r} is undecided in a case")
            result = channel.domain[found[occurs].argmax(axis=1)]
            sets = {n: inside[occurs] for n, inside in sets.items()}
            off = self._off(channel.span, sets, channel.code(result))
            worst = np.maximum(worst, per_value(channel, result, off))
        return worst

    def _along(self, channel: Channel) -> FloatArray:
        """The same of a table of a sum of two integers, for each value of the sum.

        Theorem 14b: all units read both with one weight, and so half the sum twice.
        """
        added = self.stream.program.channels[channel.inputs[0]]
        demand(channel.op == "table" and added.op == "sum", "this is no table of a sum")
        parts = [self.stream.channel(n) for n in added.inputs]
        integers = not any(c.one_hot for c in parts)
        demand(integers and len(set(added.inputs)) == len(parts) == 2, "no sum of two")
        dims, span = [c.span.start for c in parts], channel.span
        needed, (weight, bias) = self._needed(span), self.layers[-2]
        read = self.layers[0][0][:, needed[1]]
        demand(read[dims[0]] == read[dims[1]], "two channels are not read as their sum")
        demand(np.delete(read, dims, axis=0) == 0, "an MLP reads more than a sum")
        kept = (self.mask[span] != 0) & (self.stream.owner[span] != FREE)
        demand(~kept, "an MLP adds")
        sums, results = channel.rows[:, 0], channel.results
        x = np.zeros((len(sums), len(self.mask)))
        x[:, dims] = sums[:, None] / 2
        slopes = np.zeros((2, *x.shape))
        slopes[[0, 1], :, dims] = [[self.stream.noise[n].max()] for n in added.inputs]
        whole = Noisy(x, slopes, np.zeros_like(x), self.stream.form)
        inside = self._below(whole, needed).affine(
            weight[np.ix_(needed[-2], needed[-1])], bias[needed[-1]]
        )
        off = self._left(whole, inside, span, channel.code(results))
        return per_value(channel, results, off)

    def cleared(self, dim: int) -> float:
        """How far a dimension that must hold 0 can be from it after the MLP."""
        dims = range(dim, dim + 1)
        if self.keeps(dims) and self.stream.owner[dim] == FREE:
            return float(self.stream.free[dim])
        worst = 0.0
        for sets in self._cases(
            {"each": [n for n in self.live if self.reads(n, dims)]}
        ):
            zero = np.zeros((len(next(iter(sets.values()))), 1))
            worst = np.maximum(worst, self._off(dims, sets, zero).max())
        return worst

    def keeps(self, dims: range) -> bool:
        """Whether dimensions stay exactly as they are."""
        adds = self.layers and any(x[..., dims].any() for x in self.layers[-1])
        return not adds and bool((self.mask[dims] == 1).all())

    def check_reads(self) -> None:
        """An MLP reads channels only, and each of its units is read: 0 · ∞ is no number."""
        for j, (weight, _) in enumerate(self.layers):
            used = weight.any(axis=1)
            demand(used if j else self.stream.owner[used] >= 0, "an MLP reads too much")

    def _cases(self, said: Any) -> Iterator[Sets]:
        """Sets of values of all channels and the letter; every position is in some case.

        A channel that the letter decides has the values that the letters of its case
        give it.
        """
        token = next(iter(self.stream.program.channels.values()))
        channels = {**self.live, token.name: token}
        rows, found = _tree(said, channels)
        size = max(1, CELLS // sum(len(c.domain) for c in channels.values()))
        for low in range(0, rows, size):
            count = min(size, rows - low)
            sets = {
                n: np.ones((count, len(c.domain)), bool) for n, c in channels.items()
            }
            sets |= {n: inside[low : low + size] for n, inside in found.items()}
            for c in self.live.values():
                if c.op == "table" and c.inputs == (token.name,):
                    gives = c.place(c.results)[:, None] == np.arange(len(c.domain))
                    sets[c.name] = sets[c.name] & (sets[token.name] @ gives)
            yield sets

    def reads(self, name: str, dims: range) -> bool:
        """Whether dimensions depend on a channel."""
        span = self.live[name].span
        kept = any(d in span and self.mask[d] for d in dims)
        return kept or bool(np.isin(self._needed(dims)[0], span).any())

    def _needed(self, dims: range) -> list[IntArray]:
        """What some dimensions depend on: of the input, and of each hidden layer."""
        needed = [np.array(dims)]
        for weight, _ in reversed(self.layers):
            needed.insert(0, np.flatnonzero(weight[:, needed[0]].any(axis=1)))
        return needed[:-1]

    def _below(self, x: Noisy, needed: list[IntArray]) -> Noisy:
        """The layer below the last hidden one, or the input, where it is needed."""
        x = x.columns(needed[0])
        for j, (below, here) in enumerate(pairwise(needed[:-1])):
            weight, bias = self.layers[j]
            x = x.affine(weight[np.ix_(below, here)], bias[here])
            x = x.activated(self.activations[j][here])
        return x

    def _off(self, dims: range, sets: Sets, target: FloatArray) -> FloatArray:
        """``(rows,)``: how far dimensions can be from a target in some cases.

        Where each channel that is read has one value in each case, units may mix
        channels anywhere; else only in the last hidden layer.
        """
        needed, form = self._needed(dims), self.stream.form
        units, (weight, bias) = needed[-1], self.layers[-2]
        weight, bias = weight[np.ix_(needed[-2], units)], bias[units]
        read = [n for n in self.live if self.reads(n, dims)]
        if all((sets[n].sum(axis=1) == 1).all() for n in read):
            values = {n: self.live[n].domain[sets[n].argmax(axis=1)] for n in read}
            x = self.stream.at(values, np.zeros((len(target), len(self.mask))))
            sums = self._below(x, needed).affine(weight, bias)
        else:
            mask = self.mask[dims]
            demand((mask == 0) | (self.stream.owner[dims] == FREE), "an MLP adds")
            sums = self._mixed(needed, weight, bias, sets)
            x = exact(np.zeros((len(target), len(self.mask))), form)
        return self._left(x, sums, dims, target)

    def _left(
        self, x: Noisy, sums: Noisy, dims: range, target: FloatArray
    ) -> FloatArray:
        """How far what is kept of the input and added to it can be from a target.

        Args:
            x: The input.
            sums: Inside the units of the last hidden layer that the dimensions need.
            dims: The dimensions.
            target: What they should hold.
        """
        units, mask = self._needed(dims)[-1], self.mask[dims]
        x = x.columns(np.array(dims)).where(mask)
        free = (self.stream.free * self.mask)[dims]
        kept = Noisy(x.value, x.slopes, x.rest + free, x.form)
        above, after = self.layers[-1]
        hidden = sums.activated(self.activations[-1][units]) if len(units) else sums
        both = kept.plus(
            hidden.affine(above[np.ix_(units, np.array(dims))], after[dims])
        )
        off = (both.total + np.abs(both.value - target)) * INFLATION
        return np.asarray(off.max(axis=1))

    def _mixed(
        self, needed: list[IntArray], weight: FloatArray, bias: FloatArray, sets: Sets
    ) -> Noisy:
        """Sums inside the last hidden layer, put together from those of single channels.

        Lemma 15: each channel gives what lies between its least and its largest sum.
        """
        belongs = {n: self._belongs(n, needed) for n in self.live}
        lone = np.sum([np.zeros(len(needed[-2])), *belongs.values()], axis=0)
        demand(lone <= 1, "a hidden unit mixes channels below another hidden layer")
        rows, grid = len(next(iter(sets.values()))), finest(weight)
        total = [*np.zeros((4, rows, len(bias))), np.ones((rows, len(bias)), bool)]
        read = [n for n in belongs if belongs[n].any()]
        each = [({n: self.live[n].domain}, sets[n], belongs[n]) for n in read]
        for column, inside, own in [({}, np.ones((rows, 1), bool), lone == 0), *each]:
            x = self.stream.at(column, np.zeros((inside.shape[1], len(self.mask))))
            x = self._below(x, needed).where(own)
            grid = max(grid, finest(weight) + finest(x.value))
            _, first, of = np.unique(
                np.packbits(inside, axis=1),
                axis=0,
                return_index=True,
                return_inverse=True,
            )
            *more, one = _between(x, weight, inside[first])
            for i, part in enumerate(more):
                total[i] += part[of.reshape(-1)]
            total[4] &= one[of.reshape(-1)]
        value, rest, size, terms, known = total

        def added(b: FloatArray) -> Noisy:
            off = rounding(
                self.stream.form,
                terms + 1,
                size + np.abs(b),
                known,
                max(grid, finest(b)),
            )
            none = np.zeros((0, *value.shape))
            return Noisy(value + b, none, (rest + off) * INFLATION, self.stream.form)

        return stored_sum(added, bias)

    def _belongs(self, name: str, needed: list[IntArray]) -> BoolArray:
        """Which of what is needed below the last hidden layer depends on a channel."""
        reads = np.isin(np.arange(len(self.mask)), self.live[name].span)
        for weight, _ in self.layers[:-2]:
            reads = (weight != 0).T @ reads
        return reads[needed[-2]]


def _between(x: Noisy, weight: FloatArray, sets: BoolArray) -> list[Any]:
    """The sums of terms that have one of some rows: ``(sets, units)`` each.

    Returns:
        The middle, how far it can be off, the size and number of terms, and whether
        the sum is one number without noise.
    """
    magnitude, used = np.abs(weight), (weight != 0).astype(np.float64)
    total, value = x.total, x.value @ weight
    off = np.abs(x.slopes @ weight).sum(axis=0) + x.rest @ magnitude
    off = (off + TINY * (total @ magnitude)) * INFLATION
    size = (np.abs(x.value) + total) @ magnitude
    terms = ((x.value != 0) | (total != 0)).astype(np.float64) @ used
    quiet, found = (total > 0).astype(np.float64) @ used == 0, []
    for chosen in sets:
        low, high = (value - off)[chosen].min(axis=0), (value + off)[chosen].max(axis=0)
        one = (low == high) & quiet[chosen].all(axis=0)
        wide = ((high - low) / 2 + TINY * (np.abs(low) + np.abs(high))) * ~one
        most = size[chosen].max(axis=0), terms[chosen].max(axis=0)
        found.append(((low + high) / 2, wide, *most, one))
    return [np.array(part) for part in zip(*found, strict=True)]


def _tree(said: Any, channels: Mapping[str, Channel]) -> tuple[int, Sets]:
    """The leaves of a tree, and the sets of values that they name.

    A node is null, or has ``each``: a leaf for each joint value of some channels; or has
    ``split``, a channel, and ``parts``, values of it with the node that goes on there.
    """
    if said is None:
        return 1, {}
    if "each" in said:
        shape = [len(channels[n].domain) for n in said["each"]]
        rows = int(np.prod(shape, dtype=object))
        demand(rows * sum(shape) <= MOST, "an MLP mixes too many joint values")
        places = np.unravel_index(np.arange(rows), shape) if shape else ()
        named = zip(said["each"], places, shape, strict=True)
        return rows, {n: at[:, None] == np.arange(k) for n, at, k in named}
    name, domain = said["split"], channels[said["split"]].domain
    inside = [np.isin(domain, values) for values, _ in said["parts"]]
    demand(np.any(inside, axis=0), "a case is left out")
    leaves = [_tree(then, channels) for _, then in said["parts"]]
    names = {name}.union(*(sets for _, sets in leaves))
    rows = sum(count for count, _ in leaves)
    demand(rows * sum(len(channels[n].domain) for n in names) <= MOST, "too many cases")
    full = {n: np.ones(len(channels[n].domain), bool) for n in names}
    found = {}
    for n in names:
        parts = []
        for mask, (count, sets) in zip(inside, leaves, strict=True):
            one = sets.get(n, np.tile(full[n], (count, 1)))
            parts.append(one & mask if n == name else one)
        found[n] = np.concatenate(parts)
    return rows, found
