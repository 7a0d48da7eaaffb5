"""The weights of rivals in all rows of a head, from boxes of queries and boxes of keys.

Theorem R4 of docs/proofs/attention.md. How queries and keys are put into boxes is a
search that no proof rests on: a bound holds for any boxes that contain them.
"""

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple, TypeVar

import numpy as np

from krohn.program.domains import AnyArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import most_exp, own_error
from krohn.verify.checker.scores import CELLS, MOST

LEAF = 16
"""Up to so many queries, or keys, are looked at one by one."""
LITTLE = 2.0**-8
"""Of noise that moves a score by less only the bound of its node is used."""
AHEAD = 2**62
"""The place of what nobody sees."""


class Asking(NamedTuple):
    """Queries, with what the right position scores and where rivals are.

    Attributes:
        moving: ``(rows, d)``: the entries that are not the same in all rows.
        square: ``(rows,)``: the sum of their squares.
        floor: ``(rows,)``: the least that a right position scores, but for what all
            scores of a row have in common.
        end: ``(rows,)``: the last position that is seen.
        low: ``(rows,)``: the first candidate.
        high: ``(rows,)``: the last one.
        off: ``(rows, entries)``: how far each entry of a query is off; without columns
            where the errors of scores have that.
        right: ``(rows, ways, entries)``: the keys of positions that can be right.
    """

    moving: FloatArray
    square: FloatArray
    floor: FloatArray
    end: IntArray
    low: IntArray
    high: IntArray
    off: FloatArray
    right: FloatArray


class Asked(NamedTuple):
    """Keys of all positions but BOS, with each value that they can have.

    Attributes:
        moving: ``(keys, d)``: the entries that moving entries of queries multiply.
        square: ``(keys,)``: the sum of their squares.
        fixed: ``(keys,)``: what the others score, in every row.
        place: ``(keys,)``: the position.
        flagged: ``(keys,)``: 1 if a candidate with this key can be right, else 0.
        whole: ``(keys, entries)``: all entries; without columns if no query is off.
    """

    moving: FloatArray
    square: FloatArray
    fixed: FloatArray
    place: IntArray
    flagged: IntArray
    whole: FloatArray


Items = TypeVar("Items", Asking, Asked)


def some(items: Items, at: IntArray) -> Items:
    """Some of the queries, or keys, or of their boxes."""
    chosen: list[AnyArray] = [x[at] for x in items]
    return type(items)(*chosen)


# ------------------------------------------------------------------- trees


def in_leaves(entries: FloatArray, place: IntArray) -> IntArray:
    """``(leaves, items of each)``: items, alike ones together; numbers beyond fill leaves.

    The leaves are the last nodes of a tree, node n of which has the parts 2n and 2n + 1.
    A node is halved by the entry of the widest range.

    Args:
        entries: ``(d, items)``.
        place: ``(items,)``: what a node is halved by where its entries are the same.
    """
    last = len(place) - 1
    levels = (last // LEAF).bit_length()
    width = -(-len(place) >> levels)
    order = np.append(np.argsort(place), np.arange(len(place), width << levels))
    for level in range(levels):
        nodes = order.reshape(2**level, -1)
        # Entry by entry, and along the longer side, in which numpy is quicker.
        many = len(nodes) > nodes.shape[1]
        at, axis = (np.ascontiguousarray(nodes.T), 0) if many else (nodes, 1)
        ranges = [np.ptp(x.take(at, mode="clip"), axis=axis) for x in entries]
        widest = np.argmax(ranges, axis=0)[:, None]
        by = entries[widest, np.minimum(nodes, last)].argsort(axis=1, kind="stable")
        order = np.take_along_axis(nodes, by, axis=1)
    return order.reshape(2**levels, width)


def least(items: AnyArray, lesser: np.ufunc = np.minimum) -> AnyArray:
    """``(nodes, …)``: the least of a node, of items ``(leaves, items of each, …)``.

    The first node is 1; what stands at 0 means nothing.

    Args:
        items: What is compared.
        lesser: Of two numbers; their greater one, if the greatest are wanted.
    """
    levels = [lesser.reduce(items, axis=1)]
    while len(levels[0]) > 1:
        levels.insert(0, lesser(levels[0][::2], levels[0][1::2]))
    return np.concatenate([levels[0], *levels])


def handed_down(nodes: FloatArray) -> FloatArray:
    """``(leaves,)``: the sum of what all nodes have that hold a leaf."""
    total, first = nodes[1:2], 2
    while first < len(nodes):
        total = np.repeat(total, 2) + nodes[first : 2 * first]
        first *= 2
    return total


def _parts(nodes: IntArray, leaves: int) -> IntArray:
    """``(nodes, 2)``: parts of nodes; a leaf is its only part, beside a 0."""
    leaf = nodes >= leaves
    first = np.where(leaf, nodes, 2 * nodes)
    return np.column_stack([first, np.where(leaf, 0, first + 1)])


# ------------------------------------------------------------------- pairs


@dataclass(frozen=True)
class Rivals:
    """The rivals of right positions in all rows, bounded node by node.

    Attributes:
        asking: The queries, ``(leaves, queries of each, …)``.
        asked: The keys, likewise.
        light: Rivals that weigh no more, each, are not looked at one by one.
        rounded: How far a score can be off as it is computed or bounded here.
    """

    asking: Asking
    asked: Asked
    light: float
    rounded: float

    @staticmethod
    def of(asking: Asking, asked: Asked, light: float, size: float) -> "Rivals":
        """Put queries and keys into leaves.

        Args:
            asking: The queries.
            asked: The keys.
            light: What all rivals of a row that are not looked at may weigh together.
            size: At least the sum of the absolute values of the terms of any score,
                noise with them.
        """
        scale = _scale(asking.moving, asked.moving)
        q, k = asking.moving / scale, asked.moving * scale
        square_q, square_k = q**2, k**2
        squares = sum(float(x.max(axis=0).sum()) for x in (square_q, square_k))
        far = np.abs(asking.right).max(axis=(0, 1), initial=0.0)
        far = np.maximum(far, np.abs(asked.whole).max(axis=0))
        size += squares + 4 * float(asking.off.max(axis=0) @ far)
        rounded = own_error(4 * (q.shape[1] + len(far) + 17), size + 1.0).most
        asking = asking._replace(moving=q, square=square_q.sum(axis=1))
        asked = asked._replace(moving=k, square=square_k.sum(axis=1))
        spread = (q * k.std(axis=0)).T, (k * q.std(axis=0)).T
        rows = in_leaves(np.vstack([spread[0], asking.floor]), asking.end)
        key_entries = np.vstack([spread[1], asked.fixed, asked.flagged])
        keys = in_leaves(key_entries, asked.place)
        last = len(asked.place) - 1
        key_leaves = some(asked, np.minimum(keys, last))
        key_leaves = key_leaves._replace(
            place=np.where(keys > last, AHEAD, key_leaves.place)
        )
        asking = some(asking, np.minimum(rows, len(asking.end) - 1))
        return Rivals(asking, key_leaves, light / keys.size, rounded)

    def heaviest(self) -> float:
        """The largest weight of all rivals of a row, in units of the right position's.

        Raises:
            Refused: If too many scores have to be looked at.
        """
        (leaves, _), (ends, each) = self.asking.end.shape, self.asked.place.shape
        nodes, rows = np.zeros(2 * leaves), np.zeros(self.asking.end.shape)
        most, work = max(1, CELLS // (4 * self.width)), 0
        waiting = [np.ones((1, 2), np.int64)]
        while waiting:
            pairs = waiting.pop()
            if len(pairs) > most:
                waiting.append(pairs[most:])
            pairs, weight, gained = self._weigh_pairs(pairs[:most])
            sure = weight <= self.light
            of, at = pairs[sure].T
            key_count = each * ends >> np.frexp(at)[1] - 1
            np.add.at(nodes, of, key_count * weight[sure])
            pairs, gained = pairs[~sure], gained[~sure]
            last = (pairs >= (leaves, ends)).all(axis=1)
            work += LEAF * len(pairs) + LEAF**2 * int(last.sum())
            demand(work <= MOST, "a head has too many scores to check")
            self._one_by_one(pairs[last] - (leaves, ends), gained[last], rows)
            if not last.all():
                of, at = pairs[~last].T
                parts = _parts(of, leaves)[:, :, None], _parts(at, ends)[:, None]
                pairs = np.stack(np.broadcast_arrays(*parts), -1).reshape(-1, 2)
                waiting.append(pairs[pairs.all(axis=1)])
        return float((rows + handed_down(nodes)[:, None]).max())

    @property
    def width(self) -> int:
        """How many numbers are computed for a pair, about."""
        return int(1 + self.asking.moving.shape[-1] + self.asking.off.shape[-1])

    @cached_property
    def _boxes(self) -> tuple[Asking, Asking, Asked, Asked]:
        """The least and the greatest numbers of each node, of queries and of keys."""
        of, at = self.asking, self.asked
        return (
            Asking(*map(least, of)),
            Asking(*(least(x, np.maximum) for x in of)),
            Asked(*map(least, at)),
            Asked(*(least(x, np.maximum) for x in at)),
        )

    def _weigh_pairs(self, pairs: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Pairs of nodes without those that have no rivals for certain.

        Returns:
            Them, what one rival weighs, in units of the right position, at most, and what
            it gains on that by noise, at most.
        """
        of, at = pairs.T
        first, last, low, high = self._boxes
        ahead = low.place[at] > last.end[of]
        inside = (low.place[at] >= last.low[of]) & (low.flagged[at] > 0)
        inside &= high.place[at] <= first.high[of]
        pairs = pairs[~(ahead | inside)]
        of, at = pairs.T
        ends = (
            [x.moving[of] for x in (first, last)],
            [x.moving[at] for x in (low, high)],
        )
        (q_first, q_last), (k_low, k_high) = ends
        corners = [x * y for x in ends[0] for y in ends[1]]
        product = reduce(np.maximum, corners).sum(axis=1)
        apart = np.maximum(q_first - k_high, k_low - q_last)
        near = last.square[of] + high.square[at]
        near -= (np.maximum(apart, 0.0) ** 2).sum(axis=1)
        score = high.fixed[at] + np.minimum(product, near / 2) - first.floor[of]
        above = high.whole[at][:, None] - first.right[of]
        below = last.right[of] - low.whole[at][:, None]
        far = last.off[of][:, None] * np.maximum(above, below)
        gained = far.sum(axis=2).max(axis=1, initial=0.0)
        return pairs, most_exp(score + gained + 2 * self.rounded), gained

    def _one_by_one(
        self, leaves: IntArray, gained: FloatArray, weights: FloatArray
    ) -> None:
        """Add what the rivals of pairs of leaves weigh to what stands for their rows."""
        most = max(1, CELLS // (LEAF * (LEAF + self.width)))
        for little in (True, False):
            chosen = np.flatnonzero((gained <= LITTLE) == little)
            for at in np.array_split(chosen, len(chosen) // most + 1):
                of, keys = leaves[at].T
                q, k = self.asking, self.asked
                noise = gained[at][:, None, None]
                if not little:
                    noise = _noise(some(q, of), some(k, keys))
                scores = q.moving[of] @ k.moving[keys].transpose(0, 2, 1)
                scores = scores + k.fixed[keys][:, None] - q.floor[of][:, :, None]
                scores = scores + noise + 2 * self.rounded
                place, flagged = k.place[keys][:, None], k.flagged[keys][:, None] > 0
                low, high, end = (x[of][:, :, None] for x in (q.low, q.high, q.end))
                right = flagged & (low <= place) & (place <= high)
                rival = ~right & (place <= end)
                weight = most_exp(np.where(rival, scores, -np.inf))
                np.add.at(weights, of, weight.sum(axis=2))


def _scale(q: FloatArray, k: FloatArray) -> FloatArray:
    """``(d,)``: powers of two that bring entries of queries and keys to one size."""
    each = [np.sqrt((x**2).mean(axis=0)) for x in (q, k)]
    usual = (each[0] > 0) & (each[1] > 0)
    ratio = np.where(usual, each[0], 1.0) / np.where(usual, each[1], 1.0)
    return np.asarray(2.0 ** np.clip(np.rint(np.log2(ratio) / 2), -64, 64))


def _noise(q: Asking, k: Asked) -> FloatArray:
    """``(pairs, rows, keys)``: what each rival gains by noise at most."""
    largest = np.zeros((*q.end.shape, k.place.shape[1]))
    for way in range(q.right.shape[2]):
        gained = np.zeros_like(largest)
        for entry in range(q.off.shape[2]):
            right, keys = q.right[:, :, way, entry], k.whole[:, :, entry]
            far = np.abs(keys[:, None] - right[:, :, None])
            gained += q.off[:, :, entry, None] * far
        np.maximum(largest, gained, out=largest)
    return largest
