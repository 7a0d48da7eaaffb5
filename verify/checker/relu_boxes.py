"""RNNs of ReLUs with sums that are rounded: boxes that no two letters lead out of.

Theorem 18b of docs/soundness.md, section 7b.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.rnn import MATRICES, Rnn
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, exact, growth
from krohn.verify.checker.arithmetic import (
    INFLATION,
    LARGEST_FLOAT64,
    STEPS,
    UNDERFLOW,
    Format,
    fits,
)
from krohn.verify.checker.gated_recurrent import Box, Walk
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.recurrent import Established
from krohn.verify.checker.sparse_matrix import Sparse, by_rows

MOST_CELLS, MOST_LETTERS, MOST_WORK = 2**24, 64, 2**38
"""Numbers of one array; letters, for what follows each is looked at together; products of
entries in all, which take some minutes."""


class Product(NamedTuple):
    """A product of two matrices that stands between a vector and what is made of it.

    Attributes:
        whole: ``(rows, columns)``: left·right, nearly.
        size: ``(rows, columns)``: |left|·|right|.
        slack: How far a product can be off, relative to the sizes of its terms.
        flushed: And beside that, from products below the normal range.
        reach: The largest sum of |left| that one inner number has.
    """

    whole: FloatArray
    size: FloatArray
    slack: float
    flushed: float
    reach: float

    @classmethod
    def of(cls, left: Sparse, right: Sparse, form: Format) -> "Product":
        """Of the two matrices, whose inner numbers are stored in the format.

        Raises:
            Refused: If sums have too many terms.
        """
        one, other = _whole(left), _whole(right)
        terms = [int((m != 0).sum(axis=0).max(initial=0)) + 1 for m in (one, other)]
        grown = [float(growth(form, np.array(k))) for k in terms]
        slack = 2 * (sum(grown) + 2 * form.unit)
        demand(slack < 0.5, "a sum has too many terms")
        tiny = terms[0] * UNDERFLOW + form.smallest
        wide = float(np.abs(other).sum(axis=0).max(initial=0.0))
        flushed = 2 * (tiny * wide + terms[1] * UNDERFLOW)
        size, reach = np.abs(one) @ np.abs(other), np.abs(one).sum(axis=0)
        return cls(one @ other, size, slack, flushed, float(reach.max(initial=0.0)))

    def applied(self, x: Noisy, bias: FloatArray) -> Noisy:
        """``x @ left @ right + bias`` as computed, each sum stored.

        Raises:
            Refused: If a number can overflow.
        """
        reach, found = np.abs(x.value) + x.total, x.affine(self.whole, bias)
        fits(self.reach * reach.max(initial=0.0), x.form, "a number", STEPS)
        size = reach @ self.size + np.abs(bias)
        fits(size, x.form, "a sum", STEPS)
        off = self.slack * size + self.flushed * (reach.max() > 0)
        rest = (found.rest + off) * INFLATION
        return Noisy(found.value, found.slopes, rest, found.form)


@dataclass
class Steps:
    """Two letters of an RNN h' = ReLU(h·W + b + U_a), whose matrices are products.

    Attributes:
        form: The format.
        recurrence: W, ``(hidden, hidden)``.
        letters: U, ``(letters, hidden)``.
        readout: ``(hidden, classes)``.
        bias: ``(hidden,)``.
        logits: ``(classes,)``: what is added to them.
        work: How many products of entries were made.
    """

    form: Format
    recurrence: Product
    letters: Product
    readout: Product
    bias: FloatArray
    logits: FloatArray
    work: int = 0

    @property
    def hidden(self) -> int:
        """How many units it has."""
        return len(self.bias)

    @property
    def weight(self) -> FloatArray:
        """What most of the work of a step goes through."""
        return self.recurrence.whole

    @property
    def inputs(self) -> FloatArray:
        """``(letters², 0)``: a row for each pair of letters."""
        return np.zeros((len(self.letters.whole) ** 2, 0))

    @cached_property
    def said(self) -> Noisy:
        """``(letters, hidden)``: what each letter adds, as it is computed."""
        count, hidden = self.letters.whole.shape
        return self.letters.applied(exact(np.eye(count), self.form), np.zeros(hidden))

    def noisy(self, box: Box) -> Noisy:
        """Each entry of a box ``(hidden,)`` with a noise of its own, in one row."""
        centre = (box.low + box.high) / 2
        radius = np.maximum(box.high - centre, centre - box.low) * INFLATION
        own = np.flatnonzero(radius)
        most = len(self.letters.whole) ** 2 * self.hidden
        demand((len(own) + 1) * most <= MOST_CELLS, "hidden states are too uncertain")
        slopes = np.zeros((len(own), 1, self.hidden))
        slopes[np.arange(len(own)), 0, own] = radius[own]
        none = np.zeros((1, self.hidden))
        return Noisy(centre[None], slopes, none, self.form)

    def step(self, h: Noisy) -> Noisy:
        """``(rows · letters, hidden)``: after each letter."""
        rows, letters = len(h.value), len(self.said.value)
        self.work += rows * (len(h.slopes) + 4) * (self.hidden + 8) * (self.hidden + 8)
        demand(self.work <= MOST_WORK, "hidden states do not settle")
        before = self.recurrence.applied(h, self.bias)
        row = np.repeat(np.arange(rows), letters)
        letter = np.tile(np.arange(letters), rows)
        said = self.said.rows(letter)
        none = np.zeros((len(h.slopes), *said.value.shape))
        added = Noisy(said.value, none, said.total, self.form)
        return before.rows(row).plus(added).relu()

    def after(self, boxes: Box) -> Box:
        """``(boxes, letters², hidden)``: after each two letters from ``(boxes, 1, …)``."""
        low, high = [], []
        for one in zip(boxes.low[:, 0], boxes.high[:, 0], strict=True):
            found = self.step(self.step(self.noisy(Box(*one))))
            bounds = Box(found.value, found.value).wider(found.total)
            low.append(np.maximum(bounds.low, 0.0))  # a ReLU's
            high.append(bounds.high)
        return Box(np.stack(low), np.stack(high))

    def ahead(self, h: Noisy, right: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one, at least."""
        said = self.readout.applied(h, self.logits)
        demand(right < len(self.logits), "the network has no logit for a state")
        rows, total, size = np.arange(len(right)), said.total, np.abs(said.value)
        others = said.value + total
        others[rows, right] = -np.inf
        ahead = (said.value - total)[rows, right] - others.max(axis=1)
        own = OWN * (size.max(axis=1) + total.max(axis=1))
        return np.asarray(ahead - own, np.float64)


OWN = INFLATION - 1
"""More than this checker's own rounding of a difference of bounds, beside their size."""


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """Find boxes that no two letters lead out of, and look at the logits on the way.

    Raises:
        Refused: If there are none, or the margin is not as claimed.
    """
    demand(model.header["claim"].get("length") is None, "an RNN has no longest word")
    demand("source" not in model.header, "the file is about no machine")
    machine, (steps, start) = machine or model.machine, opened(model)
    letters = len(machine.transitions)
    demand(letters == len(steps.letters.whole), "other letters")
    demand(machine.transitions >= 0, "a transition leads nowhere")
    demand(letters <= MOST_LETTERS, "too many letters to be followed two at a time")
    twice = np.concatenate([machine.transitions[:, row] for row in machine.transitions])
    walk = Walk(steps, machine._replace(transitions=twice))
    walk.close(start)
    every = [_margin(steps, walk, machine, at) for at in range(len(walk.boxes))]
    margin = float(np.min(every))  # NaN stays NaN
    demand(margin > 0, f"the read-out can confuse two states (margin {margin:.2g})")
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    margin = min(margin, LARGEST_FLOAT64)
    return Established(model.format, len(walk.boxes), margin)


def _margin(steps: Steps, walk: Walk, machine: Machine, at: int) -> float:
    """The least margin after one letter, and after two, from a box.

    Every box is entered by two letters from a box, but the first: so all words of at
    least one letter are looked at.
    """
    found, least = steps.noisy(walk.boxes[at]), np.inf
    states = np.array([walk.states[at]])
    for _ in range(2):
        found = steps.step(found)
        states = machine.transitions[:, states].T.reshape(-1)
        ahead = steps.ahead(found, machine.shows[states])
        least = float(np.minimum(least, ahead.min()))  # NaN stays NaN
    return least


def opened(model: Model) -> tuple[Steps, FloatArray]:
    """The network that a file holds, and its first hidden state ``(hidden,)``.

    Raises:
        Refused: If it is another one, too large, or in a format of 16 bits.
    """
    shape, t = held(Rnn, model.header, model.tensors), model.tensors
    stored = model.format.unit == model.format.sum_unit
    demand(stored, f"{model.format.name} rounds inner numbers too coarsely")
    products, sparse = [], shape.sparse
    for name in MATRICES:
        (rows, rank), (_, columns) = sparse[f"{name}.left"], sparse[f"{name}.right"]
        small = max(rows, columns) * rank <= MOST_CELLS
        small &= rows * rank * columns <= MOST_WORK / 4
        demand(small, f"{name!r} is too large")
        left, right = (
            by_rows(t, at, sparse[at]) for at in (f"{name}.left", f"{name}.right")
        )
        products.append(Product.of(left, right, model.format))
    start, bias, logits = (
        t[name] for name in ("hidden.start", "hidden.bias", "unembed.bias")
    )
    recurrence, letters, readout = products
    return Steps(model.format, recurrence, letters, readout, bias, logits), start


def _whole(matrix: Sparse) -> FloatArray:
    found = np.zeros(matrix.shape)
    found[matrix.rows, matrix.columns] = matrix.values
    return found
