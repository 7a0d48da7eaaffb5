"""Components of a cascade held by a diagonal linear recurrence, layer by layer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from krohn.algebra.structure import Counter, Memory
from krohn.compiler import CompileError
from krohn.network.precision import FloatArray, Precision

# The component of a cascade in the coordinates of a diagonal linear recurrence.
#
# Theorems D1 to D5 of docs/proofs/state_space.md: a form right over the reals can be
# wrong in floating point, and the other way round.


DECAY = 0.625
"""The decay of a latch: with two neighbours as states, ⅛ of a gap is left to rounding."""
IDLE, RESET, SET = 0.25, -0.25, 0.75
"""The summand of a latch beside ⅜ of its lower state, in gaps."""


class Held(NamedTuple):
    """A component in coordinates.

    Attributes:
        start: ``(coordinates,)``.
        decay: ``(letters, coordinates)``: the factor of each letter of the component.
        addend: ``(letters, coordinates)``: its summand.
        decode: Affine layers, each with a ReLU behind it, from the coordinates on.
        patterns: ``(states, units)``: a state's units are 1 at 1, 0 at −1.
    """

    start: FloatArray
    decay: FloatArray
    addend: FloatArray
    decode: "list[Affine]"
    patterns: FloatArray


class Affine(NamedTuple):
    """x ↦ x · weight + bias."""

    weight: FloatArray
    bias: FloatArray


def bits(size: int) -> FloatArray:
    """``(size, digits)``: 1 or −1 for each binary digit of a state, one digit at least."""
    width = max(1, (size - 1).bit_length())
    digits = np.arange(size)[:, None] >> np.arange(width) & 1
    return np.where(digits == 1, 1.0, -1.0)


def latches(memory: Memory, size: int, start: int, precision: Precision) -> Held:
    """A memory, a bit in each coordinate: one of two neighbouring numbers (Theorem D2).

    ⅝ h + b rounds to where it was, to the upper or to the lower one, at every length.
    Over the reals it forgets.
    """
    low, codes = 2.0 ** (precision.digits - 1) + 8, bits(size)
    signs = np.array([0 * codes[0] if q is None else codes[q] for q in memory.writes])
    moved = np.where(signs == 0, IDLE, np.where(signs > 0, SET, RESET))
    decode = [Affine(np.eye(codes.shape[1]), np.full(codes.shape[1], -low))]
    return Held(
        low + (codes[start] > 0),
        np.full(signs.shape, DECAY),
        (1 - DECAY) * low + moved,
        decode,
        codes,
    )


def switches(memory: Memory, size: int, start: int) -> Held:
    """A memory whose letters choose the decay: 1 keeps a bit, 0 forgets it (D5)."""
    codes = bits(size)
    keeps = np.array([q is None for q in memory.writes])[:, None]
    written = np.array([codes[q or 0] > 0 for q in memory.writes])
    ones = np.ones(codes.shape[1])
    return Held(
        1.0 * (codes[start] > 0),
        keeps * ones,
        np.where(keeps, 0.0, written),
        [Affine(np.diag(ones), 0 * ones)],
        codes,
    )


def flips(counter: Counter) -> Held:
    """Parity, as a sign: −1 turns it, 1 keeps it (Theorem D5)."""
    turns = np.array(counter.increments)[:, None] % 2
    decode = [Affine(-np.eye(1), np.zeros(1))]
    patterns = bits(2)[list(counter.labels)]
    return Held(np.ones(1), 1.0 - 2 * turns, np.zeros(turns.shape), decode, patterns)


@dataclass(frozen=True)
class Sum:
    """A counter whose increments are added up, with decay 1 (Theorem D3).

    Attributes:
        counter: The counter.
        precision: The format.
    """

    counter: Counter
    precision: Precision

    @property
    def steps(self) -> FloatArray:
        """``(letters,)``: the letters' summands modulo n, with the least range."""
        n = self.counter.modulus
        increments = np.array(self.counter.increments, dtype=np.float64) % n
        ways = [
            np.where(increments > most, increments - n, increments)
            for most in {*increments.tolist()}
        ]
        return min(ways, key=lambda way: float(max(way.max(), 0) - min(way.min(), 0)))

    @property
    def largest(self) -> int:
        """The greatest multiple of n below which whole numbers can be told apart.

        The format has all below 2^p, and one more; telling them modulo n sums three of
        them in its accumulator.
        """
        p = self.precision
        most = min((1 << p.digits) - 1, 1 << p.accumulator_digits - 2)
        return most // self.counter.modulus * self.counter.modulus

    def begins(self, added: int, size: int) -> int | None:
        """Where so many can be added within ±size, a multiple of n; None if nowhere."""
        n, (up, down) = self.counter.modulus, self._range
        start = -(-(added * down - size) // n) * n
        return start if start + added * up <= size and size >= n else None

    @property
    def _range(self) -> tuple[int, int]:
        steps = self.steps
        return int(max(steps.max(), 0)), int(-min(steps.min(), 0))

    @property
    def longest(self) -> int:
        """The longest words whose sums before the last letter are told apart modulo n."""
        up, down = self._range
        added = 2 * self.largest // max(up + down, 1)
        while added and self.begins(added, self.largest) is None:
            added -= 1
        return added + 1

    def in_one_coordinate(self, length: int, start: int) -> Held:
        """The counter in one coordinate; beyond `longest` it is wrong.

        Args:
            length: T.
            start: The state of the component before the word; its label is 0.
        """
        n, added = self.counter.modulus, min(length, self.longest) - 1
        size = n * max(1, added * sum(self._range) // (2 * n))
        while (begins := self.begins(added, size)) is None:
            size += n
        labels = np.array(self.counter.labels)
        assert labels[start] == 0
        units = _Modulo(size, n).units()
        least = np.arange(1, n)
        patterns = 1.0 * (labels[:, None] == least) - (labels[:, None] == least - 1)
        ones = np.ones((len(self.steps), 1))
        return Held(
            np.full(1, float(begins)), ones, self.steps[:, None], units, patterns
        )


@dataclass
class _Modulo:
    """Affine layers from a whole number within ±size to its residue's thermometer.

    Attributes:
        size: A multiple of n.
        modulus: n.
        layers: Those made so far.
        weight: ``(units,)``: the number, as a sum of the units of the last layer.
        bias: What is added to that.
    """

    size: int
    modulus: int
    layers: list[Affine] = field(default_factory=list)
    weight: FloatArray = field(default_factory=lambda: np.ones(1))
    bias: float = 0.0

    def units(self) -> list[Affine]:
        """Unit j is 1 if the residue is more than j."""
        self._negative()
        most, n = self.size, self.modulus
        while most >= n:
            fold = n * -(-(most + 1) // (2 * n))
            self._fold_once(fold)
            most = max(fold - 1, most - fold)
        pairs = (
            [(1.0, 1.0 - j) for j in range(1, n)],
            [(1.0, -1.0 * j) for j in range(1, n)],
        )
        self._affine([*pairs[0], *pairs[1]])
        ones = np.eye(n - 1)
        self._linear(np.vstack([ones, -ones]))
        return self.layers

    def _affine(self, wanted: Sequence[tuple[float, float]]) -> None:
        """Units of scale · number + shift."""
        weight = np.stack([scale * self.weight for scale, _ in wanted], axis=1)
        bias = np.array([scale * self.bias + shift for scale, shift in wanted])
        self.layers.append(Affine(weight, bias))

    def _linear(self, weight: FloatArray) -> None:
        self.layers.append(Affine(weight, np.zeros(weight.shape[1])))

    def _negative(self) -> None:
        """Add ``size`` if the number is negative."""
        self._affine([(1.0, 0.0), (-1.0, 0.0), (1.0, 1.0)])
        self._linear(np.array([[1.0, 0, -1], [0, 1, 0], [0, 0, 1]]))
        self.weight, self.bias = np.array([1.0, -1, -self.size]), float(self.size)

    def _fold_once(self, at: int) -> None:
        """Subtract ``at`` from a number that is not less."""
        self._affine([(1.0, 0.0), (1.0, 1.0 - at), (1.0, -1.0 * at)])
        self._linear(np.array([[1.0, 0], [0, 1], [0, -1]]))
        self.weight, self.bias = np.array([1.0, -at]), 0.0


# One layer of a state space model: a recurrence, and a table that reads it.


MOST_UNITS = 4_096


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: a recurrence, its reader, and a table of letters and states.

    Attributes:
        held: The recurrence; its rows are the letters of the layer.
        table: Two affine layers with a ReLU between them.
    """

    held: Held
    table: tuple[Affine, Affine]

    def shape(self) -> dict[str, object]:
        """How an architecture says it."""
        inner, outer = self.table
        return {
            "coordinates": len(self.held.start),
            "decode": [layer.weight.shape[1] for layer in self.held.decode],
            "hidden": inner.weight.shape[1],
            "symbols": outer.weight.shape[1],
        }

    def tensors(self, selective: bool) -> dict[str, FloatArray]:
        """Its tensors by name."""
        representation = self.held
        tensors = {
            "start": representation.start,
            "decay": representation.decay if selective else representation.decay[0],
            "input": representation.addend,
        }
        every = {f"decode.{j}": layer for j, layer in enumerate(representation.decode)}
        for name, layer in {
            **every,
            "table.0": self.table[0],
            "table.1": self.table[1],
        }.items():
            tensors |= {f"{name}.weight": layer.weight, f"{name}.bias": layer.bias}
        return tensors


def table(
    symbols: int, patterns: FloatArray, rows: dict[tuple[int, int], int], width: int
) -> tuple[Affine, Affine]:
    """1 at the output that the rows give a symbol and a state, 0 elsewhere.

    A unit is on at one symbol and one state; or at a symbol, where the state is all one.

    Args:
        symbols: How many there are.
        patterns: ``(states, units)``: as `Held` has them.
        rows: From a symbol and a state to a number below ``width``.
        width: How many outputs there are.
    """
    every: dict[int, dict[int, int]] = {}
    for (s, q), to in rows.items():
        every.setdefault(s, {})[q] = to
    units: list[tuple[int, FloatArray, int]] = []
    for s, targets in every.items():
        if len(targets) == len(patterns) and len({*targets.values()}) == 1:
            units.append((s, 0 * patterns[0], targets[0]))
        else:
            units.extend((s, patterns[q], to) for q, to in targets.items())
    if len(units) > MOST_UNITS:
        raise CompileError(
            f"a layer would have {len(units):,} units, and {MOST_UNITS:,} is the most; "
            "take --arch rnn"
        )
    weight = np.zeros((symbols + patterns.shape[1], len(units)))
    outer = np.zeros((len(units), width))
    bias = np.zeros(len(units))
    for u, (s, pattern, to) in enumerate(units):
        weight[s, u], weight[symbols:, u], outer[u, to] = 1, pattern, 1
        bias[u] = -(pattern > 0).sum()
    return Affine(weight, bias), Affine(outer, np.zeros(width))
