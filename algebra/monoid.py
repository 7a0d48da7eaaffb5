"""The transformation monoid of a machine, enumerated element by element."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.errors import MachineError
from krohn.algebra.rows import (
    MOST_CODED,
    CodeTable,
    Column,
    Numbers,
    Rows,
    RowTable,
    enlarge,
)

# The Froidure–Pin algorithm, for all words of one length at once.


IDENTITY = 0
UNKNOWN = -1
_COLUMNS = ("right", "left", "prefix", "suffix", "first", "last", "length", "_smallest")
_GENERATED_AT_ONCE = 1 << 21
_FIRST_CAPACITY = 64
_CALLS = 60  # array operations that multiply some elements by all letters
_KEYED = 12  # entries that could be read while a product is looked up by its hash


class Enumeration:
    """The transformations that words induce, as far as they have been found.

    Elements are numbered by their shortlex smallest words; 0 is the empty word. A
    product u·a is looked up in the hash table only if the word of u without its first
    letter, followed by a, is the smallest word of its element; the others follow from
    the Cayley graphs of shorter words (V. Froidure, J.-É. Pin, Algorithms for
    computing finite semigroups, 1997). Products of maps of few points are all looked up,
    because each has a place of its own. One level of equally long words is one numpy
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
        self._table: CodeTable | RowTable
        if points**points <= MOST_CODED:
            self._table = CodeTable(self.generators)
        else:
            self._table = RowTable(points, points)
            self._table.add(np.arange(points)[None])
        self._flat = self.generators.ravel().astype(self.rows.dtype)
        self.right: Numbers = np.zeros((_FIRST_CAPACITY, letters), dtype=np.int32)
        self.left: Numbers = self.right.copy()
        self.prefix: Numbers = np.zeros(_FIRST_CAPACITY, dtype=np.int32)
        self.suffix, self.length = self.prefix.copy(), self.prefix.copy()
        self.first: Numbers = np.full(_FIRST_CAPACITY, UNKNOWN, dtype=np.int32)
        self.last = self.first.copy()
        # Whether the word of u·a is that of u and the letter a.
        self._smallest = np.zeros((_FIRST_CAPACITY, letters), dtype=np.bool_)
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
        step = max(1, _GENERATED_AT_ONCE // self.generators.size)
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
        begin, before = self.expanded, self.size
        letters = np.int64(self.right.shape[1])
        reduced = len(self.generators)
        if begin != IDENTITY:
            suffix = self.suffix[begin:end]
            reduced = int(self._smallest.take(suffix, axis=0).sum())
        if isinstance(self._table, CodeTable):
            known, fresh = self._table.multiply(begin, end)
        else:
            known, fresh = self._look_up(self._table, begin, end)
        self.right[begin:end] = known.reshape(-1, letters)
        self.expanded = end
        self._reserve(self.size)
        parent = fresh // letters
        self._name(slice(before, self.size), begin + parent, fresh - parent * letters)
        self.rules += reduced - len(fresh)

    def _look_up(
        self, table: RowTable, begin: int, end: int
    ) -> tuple[Numbers, IntArray]:
        """Enter products by all letters, those that shorter words do not give by hash.

        Returns:
            The number of each product, ``(count * letters,)``, and which were new.
        """
        known = self._deduce(begin, end)
        unknown = np.flatnonzero(known == UNKNOWN)
        letters, points = self.generators.shape
        row = unknown // letters
        offset = (unknown - row * letters) * points
        factors = table.rows[begin:end].take(row, axis=0)
        products = self._flat.take(factors + offset[:, None])
        known[unknown], fresh = table.add(products)
        return known, unknown[fresh]

    def _deduce(self, begin: int, end: int) -> Numbers:
        """``(count * letters,)``: products that shorter words give, −1 for others.

        Let u = b·s and let r be the element of s·a. If the word of r is not s·a, then
        u·a = b·r, and the word of r = p·c gives u·a = (b·p)·c. This element b·p is
        known, and so is its product by c unless b·p is as long as u.
        """
        letters = np.int64(self.right.shape[1])
        if begin == IDENTITY:
            return np.full((end - begin) * letters, UNKNOWN, dtype=np.int32)
        suffix, first = self.suffix[begin:end], self.first[begin:end, None]
        rest = self.right.take(suffix, axis=0)
        start = self.left.take(self.prefix.take(rest) * letters + first)
        known = self.right.take(start * letters + self.last.take(rest))
        known[start >= begin] = UNKNOWN
        by_first = self.right[IDENTITY].take(first)
        known = np.where(rest == IDENTITY, by_first, known)
        known[self._smallest.take(suffix, axis=0)] = UNKNOWN
        return known.ravel()

    def _name(self, new: slice, parent: IntArray, letter: IntArray) -> None:
        """Enter the words u·a of new elements."""
        letters = np.int64(self.right.shape[1])
        self.prefix[new] = parent
        self.last[new] = letter
        self._smallest.ravel()[parent * letters + letter] = True
        if self._level == 1:
            self.first[new] = letter
            self.length[new] = 1
            return
        self.first[new] = self.first.take(parent)
        self.suffix[new] = self.right.take(self.suffix.take(parent) * letters + letter)
        self.length[new] = self.length[parent[:1]] + 1

    def _extend_left(self) -> None:
        """Products a·u for the words of the finished level: (a·prefix)·last."""
        if self._left_known == IDENTITY:
            self.left[IDENTITY] = self.right[IDENTITY]
            self._left_known = 1
        level, letters = (
            slice(self._left_known, self._level),
            np.int64(self.right.shape[1]),
        )
        start = self.left.take(self.prefix[level], axis=0)
        self.left[level] = self.right.take(start * letters + self.last[level, None])
        self._left_known = self._level

    def _reserve(self, elements: int) -> None:
        if elements <= len(self.right):
            return
        for name in _COLUMNS:
            setattr(self, name, enlarge(getattr(self, name), elements))


# The transformation monoid of a machine, element by element.


IntegerRows = npt.NDArray[np.integer]

_ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class TransformationMonoid:
    """All transformations that words induce, the empty word included.

    The thesis's T(A) is the *semigroup* of the non-empty words; S¹ adds the identity
    map unless some word induces it. Here element 0 is the identity, and all elements
    are S¹: ``size`` counts them. ``semigroup_size`` counts T(A); it is one less
    exactly if no non-empty word acts as the identity. Properties of semigroups
    (nilpotent, definite, …) must be read off T(A), the elements ``semigroup``.

    Elements are ordered by their shortlex smallest words.

    Attributes:
        generators: ``(letters, points)`` transformations; duplicates may occur.
        elements: ``(size, points)``: row i maps point q to ``elements[i, q]``.
        right: ``(size, letters)``: right Cayley graph, the element i·a.
        left: ``(size, letters)``: left Cayley graph, the element a·i.
        length: The length of i's word.
        rules: The number of rules of the complete rewriting system, shortlex, for the
            monoid: a presentation by generators and relations.
    """

    generators: IntArray
    elements: Rows
    right: Numbers
    left: Numbers
    length: Numbers
    rules: int
    _found: Enumeration

    @classmethod
    def enumerate(
        cls, generators: npt.ArrayLike | Semiautomaton, budget: Budget | None = None
    ) -> "TransformationMonoid":
        """All elements, by the algorithm of Froidure and Pin.

        Args:
            generators: A machine, or ``(letters, points)`` transformations.
            budget: The largest number of elements, the identity among them, and the
                most work.

        Raises:
            BudgetExceeded: If the budget does not suffice; ``found`` is a lower bound.
        """
        enumeration = Enumeration(generators)
        enumeration.run(budget or Budget())
        return cls.of(enumeration)

    @classmethod
    def of(cls, found: Enumeration) -> "TransformationMonoid":
        """The monoid that a complete enumeration found.

        Raises:
            MachineError: If the enumeration is not complete.
        """
        if not found.complete:
            raise MachineError("not all elements are known; run the enumeration on")
        size = slice(found.size)
        return cls(
            found.generators,
            _freeze(found.rows),
            _freeze(found.right[size]),
            _freeze(found.left[size]),
            _freeze(found.length[size]),
            found.rules,
            found,
        )

    @property
    def size(self) -> int:
        """The number of elements of S¹, the identity among them."""
        return len(self.elements)

    @property
    def semigroup_size(self) -> int:
        """The number of elements of T(A), the maps of non-empty words."""
        return len(self.semigroup)

    @cached_property
    def identity_is_product(self) -> bool:
        """Whether some non-empty word acts as the identity."""
        return bool((self.right == IDENTITY).any())

    @cached_property
    def semigroup(self) -> IntArray:
        """The elements of T(A), the maps of non-empty words."""
        return np.arange(0 if self.identity_is_product else 1, self.size)

    def word(self, element: int) -> tuple[int, ...]:
        """The shortlex smallest word of an element, as letter indices.

        Raises:
            MachineError: If there is no such element.
        """
        if not 0 <= element < self.size:
            raise MachineError(f"the elements are 0..{self.size - 1}, not {element}")
        return self._found.word(element)

    def identity_word(self) -> tuple[int, ...] | None:
        """A shortest non-empty word that acts as the identity; None if there is none."""
        element, letter = np.nonzero(self.right == IDENTITY)
        if not len(element):
            return None
        return (*self.word(int(element[0])), int(letter[0]))

    def index_of(self, transformations: npt.ArrayLike) -> IntArray:
        """The elements of rows ``(..., points)``; −1 for maps that no word induces."""
        rows = np.asarray(transformations, dtype=np.int64)
        points = self.elements.shape[1]
        if rows.shape[-1:] != (points,):
            raise MachineError(f"a transformation needs {points} points")
        flat = rows.reshape(-1, points)
        valid = ((flat >= 0) & (flat < points)).all(axis=1)
        numbers = self._found.find(np.where(valid[:, None], flat, 0))
        return np.where(valid, numbers, -1).reshape(rows.shape[:-1])

    def product(self, first: npt.ArrayLike, then: npt.ArrayLike) -> IntArray:
        """The elements first·then, for element numbers that broadcast."""
        left, right = np.broadcast_arrays(first, then)
        i, j = left.ravel(), right.ravel()
        products = np.empty(len(i), dtype=np.int64)
        for part in batches(self.elements, len(i)):
            rows = compose(self.elements[i[part]], self.elements[j[part]])
            products[part] = self.index_of(rows)
        return products.reshape(left.shape)

    @cached_property
    def idempotents(self) -> IntArray:
        """The elements e of S¹ with e·e = e, the identity first."""
        return np.flatnonzero(self.omega == np.arange(self.size))

    @cached_property
    def omega(self) -> IntArray:
        """``(size,)``: the idempotent power x^ω of each element."""
        powers = np.empty(self.size, dtype=np.int64)
        for part in batches(self.elements, self.size):
            powers[part] = self.index_of(idempotent_power(self.elements[part]))
        return powers


def compose(first: IntegerRows, then: IntegerRows) -> IntegerRows:
    """The maps "first, then then" of transformations ``(m, points)``, row by row."""
    return np.take_along_axis(then, first.astype(np.int64), axis=1)


def idempotent_power(rows: IntegerRows) -> IntArray:
    """The idempotent power of each transformation ``(m, points)``.

    A power with an exponent of at least the number of points permutes its image; the
    idempotent power has the same image and kernel, and fixes the image.
    """
    points = rows.shape[1]
    power = rows.astype(np.int64)
    for _ in range((points - 1).bit_length()):
        power = np.take_along_axis(power, power, axis=1)
    inverse = np.zeros_like(power)
    twice = np.take_along_axis(power, power, axis=1)
    np.put_along_axis(inverse, twice, power, axis=1)
    return np.take_along_axis(inverse, power, axis=1)


def batches(rows: IntegerRows, count: int) -> list[slice]:
    """Parts of ``0..count-1``, for each of which so many rows fit in memory."""
    step = max(1, _ENTRIES_AT_ONCE // rows.shape[1])
    return [slice(i, min(i + step, count)) for i in range(0, count, step)]


def _freeze(column: Column) -> Column:
    column.setflags(write=False)
    return column
