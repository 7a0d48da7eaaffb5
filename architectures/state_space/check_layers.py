"""The layers of a state space model, each as a finite machine.

Lemmas and Theorem D9 of docs/proofs/state_space.md. Nodes are hidden states,
exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.state_space.statement import StateSpace
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import FINEST, exact, finest
from krohn.verify.checker.arithmetic import STORED, Format, Interval, fits, two_sum
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import CELLS, check_simulation, decode_array

MOST_SUMS, MOST_LAYERS, MOST_TERMS = 2**25, 2**9, 2**39
CELL = 2**7
"""How many terms of a product take as long as one number that is looked at."""
UNKNOWN = -1
SPLIT = 2.0**27 + 1
WIDE = 2.0**500
"""Factors up to here, and products from its inverse on, split without overflow."""


def round_to_format(x: FloatArray, form: Format) -> FloatArray:
    """Numbers rounded to a format, ties to even; below the normal ones on their grid."""
    if form.digits >= 53:
        return x
    least = int(np.log2(form.smallest)) + 1
    by = form.digits - np.maximum(np.frexp(x)[1], least)
    return np.asarray(np.ldexp(np.rint(np.ldexp(x, by)), -by))


class Step(NamedTuple):
    """The layer's output after a step of the recurrence.

    Attributes:
        after: round(round(a · h) + b).
        sure: Whether round(a · h + b) is the same, also if it is rounded to the digits of
            sums before, and nothing is subnormal, or was before it was rounded.
    """

    after: FloatArray
    sure: BoolArray


def step(h: FloatArray, a: FloatArray, b: FloatArray, form: Format) -> Step:
    """A step a · h + b, product and sum rounded each, or (fused) together.

    Args:
        h: Numbers of the format; all three are broadcast.
        a: Decays.
        b: Addends.
        form: The format.

    Raises:
        Refused: If a number leaves the format's range.
    """
    whole, rest = _product(h, a)
    product = round_to_format(whole, form)
    rest = (whole - product) + rest
    total, error = two_sum(product, b)
    after = round_to_format(total, form)
    fits(np.maximum(np.abs(product), np.abs(after)), form, "a recurrence", STORED)
    off = Interval.of(total - after) + error + rest
    part, exponent = np.frexp(after)
    share = np.where(np.abs(part) == 0.5, 0.25, 0.5) * (after != 0)
    half = np.ldexp(share, exponent - form.digits)
    twice = 4 * form.sum_unit / form.unit if form.sum_unit < form.unit else 0.0
    same = (rest == 0) | (abs(off) < (1 - twice) * half)
    lost = (product == 0) & (h != 0) & (a != 0)
    changed = np.abs(total - after) + np.abs(error) + np.abs(rest)
    tiny = _tiny(product, rest, form) | _tiny(after, changed, form)
    return Step(after + 0.0, np.asarray(same & ~lost & ~tiny))


def _tiny(x: FloatArray, off: FloatArray, form: Format) -> BoolArray:
    """Whether numbers may be flushed: subnormal ones, or ones rounded up from there."""
    size = np.abs(x)
    below = (x != 0) & (size < form.smallest)
    return np.asarray(below | ((size == form.smallest) & (off != 0)))


def _product(h: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Their product as an unevaluated sum of two; the second is NaN if it is not known."""
    whole = h * a
    (h1, h2), (a1, a2) = _split(h), _split(a)
    rest = ((h1 * a1 - whole) + h1 * a2 + h2 * a1) + h2 * a2
    fits = (np.abs(h) < WIDE) & (np.abs(a) < WIDE) & (np.abs(whole) > 1 / WIDE)
    rest = np.where(fits, rest, np.nan)
    scaled = (np.abs(np.frexp(a)[0]) == 0.5) | (a == 0) | (h == 0)
    return whole, np.where(scaled, 0.0, rest)


def _split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two halves of 26 digits (Dekker 1971)."""
    far = SPLIT * x
    high = far - (far - x)
    return high, x - high


class Affine(NamedTuple):
    """x ↦ x · weight + bias."""

    weight: FloatArray
    bias: FloatArray

    @property
    def cost(self) -> int:
        """Of one row, in terms."""
        return self.weight.size + CELL * sum(self.weight.shape)

    def of(self, x: FloatArray, form: Format, relu: bool) -> tuple[FloatArray, bool]:
        """The output of the layer, and whether all its sums are exact (Lemma D8).

        Args:
            x: ``(rows, inputs)``, known numbers of the format.
            form: The format.
            relu: Whether a ReLU follows: then what is surely negative is 0.
        """
        output = exact(x, form).affine(self.weight, self.bias)
        output = output.relu() if relu else output
        return output.value, not output.total.any()


class Layer(NamedTuple):
    """h' = a ⊙ h + b, and a table of a letter and of h.

    Attributes:
        start: ``(1, coordinates)``.
        decay: ``(letters, coordinates)``.
        addend: ``(letters, coordinates)``.
        decode: What reads h, a ReLU behind each.
        inner: What reads the letter, as a unit vector, and the decoded h; then a ReLU.
        outer: What says the next letter, as a unit vector; or the logits.
    """

    start: FloatArray
    decay: FloatArray
    addend: FloatArray
    decode: tuple[Affine, ...]
    inner: Affine
    outer: Affine


class Finite(NamedTuple):
    """A layer as a machine, for words up to the claimed length.

    Attributes:
        says: ``(classes, letters)``: the next letter; the logit that is ahead.
        moves: ``(classes, letters)``: the class after the letter; `UNKNOWN` where that
            is after the longest word.
        start: The class before a word.
        values: How many hidden states there are.
        margin: By how much the logit is ahead, at least.
        sure: Whether all of it is exact, or rounds alike in every way.
        work: How many terms were added up to see this; a letter counts as some.
    """

    says: IntArray
    moves: IntArray
    start: int
    values: int
    margin: float
    sure: bool
    work: int


class Reached(NamedTuple):
    """The hidden states of a layer over all words of its letters.

    Attributes:
        values: ``(states, coordinates)``.
        moves: ``(states, letters)``: which one comes next; `UNKNOWN` for some letter
            where none comes before the end.
        start: Which one is first.
    """

    values: FloatArray
    moves: IntArray
    start: int


@dataclass(frozen=True)
class Recurrence:
    """The recurrence of a layer, whose nodes are hidden states.

    Attributes:
        form: The format.
        layer: The layer.
        values: ``(nodes, coordinates)``.
    """

    form: Format
    layer: Layer
    values: FloatArray

    @property
    def start(self) -> Step:
        """The first hidden state."""
        return Step(self.layer.start, np.full(self.layer.start.shape, True))

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return len(self.layer.decay)

    @property
    def cost(self) -> tuple[int, int]:
        """Of a step from one hidden state."""
        return 2**5 * self.layer.decay.size, self.layer.decay.size

    @property
    def machine(self) -> Machine:
        """Every word of the layer's letters is possible, and nothing is said yet."""
        one = np.zeros((len(self.layer.decay), 1), np.int64)
        return Machine(0, one, one[0])

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Step, FloatArray]:
        """The step after each letter; no logits are read."""
        decay, addend = self.layer.decay, self.layer.addend
        next_step = step(self.values[at, None], decay, addend, self.form)
        rows = len(at) * len(decay), -1
        images = Step(next_step.after.reshape(rows), next_step.sure.reshape(rows))
        return images, np.zeros(0)

    def inside(self, images: Step, rows: IntArray, at: IntArray) -> bool:
        """Whether steps lead to nodes, however they are rounded."""
        same = images.after[rows] == self.values[at]
        demand(images.sure[rows], "a number may be rounded in more than one way")
        return bool(same.all())


def sums(layer: Layer, form: Format, length: int | None) -> Reached | None:
    """All numbers that a layer of one sum can hold before the last letter, and more.

    None if it is no such layer, or not all sums are exact, or there are too many.
    """
    plain = layer.decay.shape[1] == 1 and (layer.decay == 1).all()
    grid = max(finest(layer.start), finest(layer.addend))
    if length is None or not plain or grid > FINEST:
        return None
    start, steps = (x * 2.0**grid for x in (layer.start[0, 0], layer.addend[:, 0]))
    low = start + (length - 1) * min(steps.min(), 0.0)
    high = start + (length - 1) * max(steps.max(), 0.0)
    exact = max(-low, high) < 2.0**form.digits and 2.0**-grid >= form.smallest
    count = high - low + 1
    if not exact or count * len(steps) > MOST_SUMS:
        return None
    at = np.arange(int(count))
    after = at[:, None] + steps.astype(np.int64)
    moves = np.where((after >= 0) & (after < count), after, UNKNOWN)
    values = (low + at[:, None]) * 2.0**-grid
    return Reached(values, moves, int(start - low))


def check_reached(layer: Layer, form: Format, length: int | None, told: Any) -> Reached:
    """All h before a letter of a word of up to ``length`` letters, by evidence.

    Raises:
        Refused: If it does not show them, or one leaves the format's range.
    """
    letters, width = layer.decay.shape
    values = decode_array(told["nodes"], "<f8").reshape(-1, width)
    net = Recurrence(form, layer, values)
    check_simulation(net, told, net.machine, length, last=False)
    return Reached(values, decode_array(told["edges"]).reshape(-1, letters), 0)


def apply_table(
    layer: Layer, h: FloatArray, form: Format, final: bool
) -> tuple[IntArray, float, bool]:
    """``(states, letters)``: what the table says; with the margin, and whether it is sure.

    `UNKNOWN` where that is not one letter, or no logit is ahead.
    """
    sure = True
    for affine in layer.decode:
        h, alike = affine.of(h, form, True)
        sure &= alike
    letters = len(layer.decay)
    x = np.hstack([np.tile(np.eye(letters), (len(h), 1)), h.repeat(letters, axis=0)])
    hidden, alike = layer.inner.of(x, form, True)
    y, last = layer.outer.of(hidden, form, False)
    sure &= alike & last
    most, best = y.max(axis=1), y.argmax(axis=1)
    rest = np.where(np.arange(y.shape[1]) == best[:, None], -np.inf, y).max(axis=1)
    if final:
        ahead = most > rest
        margin = float((most - rest)[ahead].min(initial=np.inf))
    else:
        ahead, margin = (most == 1) & ((y != 0).sum(axis=1) == 1), np.inf
    says = np.where(ahead, best, UNKNOWN).reshape(-1, letters)
    return says, margin, sure


def finite(layer: Layer, form: Format, found: Reached, final: bool) -> Finite:
    """A layer as a machine whose states are hidden states that nothing tells apart."""
    letters = len(layer.decay)
    wide = sum(layer.inner.weight.shape) + layer.outer.weight.shape[1]
    each = letters * max(wide, *(a.weight.shape[1] for a in layer.decode))
    demand(each <= 4 * CELLS, "a layer is too large to be followed")
    of_table = letters * (layer.inner.cost + layer.outer.cost)
    each_state = of_table + sum(a.cost for a in layer.decode)
    work = len(found.values) * each_state
    demand(work <= MOST_TERMS, "a layer is too large to be followed")
    work += len(found.values) * letters * (MOST_TERMS // MOST_SUMS)
    size, parts = max(1, CELLS // each), list[tuple[IntArray, float, bool]]()
    for low in range(0, len(found.values), size):
        parts.append(apply_table(layer, found.values[low : low + size], form, final))
    says, margins, sure = zip(*parts, strict=True)
    said_of = np.concatenate(says)
    of, classes = _classes(said_of, found.moves)
    first = np.unique(of, return_index=True)[1]
    moves = np.full((classes, letters), UNKNOWN)
    known = found.moves >= 0
    moves[of[known.all(axis=1)]] = of[found.moves[known.all(axis=1)]]
    alike = all(sure)
    start, margin = int(of[found.start]), min(margins)
    return Finite(said_of[first], moves, start, len(of), margin, alike, work)


def _classes(says: IntArray, moves: IntArray) -> tuple[IntArray, int]:
    """``(states,)`` classes that the table tells apart, if letters lead on from these.

    Else every hidden state is a class.
    """
    each, known = np.arange(len(says)), (moves >= 0).all(axis=1)
    of = np.unique(_keys(says), return_inverse=True)[1]
    count = int(of.max()) + 1
    led = np.full((count, says.shape[1]), UNKNOWN)
    led[of[known]] = of[moves[known]]
    return (
        (of, count) if (led[of[known]] == of[moves[known]]).all() else (each, len(says))
    )


def _keys(says: IntArray) -> IntArray:
    """``(states,)``: equal for equal rows, and only for these."""
    base, keys = int(says.max()) + 2, np.zeros(len(says), np.int64)
    for column in says.T + 1:
        keys = np.unique(keys * base + column, return_inverse=True)[1]
    return keys


def open_layers(model: Model) -> list[Layer]:
    """The layers that a file holds.

    Raises:
        Refused: If its tensors are others than its architecture says.
    """
    shape, t = model.network(StateSpace), model.tensors
    demand(len(shape.layers) <= MOST_LAYERS, "too many layers")
    layers = list[Layer]()
    for i, layer in enumerate(shape.layers):
        start, decay, addend = (
            t[f"layers.{i}.{name}"] for name in ("start", "decay", "input")
        )
        parts = [f"decode.{j}" for j in range(len(layer.decode))]
        affine = [
            Affine(t[f"layers.{i}.{part}.weight"], t[f"layers.{i}.{part}.bias"])
            for part in (*parts, "table.0", "table.1")
        ]
        decays = np.broadcast_to(decay, addend.shape)
        both = start[None] + 0.0, decays
        layers.append(Layer(*both, addend, tuple(affine[:-2]), *affine[-2:]))
    return layers
