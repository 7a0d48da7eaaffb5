"""RNNs: what hidden states hand on is walked beside the machine that is claimed.

Section 7 of docs/soundness.md. A dense matrix is a sparse one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.rnn import Rnn
from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import FINEST, finest
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64, Format
from krohn.verify.checker.model_file import FloatArray, Machine, Model, WrongWord
from krohn.verify.checker.sparse_matrix import MOST, Sparse, added_up, by_rows, sparse

# A network that counts has no end of hidden states: to notice it takes some seconds.
MOST_PAIRS, MOST_LETTERS = 200_000, 4_000
CELLS, MOST_TERMS = 2**23, 2**27  # at once, and in all


NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Established:
    """What was shown of an RNN, for words of every length.

    Attributes:
        form: Its format.
        pairs: How many pairs of what a hidden state hands on and a machine state.
        margin: How far the right logit is ahead of every other one, at worst.
    """

    form: Format
    pairs: int
    margin: float

    def facts(self) -> dict[str, Any]:
        """In numbers; there is no longest word."""
        return {
            "covers": "all words of any length",
            "length": None,
            "dtype": self.form.name,
            "pairs": self.pairs,
            "margin": self.margin,
        }


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
        found, of = added_up(place, terms, (x.shape[0], width))
        size = np.bincount(of, np.abs(terms)).max(initial=0) + self.beside
        self.check_exact(max(finest(x.values) + finest(matrix.values), self.grid), size)
        return found

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
        found, _ = added_up(place, terms, (pairs * letters, width))
        return found.where(found.values > 0)

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


class Pairs(NamedTuple):
    """New pairs of what a hidden state hands on and a machine state.

    Attributes:
        handed: ``(pairs, rank)``.
        states: ``(pairs,)``: of the machine.
        above: The pairs from which they are reached; None for the start.
        origins: ``(pairs,)``: which of these, times the number of letters, plus the letter.
    """

    handed: Sparse
    states: IntArray
    above: "Pairs | None" = None
    origins: IntArray = NONE

    def word(self, row: int, letters: int) -> tuple[int, ...]:
        """A shortest word to a pair and a letter, numbered as origins are."""
        word, pairs = [row % letters], self
        while pairs.above is not None:
            row = int(pairs.origins[row // letters])
            word, pairs = [row % letters, *word], pairs.above
        return tuple(word)


@dataclass
class Walk:
    """All pairs that words lead to, the shortest words first.

    Attributes:
        network: The network.
        machine: The machine.
        seen: The pairs that were reached.
        margin: How far the right logit was ahead of every other one, at worst.
        work: Terms of all sums, and eight for each number of a pair.
    """

    network: Network
    machine: Machine
    seen: set[bytes] = field(default_factory=set)
    margin: float = np.inf
    work: int = 0

    def follow(self, now: Pairs) -> Iterator[Pairs]:
        """The pairs that come next and are new.

        Raises:
            WrongWord: If the right logit is not the largest after some letter.
        """
        net, letters = self.network, self.network.letters.shape[1]
        drives = now.handed.fan * net.right.fan + len(net.awake)
        fan, count = max(net.left.fan, net.readout.fan), len(now.states)
        size = max(1, CELLS // (drives * letters * fan))
        for low in range(0, count, size):
            pairs = np.arange(low, min(low + size, count))
            hidden = net.after(now.handed.some(pairs))
            reached = self.machine.transitions[:, now.states[pairs]].T.reshape(-1)
            ahead = self.ahead(hidden, reached)
            if not (ahead > 0).all():
                wrong = low * letters + int((ahead > 0).argmin())
                raise WrongWord(now.word(wrong, letters))
            self.margin = float(ahead.min(initial=self.margin))
            handed = net.hand_on(hidden)
            new = self.new(handed, reached)
            found = Pairs(handed.some(new), reached[new], now, low * letters + new)
            self.work += len(pairs) * drives + len(hidden.columns) * fan
            self.work += 8 * len(found.handed.columns)
            few = len(self.seen) <= MOST_PAIRS and self.work <= MOST_TERMS
            demand(few, f"the network has more than {len(self.seen) - 1} hidden states")
            yield found

    def ahead(self, hidden: Sparse, reached: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one."""
        return self.network.ahead(hidden, self.machine.shows[reached])

    def new(self, handed: Sparse, states: IntArray) -> IntArray:
        """The pairs that were not seen before."""
        entries = np.stack([handed.columns, handed.values.view(np.int64)], axis=1)
        data, tail = entries.tobytes(), states.astype(np.int64).tobytes()
        ends, found = (16 * handed.offsets).tolist(), []
        for i, (a, b) in enumerate(pairwise(ends)):
            if (key := data[a:b] + tail[8 * i : 8 * i + 8]) not in self.seen:
                self.seen.add(key)
                found.append(i)
        return np.array(found, np.int64)


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """Visit all pairs of what a hidden state hands on and a state of the machine.

    Raises:
        Refused: If a sum can be rounded, there are too many pairs, or the margin is not
            as claimed.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    demand(model.header["claim"].get("length") is None, "an RNN has no longest word")
    machine, (network, start) = machine or model.machine, opened(model)
    walk = Walk(network, machine)
    explore(walk, start)
    margin = min(walk.margin, LARGEST_FLOAT64)
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    return Established(model.format, len(walk.seen), margin)


def explore(walk: Walk, start: Sparse) -> None:
    """Walk on from the first hidden state ``(1, hidden)`` until nothing is new.

    Raises:
        Refused: If a sum can be rounded, or there are too many pairs.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    network, machine = walk.network, walk.machine
    demand(len(machine.transitions) == network.letters.shape[1], "other letters")
    most = max(MOST_LETTERS, len(network.bias))
    now, length = [Pairs(network.hand_on(start), np.array([machine.start]))], 0
    walk.new(*now[0][:2])
    while now:
        length += 1
        demand(length <= most, f"new hidden states come after {most} letters")
        every = (found for pairs in now for found in walk.follow(pairs))
        now = [found for found in every if len(found.states)]


def opened(model: Model) -> tuple[Network, Sparse]:
    """The network that a file holds, and its first hidden state ``(1, hidden)``.

    A dense weight hands on the hidden state times itself, and that drives the next one.
    """
    shape, t = held(Rnn, model.header, model.tensors), model.tensors
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
    parts = left, right, awake, letters, bias, readout, logits
    network = Network(model.format, *parts, grid, beside)
    network.check_exact(grid, beside)
    return network, sparse(start[None])
