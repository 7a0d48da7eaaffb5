"""All elements of a small permutation group, coset by coset (Dimino's algorithm)."""

from collections.abc import Iterable

import numpy as np

from krohn.algebra.budget import BudgetExceeded
from krohn.algebra.semiautomaton import IntArray


def closure(generators: IntArray, limit: float) -> IntArray:
    """All products of the rows ``(k, n)``, the identity first.

    The subgroup generated so far is enlarged by one generator at a time: a union of
    its right cosets is a group once no generator leads out of it.

    Returns:
        ``(order, n)`` in the narrowest unsigned type.

    Raises:
        BudgetExceeded: If there are more than ``limit``.
    """
    rows = generators.astype(narrowest(generators.shape[1]))
    elements = np.arange(rows.shape[1], dtype=rows.dtype)[None]
    known = keys(elements)
    used: list[IntArray] = []
    for row in rows:
        if row.tobytes() not in known:
            used.append(row)
            elements = _enlarge(elements, used, known, limit)
    return elements


def keys(rows: IntArray) -> set[bytes]:
    """A key of each row, to be looked up in a set."""
    return set(listed_keys(rows))


def listed_keys(rows: IntArray) -> list[bytes]:
    """A key of each row, in order: equal rows have equal keys."""
    if not rows.shape[1]:
        return [b""] * len(rows)
    data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
    return [data[i : i + width] for i in range(0, len(data), width)]


def narrowest(degree: int) -> np.dtype[np.unsignedinteger]:
    """The narrowest unsigned type that holds ``0..degree-1``."""
    return np.dtype(np.min_scalar_type(max(degree - 1, 0)))


def _enlarge(
    subgroup: IntArray, generators: Iterable[IntArray], known: set[bytes], limit: float
) -> IntArray:
    found = [subgroup]
    representatives = [subgroup[0]]
    for representative in representatives:
        for generator in generators:
            candidate = generator[representative]
            if candidate.tobytes() in known:
                continue
            coset = candidate[subgroup]
            known |= keys(coset)
            if len(known) > limit:
                raise BudgetExceeded(f"more than {limit:,} elements", len(known))
            found.append(coset)
            representatives.append(candidate)
    return np.concatenate(found)
