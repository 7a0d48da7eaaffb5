"""Rows of numbers: each once, and found again by hashing."""

from math import prod

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray

# Rows of numbers without repetitions.


MOST_CODES = 2**62


def distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows of ``(count, k)`` non-negative numbers, and each row's index.

    Distinct rows ascend, first numbers first. Rows are compared as single numbers where
    these fit, which sorts far faster.
    """
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    sizes = [largest + 1 for largest in rows.max(axis=0).tolist()]
    if prod(sizes) < MOST_CODES:
        first, index = _first_of(_codes(rows, sizes))
        return rows[first], index
    unique_rows, index = np.unique(rows, axis=0, return_inverse=True)
    return unique_rows, index.reshape(-1)


def firsts(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Which rows differ from all before them, and for each row which of those it equals.

    Returns:
        The indices ``(kept,)`` of first occurrences, ascending, and ``(count,)`` places
        among them.
    """
    _, kind = distinct(rows)
    _, first, index = np.unique(kind, return_index=True, return_inverse=True)
    kept = np.sort(first)
    return kept, np.searchsorted(kept, first[index.reshape(-1)])


def _first_of(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """A place of each distinct number of ``(count,)``, ascending, and each one's index."""
    # As np.unique does it, in a third of the time where there are few.
    order = np.argsort(numbers)
    ordered = numbers[order]
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    index = np.empty(len(numbers), dtype=np.int64)
    index[order] = np.cumsum(new) - 1
    return order[new], index


def _codes(rows: IntArray, sizes: list[int]) -> IntArray:
    """Each row as the digits of one number, the first one leading."""
    # Not np.ravel_multi_index: it takes 32 columns in some versions, 64 in others.
    weights = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    codes: IntArray = rows @ np.array(weights, dtype=np.int64)
    return codes


# A hash table whose keys are rows of small integers, handled many at a time.


Rows = npt.NDArray[np.unsignedinteger]
Words = npt.NDArray[np.uint64]

_VACANT = np.iinfo(np.int32).max
_ABSENT = -1
_FIRST_CAPACITY = 64
_SLOTS_PER_ROW = 2
_WORD = 8  # bytes


class RowTable:
    """Distinct rows of integers below ``points``, numbered as they were added.

    Open addressing with linear probing, at most half full. Rows are kept as 64-bit
    words; the hash chooses where to look, and whole rows are compared there, so that
    collisions of hashes cost time and nothing else.

    Attributes:
        size: How many rows there are.
    """

    def __init__(self, width: int, points: int) -> None:
        self.size = 0
        self._width = width
        self._dtype = np.min_scalar_type(max(points - 1, 0))
        per_word = _WORD // self._dtype.itemsize
        count = max(1, -(-width // per_word))
        # Odd multipliers: a change in one word alone always changes the sum.
        draw = np.random.default_rng(0).integers(1 << 63, size=count, dtype=np.uint64)
        self._multipliers = draw * np.uint64(2) + np.uint64(1)
        self._words = np.zeros((_FIRST_CAPACITY, count), dtype=np.uint64)
        self._slots = np.full(_FIRST_CAPACITY * _SLOTS_PER_ROW, _VACANT, dtype=np.int32)

    @property
    def rows(self) -> Rows:
        """``(size, width)``: the rows in order, in the smallest unsigned type."""
        return self._words[: self.size].view(self._dtype)[:, : self._width]

    def add(self, rows: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
        """Enter rows ``(m, width)`` that may be known or occur several times.

        Returns:
            The number of each row, ``(m,)``, and which rows were new: the first
            occurrences, in order. New rows get the next numbers in that order.
        """
        words = self._pack(rows)
        self._reserve(self.size + len(words))
        base, own = self.size, np.arange(len(words))
        self._words[base : base + len(words)] = words
        owner, slot = self._settle(words, base)
        fresh = np.flatnonzero(owner == base + own)
        self._words[base : base + len(fresh)] = words[fresh]
        self._slots[slot[fresh]] = base + np.arange(len(fresh))
        self.size += len(fresh)
        rank = np.zeros(len(words), dtype=np.int64)
        rank[fresh] = base + np.arange(len(fresh))
        known = owner < base
        return np.where(known, owner, rank[np.where(known, 0, owner - base)]), fresh

    def find(self, rows: npt.NDArray[np.integer]) -> IntArray:
        """The number of each row of ``(m, width)``, −1 for rows that are not there."""
        words = self._pack(rows)
        slot = self._home(words)
        numbers = np.full(len(words), _ABSENT, dtype=np.int64)
        pending = np.arange(len(words))
        while pending.size:
            occupants = self._slots[slot[pending]]
            taken = occupants != _VACANT
            pending, occupants = pending[taken], occupants[taken]
            same = self._equal(occupants, words[pending])
            numbers[pending[same]] = occupants[same]
            pending = pending[~same]
            self._advance(slot, pending)
        return numbers

    def _settle(self, words: Words, base: int) -> tuple[IntArray, IntArray]:
        """Find a slot for every row; the first of equal rows owns it for all."""
        slot = self._home(words)
        owner = np.empty(len(words), dtype=np.int64)
        pending = np.arange(len(words))
        while pending.size:
            vacant = self._slots[slot[pending]] == _VACANT
            claims = pending[vacant]
            np.minimum.at(self._slots, slot[claims], (base + claims).astype(np.int32))
            occupants = self._slots[slot[pending]]
            same = self._equal(occupants, words[pending])
            owner[pending[same]] = occupants[same]
            pending = pending[~same]
            self._advance(slot, pending)
        return owner, slot

    def _pack(self, rows: npt.NDArray[np.integer]) -> Words:
        per_word = _WORD // self._dtype.itemsize
        padded = np.zeros((len(rows), len(self._multipliers) * per_word), self._dtype)
        padded[:, : self._width] = rows
        return padded.view(np.uint64)

    def _home(self, words: Words) -> IntArray:
        """The slot at which the search for each row begins."""
        mixed = words @ self._multipliers
        # Bits only travel upwards in products; shifts bring them down again.
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
        return (mixed & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _advance(self, slot: IntArray, pending: IntArray) -> None:
        slot[pending] = (slot[pending] + 1) & (len(self._slots) - 1)

    def _equal(
        self, numbers: npt.NDArray[np.integer], words: Words
    ) -> npt.NDArray[np.bool_]:
        same: npt.NDArray[np.bool_] = (self._words[numbers] == words).all(axis=1)
        return same

    def _reserve(self, rows: int) -> None:
        capacity = len(self._words)
        if rows <= capacity:
            return
        while capacity < rows:
            capacity *= 2
        words = np.zeros((capacity, self._words.shape[1]), dtype=np.uint64)
        words[: self.size] = self._words[: self.size]
        self._words = words
        self._slots = np.full(capacity * _SLOTS_PER_ROW, _VACANT, dtype=np.int32)
        # Known rows are distinct: a slot is theirs if their claim was kept.
        slot, pending = self._home(words[: self.size]), np.arange(self.size)
        while pending.size:
            claims = pending[self._slots[slot[pending]] == _VACANT]
            self._slots[slot[claims]] = claims
            pending = pending[self._slots[slot[pending]] != pending]
            self._advance(slot, pending)
