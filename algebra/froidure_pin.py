"""The Froidure–Pin algorithm, for all words of one length at once."""

import numpy as np
import numpy.typing as npt

from krohn.algebra.budget import Budget
from krohn.algebra.hashing import Rows, RowTable
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

Numbers = npt.NDArray[np.int32]

IDENTITY = 0
UNKNOWN = -1
_COLUMNS = ("right", "left", "prefix", "suffix", "first", "last", "length")
_ENTRIES_AT_ONCE = 1 << 21
_FIRST_CAPACITY = 64
_CALLS = 60  # array operations that multiply some elements by all letters
_KEYED = 12  # entries that could be read while a product is looked up by its hash


class Enumeration:
    """The transformations that words induce, as far as they have been found.

    Elements are numbered by their shortlex smallest words; 0 is the empty word. A
    product u·a is looked up in the hash table only if the word of u without its first
    letter, followed by a, is the smallest word of its element; the others follow from
    the Cayley graphs of shorter words (V. Froidure, J.-É. Pin, Algorithms for
    computing finite semigroups, 1997). One level of equally long words is one numpy
    computation, in pieces of bounded memory.

    The arrays have room for more than ``size`` elements; the rest is unused.

    Attributes:
        generators: ``(letters, points)`` transformations.
        right: ``(…, letters)``: the element u·a, for the first ``expanded`` elements.
        left: ``(…, letters)``: the element a·u, for all words shorter than the last.
        prefix: The element of the word without its last letter.
        suffix: The element of the word without its first letter.
        first: The first letter of the word; −1 for the empty word.
        last: The last letter of the word; −1 for the empty word.
        length: The length of the word.
        expanded: How many elements have been multiplied by every letter.
        rules: How many words w·a with w and all suffixes of w·a reduced are not
            reduced themselves: the left sides of the complete rewriting system.
    """

    def __init__(self, generators: npt.ArrayLike | Semiautomaton) -> None:
        if isinstance(generators, Semiautomaton):
            generators = generators.transitions
        self.generators: IntArray = np.array(generators, dtype=np.int64)
        letters, points = self.generators.shape
        self._table = RowTable(points, points)
        self._table.add(np.arange(points)[None])
        self._flat = self.generators.ravel().astype(self.rows.dtype)
        self.right: Numbers = np.zeros((_FIRST_CAPACITY, letters), dtype=np.int32)
        self.left: Numbers = self.right.copy()
        self.prefix: Numbers = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self.suffix, self.length = self.prefix.copy(), self.prefix.copy()
        self.first: Numbers = np.full(_FIRST_CAPACITY, UNKNOWN, dtype=np.int32)
        self.last = self.first.copy()
        self.expanded = self.rules = 0
        self._level, self._left_known = 1, 0

    @property
    def size(self) -> int:
        """The number of elements found, the empty word among them."""
        return self._table.size

    @property
    def rows(self) -> Rows:
        """``(size, points)``: the transformations found, in the smallest type."""
        return self._table.rows

    @property
    def complete(self) -> bool:
        """Whether there are no other elements."""
        return self._left_known == self.size

    def find(self, rows: npt.NDArray[np.integer]) -> IntArray:
        """The element of each transformation ``(m, points)``, −1 if not found."""
        return self._table.find(rows)

    def word(self, element: int) -> tuple[int, ...]:
        """The shortlex smallest word of an element, as letter indices."""
        letters = []
        while element != IDENTITY:
            letters.append(int(self.last[element]))
            element = int(self.prefix[element])
        return tuple(reversed(letters))

    def run(self, budget: Budget) -> None:
        """Find all elements.

        Raises:
            BudgetExceeded: If there are more elements than the budget allows or no
                step remains. Elements that were found remain, and `run` can go on.
        """
        step = max(1, _ENTRIES_AT_ONCE // self.generators.size)
        while not self.complete:
            while self.expanded < self._level:
                budget.check(self.size, "elements")
                end = min(self.expanded + step, self._level)
                budget.spend((end - self.expanded) * self._entries, _CALLS)
                self._multiply(end)
            self._extend_left()
            self._level = self.size

    @property
    def _entries(self) -> int:
        """How many entries of arrays it takes to multiply an element by all letters."""
        letters, points = self.generators.shape
        return int(letters * (points + _KEYED))

    def _multiply(self, end: int) -> None:
        """Multiply the next elements, up to ``end``, by all letters on the right."""
        begin = self.expanded
        known, reduced = self._deduce(begin, end)
        row, letter = np.nonzero(known == UNKNOWN)
        offset = letter * self.generators.shape[1]
        products = self._flat[self.rows[begin + row] + offset[:, None]]
        before = self.size
        found, fresh = self._table.add(products)
        known[row, letter] = found
        self.right[begin:end] = known
        self.expanded = end
        self._reserve(self.size)
        self._name(slice(before, self.size), begin + row[fresh], letter[fresh])
        self.rules += int(reduced.sum()) - len(fresh)

    def _deduce(self, begin: int, end: int) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """Products that shorter words give, and which are reduced but for a letter.

        Let u = b·s and let r be the element of s·a. If the word of r is not s·a, then
        u·a = b·r, and the word of r = p·c gives u·a = (b·p)·c. This element b·p is
        known, and so is its product by c unless b·p is as long as u.
        """
        letters = np.arange(self.right.shape[1], dtype=np.int32)
        suffix, first = self.suffix[begin:end, None], self.first[begin:end, None]
        if begin == IDENTITY:
            shape = (end - begin, len(letters))
            return np.full(shape, UNKNOWN, dtype=np.int32), np.ones(shape, dtype=bool)
        rest = self.right[suffix[:, 0]]
        last = self.last[rest]
        reduced = (self.prefix[rest] == suffix) & (last == letters)
        start = self.left[self.prefix[rest], first]
        known = np.where(start < begin, self.right[start, last], np.int32(UNKNOWN))
        known = np.where(rest == IDENTITY, self.right[IDENTITY, first], known)
        return np.where(reduced, np.int32(UNKNOWN), known), reduced

    def _name(self, new: slice, parent: IntArray, letter: IntArray) -> None:
        """Enter the words u·a of new elements."""
        longer = parent != IDENTITY
        self.prefix[new] = parent
        self.last[new] = letter
        self.first[new] = np.where(longer, self.first[parent], letter)
        after = self.right[self.suffix[parent], letter]
        self.suffix[new] = np.where(longer, after, IDENTITY)
        self.length[new] = self.length[parent] + 1

    def _extend_left(self) -> None:
        """Products a·u for the words of the finished level: (a·prefix)·last."""
        if self._left_known == IDENTITY:
            self.left[IDENTITY] = self.right[IDENTITY]
            self._left_known = 1
        level = slice(self._left_known, self._level)
        start = self.left[self.prefix[level]]
        self.left[level] = self.right[start, self.last[level, None]]
        self._left_known = self._level

    def _reserve(self, elements: int) -> None:
        capacity = len(self.right)
        if elements <= capacity:
            return
        while capacity < elements:
            capacity *= 2
        for name in _COLUMNS:
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=np.int32)
            new[: len(old)] = old
            setattr(self, name, new)
