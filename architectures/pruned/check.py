"""RNNs of ReLUs with sums that are rounded: boxes that no two letters lead out of.

Lemma 18c of docs/proofs/pruned.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.recurrent.statement import (
    MATRICES,
    Rnn,
)
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, exact
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    bound_underflow,
    fits,
    gamma,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import MOST_WORK, boxes, lead, prove_simulation
from krohn.verify.checker.sparse_matrix import Sparse, by_rows

MOST_CELLS, MOST_LETTERS = 2**24, 64
"""Numbers of one array; letters, for what follows each is looked at together."""


class Product(NamedTuple):
    """A product of two matrices that stands between a vector and what is made of it.

    Attributes:
        whole: ``(rows, columns)``: left·right, nearly.
        apart: ``(rows, columns)``: how far it is from that.
        size: ``(rows, columns)``: |left|·|right|.
        slack: How far a product can be off, relative to the sizes of its terms.
        flushed: And beside that, from products below the normal range.
        reach: The largest sum of |left| that one inner number has.
    """

    whole: FloatArray
    apart: Interval
    size: Interval
    slack: Interval
    flushed: Interval
    reach: Interval

    @classmethod
    def of(cls, left: Sparse, right: Sparse, form: Format) -> "Product":
        """Of the two matrices, whose inner numbers are stored in the format.

        Raises:
            Refused: If sums have too many terms.
        """
        one, other = _whole(left), _whole(right)
        whole, sizes = one @ other, (Interval.of(np.abs(x)) for x in (one, other))
        apart, (of_one, of_other) = abs(Interval.of(one) @ other - whole), sizes
        terms = [int((m != 0).sum(axis=0).max(initial=0)) + 1 for m in (one, other)]
        summed = gamma(terms[0], form.sum_unit) + gamma(terms[1], form.sum_unit)
        slack = 2 * (summed + 2 * form.unit)
        demand(slack < 0.5, "a sum has too many terms")
        tiny, wide = (
            bound_underflow(terms[0]) + form.smallest,
            of_other.sum(axis=0).max(),
        )
        lost, reach = (
            2 * (tiny * wide + bound_underflow(terms[1])),
            of_one.sum(axis=0).max(),
        )
        return cls(whole, apart, of_one @ of_other, slack, lost, reach)

    def apply_to(self, x: Noisy, bias: FloatArray) -> Noisy:
        """``x @ left @ right + bias`` as computed, each sum stored.

        Raises:
            Refused: If a number can overflow.
        """
        product, reach = x.affine(self.whole, bias), Interval.of(np.abs(x.value))
        reach = reach + x.total
        fits(self.reach * reach.max(), x.form, "a number", STEPS)
        size = reach @ self.size + np.abs(bias)
        fits(size, x.form, "a sum", STEPS)
        off = self.slack * size + reach @ self.apart
        rest = off + product.rest + self.flushed * (reach.most > 0)
        return Noisy(product.value, product.slopes, rest.high, product.form)


@dataclass(frozen=True)
class Steps:
    """Two letters of an RNN h' = ReLU(h·W + b + U_a), whose matrices are products.

    Attributes:
        form: The format.
        recurrence: W, ``(hidden, hidden)``.
        letters: U, ``(letters, hidden)``.
        readout: ``(hidden, classes)``.
        bias: ``(hidden,)``.
        logits: ``(classes,)``: what is added to them.
        start: ``(1, hidden)``.
        nodes: ``(nodes, hidden)``.
    """

    form: Format
    recurrence: Product
    letters: Product
    readout: Product
    bias: FloatArray
    logits: FloatArray
    start: Interval
    nodes: Interval

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return len(self.letters.whole)

    @property
    def cost(self) -> tuple[int, int]:
        """Of following one box by two letters, each entry with a noise of its own."""
        own = int((self.nodes.low < self.nodes.high).sum(axis=1).max(initial=0))
        letters, hidden = len(self.letters.whole), len(self.bias)
        return (1 + letters) * (own + 4) * (hidden + 8) ** 2, letters**2 * hidden

    @cached_property
    def letter_terms(self) -> Noisy:
        """``(letters, hidden)``: what each letter adds, as it is computed."""
        count, hidden = self.letters.whole.shape
        return self.letters.apply_to(exact(np.eye(count), self.form), np.zeros(hidden))

    def noisy(self, box: Interval) -> Noisy:
        """Each entry of a box ``(hidden,)`` with a noise of its own, in one row."""
        wide = box.low < box.high
        centre = np.where(wide, box.low / 2 + box.high / 2, box.low)
        own, none = np.flatnonzero(wide), np.zeros((1, len(centre)))
        small = (len(own) + 1) * self.cost[1] <= MOST_CELLS
        demand(small, "hidden states are too uncertain")
        slopes = np.zeros((len(own), 1, len(centre)))
        slopes[np.arange(len(own)), 0, own] = (box - centre).size[own]
        return Noisy(centre[None], slopes, none, self.form)

    def step(self, h: Noisy) -> Noisy:
        """``(rows · letters, hidden)``: after each letter."""
        rows, letters = len(h.value), len(self.letter_terms.value)
        before = self.recurrence.apply_to(h, self.bias)
        row = np.repeat(np.arange(rows), letters)
        added = self.letter_terms.rows(np.tile(np.arange(letters), rows))
        none = np.zeros((len(h.slopes), *added.value.shape))
        summand = Noisy(added.value, none, added.total, self.form)
        return before.rows(row).plus(summand).relu()

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Interval, FloatArray]:
        """The boxes after each two letters; and the margins after one, and after two."""
        low, high, ahead = [], [], []
        parts = [np.split(right, len(at)) for right in rights]
        for i, node in enumerate(at):
            one = self.step(self.noisy(self.nodes[node]))
            two = self.step(one)
            ahead += [self.ahead(one, parts[1][i]), self.ahead(two, parts[2][i])]
            bounds = Interval.of(two.value).wider(two.total).maximum(0.0)  # a ReLU's
            low.append(bounds.low)
            high.append(bounds.high)
        return Interval(np.concatenate(low), np.concatenate(high)), np.concatenate(
            ahead
        )

    def inside(self, images: Interval, rows: IntArray, at: IntArray) -> BoolArray:
        """Whether boxes lie in nodes."""
        return images[rows].inside(self.nodes[at])

    def ahead(self, h: Noisy, right: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one, at least."""
        logits = self.readout.apply_to(h, self.logits)
        return lead(Interval.of(logits.value).wider(logits.total), right)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """Boxes that no two letters lead out of, with the machine's state said on the way.

    Raises:
        Refused: If the evidence does not show them, or the margin is not as claimed.
    """
    return prove_simulation(model, said, machine, open_network, steps=2)


def open_network(model: Model, said: Any = None) -> Steps:
    """The network that a file holds, with the boxes of evidence, or with its start.

    Raises:
        Refused: If it is another one, too large, or in a format of 16 bits.
    """
    shape, t = model.network(Rnn), model.tensors
    stored = model.format.unit == model.format.sum_unit
    demand(stored, f"{model.format.name} rounds inner numbers too coarsely")
    few = shape.vocabulary <= MOST_LETTERS
    demand(few, "too many letters to be followed two at a time")
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
    recurrence, letters, readout = products
    start = Interval.of(t["hidden.start"][None])
    nodes = start if said is None else boxes(said, shape.hidden)
    more = t["hidden.bias"], t["unembed.bias"], start, nodes
    return Steps(model.format, recurrence, letters, readout, *more)


def _whole(matrix: Sparse) -> FloatArray:
    dense = np.zeros(matrix.shape)
    dense[matrix.rows, matrix.columns] = matrix.values
    return dense
