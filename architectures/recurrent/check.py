"""RNNs: a node is one vector that hidden states hand on, exactly.

The proofs are in docs/proofs/recurrent.md. A dense matrix is a sparse one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.architectures.recurrent.statement import Rnn
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import FINEST, finest
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import decode_array, prove_simulation
from krohn.verify.checker.sparse_matrix import MOST, Sparse, added_up, by_rows, sparse

NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Network:
    """An RNN: a hidden state h hands on s = h·left, and s·right drives the next one.

    Attributes:
        form: The format.
        left: ``(hidden, rank)``.
        right: ``(rank, hidden)``.
        awake: The units that need not rest where nothing drives them.
        letters: ``(hidden, letters)``: what each letter adds.
        bias: ``(hidden,)``.
        readout: ``(hidden, classes)``.
        logits: ``(classes,)``: what the logits begin with.
        grid: All that is added to sums is a multiple of 2^-grid.
        beside: The most that is added to one of them, in absolute value.
        first: ``(1, hidden)``: the hidden state before a word.
        nodes: ``(nodes, rank)``: vectors that are handed on.
    """

    form: Format
    left: Sparse
    right: Sparse
    awake: IntArray
    letters: Sparse
    bias: FloatArray
    readout: Sparse
    logits: FloatArray
    grid: int
    beside: float
    first: Sparse
    nodes: Sparse

    @property
    def start(self) -> Sparse:
        """``(1, rank)``: the vector that the first hidden state hands on."""
        return self.hand_on(self.first)

    @property
    def reads(self) -> int:
        """How many letters there are."""
        return self.letters.shape[1]

    @property
    def cost(self) -> tuple[int, int]:
        """Of following one vector: sums of a unit with a letter, and numbers."""
        driven = self.nodes.fan * self.right.fan + len(self.awake)
        sums = driven * self.letters.shape[1]
        return sums, sums * max(self.left.fan, self.readout.fan)

    def follow(
        self, at: IntArray, rights: Sequence[IntArray]
    ) -> tuple[Sparse, FloatArray]:
        """The vector that each letter hands on; and how far right logits are ahead then."""
        hidden = self.after(self.nodes.some(at))
        return self.hand_on(hidden), self.ahead(hidden, rights[1])

    def inside(self, images: Sparse, rows: IntArray, at: IntArray) -> bool:
        """Whether vectors are those of nodes."""
        return images.some(rows).equals(self.nodes.some(at))

    def check_exact(self, grid: int, size: float) -> None:
        """Sums of multiples of 2^-grid whose absolute values come to ``size`` are exact."""
        fits = grid <= FINEST and 2.0**-grid >= self.form.smallest
        demand(fits and size * 2.0**grid < 2.0**self.form.digits, "a sum is not exact")

    def product(self, x: Sparse, matrix: Sparse, always: IntArray = NONE) -> Sparse:
        """The product, by sums that are exact with what is added to them.

        Columns ``always`` have entries in every row, of 0 if nothing else.
        """
        which, at = matrix.entries(x.columns)
        terms, width = x.values[which] * matrix.values[at], matrix.shape[1]
        every = (np.arange(x.shape[0])[:, None] * width + always).reshape(-1)
        place = np.append(x.rows[which] * width + matrix.columns[at], every)
        terms = np.append(terms, np.zeros(len(every)))
        sums, of = added_up(place, terms, (x.shape[0], width))
        size = np.bincount(of, np.abs(terms)).max(initial=0) + self.beside
        self.check_exact(max(finest(x.values) + finest(matrix.values), self.grid), size)
        return sums

    def hand_on(self, hidden: Sparse) -> Sparse:
        """``(rows, rank)``: all that the next hidden states depend on."""
        handed = self.product(hidden, self.left)
        return handed.where(handed.values != 0)

    def after(self, handed: Sparse) -> Sparse:
        """``(pairs · letters, hidden)``: the hidden states after every letter."""
        driven = self.product(handed, self.right, self.awake)
        (pairs, width), letters = driven.shape, self.letters.shape[1]
        before = driven.values + self.bias[driven.columns]
        # A unit that is above 0 without a letter may be on after each of them.
        on = np.flatnonzero(before > 0)
        demand(len(on) * letters <= MOST, "a hidden state drives too many units")
        of, at = self.letters.entries(driven.columns)
        entry = np.append(np.repeat(on, letters), of)
        letter = np.append(
            np.tile(np.arange(letters), len(on)), self.letters.columns[at]
        )
        more = self.letters.values[at] + np.minimum(before, 0)[of]
        row = driven.rows[entry] * letters + letter
        place = row * width + driven.columns[entry]
        terms = np.append(np.repeat(before[on], letters), more)
        hidden, _ = added_up(place, terms, (pairs * letters, width))
        return hidden.where(hidden.values > 0)

    def ahead(self, hidden: Sparse, right: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one.

        Logits to which nothing is added are what they begin with; the largest of all
        stands for them, and where it is too large every logit is made.
        """
        added = self.product(hidden, self.readout)
        logits = np.append(self.logits, -np.inf)  # a class without a logit is the last
        right = np.minimum(right, len(self.logits))
        rows, values = added.rows, added.values + logits[added.columns]
        mine, most = added.columns == right[rows], int(logits.argmax())
        correct = logits[right]
        correct[rows[mine]] = values[mine]
        others = np.where(right == most, np.delete(logits, most).max(), logits[most])
        np.maximum.at(others, rows[~mine], values[~mine])
        doubtful = np.flatnonzero(correct <= others)
        demand(len(doubtful) * len(logits) <= MOST, "too many logits are in doubt")
        whole = np.tile(logits, (len(doubtful), 1))
        which, at = added.entries(doubtful)
        whole[which, added.columns[at]] = values[at]
        whole[np.arange(len(doubtful)), right[doubtful]] = -np.inf
        others[doubtful] = whole.max(axis=1)
        return np.asarray(correct - others)


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """All that hidden states hand on, with the machine's state said after each letter.

    Raises:
        Refused: If a sum can be rounded, the evidence does not show it, or the margin is
            not as claimed.
    """
    return prove_simulation(model, said, machine, open_network)


def open_network(model: Model, said: Any = None) -> Network:
    """The network that a file holds, with the vectors of evidence, if there is any.

    A dense weight hands on the hidden state times itself, and that drives the next one.
    """
    shape, t = model.network(Rnn), model.tensors
    names = ("hidden.start", "hidden.bias", "unembed.bias")
    start, bias, logits = (t[name] for name in names)
    if shape.entries is None:
        left, right = sparse(t["hidden.weight"]), sparse(np.eye(shape.hidden))
        letters, readout = (
            sparse(t[f"{name}.weight"]) for name in ("input", "unembed")
        )
    else:
        matrices = (by_rows(t, name, ends) for name, ends in shape.sparse.items())
        left, right, letters, readout = matrices
    by = np.argsort(letters.columns, kind="stable")
    unit, added = letters.columns[by], letters.values[by]
    letters = Sparse(unit, letters.rows[by], added, (shape.hidden, shape.vocabulary))
    on = unit[bias[unit] + added > 0]
    awake = np.union1d(np.flatnonzero(bias > 0), on)
    grid = max(map(finest, (bias, letters.values, logits)))
    most = np.abs(bias).max() + np.abs(letters.values).max(initial=0)
    beside = max(most, np.abs(logits).max())
    nodes = sparse(np.zeros((0, left.shape[1])))
    if said is not None:
        nodes = _read_vectors(said["nodes"], left.shape[1])
    parts = left, right, awake, letters, bias, readout, logits
    ends = sparse(start[None]), nodes
    network = Network(model.format, *parts, grid, beside, *ends)
    network.check_exact(grid, beside)
    return network


def _read_vectors(said: Any, rank: int) -> Sparse:
    """The vectors of evidence, by rows."""
    whole = {
        f"nodes.{part}": decode_array(said[part]) for part in ("offsets", "columns")
    }
    whole["nodes.values"] = decode_array(said["values"], "<f8")
    return by_rows(whole, "nodes", (len(whole["nodes.offsets"]) - 1, rank))
