"""Rows of numbers without repetitions."""

import numpy as np

from algebra.semiautomaton import IntArray


def distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows of ``(count, k)`` non-negative numbers, and each row's index.

    Rows are compared as single numbers where these fit, which sorts far faster.
    """
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    shape = tuple((rows.max(axis=0) + 1).tolist())
    if rows.shape[1] and np.prod(np.array(shape, dtype=object)) < 2**62:
        codes = np.ravel_multi_index(tuple(rows.T), shape)
        found, index = np.unique(codes, return_inverse=True)
        back = np.stack(np.unravel_index(found, shape), axis=1)
        return back.astype(np.int64), index.reshape(-1)
    found, index = np.unique(rows, axis=0, return_inverse=True)
    return found, index.reshape(-1)
