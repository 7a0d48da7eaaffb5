"""The MLP of a block: every channel that it writes holds the stated function.

For the dimensions of one channel, the network is evaluated on the joint values of all
channels that the writing units depend on, with noise and rounding carried along. A
selection among n channels has too many joint values for that; there each unit may depend
on one of the n only, and those that do not depend on the selected one must be silent, so
that it is enough to let all n hold the same value (docs/soundness.md, section 5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, product
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.cubes import Cube, Decider
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy, finest
from verify.statement import MOST_ROWS, Channel, Statement
from verify.stream import Stream, per_value
from verify.summands import Sums, Terms, summand, terms

CELLS = 8_000_000
MOST_TRIED = 100_000


@dataclass(frozen=True)
class Mlp:
    """The MLP of a block over what is known of its input.

    Attributes:
        layers: Weight ``(inputs, outputs)`` and bias of every affine layer.
        mask: ``(d,)``: how much of its input each dimension keeps, 0 or 1.
        stream: What is known before it.
        statement: The Program.
        precision: The format that it computes in.
        sines: How many units of each hidden layer, the first ones, are sines; the
            others are ReLUs.
    """

    layers: tuple[tuple[FloatArray, FloatArray], ...]
    mask: FloatArray
    stream: Stream
    statement: Statement
    precision: Precision
    sines: tuple[int, ...]

    @cached_property
    def reads(self) -> list[BoolArray]:
        """For the input and each hidden layer, ``(units, channels)``: who reads what.

        Raises:
            Rejected: If a unit reads a dimension that no channel owns.
        """
        owner = self.stream.owner
        used = np.flatnonzero((self.layers[0][0] != 0).any(axis=1))
        if (owner[used] < 0).any():
            raise Rejected("an MLP reads a dimension that holds no channel")
        belongs = np.zeros((len(owner), len(self.stream.names)), dtype=bool)
        belongs[used, owner[used]] = True
        found = [belongs]
        for weight, _ in self.layers[:-1]:
            found.append((weight != 0).T.astype(np.float64) @ found[-1] > 0)
        return found

    def writers(self, dims: range) -> IntArray:
        """The units of the last hidden layer that write to some of ``dims``."""
        return np.flatnonzero((self.layers[-1][0][:, dims] != 0).any(axis=1))

    def check_idle(self) -> None:
        """Units that no dimension depends on cannot overflow: 0 · ∞ is no number.

        Raises:
            Rejected: If one could.
        """
        _ = self.reads  # refuses units that read anything but channels
        reach = np.zeros(len(self.mask))
        for name in self.stream.names:
            channel = self.statement.channels[name]
            code = np.abs(channel.code(channel.domain)).max(axis=0)
            reach[channel.span] = code + self.stream.noise[name].max()
        hidden = zip(self.layers[:-1], self._live(), self.sines, strict=True)
        for (weight, bias), live, sines in hidden:
            reach = 2 * (reach @ np.abs(weight) + np.abs(bias))
            if (reach[~live] > self.precision.largest).any():
                raise Rejected("a unit that nothing reads could overflow")
            reach[:sines] = 2.0

    def _live(self) -> list[BoolArray]:
        """For each hidden layer the units that some dimension depends on."""
        live = [np.ones(len(self.mask), dtype=np.bool_)]
        for weight, _ in reversed(self.layers[1:]):
            live.insert(0, (weight[:, live[0]] != 0).any(axis=1))
        return live[:-1]

    def untouched(self, dims: range) -> bool:
        """Whether the MLP leaves dimensions exactly as they are."""
        weight, bias = self.layers[-1]
        silent = not weight[:, dims].any() and not bias[dims].any()
        return silent and bool((self.mask[dims] == 1).all())

    def check(self, channel: Channel) -> FloatArray:
        """The noise of each value of a channel that this MLP writes.

        Raises:
            Rejected: If it does not hold the stated function of what is stored.
        """
        units = self.writers(channel.span)
        cubes = Decider(self.statement, self.stream.names).cubes(channel)
        asked = {n for cube, _ in cubes for n in cube if n in self.stream.names}
        names = sorted(asked.union(self._apart(channel.span, units)))
        few = self._sums_integers(units) and self._has_few_rows(cubes, names)
        if few or len(names) == 1:
            return self._by_rows(channel, units, names, cubes)
        return self._by_cubes(channel, units, names, cubes)

    def _by_cubes(
        self,
        channel: Channel,
        units: IntArray,
        names: Sequence[str],
        cubes: list[tuple[Cube, int]],
    ) -> FloatArray:
        """The noise of each value, bounded at once where one value is decided."""
        sums = self._sums(channel.span, units, names)
        rows, of = sums.rows([cube for cube, _ in cubes], MOST_ROWS)
        results = np.array([value for _, value in cubes], dtype=np.int64)[of]
        distance = self._joint_distance(channel, sums, rows, results)
        return per_value(channel, results, distance)

    def _sums_integers(self, units: IntArray) -> bool:
        """Whether a unit of the first layer reads several integers: steps along a sum.

        Steps are differences of units; what is not asked about cancels in them, but only
        for each of its values by itself.
        """
        integer = [not self.statement.channels[n].one_hot for n in self.stream.names]
        first = self._needed(units)[1] if len(self.layers) > 2 else units
        return bool((self.reads[1][first][:, integer].sum(axis=1) > 1).any())

    def _has_few_rows(
        self, cubes: list[tuple[Cube, int]], names: Sequence[str]
    ) -> bool:
        """Whether all joint values of some channels in all cubes can be tried."""
        sizes = {n: len(self.statement.channels[n].domain) for n in names}
        counts = (
            prod(len(c[n]) if n in c else sizes[n] for n in names) for c, _ in cubes
        )
        return sum(counts) <= MOST_TRIED

    def _by_rows(
        self,
        channel: Channel,
        units: IntArray,
        names: Sequence[str],
        cubes: list[tuple[Cube, int]],
    ) -> FloatArray:
        """The noise of each value, from every row; units may mix channels anywhere."""
        domains = {n: self.statement.channels[n].domain for n in names}
        rows: list[tuple[int, ...]] = []
        found: list[int] = []
        for cube, value in cubes:
            rows += product(*(sorted(cube.get(n, domains[n])) for n in names))
            found += [value] * (len(rows) - len(found))
        columns = np.array(rows, dtype=np.int64).T
        values = dict(zip(names, columns, strict=True))
        results = np.array(found, dtype=np.int64)
        target = channel.code(results)
        distance = self._distance(channel.span, units, values, target)
        return per_value(channel, results, distance)

    def hidden(self, values: dict[str, IntArray], units: IntArray) -> Noisy:
        """Some units of the last hidden layer at the given values of channels."""
        needed = self._needed(units)
        weight, bias = self.layers[-2]
        weight, bias = weight[np.ix_(needed[-2], units)], bias[units]
        sums = self._below(self._inputs(values), needed).affine(weight, bias)
        return sums.activated(units < self.sines[-1])

    def check_free(self, dims: range) -> float:
        """The noise left in dimensions that must hold 0 after this MLP."""
        units = self.writers(dims)
        if self._erases(dims, units):
            return 0.0
        apart = self._apart(dims, units)
        values = _grid({n: self.statement.channels[n].domain for n in apart})
        target = np.zeros((_rows(values), len(dims)))
        return float(self._distance(dims, units, values, target).max())

    def _erases(self, dims: range, units: IntArray) -> bool:
        """Whether the units add −ReLU(x) + ReLU(−x) to x: one term is 0, the sum too."""
        if len(self.layers) != 2 or len(units) != 2 or len(dims) != 1:
            return False
        if units.min() < self.sines[0]:
            return False
        (below, inside), (above, after) = self.layers
        row = above[units, dims[0]]
        expected = np.zeros((len(self.mask), 2))
        expected[dims[0]] = -row
        return bool(
            self.mask[dims[0]] == 1
            and sorted(row) == [-1, 1]
            and np.array_equal(below[:, units], expected)
            and not inside[units].any()
            and after[dims[0]] == 0
        )

    def _apart(self, dims: range, units: IntArray) -> tuple[str, ...]:
        """The channels that a sum depends on, by its units or its residual connection."""
        read = np.flatnonzero(self.reads[-1][units].any(axis=0))
        names = [self.stream.names[i] for i in read]
        return tuple(dict.fromkeys([*names, *self._kept_channels(dims)]))

    def _kept_channels(self, dims: range) -> list[str]:
        kept = [self.stream.channel_of(d) for d in dims if self.mask[d] != 0]
        return [name for name in kept if name is not None]

    def _sums(self, dims: range, units: IntArray, names: Sequence[str]) -> Sums:
        """The sums inside the units that write to ``dims``, taken apart by channels.

        Raises:
            Rejected: If a unit below mixes channels, or the sum adds to another channel.
        """
        if self._kept_channels(dims):
            raise Rejected("an MLP adds to dimensions that hold another channel")
        needed = self._needed(units)
        domains = {n: self.statement.channels[n].domain for n in names}
        owner = self._owners(names, needed[-2])
        weight = self.layers[-2][0][np.ix_(needed[-2], units)]
        parts, grid = [], 0
        for channel, value in _one_by_one(list(domains.values()), self._chunk()):
            below = self._below(self._lone(names, channel, value), needed)
            own = below.where(owner == channel[:, None])
            parts.append(terms(own, weight))
            grid = max(grid, finest(own.value))
        each = Terms.joined(parts)
        ends = np.cumsum([1, *(len(d) for d in domains.values())])
        summands = [summand(each.at(slice(a, b))) for a, b in pairwise(ends)]
        grid += finest(weight)
        bias = self.layers[-2][1][units]
        constant = each.at(slice(0, 1))
        return Sums(domains, summands, constant, grid, bias, self.precision)

    def _owners(self, names: Sequence[str], units: IntArray) -> IntArray:
        """Which of some channels each unit below the last hidden layer reads, or −1.

        Raises:
            Rejected: If one reads several.
        """
        places = [self.stream.names.index(n) for n in names]
        belongs = self.reads[-2][units][:, places]
        if (belongs.sum(axis=1) > 1).any():
            raise Rejected("a hidden unit mixes channels below another hidden layer")
        none = ~belongs.any(axis=1, keepdims=True)
        return np.asarray(np.hstack([none, belongs]).argmax(axis=1) - 1)

    def _lone(self, names: Sequence[str], channel: IntArray, value: IntArray) -> Noisy:
        """The stream where one channel at a time has a value, ``(rows, d)``.

        Args:
            names: The channels.
            channel: ``(rows,)``: which of them; −1 for none.
            value: ``(rows,)``.
        """
        x = np.zeros((len(channel), len(self.mask)))
        rest, slope = np.zeros_like(x), np.zeros_like(x)
        for place, name in enumerate(names):
            rows = np.flatnonzero(channel == place)
            found = self.statement.channels[name]
            at = np.ix_(rows, np.array(found.span))
            x[at] = found.code(value[rows])
            noise = rest if found.one_hot else slope
            noise[at] = self.stream.noise_at(found, value[rows])[:, None]
        slopes = (slope,) if slope.any() else ()
        return Noisy(x, slopes, (1.0,) * len(slopes), rest, self.precision)

    def _needed(self, units: IntArray) -> list[IntArray]:
        """What some units of the last hidden layer need, from the input up to them."""
        needed = [units]
        for weight, _ in reversed(self.layers[:-1]):
            needed.insert(0, np.flatnonzero((weight[:, needed[0]] != 0).any(axis=1)))
        return needed

    def _below(self, x: Noisy, needed: list[IntArray]) -> Noisy:
        """What the layer under the last hidden one holds, where it is needed."""
        x = x.columns(needed[0])
        layers = zip(self.layers, needed[:-2], needed[1:-1], self.sines, strict=False)
        for (weight, bias), below, here, sines in layers:
            x = x.affine(weight[np.ix_(below, here)], bias[here])
            x = x.activated(here < sines)
        return x

    def _joint_distance(
        self, channel: Channel, sums: Sums, rows: IntArray, results: IntArray
    ) -> FloatArray:
        """How far the sum can be from the code of its value, ``(rows,)``."""
        dims = channel.span
        units = self.writers(dims)
        weight, bias = self.layers[-1]
        weight, bias = weight[np.ix_(units, np.array(dims))], bias[dims]
        zero = self._inputs({})
        worst = []
        size = max(1, CELLS // max(1, len(units)))
        for low in range(0, len(rows), size):
            inside = sums.add_up(rows[low : low + size])
            hidden = inside.activated(units < self.sines[-1])
            target = channel.code(results[low : low + size])
            worst.append(self._off(zero, hidden.affine(weight, bias), dims, target))
        return np.concatenate(worst)

    def _chunk(self) -> int:
        width = max(weight.shape[1] for weight, _ in self.layers) + len(self.mask)
        return max(1, CELLS // int(width))

    def _distance(
        self,
        dims: range,
        units: IntArray,
        values: dict[str, IntArray],
        target: FloatArray,
    ) -> FloatArray:
        """How far the sum can be from its target in any dimension, ``(rows,)``.

        Args:
            dims: The dimensions written to.
            units: The units that write to them.
            values: The joint values ``(rows,)`` of the channels they depend on.
            target: ``(rows, len(dims))``.
        """
        above, after = self.layers[-1]
        above, after = above[np.ix_(units, np.array(dims))], after[dims]
        worst = []
        for low, part in _parts(values, self._chunk()):
            hidden = self.hidden(part, units)
            wanted = target[low : low + len(hidden.value)]
            out = hidden.affine(above, after)
            worst.append(self._off(self._inputs(part), out, dims, wanted))
        return np.concatenate(worst)

    def _off(self, x: Noisy, out: Noisy, dims: range, target: FloatArray) -> FloatArray:
        """How far what is kept of the input and what is added are from a target."""
        both = self._kept(x, dims).plus(out)
        distance = (both.total + np.abs(both.value - target)) * INFLATION
        return np.asarray(distance.max(axis=1))

    def _kept(self, x: Noisy, dims: range) -> Noisy:
        """What the residual connection brings along."""
        mask = self.mask[dims]
        slopes = tuple(slope[:, dims] * mask for slope in x.slopes)
        rest = (x.rest[:, dims] + self.stream.free[dims]) * mask
        return Noisy(x.value[:, dims] * mask, slopes, x.noises, rest, self.precision)

    def _inputs(self, values: dict[str, IntArray]) -> Noisy:
        """The stream with channels at given values; all others are left at 0."""
        rows = _rows(values)
        x = np.zeros((rows, len(self.mask)))
        rest = np.zeros_like(x)
        slopes = []
        for name, column in values.items():
            channel = self.statement.channels[name]
            noise = self.stream.noise_at(channel, column)[:, None]
            x[:, channel.span] = channel.code(column)
            if channel.one_hot:
                rest[:, channel.span] = noise
            elif noise.any():
                slopes.append(np.zeros_like(x))
                slopes[-1][:, channel.span] = noise
        ones = (1.0,) * len(slopes)
        return Noisy(x, tuple(slopes), ones, rest, self.precision)


def _rows(values: Mapping[str, IntArray]) -> int:
    return len(next(iter(values.values()))) if values else 1


def _grid(domains: Mapping[str, Sequence[int]]) -> dict[str, IntArray]:
    """All joint values of channels, as one column for each.

    Raises:
        Rejected: If there are too many.
    """
    if prod(len(d) for d in domains.values()) > MOST_ROWS:
        raise Rejected("an MLP mixes channels with too many joint values")
    columns = np.meshgrid(*(np.array(list(d)) for d in domains.values()), indexing="ij")
    return {n: c.reshape(-1) for n, c in zip(domains, columns, strict=True)}


def _parts(
    values: dict[str, IntArray], size: int
) -> Iterator[tuple[int, dict[str, IntArray]]]:
    """The rows in parts of bounded size, with the index of the first of each."""
    for low in range(0, _rows(values), size):
        yield low, {n: v[low : low + size] for n, v in values.items()}


def _one_by_one(
    domains: Sequence[Sequence[int]], size: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """No channel, then each value of each: indices of channels and values, in parts."""
    channel = np.repeat(np.arange(-1, len(domains)), [1, *map(len, domains)])
    value = np.array([0, *chain(*domains)], dtype=np.int64)
    for low in range(0, len(channel), size):
        yield channel[low : low + size], value[low : low + size]
