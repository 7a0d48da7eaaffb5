"""Rows of numbers: each once, and found again by hashing."""

from math import prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray

# Rows of numbers without repetitions.


MOST_CODES = 2**62
_FIRST_CAPACITY = 64


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
    order = numbers.argsort()
    ordered = numbers[order]
    new = np.empty(len(numbers), dtype=bool)
    new[0] = False
    new[1:] = ordered[1:] != ordered[:-1]
    index = np.empty(len(numbers), dtype=np.int64)
    index[order] = new.cumsum()
    new[0] = True
    return order[new], index


def _codes(rows: IntArray, sizes: list[int]) -> IntArray:
    """Each row as the digits of one number, the first one leading."""
    # Not np.ravel_multi_index: it takes 32 columns in some versions, 64 in others.
    weights = [1]
    for size in sizes[:0:-1]:
        weights.append(weights[-1] * size)
    # Rows may have no columns: then they are all alike.
    codes: IntArray = rows @ np.array(weights[::-1][: len(sizes)], dtype=np.int64)
    return codes


# Transformations of few points, each at the place of its code.


Rows = npt.NDArray[np.unsignedinteger]
Numbers = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint64]
Column = TypeVar("Column", IntArray, Numbers, Words, Rows)

MOST_CODED = 1 << 20
"""Maps of some points to themselves that may have a place each; 4 MiB for 7 points."""


class CodeTable:
    """Distinct transformations of few points, numbered as they were found.

    The code of a transformation has the images of points as digits, the first leading.
    The code of a product u·a is the sum of what the digits in the upper half of u's code
    become under a, and those in the lower half: two tables say it for all.

    Attributes:
        size: How many transformations there are, the identity first.
    """

    def __init__(self, generators: IntArray) -> None:
        points = self._points = generators.shape[1]
        upper, lower = _half_products(generators, points // 2, points)
        self._upper, self._lower = upper * len(lower), lower
        self._weights = points ** np.arange(points - 1, -1, -1)
        # One more than the number at each code; 0 where nothing was found.
        self._places: Numbers = np.zeros(points**points, dtype=np.int32)
        self._codes = np.zeros(_FIRST_CAPACITY, dtype=np.int64)
        self._codes[0] = identity = np.arange(points) @ self._weights
        self._places[identity] = self.size = 1

    @property
    def rows(self) -> Rows:
        """``(size, points)``: the transformations in order."""
        codes = self._codes[: self.size].astype(np.int32)
        rows: Rows = np.empty((self.size, self._points), dtype=np.uint8)
        for point in reversed(range(self._points)):
            rest = codes // np.int32(self._points)
            rows[:, point] = codes - rest * self._points
            codes = rest
        return rows

    def find(self, rows: npt.NDArray[np.integer]) -> IntArray:
        """The number of each row of ``(m, points)``, −1 for rows that are not there."""
        numbers: IntArray = self._places.take(rows @ self._weights).astype(np.int64)
        return numbers - 1

    def multiply(self, begin: int, end: int) -> tuple[Numbers, IntArray]:
        """Enter the products of some transformations by all letters on the right.

        Returns:
            The number of each product, ``(count * letters,)``, letter by letter for each
            transformation; and which were new: the first occurrences, in order. New
            ones get the next numbers in that order.
        """
        codes = self._codes[begin:end]
        upper = codes // len(self._lower)
        lower = codes - upper * len(self._lower)
        products = self._upper.take(upper, axis=0) + self._lower.take(lower, axis=0)
        products = products.reshape(-1)
        places = self._places.take(products)
        unknown = np.flatnonzero(places == 0)
        fresh = self._enter(products, unknown)
        places[unknown] = self._places.take(products.take(unknown))
        places -= np.int32(1)
        return places, fresh

    def _enter(self, products: IntArray, unknown: IntArray) -> IntArray:
        """Number the first occurrences of codes without a place."""
        codes = products.take(unknown)
        claims = np.arange(len(codes), 0, -1, dtype=np.int32)
        np.maximum.at(self._places, codes, claims)
        fresh: IntArray = unknown[self._places.take(codes) == claims]
        before, self.size = self.size, self.size + len(fresh)
        self._codes = enlarge(self._codes, self.size)
        self._codes[before : self.size] = new = products.take(fresh)
        self._places[new] = np.arange(before + 1, self.size + 1, dtype=np.int32)
        return fresh


def _half_products(
    generators: IntArray, upper: int, points: int
) -> tuple[IntArray, IntArray]:
    """``(codes, letters)`` each: what all codes of that many digits become."""
    images = generators.T
    tables = [np.zeros((1, len(generators)), dtype=np.int64)]
    for _ in range(points - upper):
        longer = tables[-1][:, None] * points + images
        tables.append(longer.reshape(-1, len(generators)))
    return tables[upper], tables[-1]


def enlarge(column: Column, rows: int) -> Column:
    """The column itself, or twice as long as often as it takes, zeros added."""
    capacity = len(column)
    if rows <= capacity:
        return column
    while capacity < rows:
        capacity *= 2
    # Pages that are not written to take no memory.
    longer: Column = np.zeros((capacity, *column.shape[1:]), dtype=column.dtype)
    longer[: len(column)] = column
    return longer


# A hash table whose keys are rows of small integers, handled many at a time.


_VACANT = np.iinfo(np.int32).max
_ABSENT = -1
_SLOTS_PER_ROW = 4
_WORD = 8  # bytes


class RowTable:
    """Distinct rows of integers below ``points``, numbered as they were added.

    Open addressing with linear probing, at most a quarter full. Rows are kept as 64-bit
    words; the hash chooses where to look, and whole rows are compared where hashes are
    equal, so that collisions cost time and nothing else.

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
        self._words: Words = np.zeros((_FIRST_CAPACITY, count), dtype=np.uint64)
        self._hashes: Words = np.zeros(_FIRST_CAPACITY, dtype=np.uint64)
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
        base, end = self.size, self.size + len(words)
        self._words[base:end] = words
        self._hashes[base:end] = hashes = self._hash(words)
        owner, slot = self._settle(hashes, base)
        fresh = np.flatnonzero(owner == np.arange(base, end))
        self.size = after = base + len(fresh)
        numbers = np.arange(base, after)
        self._words[base:after] = words.take(fresh, axis=0)
        self._hashes[base:after] = hashes.take(fresh)
        self._slots[slot.take(fresh)] = numbers
        rank = np.zeros(len(words), dtype=np.int64)
        rank[fresh] = numbers
        entered = rank.take(owner - base, mode="clip")
        return np.where(owner < base, owner, entered), fresh

    def find(self, rows: npt.NDArray[np.integer]) -> IntArray:
        """The number of each row of ``(m, width)``, −1 for rows that are not there."""
        words = self._pack(rows)
        hashes = self._hash(words)
        slot = self._home(hashes)
        numbers = np.full(len(words), _ABSENT, dtype=np.int64)
        pending = np.arange(len(words))
        while pending.size:
            occupants = self._slots.take(slot)
            taken = np.flatnonzero(occupants != _VACANT)
            occupants, pending = occupants.take(taken), pending.take(taken)
            same = self._hashes.take(occupants) == hashes.take(pending)
            self._compare(same, occupants, words, pending)
            numbers[pending[same]] = occupants[same]
            other = np.flatnonzero(~same)
            pending, slot = (
                pending.take(other),
                self._next(slot.take(taken.take(other))),
            )
        return numbers

    def _settle(self, hashes: Words, base: int) -> tuple[IntArray, IntArray]:
        """Find a slot for every row; the first of equal rows owns it for all."""
        slot = self._home(hashes)
        slots, owner = slot.copy(), np.empty(len(hashes), dtype=np.int64)
        pending = np.arange(len(hashes))
        while pending.size:
            occupants = self._slots.take(slot)
            vacant = np.flatnonzero(occupants == _VACANT)
            claims = (base + pending.take(vacant)).astype(np.int32)
            np.minimum.at(self._slots, slot.take(vacant), claims)
            occupants = self._slots.take(slot)
            owner[pending], slots[pending] = occupants, slot
            same = self._hashes.take(occupants) == hashes.take(pending)
            self._compare(same, occupants, self._words[base:], pending)
            other = np.flatnonzero(~same)
            pending, slot = pending.take(other), self._next(slot.take(other))
        return owner, slots

    def _compare(
        self,
        same: npt.NDArray[np.bool_],
        numbers: npt.NDArray[np.integer],
        words: Words,
        places: IntArray,
    ) -> None:
        """Keep true in ``same`` only where numbered rows are the ones at the places."""
        alike = np.flatnonzero(same)
        rows = self._words.take(numbers.take(alike), axis=0)
        equal = rows == words.take(places.take(alike), axis=0)
        same[alike] = equal[:, 0] if equal.shape[1] == 1 else equal.all(axis=1)

    def _pack(self, rows: npt.NDArray[np.integer]) -> Words:
        per_word = _WORD // self._dtype.itemsize
        padded = np.zeros((len(rows), len(self._multipliers) * per_word), self._dtype)
        padded[:, : self._width] = rows
        return padded.view(np.uint64)

    def _hash(self, words: Words) -> Words:
        mixed: Words = words @ self._multipliers
        # Bits only travel upwards in products; shifts bring them down again.
        mixed ^= mixed >> np.uint64(32)
        mixed *= np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
        return mixed

    def _home(self, hashes: Words) -> IntArray:
        """The slot at which the search for each row begins."""
        return (hashes & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _next(self, slot: IntArray) -> IntArray:
        return (slot + 1) & (len(self._slots) - 1)

    def _reserve(self, rows: int) -> None:
        if rows <= len(self._words):
            return
        self._words = enlarge(self._words, rows)
        self._hashes = enlarge(self._hashes, rows)
        capacity = len(self._words) * _SLOTS_PER_ROW
        self._slots = np.full(capacity, _VACANT, dtype=np.int32)
        # Known rows are distinct: a slot is theirs if their claim was kept.
        slot, pending = self._home(self._hashes[: self.size]), np.arange(self.size)
        while pending.size:
            vacant = self._slots.take(slot) == _VACANT
            self._slots[slot[vacant]] = pending[vacant]
            other = np.flatnonzero(self._slots.take(slot) != pending)
            pending, slot = pending.take(other), self._next(slot.take(other))
