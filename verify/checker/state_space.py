"""State space models: each layer as a finite machine, then all layers beside the machine.

Theorem D9 of docs/state-space-models.md.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from program.domains import FloatArray, IntArray
from program.errors import demand
from verify.checker.model_file import (
    LARGEST_FLOAT64,
    Format,
    Machine,
    Model,
    WrongWord,
)
from verify.checker.rounded_steps import Affine, step

MOST_VALUES, MOST_LETTERS, MOST_TUPLES = 2**17, 2**17, 2**18
MOST_LAYERS, CELLS, MOST_TERMS = 2**9, 2**22, 2**34
UNKNOWN = -1
ONE_LETTER = "a layer does not say one letter"


@dataclass(frozen=True)
class Established:
    """What was shown of a state space model.

    Attributes:
        form: Its format.
        length: The longest word; None for words of every length.
        values: How many hidden states each layer has.
        classes: How many of them its table can tell apart.
        tuples: How many tuples of classes and a machine state are reached.
        margin: How far the right logit is ahead of every other one, at worst.
    """

    form: Format
    length: int | None
    values: tuple[int, ...]
    classes: tuple[int, ...]
    tuples: int
    margin: float

    def facts(self) -> dict[str, Any]:
        """In numbers."""
        up_to = "any length" if self.length is None else f"up to {self.length} letters"
        return {
            "covers": f"all words of {up_to}",
            "length": self.length,
            "dtype": self.form.name,
            "values": list(self.values),
            "classes": list(self.classes),
            "tuples": self.tuples,
            "margin": self.margin,
        }


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
    """

    says: IntArray
    moves: IntArray
    start: int
    values: int
    margin: float
    sure: bool


@dataclass(frozen=True)
class Reached:
    """The hidden states of a layer over all words of its letters.

    Attributes:
        values: ``(states, coordinates)``, those of the shortest words first.
        moves: ``(states, letters)``: which one comes next; `UNKNOWN` after the end.
        sure: Whether every step rounds alike in every way.
    """

    values: FloatArray
    moves: IntArray
    sure: bool


def reached(layer: Layer, form: Format, length: int | None) -> Reached:
    """All h before a letter of a word of up to ``length`` letters.

    Raises:
        Refused: If there are too many, or one leaves the format's range.
    """
    number = {layer.start.tobytes(): 0}
    values, moves, sure = [layer.start], list[IntArray](), True
    now, letters, width = layer.start, *layer.decay.shape
    read = 1
    while len(now) and (length is None or read < length):
        demand(read <= MOST_LETTERS, "new hidden states come after too many letters")
        demand(
            len(now) * layer.decay.size <= CELLS, "a layer has too many hidden states"
        )
        found = step(now[:, None], layer.decay, layer.addend, form)
        sure &= bool(found.sure.all())
        after, last = found.after.reshape(-1, width), len(number)
        new = [number.setdefault(row.tobytes(), len(number)) for row in after]
        demand(len(number) <= MOST_VALUES, "a layer has too many hidden states")
        at = np.array(new)
        moves.append(at.reshape(-1, letters))
        first = np.unique(at, return_index=True)[1]
        now = after[first[at[first] >= last]]
        values.append(now)
        read += 1
    moves.append(np.full((len(now), letters), UNKNOWN))
    return Reached(np.concatenate(values), np.concatenate(moves), sure)


def said(
    layer: Layer, h: FloatArray, form: Format, final: bool
) -> tuple[IntArray, float, bool]:
    """``(states, letters)``: what the table says; with the margin, and whether it is sure.

    `UNKNOWN` where that is not one letter, or no logit is ahead.
    """
    sure = True
    for affine in layer.decode:
        h, alike = affine.exact(h, form, True)
        sure &= alike
    letters = len(layer.decay)
    x = np.hstack([np.tile(np.eye(letters), (len(h), 1)), h.repeat(letters, axis=0)])
    hidden, alike = layer.inner.exact(x, form, True)
    y, exact = layer.outer.exact(hidden, form, False)
    sure &= alike & exact
    most, best = y.max(axis=1), y.argmax(axis=1)
    rest = np.where(np.arange(y.shape[1]) == best[:, None], -np.inf, y).max(axis=1)
    if final:
        ahead = most > rest
        margin = float((most - rest)[ahead].min(initial=np.inf))
    else:
        ahead, margin = (most == 1) & ((y != 0).sum(axis=1) == 1), np.inf
    says = np.where(ahead, best, UNKNOWN).reshape(-1, letters)
    return says, margin, sure


def finite(layer: Layer, form: Format, length: int | None, final: bool) -> Finite:
    """A layer as a machine whose states are hidden states that nothing tells apart."""
    found, letters = reached(layer, form, length), len(layer.decay)
    wide = sum(layer.inner.weight.shape) + layer.outer.weight.shape[1]
    each = letters * max(wide, *(a.weight.shape[1] for a in layer.decode))
    demand(each <= 4 * CELLS, "a layer is too large to be followed")
    work = len(found.values) * letters * layer.inner.weight.size
    demand(work <= MOST_TERMS, "a layer is too large to be followed")
    size, parts = max(1, CELLS // each), list[tuple[IntArray, float, bool]]()
    for low in range(0, len(found.values), size):
        parts.append(said(layer, found.values[low : low + size], form, final))
    says, margins, sure = zip(*parts, strict=True)
    table = np.concatenate(says)
    of, classes = _classes(table, found.moves)
    first = np.unique(of, return_index=True)[1]
    moves = np.full((classes, letters), UNKNOWN)
    known = found.moves >= 0
    moves[of[known.all(axis=1)]] = of[found.moves[known.all(axis=1)]]
    alike = found.sure and all(sure)
    return Finite(table[first], moves, int(of[0]), len(of), min(margins), alike)


def _classes(says: IntArray, moves: IntArray) -> tuple[IntArray, int]:
    """``(states,)`` classes that the table tells apart, if letters lead on from these.

    Else every hidden state is a class.
    """
    each, known = np.arange(len(says)), moves[:, 0] >= 0
    of = np.unique(says, axis=0, return_inverse=True)[1].reshape(-1)
    count = int(of.max()) + 1
    led = np.full((count, says.shape[1]), UNKNOWN)
    led[of[known]] = of[moves[known]]
    return (
        (of, count) if (led[of[known]] == of[moves[known]]).all() else (each, len(says))
    )


class Front(NamedTuple):
    """Tuples of classes and a machine state that are new after so many letters.

    Attributes:
        tuples: ``(rows, layers + 1)``; the state comes last.
        above: The front before; None at the start.
        origins: ``(rows,)``: the row of that, times the number of letters, plus the letter.
    """

    tuples: IntArray
    above: "Front | None"
    origins: IntArray

    def word(self, row: int, letters: int) -> tuple[int, ...]:
        """A shortest word to a row and a letter, numbered as origins are."""
        word, front = [row % letters], self
        while front.above is not None:
            row = int(front.origins[row // letters])
            word, front = [row % letters, *word], front.above
        return tuple(word)


def beside(layers: list[Finite], machine: Machine, length: int | None) -> int:
    """Walk all layers beside the machine; how many tuples there are.

    Raises:
        Refused: If a layer does not say a letter, or there are too many tuples.
        WrongWord: With a shortest word, if another class is said.
    """
    letters, read = len(machine.transitions), 0
    start = np.array([[*(layer.start for layer in layers), machine.start]])
    front, seen = Front(start, None, np.zeros(0, np.int64)), {start.tobytes()}
    while len(front.tuples) and (length is None or read < length):
        read += 1
        many = len(front.tuples) * letters * len(layers) > 4 * CELLS
        demand(not many, "the layers have too many states together")
        x = np.tile(np.arange(letters), len(front.tuples))
        rows = front.tuples.repeat(letters, axis=0)
        state = machine.transitions[x, rows[:, -1]]
        after, symbol = [], x
        for i, layer in enumerate(layers):
            inner = symbol >= 0
            demand(inner, ONE_LETTER)
            after.append(layer.moves[rows[:, i], symbol])
            symbol = layer.says[rows[:, i], symbol]
        wrong = symbol != machine.shows[state]
        if wrong.any():
            raise WrongWord(front.word(int(wrong.argmax()), letters))
        if read == length:
            break
        found = np.stack([*after, state], axis=1)
        demand(found >= 0, "a class has no successor")
        new = _new(found, seen)
        demand(len(seen) <= MOST_TUPLES, "the layers have too many states together")
        front = Front(found[new], front, new)
    return len(seen)


def _new(found: IntArray, seen: set[bytes]) -> IntArray:
    """The rows that were not seen before, each once."""
    new = list[int]()
    for i, row in enumerate(found):
        if (key := row.tobytes()) not in seen:
            seen.add(key)
            new.append(i)
    return np.array(new, np.int64)


def established(model: Model, told: Any, machine: Machine | None) -> Established:
    """Every layer as a finite machine, and the machine beside them.

    Raises:
        Refused: If a layer has too many hidden states, something may be rounded in more
            than one way, or the margin is not as claimed.
        WrongWord: With a shortest word on which IEEE arithmetic without flushing says
            another class.
    """
    length = model.header["claim"].get("length")
    demand(length is None or (type(length) is int and length > 0), "no such length")
    demand("source" not in model.header, "the file is about no machine")
    machine, layers = machine or model.machine, opened(model)
    demand(len(machine.transitions) == len(layers[0].decay), "other letters")
    last = len(layers) - 1
    each = [finite(x, model.format, length, i == last) for i, x in enumerate(layers)]
    tuples = beside(each, machine, length)
    demand(all(x.sure for x in each), "a number may be rounded in more than one way")
    margin = min(each[-1].margin, LARGEST_FLOAT64)
    demand(margin > 0 and margin >= told.get("margin", 0), "the margin is not shown")
    values = tuple(x.values for x in each), tuple(len(x.says) for x in each)
    return Established(model.format, length, *values, tuples, margin)


def opened(model: Model) -> list[Layer]:
    """The layers that a file holds.

    Raises:
        Refused: If its tensors are others than its architecture says.
    """
    shape, tensors = model.header["architecture"], dict(model.tensors)
    told, rows = shape["layers"], shape["vocabulary"]
    demand(0 < len(told) <= MOST_LAYERS, "too many layers, or none")
    layers = list[Layer]()
    for i, each in enumerate(told):
        at, width = f"layers.{i}.", each["coordinates"]
        start, decay, addend = (
            tensors.pop(at + n) for n in ("start", "decay", "input")
        )
        own = (rows, width) if shape["selective"] is True else (width,)
        fits = start.shape == (width,) and decay.shape == own
        demand(fits and addend.shape == (rows, width), "other tensors than stated")
        sizes = [width, *each["decode"]]
        decode = [
            _affine(tensors, f"{at}decode.{j}", pair) for j, pair in _pairs(sizes)
        ]
        sizes = [rows + sizes[-1], each["hidden"], each["symbols"]]
        table = [_affine(tensors, f"{at}table.{j}", pair) for j, pair in _pairs(sizes)]
        rows, whole = each["symbols"], np.broadcast_to(decay, addend.shape)
        layers.append(Layer(start[None] + 0.0, whole, addend, tuple(decode), *table))
    demand(not tensors and rows == shape["outputs"], "other tensors than stated")
    demand(shape["selective"] in (True, False), "other tensors than stated")
    return layers


def _pairs(sizes: list[int]) -> "enumerate[tuple[int, int]]":
    return enumerate(pairwise(sizes))


def _affine(
    tensors: dict[str, FloatArray], name: str, shape: tuple[int, int]
) -> Affine:
    weight, bias = (tensors.pop(f"{name}.{part}") for part in ("weight", "bias"))
    fits = weight.shape == shape and bias.shape == shape[1:]
    demand(fits, "other tensors than stated")
    return Affine(weight, bias)
