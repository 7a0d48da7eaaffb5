"""Linear systems: the letter is the matrix, b_t = A_{o_t} … A_{o_1} b_0."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum, sqrt
from random import Random
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.kinds.linear_systems.statement_blocks import WRITTEN, StatedVectorsInBlocks
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.exact_products import (
    Ratios,
    products,
)


class LinearSystem(StatedLinearSystem):
    """A linear system, and its states."""

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.start)

    def run(self, words: npt.ArrayLike) -> FloatArray:
        """All states in float64, many words at once.

        Computed in the widest format of the machine; `ratios` are exact.

        Args:
            words: ``(batch, length)`` letter numbers.

        Returns:
            ``(batch, length, n)``: b_1, b_2, ….
        """
        letters: IntArray = np.asarray(words, np.int64)
        states = np.empty((*letters.shape, self.size))
        wide, start = (x.astype(np.longdouble) for x in (self.matrices, self.start))
        state = np.broadcast_to(start, (len(letters), self.size))
        for t in range(letters.shape[1]):
            state = (wide[letters[:, t]] @ state[:, :, None])[:, :, 0]
            states[:, t] = state
        return states

    def ratios(self, word: Iterable[int]) -> Iterator[Ratios]:
        """All states b_1, b_2, … of a word, without any error."""
        return products(self.matrices, self.start, word)

    def exactly(self, word: Iterable[int]) -> list[list[Fraction]]:
        """The same, as fractions."""
        return [[Fraction(x, b.under) for x in b.over] for b in self.ratios(word)]

    def functions(self) -> IntArray | None:
        """``(letters, n)``: where each letter leads from each state, if they are maps.

        A matrix with a single 1 in each column is a map of n states; then the system is
        an automaton, and b_t the unit vector of its state.
        """
        letters = self.matrices.swapaxes(1, 2).reshape(-1, self.size)
        columns = np.vstack([letters, self.start])
        ones = np.isin(columns, (0, 1)).all(axis=1) & (columns.sum(axis=1) == 1)
        return self.matrices.argmax(axis=1) if ones.all() else None


# Families of linear systems: names such as ``MatMul5,5@3`` (states, letters, seed).
#
# The families are those of Hu et al. 2024, section 3.
#
# A name means the same bytes on every machine: `Random.random`, whose sequence Python
# promises to keep, and of arithmetic only what IEEE 754 rounds correctly (+, −, ·, /,
# √), in a fixed order. No linear algebra library has a part in it.


LARGEST = 64
"""The most states or letters of a name: a product of matrices takes 4n³ units."""
Column = list[float]


def cyclic(states: int, random: Random) -> FloatArray:
    """``(n, n)``: one cycle through all states, each of the (n − 1)! as likely."""
    order = list(range(states))
    for i in range(states - 1, 0, -1):
        j = int(random.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    matrix = np.zeros((states, states))
    matrix[order[1:] + order[:1], order] = 1.0
    return matrix


def orthogonal(states: int, random: Random) -> FloatArray:
    """``(n, n)``: orthogonal up to a few roundings, by Haar's measure.

    Columns of normal numbers are made orthonormal one after the other (Gram–Schmidt), each
    twice: what is left of an earlier direction is a rounding of a rounding.
    """
    columns: list[Column] = []
    while len(columns) < states:
        column = [_normal(random) for _ in range(states)]
        for _ in range(2):
            for other in columns:
                along = _dot(column, other)
                column = [x - along * y for x, y in zip(column, other, strict=True)]
            length = sqrt(_dot(column, column))
            column = [x / length for x in column]
        columns.append(column)
    return np.array(columns).T.copy()


def _dot(x: Column, y: Column) -> float:
    return fsum(a * b for a, b in zip(x, y, strict=True))


def _normal(random: Random) -> float:
    """A normal number by comparisons alone: no logarithm, which libraries round apart.

    Of two exponential x and y, x is half-normal if (x − 1)² ≤ 2y.
    """
    while True:
        x, y = _exponential(random), _exponential(random)
        if (x - 1) * (x - 1) <= 2 * y:
            return x if random.random() < 0.5 else -x


def _exponential(random: Random) -> float:
    """An exponential number by comparing uniform ones (von Neumann 1951)."""
    whole = 0
    while True:
        first = last = random.random()
        descents = 0
        while (following := random.random()) < last:
            last, descents = following, descents + 1
        if descents % 2 == 0:
            return whole + first
        whole += 1


FAMILIES: dict[str, Callable[[int, Random], FloatArray]] = {
    "Cyclic-DET": cyclic,
    "MatMul": orthogonal,
}
STOCHASTIC, BACK = "Cyclic-RND", 0.01
"""Cycles that sometimes go back, and how likely they do if the name does not say it."""
_NAME = re.compile(
    r"(?P<family>[A-Za-z-]+?)(?P<n>\d{1,9}),(?P<m>\d{1,9})@(?P<seed>\d{1,18})"
    r"(?::epsilon=(?P<back>\d*\.?\d+(e-?\d+)?))?"
)


def find_by_name(name: str) -> LinearSystem | None:
    """The system of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["family"] not in {*FAMILIES, STOCHASTIC}:
        return None
    family, states, letters = match["family"], int(match["n"]), int(match["m"])
    few = 2 <= states <= LARGEST and 1 <= letters <= LARGEST
    demand(few, f"{name} needs 2 to {LARGEST} states and 1 to {LARGEST} letters")
    drawn = "Cyclic-DET" if family == STOCHASTIC else family
    random = Random(f"{drawn} {states} {letters} {int(match['seed'])}")
    matrices = np.array([FAMILIES[drawn](states, random) for _ in range(letters)])
    if family == STOCHASTIC:
        back = BACK if match["back"] is None else float(match["back"])
        demand(states > 2, f"{name} needs 3 states: a cycle of 2 leads back anyway")
        demand(
            0 < 1 - back < 1, f"the epsilon of {name} is a probability between 0 and 1"
        )
        matrices = stochastic(matrices, back)
    elif match["back"] is not None:
        return None
    symbols = tuple(str(o + 1) for o in range(letters))
    return LinearSystem(name, symbols, matrices, np.eye(states)[0])


def stochastic(cycles: FloatArray, back: float) -> FloatArray:
    """Letters that lead to the next state of their cycle, or to the one before.

    The next one has probability p = 1 − ``back``, rounded, and the one before 1 − p. That
    difference is exact in float64 (Sterbenz 1974), so columns add up to 1 exactly, and
    what is claimed of the system is claimed of probabilities.
    """
    ahead = 1 - back
    return ahead * cycles + (1 - ahead) * cycles.swapaxes(1, 2)


COORDINATE = 2.0
"""The length of a written state in units of its coordinates."""


@dataclass(frozen=True, eq=False)
class VectorsInBlocks:
    """The text σ_1 … σ_b v_b σ_{b+1} … v_{2b} …, in which v_t is the state b_t.

    Attributes:
        system: The linear system.
        block: b.

    Raises:
        Refused: If the block has no letter, or a letter is called like the token.
    """

    system: LinearSystem
    block: int

    def __post_init__(self) -> None:
        demand(self.block >= 1, "a block has at least one letter")
        free = WRITTEN not in self.system.letters
        demand(free, f"a letter is called like the token {WRITTEN} of written states")

    @property
    def name(self) -> str:
        """That of the system."""
        return self.system.name

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the system; a text has one token more."""
        return self.system.letters

    @cached_property
    def affine(self) -> LinearSystem:
        """The system with one coordinate more, which is 2.

        The matrix of a written v is [[0, v/2], [0, 1]]: it forgets what was before. The
        one here has 0 in place of v/2.
        """
        letters, n = self.system.matrices.shape[:2]
        matrices = np.zeros((letters + 1, n + 1, n + 1))
        matrices[:letters, :n, :n] = self.system.matrices
        matrices[:, n, n] = 1.0
        tokens = (*self.system.letters, WRITTEN)
        start = np.append(self.system.start, COORDINATE)
        return LinearSystem(self.system.name, tokens, matrices, start)

    def to_wire(self) -> dict[str, Any]:
        """As the header of a model file states it."""
        system, letters = self.system, (*self.system.letters, WRITTEN)
        parts = system.name, letters, system.matrices, system.start, self.block
        return StatedVectorsInBlocks(*parts).to_wire()

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> Self:
        """From the header of a model file.

        Raises:
            Refused: If it states none.
        """
        x = StatedVectorsInBlocks.from_wire(said)
        return cls(LinearSystem(x.name, x.letters[:-1], x.matrices, x.start), x.block)
