"""Products with matrices whose columns have few entries.

Most units of a compiled MLP read a few of the many below them. Their sums are put together
term by term then; a dense product would add up zeros.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from algebra.semiautomaton import IntArray
from network.precision import FloatArray

DENSE = 16
"""A term of a dense product takes about a sixteenth of the time of one put together."""


@dataclass(frozen=True)
class Columns:
    """A matrix ``(width, columns)`` to multiply rows by.

    Attributes:
        dense: The matrix.
        places: ``(k, columns)``: where the entries of each column are, filled up with 0;
            None if there are too many.
        entries: ``(k, columns)``: the entries, filled up with 0.
    """

    dense: FloatArray
    places: IntArray | None
    entries: FloatArray

    @staticmethod
    def of(dense: FloatArray) -> "Columns":
        """A matrix with its entries, if they are few."""
        column, place = np.nonzero(dense.T)
        counts = np.bincount(column, minlength=dense.shape[1])
        most = int(counts.max(initial=0))
        if most * DENSE > len(dense):
            return Columns(dense, None, dense)
        number = np.arange(len(column)) - (np.cumsum(counts) - counts)[column]
        places = np.zeros((most, dense.shape[1]), dtype=np.int64)
        places[number, column] = place
        entries = np.zeros(places.shape)
        entries[number, column] = dense[place, column]
        return Columns(dense, places, entries)

    def changed(self, change: Callable[[FloatArray], FloatArray]) -> "Columns":
        """The matrix with other entries in the same places."""
        return Columns(change(self.dense), self.places, change(self.entries))

    def after(self, x: FloatArray) -> FloatArray:
        """``x @ dense`` for ``(rows, width)``."""
        if self.places is None:
            return np.asarray(x @ self.dense)
        total = np.zeros((len(x), self.dense.shape[1]))
        for place, entry in zip(self.places, self.entries, strict=True):
            total += x[:, place] * entry
        return total


def used(entries: FloatArray) -> FloatArray:
    """1 where an entry is not 0."""
    return np.asarray(entries != 0, dtype=np.float64)
