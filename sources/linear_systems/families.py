"""Families of linear systems: names such as ``MatMul5,5@3`` (states, letters, seed).

The families are those of Hu et al. 2024, section 3.

A name means the same bytes on every machine: `Random.random`, whose sequence Python
promises to keep, and of arithmetic only what IEEE 754 rounds correctly (+, −, ·, /, √), in
a fixed order. No linear algebra library has a part in it.
"""

import re
from collections.abc import Callable
from math import fsum, sqrt
from random import Random

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.sources.linear_systems.system import LinearSystem

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
EXAMPLES = {
    "Cyclic-DET5,5@3": "each of 5 letters is a cycle of 5 states (a machine); seed 3",
    "MatMul5,5@3": "each of 5 letters is an orthogonal matrix of 5 rows; seed 3",
    "Cyclic-RND5,5@3": "the cycles of Cyclic-DET5,5@3, but a letter leads back with "
    "probability 0.01; also Cyclic-RND5,5@3:epsilon=0.05",
}
"""An example of each family, with what it is."""
_NAME = re.compile(
    r"(?P<family>[A-Za-z-]+?)(?P<n>\d{1,9}),(?P<m>\d{1,9})@(?P<seed>\d{1,18})"
    r"(?::epsilon=(?P<back>\d*\.?\d+(e-?\d+)?))?"
)


def named(name: str) -> LinearSystem | None:
    """The system of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    found = _NAME.fullmatch(name)
    if found is None or found["family"] not in {*FAMILIES, STOCHASTIC}:
        return None
    family, states, letters = found["family"], int(found["n"]), int(found["m"])
    few = 2 <= states <= LARGEST and 1 <= letters <= LARGEST
    demand(few, f"{name} needs 2 to {LARGEST} states and 1 to {LARGEST} letters")
    drawn = "Cyclic-DET" if family == STOCHASTIC else family
    random = Random(f"{drawn} {states} {letters} {int(found['seed'])}")
    matrices = np.array([FAMILIES[drawn](states, random) for _ in range(letters)])
    if family == STOCHASTIC:
        back = BACK if found["back"] is None else float(found["back"])
        demand(states > 2, f"{name} needs 3 states: a cycle of 2 leads back anyway")
        demand(
            0 < 1 - back < 1, f"the epsilon of {name} is a probability between 0 and 1"
        )
        matrices = stochastic(matrices, back)
    elif found["back"] is not None:
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
