"""The MLP of a block: every channel that it writes holds the stated function.

For the dimensions of one channel, the network is evaluated on the joint values of all
channels that the writing units depend on, with noise and rounding carried along. A
selection among n channels has too many joint values for that; there each unit may depend
on one of the n only, and those that do not depend on the selected one must be silent, so
that it is enough to let all n hold the same value (docs/soundness.md, section 5).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy
from verify.statement import MOST_ROWS, Channel, Statement
from verify.stream import Stream, per_value

CELLS = 8_000_000


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
    def reads(self) -> BoolArray:
        """``(units, channels)``: which channels each unit of the last layer depends on.

        Raises:
            Rejected: If a unit reads a dimension that no channel owns.
        """
        owner = self.stream.owner
        used = np.flatnonzero((self.layers[0][0] != 0).any(axis=1))
        if (owner[used] < 0).any():
            raise Rejected("an MLP reads a dimension that holds no channel")
        belongs = np.zeros((len(owner), len(self.stream.names)), dtype=bool)
        belongs[used, owner[used]] = True
        for weight, _ in self.layers[:-1]:
            belongs = (weight != 0).T.astype(np.float64) @ belongs > 0
        return belongs

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

    def check_inputs(self, channel: Channel) -> None:
        """The channels that a channel is a function of are there.

        Raises:
            Rejected: If one is not.
        """
        missing = [n for n in channel.inputs if n not in self.stream.names]
        if missing:
            raise Rejected(f"channel {missing[0]!r} is not there where it is read")

    def check(self, channel: Channel) -> FloatArray:
        """The noise of each value of a channel that this MLP writes.

        Raises:
            Rejected: If it does not hold the stated function of its inputs.
        """
        units = self.writers(channel.span)
        apart = self._apart(channel.span, units)
        if channel.op == "table":
            return self._check_table(channel, units, apart)
        return self._check_select(channel, units, apart)

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
        read = np.flatnonzero(self.reads[units].any(axis=0))
        names = [self.stream.names[i] for i in read]
        kept = [self.stream.channel_of(d) for d in dims if self.mask[d] != 0]
        return tuple(dict.fromkeys([*names, *(n for n in kept if n is not None)]))

    def _check_table(
        self, channel: Channel, units: IntArray, apart: tuple[str, ...]
    ) -> FloatArray:
        rows = np.array(list(channel.table), dtype=np.int64).reshape(
            len(channel.table), len(channel.inputs)
        )
        others = [n for n in apart if n not in channel.inputs]
        grid = _grid({"": range(len(rows)), **self._domains(others)})
        index = grid.pop("")
        values = {n: rows[index, i] for i, n in enumerate(channel.inputs)} | grid
        results = np.array(list(channel.table.values()), dtype=np.int64)
        columns = zip(rows.T, channel.inputs, strict=True)
        fits = [np.isin(c, self.statement.channels[n].domain).all() for c, n in columns]
        if not (all(fits) and np.isin(results, channel.domain).all()):
            raise Rejected(f"the table of {channel.name!r} leaves the stated domains")
        target = channel.code(results[index])
        distance = self._distance(channel.span, units, values, target)
        return per_value(channel, results[index], distance)

    def _check_select(
        self, channel: Channel, units: IntArray, apart: tuple[str, ...]
    ) -> FloatArray:
        index, *selected = channel.inputs
        kept = {self.stream.channel_of(d) for d in channel.span if self.mask[d] != 0}
        alone = {n for n in apart if n not in selected or n in kept}
        alone.add(index)
        spread = frozenset(selected) - alone
        common = sorted({v for n in spread for v in self.statement.channels[n].domain})
        grid = _grid({**self._domains(alone), "": common or [0]})
        value = grid.pop("")
        values = grid | dict.fromkeys(spread, value)
        choices = np.stack([values[n] for n in selected])
        columns = {n: i for i, n in enumerate(self.stream.names)}
        picked = np.array([columns[n] if n in spread else -1 for n in selected])
        chosen = choices[values[index], np.arange(len(value))]
        valid = np.isin(chosen, channel.domain)
        target = channel.code(np.where(valid, chosen, channel.domain[0]))
        silent = self._silence(units, spread, picked[values[index]])
        distance = self._distance(channel.span, units, values, target, spread, silent)
        return per_value(channel, chosen[valid], distance[valid])

    def _silence(
        self, units: IntArray, spread: frozenset[str], picked: IntArray
    ) -> Callable[[Noisy, int], None]:
        """A check of rows: units of channels that are not picked are 0 in all of them."""
        reads = self.reads[units] & np.isin(self.stream.names, sorted(spread))
        if (reads.sum(axis=1) > 1).any():
            raise Rejected(
                "a unit mixes several of the channels that are selected from"
            )
        of = np.where(reads.any(axis=1), reads.argmax(axis=1), -1)

        def check(hidden: Noisy, low: int) -> None:
            loud = (hidden.value != 0) | (hidden.total != 0)
            foreign = of != picked[low : low + len(loud), None]
            if (loud & foreign & (of >= 0)).any():
                raise Rejected("a selection lets a channel through that is not chosen")

        return check

    def _domains(self, names: Iterable[str]) -> dict[str, Sequence[int]]:
        return {n: self.statement.channels[n].domain for n in sorted(names)}

    def _chunk(self) -> int:
        width = max(weight.shape[1] for weight, _ in self.layers) + len(self.mask)
        return max(1, CELLS // int(width))

    def _distance(
        self,
        dims: range,
        units: IntArray,
        values: dict[str, IntArray],
        target: FloatArray,
        shared: frozenset[str] = frozenset(),
        check: Callable[[Noisy, int], None] | None = None,
    ) -> FloatArray:
        """How far the sum can be from its target in any dimension, ``(rows,)``.

        Args:
            dims: The dimensions written to.
            units: The units that write to them.
            values: The joint values ``(rows,)`` of the channels they depend on.
            target: ``(rows, len(dims))``.
            shared: Channels of which every unit reads at most one.
            check: Shown the hidden units of every part, and its first row.
        """
        weight, bias = self.layers[-1]
        weight, bias = weight[np.ix_(units, np.array(dims))], bias[dims]
        worst = []
        for low, part in _parts(values, self._chunk()):
            x = self._inputs(part, shared)
            wanted = target[low : low + len(x.value)]
            hidden = self._hidden(x, units)
            if check is not None:
                check(hidden, low)
            out = hidden.affine(weight, bias)
            kept = self._kept(x, dims)
            both = kept.plus(out)
            distance = (both.total + np.abs(both.value - wanted)) * INFLATION
            worst.append(distance.max(axis=1))
        return np.concatenate(worst)

    def hidden(self, values: dict[str, IntArray], units: IntArray) -> Noisy:
        """The given units of the last hidden layer at the given values of channels."""
        return self._hidden(self._inputs(values, frozenset()), units)

    def _hidden(self, x: Noisy, units: IntArray) -> Noisy:
        """The given units of the last hidden layer, and what they need below."""
        chosen = [units]
        for weight, _ in reversed(self.layers[1:-1]):
            chosen.insert(0, np.flatnonzero((weight[:, chosen[0]] != 0).any(axis=1)))
        below = np.flatnonzero((self.layers[0][0][:, chosen[0]] != 0).any(axis=1))
        x = x.columns(below)
        hidden = zip(self.layers[:-1], chosen, self.sines, strict=True)
        for (weight, bias), here, sines in hidden:
            x = x.affine(weight[np.ix_(below, here)], bias[here])
            x, below = x.activated(here < sines), here
        return x

    def _kept(self, x: Noisy, dims: range) -> Noisy:
        """What the residual connection brings along."""
        mask = self.mask[dims]
        slopes = tuple(slope[:, dims] * mask for slope in x.slopes)
        rest = (x.rest[:, dims] + self.stream.free[dims]) * mask
        return Noisy(x.value[:, dims] * mask, slopes, x.noises, rest, self.precision)

    def _inputs(self, values: dict[str, IntArray], shared: frozenset[str]) -> Noisy:
        """The stream with channels at given values; all others are left at 0."""
        rows = _rows(values)
        x = np.zeros((rows, len(self.mask)))
        rest = np.zeros_like(x)
        common = np.zeros_like(x)
        slopes = [common]
        for name, column in values.items():
            channel = self.statement.channels[name]
            noise = self.stream.noise_at(channel, column)[:, None]
            x[:, channel.span] = channel.code(column)
            if channel.one_hot:
                rest[:, channel.span] = noise
            elif name in shared:
                common[:, channel.span] = noise
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
