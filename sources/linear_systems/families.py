"""Families of linear systems: names such as ``MatMul5,5@3`` (states, letters, seed).

A name means the same bytes on every machine: `Random.random`, whose sequence Python
promises to keep, and of arithmetic only what IEEE 754 rounds correctly (+, −, ·, /, √), in
a fixed order. No linear algebra library has a part in it.
"""

import re
from collections.abc import Callable
from math import fsum, sqrt
from random import Random

import numpy as np

from program.domains import FloatArray
from program.errors import demand
from sources.linear_systems.system import LinearSystem

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
EXAMPLES = {
    "Cyclic-DET5,5@3": "each of 5 letters is a cycle of 5 states (a machine); seed 3",
    "MatMul5,5@3": "each of 5 letters is an orthogonal matrix of 5 rows; seed 3",
}
"""An example of each family, with what it is."""
_NAME = re.compile(r"(?P<family>[A-Za-z-]+?)(?P<n>\d+),(?P<m>\d+)@(?P<seed>\d+)")


def named(name: str) -> LinearSystem | None:
    """The system of a name; None if it is not of a family's form.

    Raises:
        Refused: If a number of the name is too small or too large.
    """
    found = _NAME.fullmatch(name)
    if found is None or found["family"] not in FAMILIES:
        return None
    states, letters = int(found["n"]), int(found["m"])
    few = 2 <= states <= LARGEST and 1 <= letters <= LARGEST
    demand(few, f"{name} needs 2 to {LARGEST} states and 1 to {LARGEST} letters")
    random = Random(f"{found['family']} {states} {letters} {int(found['seed'])}")
    make = FAMILIES[found["family"]]
    matrices = np.array([make(states, random) for _ in range(letters)])
    symbols = tuple(str(o + 1) for o in range(letters))
    return LinearSystem(name, symbols, matrices, np.eye(states)[0])
