"""The transformation monoid of a machine, element by element."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from krohn.algebra.budget import Budget
from krohn.algebra.errors import MachineError
from krohn.algebra.froidure_pin import IDENTITY, Enumeration, Numbers
from krohn.algebra.hashing import Rows
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

Column = TypeVar("Column", Rows, Numbers)
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
        prefix: The element of i's word without its last letter; 0 for the identity.
        suffix: The element of i's word without its first letter; 0 for the identity.
        first: The first letter of i's word; −1 for the identity.
        last: The last letter of i's word; −1 for the identity.
        length: The length of i's word.
        rules: The number of rules of the complete rewriting system, shortlex, for the
            monoid: a presentation by generators and relations.
    """

    generators: IntArray
    elements: Rows
    right: Numbers
    left: Numbers
    prefix: Numbers
    suffix: Numbers
    first: Numbers
    last: Numbers
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
        found = Enumeration(generators)
        found.run(budget or Budget())
        return cls.of(found)

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
            _freeze(found.prefix[size]),
            _freeze(found.suffix[size]),
            _freeze(found.first[size]),
            _freeze(found.last[size]),
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
        found, letter = np.nonzero(self.right == IDENTITY)
        if not len(found):
            return None
        return (*self.word(int(found[0])), int(letter[0]))

    def index_of(self, transformations: npt.ArrayLike) -> IntArray:
        """The elements of rows ``(..., points)``; −1 for maps that no word induces."""
        rows = np.asarray(transformations, dtype=np.int64)
        points = self.elements.shape[1]
        if rows.shape[-1:] != (points,):
            raise MachineError(f"a transformation needs {points} points")
        flat = rows.reshape(-1, points)
        valid = ((flat >= 0) & (flat < points)).all(axis=1)
        found = self._found.find(np.where(valid[:, None], flat, 0))
        return np.where(valid, found, -1).reshape(rows.shape[:-1])

    def product(self, first: npt.ArrayLike, then: npt.ArrayLike) -> IntArray:
        """The elements first·then, for element numbers that broadcast."""
        left, right = np.broadcast_arrays(first, then)
        i, j = left.ravel(), right.ravel()
        found = np.empty(len(i), dtype=np.int64)
        for part in batches(self.elements, len(i)):
            rows = compose(self.elements[i[part]], self.elements[j[part]])
            found[part] = self.index_of(rows)
        return found.reshape(left.shape)

    @cached_property
    def idempotents(self) -> IntArray:
        """The elements e of S¹ with e·e = e, the identity first."""
        return np.flatnonzero(self.omega == np.arange(self.size))

    @cached_property
    def omega(self) -> IntArray:
        """``(size,)``: the idempotent power x^ω of each element."""
        found = np.empty(self.size, dtype=np.int64)
        for part in batches(self.elements, self.size):
            found[part] = self.index_of(idempotent_power(self.elements[part]))
        return found


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
