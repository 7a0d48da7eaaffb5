"""The weights of rivals in all rows of a head, from boxes of queries and boxes of keys.

Theorem R4 of docs/soundness.md, section 4.4. How queries and keys are put into boxes is a
search that no proof rests on: a bound holds for any boxes that contain them.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from krohn.program.domains import AnyArray, BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import most_exp, own_error
from krohn.verify.checker.scores import CELLS, MOST

LEAF = 16
"""Up to so many queries, or keys, are looked at one by one."""
DEEPEST = 64
"""Below it nodes are halved, so that no tree is deeper than this and log2 T together."""
LITTLE = 2.0**-8
"""Of noise that moves a score by less only the bound of its node is used."""


class Asking(NamedTuple):
    """Queries, with what the right position scores and where rivals are.

    Attributes:
        moving: ``(rows, d)``: the entries that are not the same in all rows.
        floor: ``(rows,)``: the least that a right position scores, but for what all
            scores of a row have in common.
        end: ``(rows,)``: the last position that is seen.
        low: ``(rows,)``: the first candidate.
        high: ``(rows,)``: the last one.
        off: ``(rows, entries)``: how far each entry of a query is off; without columns
            where the errors of scores have that.
        right: ``(rows, entries)`` each: the keys of positions that can be right.
    """

    moving: FloatArray
    floor: FloatArray
    end: IntArray
    low: IntArray
    high: IntArray
    off: FloatArray
    right: list[FloatArray]


class Asked(NamedTuple):
    """Keys of all positions but BOS, with each value that they can have.

    Attributes:
        moving: ``(keys, d)``: the entries that moving entries of queries multiply.
        fixed: ``(keys,)``: what the others score, in every row.
        place: ``(keys,)``: the position.
        flagged: ``(keys,)``: whether a candidate with this key can be right.
        whole: ``(keys, entries)``: all entries; without columns if no query is off.
    """

    moving: FloatArray
    fixed: FloatArray
    place: IntArray
    flagged: BoolArray
    whole: FloatArray

    def some(self, chosen: IntArray) -> "Asked":
        """Some of the keys."""
        moving, fixed, place, flagged, whole = self
        ends = place[chosen], flagged[chosen], whole[chosen]
        return Asked(moving[chosen], fixed[chosen], *ends)


@dataclass(frozen=True)
class Tree:
    """Nodes that hold items, level by level; a node's two parts share what it holds.

    Attributes:
        order: ``(items,)``: the items, those of a node side by side.
        start: ``(nodes,)``: where those of each node begin.
        stop: ``(nodes,)``: where they end.
        child: ``(nodes, 2)``: its parts, behind it; −1 if it has none.
        levels: ``(levels + 1,)``: where the nodes of each level begin, and where all end.
    """

    order: IntArray
    start: IntArray
    stop: IntArray
    child: IntArray
    levels: list[int]

    @cached_property
    def leaf(self) -> BoolArray:
        """``(nodes,)``: which nodes have no parts."""
        return np.asarray(self.child[:, 0] < 0)

    @property
    def size(self) -> IntArray:
        """``(nodes,)``: how many items each node holds."""
        return np.asarray(self.stop - self.start)

    @cached_property
    def inner(self) -> list[IntArray]:
        """The nodes of each level that have parts, the first level first."""
        ends = itertools.pairwise(self.levels)
        return [np.arange(*each)[~self.leaf[slice(*each)]] for each in ends]

    def least(self, of: AnyArray) -> FloatArray:
        """``(nodes, …)``: the least of what the items ``(items, …)`` of a node have."""
        found = np.empty((len(self.start), *of.shape[1:]))
        leaves = np.flatnonzero(self.leaf)
        leaves = leaves[np.argsort(self.start[leaves])]
        found[leaves] = np.minimum.reduceat(of[self.order], self.start[leaves], axis=0)
        for nodes in self.inner[::-1]:
            first, second = self.child[nodes].T
            found[nodes] = np.minimum(found[first], found[second])
        return found

    def most(self, of: AnyArray) -> FloatArray:
        """The same of the greatest."""
        return -self.least(-of)

    def handed_down(self, of: FloatArray) -> FloatArray:
        """``(items,)``: the sum of what all nodes have that hold an item."""
        total, found = of.copy(), np.empty(len(self.order))
        for nodes in self.inner:
            total[self.child[nodes]] += total[nodes][:, None]
        leaves = np.flatnonzero(self.leaf)
        leaves = leaves[np.argsort(self.start[leaves])]
        found[self.order] = np.repeat(total[leaves], self.size[leaves])
        return found


def tree_of(entries: FloatArray, place: IntArray) -> Tree:
    """A tree whose nodes are split at the mean of the entry that varies most.

    Args:
        entries: ``(items, d)``.
        place: ``(items,)``: what a node is split by where its entries are the same.
    """
    order = np.argsort(place, kind="stable")
    nodes, levels = [np.array([[0, len(order)]])], [0, 1]
    child = list[IntArray]()
    while nodes[-1].size:
        start, stop = nodes[-1].T
        large = stop - start > LEAF
        own = np.full((len(start), 2), -1)
        own[large] = levels[-1] + np.arange(2 * large.sum()).reshape(-1, 2)
        child.append(own)
        start, stop = start[large], stop[large]
        middle = _split(entries, order, start, stop, len(levels) > DEEPEST)
        nodes.append(np.stack([start, middle, middle, stop], axis=1).reshape(-1, 2))
        levels.append(levels[-1] + len(nodes[-1]))
    start, stop = np.concatenate(nodes).T
    return Tree(order, start, stop, np.concatenate(child), levels[:-1])


def _split(
    entries: FloatArray, order: IntArray, start: IntArray, stop: IntArray, halve: bool
) -> IntArray:
    """Where the second parts of nodes begin, after items were put in order for it."""
    size = stop - start
    if not len(size):
        return start
    node = np.repeat(np.arange(len(size)), size)
    # All items of these nodes, side by side.
    begin = np.cumsum(size) - size
    at = np.arange(len(node)) + np.repeat(start - begin, size)
    own = order[at]
    mean, square = (
        np.add.reduceat(x, begin, axis=0) / size[:, None]
        for x in (entries[own], entries[own] ** 2)
    )
    spread = square - mean**2
    column = spread.argmax(axis=1)
    middle = mean[np.arange(len(size)), column]
    second = entries[own, column[node]] > middle[node]
    count = np.add.reduceat(second.astype(np.int64), begin)
    alike = (count == 0) | (count == size) | halve
    half = (np.arange(len(node)) - begin[node]) * 2 >= size[node]
    second = np.where(alike[node], half, second)
    order[at] = own[np.argsort(2 * node + second, kind="stable")]
    return np.asarray(stop - np.where(alike, size - (size + 1) // 2, count))


class Box(NamedTuple):
    """For each node the ends of the numbers, or vectors, that its items have.

    Attributes:
        low: ``(nodes, …)``.
        high: ``(nodes, …)``.
    """

    low: FloatArray
    high: FloatArray

    @staticmethod
    def of(tree: Tree, each: AnyArray) -> "Box":
        """The boxes of all nodes of a tree."""
        return Box(tree.least(each), tree.most(each))

    def some(self, nodes: IntArray) -> "Box":
        """Of some nodes, in turn."""
        return Box(self.low[nodes], self.high[nodes])

    def farthest(self, other: "Box") -> FloatArray:
        """How far numbers of both can be apart."""
        return np.maximum(self.high - other.low, other.high - self.low)


@dataclass(frozen=True)
class Rivals:
    """The rivals of right positions in all rows, bounded node by node.

    Attributes:
        asking: The queries.
        asked: The keys.
        light: Rivals that weigh no more, each, are not looked at one by one.
        size: At least the sum of the absolute values of the terms of any score, noise with
            them.
    """

    asking: Asking
    asked: Asked
    light: float
    size: float

    def heaviest(self) -> float:
        """What all rivals of a row weigh in units of the right position, at worst.

        Raises:
            Refused: If too many scores have to be looked at.
        """
        nodes, rows = np.zeros(len(self.rows.size)), np.zeros(len(self.rows.order))
        most, work = max(1, CELLS // (4 * self.width)), 0
        waiting = [np.zeros((1, 2), np.int64)]
        while waiting:
            pairs = waiting.pop()
            if len(pairs) > most:
                waiting.append(pairs[most:])
            pairs = self._seen(pairs[:most])
            weight = self._weight(pairs)
            sure = weight <= self.light
            light = self.keys.size[pairs[sure, 1]] * weight[sure]
            np.add.at(nodes, pairs[sure, 0], light)
            pairs = pairs[~sure]
            last = self.rows.leaf[pairs[:, 0]] & self.keys.leaf[pairs[:, 1]]
            work += LEAF * len(pairs) + LEAF**2 * int(last.sum())
            demand(work <= MOST, "a head has too many scores to check")
            self._one_by_one(pairs[last], rows)
            if not last.all():
                waiting.append(self._parts(pairs[~last]))
        return float((rows + self.rows.handed_down(nodes)).max())

    @property
    def width(self) -> int:
        """How many numbers are computed for a pair, about."""
        return int(1 + self.asking.moving.shape[1] + self.asking.off.shape[1])

    @cached_property
    def rounded(self) -> float:
        """How far a score can be off as it is computed or bounded here."""
        squares = sum(float((x**2).max(axis=0).sum()) for x in (self.q, self.k))
        keys = [self.asked.whole, *self.asking.right]
        far = np.max([np.abs(x).max(axis=0) for x in keys], axis=0)
        size = self.size + squares + 4 * float(self.asking.off.max(axis=0) @ far)
        return own_error(4 * (self.width + 16), size + 1.0).most

    # ------------------------------------------------------------------- trees

    @cached_property
    def scale(self) -> FloatArray:
        """``(d,)``: powers of two that bring entries of queries and keys to one size."""
        q, k = (np.sqrt((x.moving**2).mean(axis=0)) for x in (self.asking, self.asked))
        usual = (q > 0) & (k > 0)
        ratio = np.where(usual, q, 1.0) / np.where(usual, k, 1.0)
        return np.asarray(2.0 ** np.clip(np.rint(np.log2(ratio) / 2), -64, 64))

    @cached_property
    def q(self) -> FloatArray:
        """``(rows, d)``: the moving entries, of that size."""
        return self.asking.moving / self.scale

    @cached_property
    def k(self) -> FloatArray:
        """``(keys, d)``: the same of keys."""
        return self.asked.moving * self.scale

    @cached_property
    def rows(self) -> Tree:
        """Of the queries."""
        entries = self.q * self.k.std(axis=0)
        return tree_of(np.column_stack([entries, self.asking.floor]), self.asking.end)

    @cached_property
    def keys(self) -> Tree:
        """Of the keys."""
        entries, asked = self.k * self.q.std(axis=0), self.asked
        every = np.column_stack([entries, asked.fixed, asked.flagged])
        return tree_of(every, asked.place)

    @property
    def trees(self) -> tuple[Tree, Tree]:
        """Both."""
        return self.rows, self.keys

    @cached_property
    def _of_rows(self) -> "_OfRows":
        asking, tree = self.asking, self.rows
        return _OfRows(
            Box.of(tree, self.q),
            tree.most((self.q**2).sum(axis=1)),
            tree.least(asking.floor),
            tree.most(asking.end),
            tree.most(asking.low),
            tree.least(asking.high),
            tree.most(asking.off),
            [Box.of(tree, each) for each in asking.right],
        )

    @cached_property
    def _of_keys(self) -> "_OfKeys":
        asked, tree = self.asked, self.keys
        return _OfKeys(
            Box.of(tree, self.k),
            tree.most((self.k**2).sum(axis=1)),
            tree.most(asked.fixed),
            Box.of(tree, asked.place),
            tree.least(asked.flagged.astype(np.float64)) > 0,
            Box.of(tree, asked.whole),
        )

    # ------------------------------------------------------------------- pairs

    def _seen(self, pairs: IntArray) -> IntArray:
        """Pairs of nodes without those that have no rivals for certain."""
        rows, keys, (of, at) = self._of_rows, self._of_keys, pairs.T
        ahead = keys.place.low[at] > rows.end[of]
        inside = (keys.place.low[at] >= rows.low[of]) & keys.flagged[at]
        inside &= keys.place.high[at] <= rows.high[of]
        return np.asarray(pairs[~(ahead | inside)])

    def _weight(self, pairs: IntArray) -> FloatArray:
        """``(pairs,)``: what one rival weighs, in units of the right position, at most."""
        rows, keys, (of, at) = self._of_rows, self._of_keys, pairs.T
        q, k = rows.q.some(of), keys.k.some(at)
        corners = [x * y for x in q for y in k]
        product = np.maximum.reduce(corners).sum(axis=1)
        apart = np.maximum(np.maximum(q.low - k.high, k.low - q.high), 0.0)
        near = (rows.norm[of] + keys.norm[at] - (apart**2).sum(axis=1)) / 2
        score = keys.fixed[at] + np.minimum(product, near) - rows.floor[of]
        return most_exp(score + self._gained(pairs) + 2 * self.rounded)

    def _gained(self, pairs: IntArray) -> FloatArray:
        """``(pairs,)``: what a rival gains on a right position by noise, at most."""
        rows, keys, (of, at) = self._of_rows, self._of_keys, pairs.T
        whole, off, found = keys.whole.some(at), rows.off[of], np.zeros(len(pairs))
        for right in rows.right:
            far = off * whole.farthest(right.some(of))
            np.maximum(found, far.sum(axis=1), out=found)
        return found

    def _one_by_one(self, pairs: IntArray, weights: FloatArray) -> None:
        """Add what the rivals of pairs of leaves weigh to what stands for their rows."""
        gained = self._gained(pairs)
        most = max(1, CELLS // (LEAF * (LEAF + self.width)))
        for little in (True, False):
            some = np.flatnonzero((gained <= LITTLE) == little)
            for first in range(0, len(some), most):
                part = some[first : first + most]
                (row, own), (key, there) = (
                    _held(tree, nodes)
                    for tree, nodes in zip(self.trees, pairs[part].T, strict=True)
                )
                noise = gained[part][:, None, None] if little else self._noise(row, key)
                scores = self._scores(row, key) + noise + 2 * self.rounded
                rival = self._rivals(row, key) & own[:, :, None] & there[:, None]
                weight = most_exp(np.where(rival, scores, -np.inf))
                np.add.at(weights, row[own], weight.sum(axis=2)[own])

    def _scores(self, row: IntArray, key: IntArray) -> FloatArray:
        """``(pairs, rows, keys)``: scores less that of the right position."""
        scores = self.q[row] @ self.k[key].transpose(0, 2, 1)
        scores += self.asked.fixed[key][:, None]
        return np.asarray(scores - self.asking.floor[row][:, :, None])

    def _rivals(self, row: IntArray, key: IntArray) -> BoolArray:
        """``(pairs, rows, keys)``: which keys are seen and cannot be right."""
        asking, place = self.asking, self.asked.place[key][:, None]
        low, high, end = (
            x[row][:, :, None] for x in (asking.low, asking.high, asking.end)
        )
        right = self.asked.flagged[key][:, None] & (low <= place) & (place <= high)
        return np.asarray(~right & (place <= end))

    def _noise(self, row: IntArray, key: IntArray) -> FloatArray:
        """``(pairs, rows, keys)``: what each rival gains by noise at most."""
        found = np.zeros((*row.shape, key.shape[1]))
        off, whole = self.asking.off[row], self.asked.whole[key]
        for right in self.asking.right:
            gained = np.zeros_like(found)
            for entry in range(off.shape[2]):
                keys = whole[:, None, :, entry], right[row][:, :, None, entry]
                gained += off[:, :, None, entry] * np.abs(keys[0] - keys[1])
            np.maximum(found, gained, out=found)
        return found

    def _parts(self, pairs: IntArray) -> IntArray:
        """All pairs of parts of pairs of nodes; a leaf has itself as its only part."""
        found = []
        for row in range(2):
            for key in range(2):
                of, at = (
                    np.where(
                        tree.leaf[nodes], -1 if part else nodes, tree.child[nodes, part]
                    )
                    for tree, nodes, part in zip(
                        self.trees, pairs.T, (row, key), strict=True
                    )
                )
                found.append(np.column_stack([of, at])[(of >= 0) & (at >= 0)])
        return np.concatenate(found)


class _OfRows(NamedTuple):
    q: Box
    norm: FloatArray
    floor: FloatArray
    end: FloatArray
    low: FloatArray
    high: FloatArray
    off: FloatArray
    right: list[Box]


class _OfKeys(NamedTuple):
    k: Box
    norm: FloatArray
    fixed: FloatArray
    place: Box
    flagged: BoolArray
    whole: Box


def _held(tree: Tree, nodes: IntArray) -> tuple[IntArray, BoolArray]:
    """``(nodes, LEAF)``: the items of leaves, and which of these there are."""
    at = tree.start[nodes][:, None] + np.arange(LEAF)
    there = at < tree.stop[nodes][:, None]
    return tree.order[np.where(there, at, 0)], there
