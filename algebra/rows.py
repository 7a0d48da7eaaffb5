"""Rows of numbers without repetitions."""

from math import prod

import numpy as np

from krohn.algebra.semiautomaton import IntArray

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
    found, index = np.unique(rows, axis=0, return_inverse=True)
    return found, index.reshape(-1)


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
    found: IntArray = rows @ np.array(weights, dtype=np.int64)
    return found
