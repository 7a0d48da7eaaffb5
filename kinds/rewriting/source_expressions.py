"""Random expressions, as Feng et al. (2023) draw them: from a value, backwards."""

from collections.abc import Iterator, Mapping

import numpy as np

from krohn.kinds.rewriting.source import SIGNS
from krohn.kinds.rewriting.statement import Line, Rewriting

Operations = Mapping[tuple[int, int, int], list[int]]
"""For a left number, a sign and a value the right numbers that lead to it."""


def draw_expressions(
    system: Rewriting, operators: int, rng: np.random.Generator
) -> Iterator[Line]:
    """Expressions with so many operators, modulo the prime of arithmetic, without end.

    A number is replaced by an operation with its value, again and again: which number,
    which operation and its left number is uniform. Brackets are only where they are needed.
    """
    rights: dict[tuple[int, int, int], list[int]] = {}
    table = system.functions[0]
    for (x, sign, y), value in zip(table.rows, table.values, strict=True):
        rights.setdefault((int(x), int(sign), int(value)), []).append(int(y))
    while True:
        yield tuple(_expression(len(system.letters), operators, rights, rng))


def _expression(
    letters: int, operators: int, rights: Operations, rng: np.random.Generator
) -> list[int]:
    prime = letters - len(SIGNS)
    plus, minus, times, over, opening, closing = range(prime, letters)
    line = [int(rng.integers(prime))]
    for _ in range(operators):
        numbers = [at for at, token in enumerate(line) if token < prime]
        at = numbers[rng.integers(len(numbers))]
        before = line[at - 1] if at else None
        after = line[at + 1] if at + 1 < len(line) else None
        pair = _operation(line[at], prime, rights, rng)
        beside = before in (times, minus) or after in (times, over)
        if before == over or (pair[1] in (plus, minus) and beside):
            pair = [opening, *pair, closing]
        line[at : at + 1] = pair
    return line


def _operation(
    value: int, prime: int, rights: Operations, rng: np.random.Generator
) -> list[int]:
    """A left number, a sign and a right number that lead to a value."""
    while True:
        left, sign = int(rng.integers(prime)), prime + int(rng.integers(4))
        if right := rights.get((left, sign, value)):
            return [left, sign, right[rng.integers(len(right))]]
