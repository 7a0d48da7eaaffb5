"""RNNs: what hidden states hand on is walked beside the machine that is claimed.

Section 7 of docs/soundness.md. A dense matrix is a sparse one.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from verify.recheck.bounds import FINEST, finest
from verify.recheck.model import (
    LARGEST_FLOAT64,
    BoolArray,
    FloatArray,
    Format,
    IntArray,
    Machine,
    Model,
    WrongWord,
    demand,
)

# A network that counts has no end of hidden states: to notice it takes some seconds.
MOST_PAIRS, MOST_LETTERS = 200_000, 4_000
CELLS, MOST, MOST_TERMS = 2**23, 2**24, 2**27  # at once, of one pair, and in all


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
class Sparse:
    """A matrix by its entries, ascending by row and column.

    Attributes:
        offsets: ``(rows + 1,)``: where the entries of each row begin, and the last end.
        columns: ``(entries,)``.
        values: ``(entries,)``: all other numbers are 0.
        width: How many columns there are.
    """

    offsets: IntArray
    columns: IntArray
    values: FloatArray
    width: int

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> IntArray:
        """``(entries,)``."""
        return np.repeat(np.arange(self.height), np.diff(self.offsets))

    @property
    def fan(self) -> int:
        """The most entries of one row, at least 1."""
        return int(np.diff(self.offsets).max(initial=1))

    def entries(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The entries of some rows: of which of these rows each is, and where it is."""
        count = np.diff(self.offsets)[rows]
        demand(count.sum() <= MOST, "a hidden state drives too many units or logits")
        which = np.repeat(np.arange(len(rows)), count)
        before = self.offsets[rows] - (count.cumsum() - count)
        return which, before[which] + np.arange(len(which))

    def some(self, rows: IntArray) -> "Sparse":
        """Some of the rows."""
        which, at = self.entries(rows)
        return placed(which, self.columns[at], self.values[at], (len(rows), self.width))

    def where(self, kept: BoolArray) -> "Sparse":
        """Some of the entries."""
        shape = self.height, self.width
        return placed(self.rows[kept], self.columns[kept], self.values[kept], shape)

    def with_one(self) -> "Sparse":
        """With one column more, in which every row has a 1."""
        ends, offsets = self.offsets[1:], self.offsets + np.arange(self.height + 1)
        columns = np.insert(self.columns, ends, self.width)
        return Sparse(
            offsets, columns, np.insert(self.values, ends, 1.0), self.width + 1
        )


def placed(
    rows: IntArray, columns: IntArray, values: FloatArray, shape: tuple[int, int]
) -> Sparse:
    """A matrix of entries that ascend."""
    offsets = np.append(0, np.bincount(rows, minlength=shape[0]).cumsum())
    return Sparse(offsets, columns, values, shape[1])


def added_up(
    places: IntArray, terms: FloatArray, shape: tuple[int, int]
) -> tuple[Sparse, IntArray]:
    """The matrix of the sums of terms at the same place, and to which each one went."""
    place, of = np.unique(places, return_inverse=True)
    rows, columns = place // shape[1], place % shape[1]
    return placed(rows, columns, np.bincount(of, terms).astype(np.float64), shape), of


def sparse(whole: FloatArray) -> Sparse:
    """The entries of a matrix that are not 0."""
    rows, columns = whole.nonzero()
    return placed(rows, columns, whole[rows, columns], whole.shape)


@dataclass(frozen=True)
class Network:
    """An RNN: a hidden state h hands on s = h·left, and s·right drives the next one.

    Attributes:
        form: The format.
        left: ``(hidden, rank)``.
        right: ``(rank + 1, hidden)``: for a column of 1 beside s it has entries of 0, of
            the units that need not rest.
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

    def product(self, x: Sparse, matrix: Sparse) -> Sparse:
        """The product, by sums that are exact with what is added to them."""
        which, at = matrix.entries(x.columns)
        terms = x.values[which] * matrix.values[at]
        place = x.rows[which] * matrix.width + matrix.columns[at]
        found, of = added_up(place, terms, (x.height, matrix.width))
        size = np.bincount(of, np.abs(terms)).max(initial=0) + self.beside
        self.check_exact(max(finest(x.values) + finest(matrix.values), self.grid), size)
        return found

    def hand_on(self, hidden: Sparse) -> Sparse:
        """``(rows, rank)``: all that the next hidden states depend on."""
        handed = self.product(hidden, self.left)
        return handed.where(handed.values != 0)

    def after(self, handed: Sparse) -> Sparse:
        """``(pairs · letters, hidden)``: the hidden states after every letter."""
        driven = self.product(handed.with_one(), self.right)
        letters, before = self.letters.width, driven.values + self.bias[driven.columns]
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
        place = row * driven.width + driven.columns[entry]
        terms = np.append(np.repeat(before[on], letters), more)
        found, _ = added_up(place, terms, (driven.height * letters, driven.width))
        return found.where(found.values > 0)

    def ahead(self, hidden: Sparse, right: IntArray) -> FloatArray:
        """``(rows,)``: how far the right logit is ahead of every other one.

        Logits to which nothing is added are what they begin with; the largest of all
        stands for them, and where it is too large every logit is made.
        """
        added = self.product(hidden, self.readout)
        there = right < len(self.logits)
        named = np.where(there, right, 0)
        values, rows = added.values + self.logits[added.columns], added.rows
        mine = added.columns == named[rows]
        correct = self.logits[named]
        correct[rows[mine]] = values[mine]
        most = int(self.logits.argmax())
        second = np.delete(self.logits, most).max(initial=-np.inf)
        others = np.where(named == most, second, self.logits[most])
        np.maximum.at(others, rows[~mine], values[~mine])
        doubtful = np.flatnonzero(correct <= others)
        demand(len(doubtful) * len(self.logits) <= MOST, "too many logits are in doubt")
        whole = np.tile(self.logits, (len(doubtful), 1))
        which, at = added.entries(doubtful)
        whole[which, added.columns[at]] = values[at]
        whole[np.arange(len(doubtful)), named[doubtful]] = -np.inf
        others[doubtful] = whole.max(axis=1, initial=-np.inf)
        return np.where(there, correct - others, -np.inf)


@dataclass
class Walk:
    """Pairs of what a hidden state hands on and a machine state, by shortest words.

    Attributes:
        network: The network.
        machine: The machine.
        seen: All pairs that were reached.
        origins: For the pairs that words of 1, 2, … letters reach first: the number of
            the pair before, times the number of letters, plus the letter.
        margin: How far the right logit was ahead of every other one, at worst.
        kept: Numbers of all pairs.
        work: Terms of all sums.
    """

    network: Network
    machine: Machine
    seen: set[bytes] = field(default_factory=set)
    origins: list[IntArray] = field(default_factory=list)
    margin: float = np.inf
    kept: int = 0
    work: int = 0

    def follow(self, now: Sparse, states: IntArray) -> tuple[Sparse, IntArray]:
        """The pairs that come next and are new.

        Raises:
            WrongWord: If the right logit is not the largest after some letter.
        """
        net, letters = self.network, self.network.letters.width
        drives, fan = (now.fan + 1) * net.right.fan, max(net.left.fan, net.readout.fan)
        size, found = max(1, CELLS // (drives * letters * fan)), []
        for low in range(0, len(states), size):
            pairs = np.arange(low, min(low + size, len(states)))
            hidden = net.after(now.some(pairs))
            reached = self.machine.transitions[:, states[pairs]].T.reshape(-1)
            ahead = net.ahead(hidden, self.machine.shows[reached])
            if not (ahead > 0).all():
                wrong = low * letters + int((ahead > 0).argmin())
                raise WrongWord(self._word(wrong))
            self.margin = min(self.margin, float(ahead.min()))
            handed = net.hand_on(hidden)
            new = self.new(handed, reached)
            found.append((handed.some(new), reached[new], low * letters + new))
            self.kept += len(found[-1][0].columns)
            self.work += len(pairs) * drives + len(hidden.columns) * fan
            few = len(self.seen) <= MOST_PAIRS and self.kept <= MOST
            demand(
                few and self.work <= MOST_TERMS,
                f"the network has more than {len(self.seen) - 1} hidden states",
            )
        parts, after, origins = zip(*found, strict=True)
        self.origins.append(np.concatenate(origins))
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        columns = np.concatenate([part.columns for part in parts])
        values = np.concatenate([part.values for part in parts])
        offsets = np.append(0, counts.cumsum())
        return Sparse(offsets, columns, values, now.width), np.concatenate(after)

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

    def _word(self, row: int) -> tuple[int, ...]:
        """The word to a pair of the last length and a letter, numbered as origins."""
        letters = self.network.letters.width
        word = [row % letters]
        for origins in reversed(self.origins):
            row = int(origins[row // letters])
            word.append(row % letters)
        return tuple(reversed(word))


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """Visit all pairs of what a hidden state hands on and a state of the machine.

    Raises:
        Refused: If a sum can be rounded, there are too many pairs, or the margin is not
            as claimed.
        WrongWord: With a shortest word, if a read-out is wrong.
    """
    demand(model.header["claim"].get("length") is None, "an RNN has no longest word")
    machine, (network, start) = machine or model.machine, opened(model)
    demand(len(machine.transitions) == network.letters.width, "other letters")
    now, states = network.hand_on(start), np.array([machine.start])
    walk = Walk(network, machine)
    walk.new(now, states)
    most = max(MOST_LETTERS, len(network.bias))
    while len(states):
        demand(len(walk.origins) < most, f"new hidden states come after {most} letters")
        now, states = walk.follow(now, states)
    margin = min(walk.margin, LARGEST_FLOAT64)
    demand(margin >= said.get("margin", 0), "the margin is not shown")
    return Established(model.format, len(walk.seen), margin)


def opened(model: Model) -> tuple[Network, Sparse]:
    """The network that a file holds, and its first hidden state ``(1, hidden)``.

    A dense weight hands on the hidden state times itself, and that drives the next one.
    """
    shape, tensors = model.header["architecture"], dict(model.tensors)
    hidden, outputs = shape["hidden"], shape["outputs"]
    start, bias, logits = (
        tensors.pop(n) for n in ("hidden.start", "hidden.bias", "unembed.bias")
    )
    demand(start.shape == bias.shape == (hidden,), "other units than stated")
    demand(logits.shape == (outputs,), "other logits than stated")
    if "hidden.weight" in tensors:
        left = _held(tensors, "hidden.weight", (hidden, hidden))
        right = sparse(np.eye(hidden))
    else:
        left = _held(tensors, "hidden.left", (hidden, shape["rank"]))
        right = _held(tensors, "hidden.right", (shape["rank"], hidden))
    letters = _held(tensors, "input.weight", (shape["vocabulary"], hidden))
    readout = _held(tensors, "unembed.weight", (hidden, outputs))
    demand(not tensors, "other tensors than stated")
    by_unit = np.argsort(letters.columns, kind="stable")
    unit = letters.columns[by_unit]
    placed_by_unit = letters.rows[by_unit], letters.values[by_unit]
    letters = placed(unit, *placed_by_unit, (hidden, shape["vocabulary"]))
    awake = bias > 0
    awake[unit[bias[unit] + letters.values > 0]] = True
    (units,) = awake.nonzero()
    rows = np.append(right.rows, np.full(len(units), right.height))
    columns, values = np.append(right.columns, units), np.zeros(len(rows))
    values[: len(right.values)] = right.values
    right = placed(rows, columns, values, (right.height + 1, hidden))
    grid = max(map(finest, (bias, letters.values, logits)))
    most = np.abs(bias).max() + np.abs(letters.values).max(initial=0)
    beside = max(most, np.abs(logits).max())
    network = Network(
        model.format, left, right, letters, bias, readout, logits, grid, beside
    )
    network.check_exact(grid, beside)
    return network, sparse(start[None])


def _held(tensors: dict[str, FloatArray], name: str, shape: tuple[int, int]) -> Sparse:
    """A matrix that a file holds whole or by its entries, taken from its tensors."""
    if name in tensors:
        demand(tensors[name].shape == shape, f"{name!r} has another shape than stated")
        return sparse(tensors.pop(name))
    parts = (tensors.pop(f"{name}.{part}") for part in ("offsets", "columns", "values"))
    offsets, columns, values = parts
    found = Sparse(offsets.astype(int), columns.astype(int), values, shape[1])
    count = np.diff(found.offsets)
    demand(offsets.shape == (shape[0] + 1,) and count >= 0, f"{name!r} has no rows")
    ends = offsets[0] == 0 and offsets[-1] == len(columns) == len(values)
    inside = (columns >= 0) & (columns < shape[1])
    demand(ends and np.all(inside), f"{name!r} has entries beside it")
    apart = (np.diff(found.columns) > 0) | (np.diff(found.rows) > 0)
    demand(apart, f"{name!r} has entries that do not ascend")
    return found
