"""LSTMs and GRUs: boxes of hidden states that no letter leads out of.

Theorem 18 of docs/soundness.md, section 7a.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.lstm import Gated
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, STEPS, UNDERFLOW, Format, fits
from krohn.verify.checker.model_file import Machine, Model, WrongWord
from krohn.verify.checker.recurrent import Established

MOST_VISITS, MOST_WORK, COST, ENTERED, CELLS = 24, 2**36, 2**10, 2**4, 2**21
GATE = 8.0
"""How far σ and tanh may be off, in units u (A14), and those of this checker."""
APART = 8.0
"""Hidden states that differ by less than half of its inverse may share a box."""
OWN = 2.0**-53


class Box(NamedTuple):
    """Numbers between bounds, entry by entry; arithmetic takes rounding into account.

    Attributes:
        low: The least.
        high: The greatest.
    """

    low: FloatArray
    high: FloatArray

    @property
    def size(self) -> FloatArray:
        """The largest absolute values."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    def wider(self, off: Any) -> "Box":
        """With everything that is within ``off``, and within this checker's rounding."""
        more = (off + 2.0**-48 * self.size) * INFLATION + UNDERFLOW
        return Box(self.low - more, self.high + more)

    def times(self, other: "Box") -> "Box":
        """All products."""
        ends = [a * b for a in self for b in other]
        return Box(np.minimum.reduce(ends), np.maximum.reduce(ends))

    def plus(self, other: "Box") -> "Box":
        """All sums."""
        return Box(self.low + other.low, self.high + other.high)

    def through(
        self, function: Callable[[FloatArray], FloatArray], form: Format
    ) -> "Box":
        """What a gate makes of it: a rising function, computed and stored (A14)."""
        found = Box(function(self.low), function(self.high))
        off = GATE * (form.sum_unit + OWN) + 2 * form.unit * found.size + form.smallest
        return found.wider(off)

    def columns(self, first: int, last: int) -> "Box":
        """Some columns."""
        return Box(self.low[..., first:last], self.high[..., first:last])


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + e^−x)."""
    return np.asarray(1 / (1 + np.exp(-x)))


@dataclass(frozen=True)
class Cell:
    """An LSTM or a GRU, by the tensors of torch's module.

    Boxes of what is remembered have shape ``(boxes, 1, remembered)``; after all letters,
    ``(boxes, letters, remembered)``.

    Attributes:
        form: The format.
        inputs: ``(letters, gates · hidden)``.
        weight: ``(hidden, gates · hidden)``.
        bias: ``(2, gates · hidden)``: beside the letter, and beside what is remembered.
    """

    form: Format
    inputs: FloatArray
    weight: FloatArray
    bias: FloatArray

    @property
    def hidden(self) -> int:
        """How many units it has."""
        return len(self.weight)

    def affine(self, held: Box, weight: FloatArray, *added: FloatArray) -> Box:
        """Sums of products with what is remembered, in any order, stored up to 6 times."""
        centre, radius = (held.high + held.low) / 2, (held.high - held.low) / 2
        more, terms = sum(np.abs(x) for x in added), _terms(weight) + len(added) + 1
        parts = _product(np.stack([centre, radius, held.size]), weight)
        value, size = parts[0] + sum(added), parts[2] + more
        unit = sum(terms * u / (1 - terms * u) for u in (self.form.sum_unit, OWN))
        fits(size, self.form, "a sum", STEPS)
        tiny = terms * UNDERFLOW + 6 * self.form.smallest
        off = parts[1] + (2 * unit + 8 * self.form.unit) * size + tiny
        return Box(value, value).wider(off)

    def stored(self, found: Box, size: FloatArray) -> Box:
        """After up to five operations with numbers that add up to ``size``."""
        fits(size, self.form, "what is remembered", STEPS)
        return found.wider(8 * self.form.unit * size + 8 * self.form.smallest)

    def after(self, held: Box) -> Box:
        """What is remembered after each letter."""
        lstm = len(self.bias[0]) == 4 * self.hidden
        return self._lstm(held) if lstm else self._gru(held)

    def _gates(self, h: Box) -> list[Box]:
        """What is inside of each gate, the letter and what is remembered together."""
        whole = self.affine(h, self.weight, self.inputs, *self.bias)
        n, ends = self.hidden, range(0, len(self.bias[0]), self.hidden)
        return [whole.columns(at, at + n) for at in ends]

    def _lstm(self, held: Box) -> Box:
        n, form = self.hidden, self.form
        h, c = held.columns(0, n), held.columns(n, 2 * n)
        i, f, g, o = self._gates(h)
        i, f, o = (gate.through(sigmoid, form) for gate in (i, f, o))
        g = g.through(np.tanh, form)
        size = f.size * c.size + i.size * g.size
        c = self.stored(f.times(c).plus(i.times(g)), size)
        squashed = c.through(np.tanh, form)
        h = self.stored(o.times(squashed), o.size * squashed.size)
        return Box(*(np.concatenate(pair, axis=2) for pair in zip(h, c, strict=True)))

    def _gru(self, h: Box) -> Box:
        n, form = self.hidden, self.form
        r, z = (gate.through(sigmoid, form) for gate in self._gates(h)[:2])
        inside = self.affine(h, self.weight[:, 2 * n :], self.bias[1, 2 * n :])
        beside = self.inputs[:, 2 * n :] + self.bias[0, 2 * n :]
        apart = np.abs(self.inputs[:, 2 * n :]) + np.abs(self.bias[0, 2 * n :])
        size = r.size * inside.size + apart
        reset = r.times(inside).plus(Box(beside, beside))
        new = self.stored(reset, size).through(np.tanh, form)
        kept = Box(1 - z.high, 1 - z.low).wider(0.0)
        size = new.size + 2 * z.size * (new.size + h.size)
        return self.stored(kept.times(new).plus(z.times(h)), size)


def _terms(weight: FloatArray) -> int:
    """How many entries a column has at most."""
    return int((weight != 0).sum(axis=0).max(initial=0))


def _product(parts: FloatArray, weight: FloatArray) -> FloatArray:
    """``(3, …, columns)``: the first with the weight, two with its absolute values."""
    used, found = weight.any(axis=0), np.zeros((*parts.shape[:-1], weight.shape[1]))
    part = weight[:, used]
    found[0][..., used] = parts[0] @ part
    found[1:][..., used] = parts[1:] @ np.abs(part)
    return found


class Follows(Protocol):
    """What a network makes of boxes, after each of its inputs."""

    @property
    def inputs(self) -> FloatArray:
        """A row for each input."""
        ...

    @property
    def weight(self) -> FloatArray:
        """What most of the work of a step goes through, with as many columns."""
        ...

    @property
    def hidden(self) -> int:
        """How many units it has."""
        ...

    def after(self, held: Box) -> Box:
        """``(boxes, inputs, remembered)``: of boxes ``(boxes, 1, remembered)``."""
        ...


@dataclass
class Walk:
    """All boxes that were found, each with a state of the machine.

    Attributes:
        cell: The network, which follows the letters of the machine.
        machine: The machine.
        number: Of each box, by its state and about where it is.
        boxes: ``(remembered,)`` each.
        states: Of the machine.
        words: A word that leads into the box when it was found.
    """

    cell: Follows
    machine: Machine
    number: dict[bytes, int] = field(default_factory=dict)
    boxes: list[Box] = field(default_factory=list)
    states: list[int] = field(default_factory=list)
    words: list[tuple[int, int]] = field(default_factory=list)

    def enter(self, found: Box, state: int, origin: tuple[int, int]) -> int | None:
        """Let a box hold what was found; its number if it is new or had to grow."""
        place = np.round((found.low + found.high) * (APART / 2)).astype(np.int64)
        key = place.tobytes() + state.to_bytes(8, "little")
        at = self.number.setdefault(key, len(self.boxes))
        if at == len(self.boxes):
            few = at < 16 * (self.cell.hidden + len(self.machine.shows)) + 64
            demand(few, f"hidden states are in more than {at} places")
            self.boxes.append(_room(found))
            self.states.append(state)
            self.words.append(origin)
            return at
        held = self.boxes[at]
        if (held.low <= found.low).all() and (found.high <= held.high).all():
            return None
        both = np.minimum(held.low, found.low), np.maximum(held.high, found.high)
        self.boxes[at] = _room(Box(*both))
        return at

    def close(self, start: FloatArray) -> None:
        """Follow all letters from all boxes until each leads into one.

        Raises:
            Refused: If boxes go on growing, or there are too many.
        """
        self.enter(Box(start, start), self.machine.start, (-1, -1))
        letters, waiting, visits = len(self.cell.inputs), [0], list[int]()
        part = max(1, CELLS // (letters * self.cell.weight.shape[1]))
        while waiting:
            visits += [0] * (len(self.boxes) - len(visits))
            for at in waiting:
                visits[at] += 1
            each = self.cell.weight.size + COST * letters * (len(start) + ENTERED)
            work = sum(visits) * each
            settled = max(visits) <= MOST_VISITS and work <= MOST_WORK
            demand(settled, "hidden states do not settle")
            grown = dict[int, None]()
            for at in range(0, len(waiting), part):
                grown |= dict.fromkeys(self._followed(waiting[at : at + part]))
            waiting = list(grown)

    def _followed(self, numbers: list[int]) -> Iterator[int]:
        """The boxes that are new, or had to grow, after all letters from some."""
        held = Box(
            *(np.stack(b)[:, None] for b in zip(*self._of(numbers), strict=True))
        )
        found = self.cell.after(held)
        demand(np.isfinite(found.size), "a hidden state has no bound")
        for row, at in enumerate(numbers):
            for letter, images in enumerate(self.machine.transitions):
                here = Box(found.low[row, letter], found.high[row, letter])
                new = self.enter(here, int(images[self.states[at]]), (at, letter))
                if new is not None:
                    yield new

    def _of(self, numbers: list[int]) -> list[Box]:
        return [self.boxes[at] for at in numbers]

    def word(self, at: int) -> tuple[int, ...]:
        """A word that leads into a box."""
        found = list[int]()
        while self.words[at][0] >= 0:
            at, letter = self.words[at]
            found.append(letter)
        return tuple(reversed(found))


def _room(found: Box) -> Box:
    """With room for later positions, so that few boxes grow twice."""
    return found.wider((found.high - found.low) / 32)


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """Find boxes that no letter leads out of, and hold their read-out against the machine.

    Raises:
        Refused: If there are none, or the margin is not as claimed.
        WrongWord: If a read-out is wrong, with a word that leads there.
    """
    demand(model.header["claim"].get("length") is None, "it has no longest word")
    demand("source" not in model.header, "the file is about no machine")
    machine, (cell, start) = machine or model.machine, opened(model)
    demand(len(machine.transitions) == len(cell.inputs), "other letters")
    walk = Walk(cell, machine)
    walk.close(start)
    ahead = [_ahead(model, cell, walk, at) for at in range(len(walk.boxes))]
    margin = float(np.min(ahead))  # NaN stays NaN
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    return Established(model.format, len(walk.boxes), margin)


def opened(model: Model) -> tuple[Cell, FloatArray]:
    """The network that a file holds, and what it remembers at first."""
    shape, t = held(Gated, model.header, model.tensors), model.tensors
    bias = np.stack([t[f"recurrent.bias_{part}_l0"] for part in ("ih", "hh")])
    inputs, weight = (t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh"))
    start = np.concatenate([t[name] for name in shape.starts])
    return Cell(model.format, inputs, weight, bias), start


def _ahead(model: Model, cell: Cell, walk: Walk, at: int) -> float:
    """How far the right logit is ahead of every other one in a box, at worst."""
    right = int(walk.machine.shows[walk.states[at]])
    h = walk.boxes[at].columns(0, cell.hidden)
    weight, bias = (model.tensors[f"unembed.{n}"] for n in ("weight", "bias"))
    demand(right < len(bias), "the network has no logit for a state")
    low, high = cell.affine(h, weight, bias)
    others = np.arange(len(bias)) != right
    ahead = float((low[right] - high[others]).min(initial=np.inf))
    if at and not ahead > 0 and (high[right] < low[others]).any():
        raise WrongWord(walk.word(at))
    return float(np.minimum(ahead, np.finfo(np.float64).max))
