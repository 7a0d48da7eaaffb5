"""Locally testable: which factors of a word occur, and how long they must be."""

from dataclasses import replace

import numpy as np

from krohn.algebra.budget import Budget, BudgetExceeded
from krohn.algebra.classification import elements
from krohn.algebra.classification.findings import Findings
from krohn.algebra.classification.property import Property
from krohn.algebra.monoid import IntegerRows, TransformationMonoid, compose
from krohn.algebra.semiautomaton import IntArray


def locally_testable(
    findings: Findings, aperiodic: Property, budget: Budget
) -> Property:
    """The set of factors of k letters and the ends decide: LT_k.

    Holds for some k exactly if all local monoids eSe are semilattices. The least k by
    Simon's theorem on graphs (Brzozowski, Simon 1973; Eilenberg 1976): with F_j the
    elements of the words of j letters, L is LT_k exactly if

    * for f in F_{k−1}, the maps zf of the image of f, for all z in S¹, are idempotent
      and commute;
    * for words x = gh of fewer than k − 1 letters, and u the end of k − 1 letters of a
      power of x, uxx = ux.

    Docs/classes.md, theorem 2.
    """
    found = elements.locally_testable(findings)
    if found.holds is None and aperiodic.holds is False:
        return replace(aperiodic, name=found.name)
    if not found.holds:
        return found
    assert findings.monoid is not None
    try:
        k = _least(findings.monoid, budget)
    except BudgetExceeded as error:
        reason = f"{found.evidence}; the least k is not known ({error})"
        return Property(found.name, True, reason)
    reason = f"which factors of {k} letters occur, and the {k - 1} at each end, decides"
    return Property(found.name, True, reason, {"k": k})


def _least(monoid: TransformationMonoid, budget: Budget) -> int:
    """The least k of a locally testable language."""
    words = [np.zeros(1, dtype=np.int64)]
    while True:
        k = len(words)
        combined = sum(len(words[i]) ** 2 for i in range(k - 1))
        budget.reserve(f"windows of {k} letters", monoid.elements.shape[1] * combined)
        if _repeats(monoid, words) and _all_semilattices(monoid, words[-1], budget):
            return k
        words.append(np.unique(monoid.right[words[-1]]).astype(np.int64))


def _all_semilattices(
    monoid: TransformationMonoid, chosen: IntArray, budget: Budget
) -> bool:
    for f in chosen.tolist():
        budget.reserve("windows of letters", 10 * monoid.elements.size, 20)
        maps = _loops(monoid, f)
        budget.reserve("windows of letters", maps.size * maps.shape[1])
        if not _semilattice(maps):
            return False
    return True


def _loops(monoid: TransformationMonoid, f: int) -> IntArray:
    """``(maps, image of f)``: the maps zf of the image of f, by places in the image."""
    image = np.unique(monoid.elements[f])
    row = monoid.elements[f].astype(np.int64)
    maps = np.searchsorted(image, row[monoid.elements[:, image]])
    return np.asarray(np.unique(maps, axis=0), dtype=np.int64)


def _semilattice(maps: IntArray) -> bool:
    """Whether maps that are closed under composition are idempotent and commute.

    Idempotent maps that commute are determined by their images, and by their kernels.
    Conversely idempotent maps with one image are L-related, those with one kernel are
    R-related; if there are no such two, the band is J-trivial, and xy, yx are J-related.
    """
    if (compose(maps, maps) != maps).any():
        return False
    images = maps == np.arange(maps.shape[1])
    kernels = (maps[:, :, None] == maps[:, None, :]).argmax(axis=2)
    return all(len(np.unique(x, axis=0)) == len(maps) for x in (images, kernels))


def _repeats(monoid: TransformationMonoid, words: list[IntArray]) -> bool:
    """Whether uxx = ux for the words x that are shorter than the window u they fill."""
    window = len(words) - 1
    for length in range(1, window):
        times, rest = divmod(window, length)
        first, last = np.meshgrid(words[length - rest], words[rest], indexing="ij")
        g, h = (monoid.elements[i.ravel()].astype(np.int64) for i in (first, last))
        x: IntegerRows = compose(g, h)
        u: IntegerRows = h
        for _ in range(times + 1):
            u = compose(u, x)
        if (compose(u, x) != u).any():
            return False
    return True
