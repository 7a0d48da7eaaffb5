"""The MLP of a block, evaluated on what is known of its input.

Which channels a unit depends on, what units hold at given values of these, with noise and
rounding carried along, and how far a sum can be from what it should be
(docs/soundness.md, section 5).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import BoolArray, FloatArray, Precision
from verify.apart import Apart
from verify.errors import Rejected
from verify.noisy import INFLATION, Noisy
from verify.statement import MOST_ROWS, Statement
from verify.stream import Stream

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
        sines: Which units of each hidden layer are sines; the others are ReLUs.
    """

    layers: tuple[tuple[FloatArray, FloatArray], ...]
    mask: FloatArray
    stream: Stream
    statement: Statement
    precision: Precision
    sines: tuple[BoolArray, ...]

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

    @cached_property
    def below(self) -> Apart:
        """What the units below the last hidden layer hold."""
        return Apart(self)

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
            reach[sines] = 2.0

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

    def hidden(self, values: dict[str, IntArray], units: IntArray) -> Noisy:
        """Some units of the last hidden layer at the given values of channels."""
        return self.activations(self.inputs(values), units)

    def activations(self, x: Noisy, units: IntArray) -> Noisy:
        """Some units of the last hidden layer over what the stream holds."""
        return self.run(x, self.needed(units))

    def check_free(self, dims: range) -> float:
        """The noise left in dimensions that must hold 0 after this MLP."""
        units = self.writers(dims)
        if self._erases(dims, units):
            return 0.0
        apart = self.apart(dims, units)
        values = _grid({n: self.statement.channels[n].domain for n in apart})
        target = np.zeros((_rows(values), len(dims)))
        return float(self.distance(dims, units, values, target).max())

    def _erases(self, dims: range, units: IntArray) -> bool:
        """Whether the units add −ReLU(x) + ReLU(−x) to x: one term is 0, the sum too."""
        if len(self.layers) != 2 or len(units) != 2 or len(dims) != 1:
            return False
        if self.sines[0][units].any():
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

    def apart(self, dims: range, units: IntArray) -> tuple[str, ...]:
        """The channels that a sum depends on, by its units or its residual connection."""
        read = np.flatnonzero(self.reads[-1][units].any(axis=0))
        names = [self.stream.names[i] for i in read]
        return tuple(dict.fromkeys([*names, *self.kept_channels(dims)]))

    def kept_channels(self, dims: range) -> list[str]:
        """The channels that the residual connection keeps in some dimensions."""
        kept = [self.stream.channel_of(d) for d in dims if self.mask[d] != 0]
        return [name for name in kept if name is not None]

    def needed(self, units: IntArray, layers: int | None = None) -> list[IntArray]:
        """What some units need, from the input up to them.

        Args:
            units: The units.
            layers: Which hidden layer they belong to, from 1, or 0 for the input; by
                default the last one.
        """
        needed = [units]
        height = len(self.layers) - 1 if layers is None else layers
        for weight, _ in reversed(self.layers[:height]):
            needed.insert(0, np.flatnonzero((weight[:, needed[0]] != 0).any(axis=1)))
        return needed

    def run(self, x: Noisy, needed: list[IntArray]) -> Noisy:
        """What units hold that are found by ``needed``, over what the stream holds."""
        x = x.columns(needed[0])
        for weight, bias, sines in self._between(needed):
            x = x.affine(weight, bias).activated(sines)
        return x

    def _jointly(self, x: Noisy, units: IntArray) -> tuple[Noisy, IntArray]:
        """Some units of the last hidden layer, and which of the rows stands for each.

        Rows that the first layer cannot tell apart are one.
        """
        needed = self.needed(units)
        steps = self._between(needed)
        weight, bias, sines = next(steps)
        sums, row = x.columns(needed[0]).affine_jointly(weight, bias)
        x = sums.activated(sines)
        for weight, bias, sines in steps:
            x = x.affine(weight, bias).activated(sines)
        return x, row

    def _between(
        self, needed: list[IntArray]
    ) -> Iterator[tuple[FloatArray, FloatArray, BoolArray]]:
        """Weight, bias and which units are sines, from each layer needed to the next."""
        layers = zip(self.layers, needed, needed[1:], self.sines, strict=False)
        for (weight, bias), below, here, sines in layers:
            yield weight[np.ix_(below, here)], bias[here], sines[here]

    def chunk(self) -> int:
        """How many rows are evaluated at once."""
        width = max(weight.shape[1] for weight, _ in self.layers) + len(self.mask)
        return max(1, CELLS // int(width))

    def distance(
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
        sizes = [*map(len, self.needed(units)), len(dims)]
        products = sum(a * b for a, b in pairwise(sizes))
        self.statement.effort.spend_on_arrays(
            len(target) * (sum(sizes) + products // 30)
        )
        # What is kept of a channel shares its noise with what the units hold of it.
        shares = bool(self.kept_channels(dims))
        worst = []
        for low, part in _parts(values, self.chunk()):
            x = self.inputs(part)
            if shares or not len(units):
                out = self.activations(x, units).affine(above, after)
            else:
                hidden, row = self._jointly(x, units)
                out = hidden.affine(above, after).rows(row)
            wanted = target[low : low + len(x.value)]
            worst.append(self.off(x, out, dims, wanted))
        return np.concatenate(worst)

    def off(self, x: Noisy, out: Noisy, dims: range, target: FloatArray) -> FloatArray:
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

    def inputs(self, values: dict[str, IntArray]) -> Noisy:
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
