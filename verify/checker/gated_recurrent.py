"""LSTMs and GRUs: nodes are boxes, which have bounds for each number that is remembered.

Lemma 18a of docs/soundness.md, section 7a.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.lstm import Gated
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.verify.checker.arithmetic import (
    GATE,
    STEPS,
    Format,
    Interval,
    fits,
    sum_error,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import boxes, lead, proved

COST = 2**10
"""What a number that is bounded takes, in multiplications."""


def sigmoid(x: FloatArray) -> FloatArray:
    """1 / (1 + e^−x)."""
    return np.asarray(1 / (1 + np.exp(-x)))


def gate(
    x: Interval, function: Callable[[FloatArray], FloatArray], form: Format
) -> Interval:
    """What a gate makes of it: a rising function, computed and stored (A14)."""
    found = x.through(function)
    stored = 2 * form.unit * abs(found) + form.smallest
    return found.wider(GATE * form.sum_unit + stored)


@dataclass(frozen=True)
class Cell:
    """An LSTM or a GRU, by the tensors of torch's module.

    Boxes have shape ``(boxes, 1, remembered)``; after all letters,
    ``(boxes, letters, remembered)``.

    Attributes:
        form: The format.
        inputs: ``(letters, gates · hidden)``.
        weight: ``(hidden, gates · hidden)``.
        bias: ``(2, gates · hidden)``: beside the letter, and beside what is remembered.
        readout: ``(hidden, classes)``.
        logits: ``(classes,)``: what is added to them.
        start: ``(1, remembered)``.
        nodes: ``(nodes, remembered)``.
    """

    form: Format
    inputs: FloatArray
    weight: FloatArray
    bias: FloatArray
    readout: FloatArray
    logits: FloatArray
    start: Interval
    nodes: Interval

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return len(self.inputs)

    @property
    def cost(self) -> tuple[int, int]:
        """Of following one box: operations, and numbers."""
        each = COST * len(self.inputs) * self.start.shape[-1]
        work = 4 * (self.weight.size + self.readout.size + each)
        return work, 2 * self.inputs.size + len(self.logits)

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Interval, FloatArray]:
        """The boxes after each letter; and how far right logits are ahead in the boxes."""
        held = self.nodes[at][:, None]
        width, said = held.shape[-1], self.said(held)
        images = self.after(held).each(lambda x: x.reshape(-1, width))
        return images, lead(said, rights[0])

    def inside(self, images: Interval, rows: IntArray, at: IntArray) -> BoolArray:
        """Whether boxes ``(rows, remembered)`` lie in nodes."""
        return images[rows].inside(self.nodes[at])

    def said(self, held: Interval) -> Interval:
        """``(boxes, classes)``: the logits."""
        h = held[..., : len(self.weight)]
        return self.affine(h, self.readout, self.logits)[:, 0]

    def affine(
        self, held: Interval, weight: FloatArray, *added: FloatArray
    ) -> Interval:
        """Sums of products with what is remembered, in any order, stored up to 6 times."""
        value, size, form = held @ weight, abs(held) @ np.abs(weight), self.form
        for each in added:
            value, size = value + each, size + np.abs(each)
        fits(size, form, "a sum", STEPS)
        used = int((weight != 0).sum(axis=0).max(initial=0))
        summed = 2 * sum_error(form, used + len(added) + 1, size)
        return value.wider(summed + 8 * form.unit * size + 6 * form.smallest)

    def stored(self, found: Interval, size: Interval) -> Interval:
        """After up to five operations with numbers that add up to ``size``."""
        fits(size, self.form, "what is remembered", STEPS)
        return found.wider(8 * self.form.unit * size + 8 * self.form.smallest)

    def after(self, held: Interval) -> Interval:
        """What is remembered after each letter."""
        lstm = len(self.bias[0]) == 4 * len(self.weight)
        return self._lstm(held) if lstm else self._gru(held)

    def _gates(self, h: Interval) -> list[Interval]:
        """What is inside of each gate, the letter and what is remembered together."""
        whole = self.affine(h, self.weight, self.inputs, *self.bias)
        n, ends = len(self.weight), range(0, len(self.bias[0]), len(self.weight))
        return [whole[..., at : at + n] for at in ends]

    def _lstm(self, held: Interval) -> Interval:
        n, form = len(self.weight), self.form
        h, c = held[..., :n], held[..., n:]
        i, f, g, o = self._gates(h)
        i, f, o = (gate(x, sigmoid, form) for x in (i, f, o))
        g = gate(g, np.tanh, form)
        c = self.stored(f * c + i * g, abs(f) * abs(c) + abs(i) * abs(g))
        squashed = gate(c, np.tanh, form)
        h = self.stored(o * squashed, abs(o) * abs(squashed))
        ends = ((h.low, c.low), (h.high, c.high))
        return Interval(*(np.concatenate(pair, axis=-1) for pair in ends))

    def _gru(self, h: Interval) -> Interval:
        n, form = len(self.weight), self.form
        r, z = (gate(x, sigmoid, form) for x in self._gates(h)[:2])
        inside = self.affine(h, self.weight[:, 2 * n :], self.bias[1, 2 * n :])
        letter, bias = self.inputs[:, 2 * n :], self.bias[0, 2 * n :]
        size = abs(r) * abs(inside) + np.abs(letter) + np.abs(bias)
        reset = r * inside + (Interval.of(letter) + bias)
        new = gate(self.stored(reset, size), np.tanh, form)
        size = abs(new) + 2 * abs(z) * (abs(new) + abs(h))
        return self.stored((1 - z) * new + z * h, size)


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """Boxes that no letter leads out of, in which the machine's state is said.

    Raises:
        Refused: If the evidence does not show them, or the margin is not as claimed.
    """
    return proved(model, said, machine, opened)


def opened(model: Model, said: Any = None) -> Cell:
    """The network that a file holds, with the boxes of evidence, or with its start."""
    shape, t = held(Gated, model.header, model.tensors), model.tensors
    bias = np.stack([t[f"recurrent.bias_{part}_l0"] for part in ("ih", "hh")])
    inputs, weight = (t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh"))
    start = Interval.of(np.concatenate([t[name] for name in shape.starts])[None])
    nodes = start if said is None else boxes(said, start.shape[-1])
    readout = t["unembed.weight"], t["unembed.bias"]
    return Cell(model.format, inputs, weight, bias, *readout, start, nodes)
