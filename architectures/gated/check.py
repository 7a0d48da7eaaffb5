"""Elman networks, LSTMs and GRUs: nodes are parallelotopes, of which boxes are a case.

Lemmas 18a, 18f and 18g of docs/proofs/gated.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.gated.check_affine_forms import (
    SIGMOID,
    TANH,
    AffineForm,
    Curve,
    join_forms,
)
from krohn.architectures.gated.statement_lstm import Gated
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    GATE,
    STEPS,
    Format,
    Interval,
    fits,
    own_error_anywhere,
    sum_error,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import boxes, decode_array, prove_simulation

COST = 2**10
"""The work of bounding a number, in multiplications."""
NOISES, DEEPEST = 6, 12
"""How many noises nodes keep for each number that is remembered, if they are what letters
make of another one; and of how many letters at most."""
LONG = 8.0
"""A cell that may be anything in so long a stretch has no noises in common with others."""


class Letters(NamedTuple):
    """Sums that letters add to gates.

    Attributes:
        value: ``(letters, gates · hidden)``.
        size: The sums of the absolute values of their terms.
        terms: How many there are at most.
    """

    value: Interval
    size: FloatArray
    terms: int


@dataclass(frozen=True)
class Nodes:
    """Sets of what can be remembered.

    Some are parallelotopes: all x for which W·x is within bounds, W one invertible matrix
    for each, or the identity for all. Others are what a letter makes of another node.

    Attributes:
        bounds: ``(own, remembered)``: those of W·x.
        directions: ``(own, remembered, remembered)``: W; None for the identity.
        made: ``(nodes,)``: for each node that is made its parent times the number of
            letters, plus the letter; -1 for parallelotopes, which come in this order.
    """

    bounds: Interval
    directions: FloatArray | None
    made: IntArray

    @cached_property
    def parallelotope_index(self) -> IntArray:
        """``(nodes,)``: the number of each parallelotope among these."""
        return np.cumsum(self.made < 0) - 1

    @cached_property
    def _back(self) -> tuple[FloatArray, Interval]:
        """Nearly the inverse of each matrix, and how far each is from it (Lemma 18f)."""
        assert self.directions is not None
        back: FloatArray = np.linalg.inv(self.directions).astype(np.float64)
        apart = abs(Interval.of(back) @ self.directions - np.eye(back.shape[-1]))
        return back, apart.sum(axis=-1)

    def parallelotopes(self, at: IntArray) -> AffineForm:
        """``(nodes, 1, remembered)``: some of these (Lemma 18f).

        Raises:
            Refused: If a matrix may have no inverse.
        """
        bounds = self.bounds[own := self.parallelotope_index[at]]
        if self.directions is None:
            return AffineForm.of(bounds[:, None])
        back, apart = self._back[0][own], self._back[1][own]
        demand(apart <= 0.5, "a node is not bounded")
        middle, off = bounds.middle()
        turned = back.swapaxes(1, 2)
        centre = Interval.of(middle[:, None]) @ turned
        reach = (Interval.of(bounds.size[:, None]) @ np.abs(turned)).high.max(axis=-1)
        slopes = np.moveaxis(turned * off[..., None], 1, 0)[:, :, None]
        rounded = own_error_anywhere(1.0, np.abs(slopes).sum(axis=0) * 2)
        rest = apart[:, None] * (2 * reach[..., None]) + rounded
        return AffineForm(centre.wider(rest), slopes)

    def contain_images(self, images: AffineForm, at: IntArray) -> BoolArray:
        """Whether images ``(rows, remembered)`` lie in parallelotopes."""
        bounds = self.bounds[own := self.parallelotope_index[at]]
        if self.directions is not None:
            turned = self.directions[own].swapaxes(1, 2)
            images = (images.reshape(len(at), 1) @ turned).reshape(len(at))
        image_bounds = images.bounds
        return np.asarray(
            (bounds.low <= image_bounds.low) & (image_bounds.high <= bounds.high)
        )


class Images(NamedTuple):
    """Images of nodes under letters.

    Attributes:
        form: ``(rows, remembered)``.
        of: ``(rows,)``: the node times the number of letters, plus the letter.
    """

    form: AffineForm
    of: IntArray


@dataclass(frozen=True)
class Cell:
    """An Elman network, an LSTM or a GRU, by the tensors of torch's module.

    What is remembered has shape ``(nodes, 1, remembered)``; after all letters,
    ``(nodes, letters, remembered)``.

    Attributes:
        form: The format.
        letters: What they add to gates.
        weight: ``(hidden, gates · hidden)``.
        bias: ``(2, gates · hidden)``: beside the letter, and beside what is remembered.
        readout: ``(hidden, classes)``.
        logits: ``(classes,)``: what is added to them.
        first: ``(1, remembered)``: what is remembered before a word.
        nodes: The nodes.
    """

    form: Format
    letters: Letters
    weight: FloatArray
    bias: FloatArray
    readout: FloatArray
    logits: FloatArray
    first: FloatArray
    nodes: Nodes

    @property
    def start(self) -> Images:
        """The memory before a word."""
        none = np.full(1, -1)
        return Images(AffineForm.of(Interval.of(self.first)), none)

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return len(self.letters.size)

    @property
    def cost(self) -> tuple[int, int]:
        """Of following one node: operations, and numbers."""
        width, letters = self.first.shape[-1], self.reads
        noises = 0 if self.nodes.directions is None else (NOISES + 2) * width
        deep = DEEPEST if (self.nodes.made >= 0).any() else 1
        sums = (1 + noises) * (self.weight.size + letters * self.readout.size)
        work = deep * (4 * sums + (COST + 16 * noises) * letters * width)
        return work, (2 + noises) * (letters * self.weight.shape[1] + len(self.logits))

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Images, FloatArray]:
        """Images of nodes under letters; and how far right logits are ahead there."""
        images = self.after(self.enclose_nodes(at)).reshape(-1)
        of = np.repeat(at * self.reads, self.reads) + np.tile(
            np.arange(self.reads), len(at)
        )
        return Images(images, of), self.ahead(images, rights[1])

    def inside(self, images: Images, rows: IntArray, at: IntArray) -> BoolArray:
        """Whether images lie in nodes: in parallelotopes, or as what these are made by."""
        made = self.nodes.made[at]
        own = np.flatnonzero(made < 0)
        known = np.asarray(made == images.of[rows])
        known[own] = self.nodes.contain_images(
            images.form.rows(rows[own]), at[own]
        ).all(axis=-1)
        return known

    def enclose_nodes(self, at: IntArray) -> AffineForm:
        """Nodes, each from the parallelotope that it comes from."""
        made = self.nodes.made[at]
        own, come = np.flatnonzero(made < 0), np.flatnonzero(made >= 0)
        forms = self.nodes.parallelotopes(at[own])
        if not len(come):
            return forms
        parents, of = np.unique(made[come] // self.reads, return_inverse=True)
        after = self.after(self.enclose_nodes(parents)).reshape(-1)
        rows = of.reshape(-1) * self.reads + made[come] % self.reads
        fewer = after.rows(rows).fewer(NOISES * self.first.shape[-1]).with_noises()
        both = join_forms([forms, fewer.reshape(len(come), 1)], axis=-3)
        return both.rows(np.argsort(np.concatenate([own, come]), kind="stable"))

    def ahead(self, held: AffineForm, right: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one, at least."""
        logits = self.compute_logits(held)
        rows = np.arange(len(right))
        known = (right >= 0) & (right < len(self.logits))
        demand(known, "the network has no logit for a state")
        base, slopes = logits.base[rows, right], logits.slopes[:, rows, right]
        ahead = (AffineForm(base[:, None], slopes[..., None]) - logits).bounds.low
        ahead[rows, right] = np.inf
        return np.asarray(ahead.min(axis=-1))

    def compute_logits(self, held: AffineForm) -> AffineForm:
        """``(…, classes)``: the logits."""
        h = held.columns(0, len(self.weight))
        return self.affine(h, self.readout, self.logits)

    def affine(
        self,
        held: AffineForm,
        weight: FloatArray,
        *added: FloatArray,
        letters: Letters | None = None,
    ) -> AffineForm:
        """Sums of products with what is remembered, in any order, stored up to 6 times."""
        value, form = held @ weight, self.form
        size, terms = abs(held.bounds) @ np.abs(weight), len(added) + 1
        if letters is not None:
            value, size = value + letters.value, size + letters.size
            terms += letters.terms
        for each in added:
            value, size = value + each, size + np.abs(each)
        fits(size, form, "a sum", STEPS)
        used = int((weight != 0).sum(axis=0).max(initial=0))
        summed = 2 * sum_error(form, used + terms, size)
        return value.wider(summed + 8 * form.unit * size + 6 * form.smallest)

    def store_memory(self, found: AffineForm, size: Interval) -> AffineForm:
        """After up to five operations with numbers that add up to ``size``."""
        fits(size, self.form, "what is remembered", STEPS)
        return found.wider(8 * self.form.unit * size + 8 * self.form.smallest)

    def gate(self, x: AffineForm, curve: Curve) -> AffineForm:
        """The value of a gate at a sum: a rising function, computed and stored (A14)."""
        form, value = self.form, x.through(curve)
        stored = 2 * form.unit * abs(value.bounds) + form.smallest
        return value.wider(GATE * form.sum_unit + stored)

    def after(self, held: AffineForm) -> AffineForm:
        """The memory after each letter."""
        n = len(self.weight)
        whole = self.affine(
            held.columns(0, n), self.weight, *self.bias, letters=self.letters
        )
        ends = range(0, self.weight.shape[1], n)
        gates = [whole.columns(at, at + n) for at in ends]
        if len(gates) == 1:
            return self.gate(gates[0], TANH)
        return self._lstm(held, gates) if len(gates) == 4 else self._gru(held, gates)

    def _lstm(self, held: AffineForm, gates: list[AffineForm]) -> AffineForm:
        n = len(self.weight)
        c = held.columns(n, 2 * n)
        i, f, o = (self.gate(gates[at], SIGMOID) for at in (0, 1, 3))
        g = self.gate(gates[2], TANH)
        size = abs(f.bounds) * abs(c.bounds) + abs(i.bounds) * abs(g.bounds)
        about = Interval.of(np.ones(1)).wider(8 * self.form.unit)
        apart = f.bounds * c.bounds * about + i.bounds * g.bounds * about
        long = c.bounds.high - c.bounds.low > LONG
        c = self.store_memory(f * c + i * g, size)
        c = c.replace_entries(long, apart.wider(8 * self.form.smallest))
        if len(c.slopes):
            c = c.with_noises()
        squashed = self.gate(c, TANH)
        size = abs(o.bounds) * abs(squashed.bounds)
        return join_forms([self.store_memory(o * squashed, size), c], axis=-1)

    def _gru(self, h: AffineForm, gates: list[AffineForm]) -> AffineForm:
        n = len(self.weight)
        r, z = (self.gate(x, SIGMOID) for x in gates[:2])
        inside = self.affine(h, self.weight[:, 2 * n :], self.bias[1, 2 * n :])
        letter, bias = self.letters.value[:, 2 * n :], self.bias[0, 2 * n :]
        size = abs(r.bounds) * abs(inside.bounds) + self.letters.size[:, 2 * n :]
        reset = r * inside + (letter + bias)
        new = self.gate(self.store_memory(reset, size + np.abs(bias)), TANH)
        size = abs(new.bounds) + 2 * abs(z.bounds) * (abs(new.bounds) + abs(h.bounds))
        mixed = new + z * (h - new) if len(h.slopes) else (-z + 1.0) * new + z * h
        return self.store_memory(mixed, size)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """Sets that no letter leads out of, in which the machine's state is said.

    Raises:
        Refused: If the evidence does not show them, or the margin is not as claimed.
    """
    return prove_simulation(model, said, machine, open_network)


def open_network(model: Model, said: Any = None) -> Cell:
    """The network that a file holds, with the nodes of evidence, or with its start."""
    shape, t = model.network(Gated), model.tensors
    bias = np.stack([t[f"recurrent.bias_{part}_l0"] for part in ("ih", "hh")])
    inputs, weight = (t[f"recurrent.weight_{part}_l0"].T for part in ("ih", "hh"))
    letters = _letters(model.format, inputs, t.get("embed.token"))
    first = np.concatenate([t[name] for name in shape.starts])[None]
    nodes = Nodes(Interval.of(first), None, np.full(1, -1))
    if said is not None:
        nodes = _nodes(said, first.shape[-1], shape.vocabulary)
    readout = t["unembed.weight"], t["unembed.bias"]
    return Cell(model.format, letters, weight, bias, *readout, first, nodes)


def _letters(form: Format, inputs: FloatArray, embedding: FloatArray | None) -> Letters:
    """Rows of a matrix; or products of embeddings with it, summed and stored by itself."""
    if embedding is None:
        return Letters(Interval.of(inputs), np.abs(inputs), 1)
    size = (Interval.of(np.abs(embedding)) @ np.abs(inputs)).high
    summed = 2 * sum_error(form, len(inputs) + 1, size)
    value = Interval.of(embedding) @ inputs
    stored = 8 * form.unit * Interval.of(size) + 6 * form.smallest
    return Letters(value.wider(summed + stored), size, len(inputs) + 1)


def _nodes(said: Any, width: int, letters: int) -> Nodes:
    """Nodes of evidence.

    Raises:
        Refused: If one is made of what is no earlier node, or by too many letters.
    """
    bounds = boxes(said, width)
    made, directions = np.full(len(bounds.low), -1), None
    if "directions" in said:
        directions = decode_array(said["directions"], "<f4").reshape(-1, width, width)
        made = decode_array(said["made"])
        demand(
            (made < 0).sum() == len(bounds.low) == len(directions), "nodes are missing"
        )
        demand(made // letters < np.arange(len(made)), "a node comes before its parent")
        left = made
        for _ in range(DEEPEST):
            left = np.where(left < 0, -1, made[left // letters])
        demand(left < 0, "a node is made by too many letters")
    return Nodes(bounds, directions, made)
