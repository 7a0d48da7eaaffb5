"""Products of matrices with a vector, without any rounding: floats are dyadic rationals."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from krohn.program.domains import FloatArray


class Ratios(NamedTuple):
    """Exact numbers, as whole numbers over a common one.

    Attributes:
        over: The numerators.
        under: The common denominator; 0 if nothing is said of these numbers.
    """

    over: list[int]
    under: int


def ratios(numbers: FloatArray) -> Ratios:
    """``(n,)`` finite numbers, over a power of two."""
    pairs = [x.as_integer_ratio() for x in numbers.tolist()]
    under = max((q for _, q in pairs), default=1)
    return Ratios([p * (under // q) for p, q in pairs], under)


def products(
    matrices: FloatArray, start: FloatArray, word: Iterable[int]
) -> Iterator[Ratios]:
    """A_{o_1} b_0, A_{o_2} A_{o_1} b_0, …, exactly, and each only when it is asked for.

    Args:
        matrices: ``(letters, n, n)``: they act on columns.
        start: ``(n,)``: b_0.
        word: The numbers of letters.
    """
    size = len(start)
    flat, scale = ratios(matrices.reshape(-1))
    rows = [flat[at : at + size] for at in range(0, len(flat), size)]
    state, under = ratios(start)
    for letter in word:
        step = rows[letter * size : (letter + 1) * size]
        state = [sum(a * b for a, b in zip(row, state, strict=True)) for row in step]
        under *= scale
        yield Ratios(state, under)
