"""Which entries of products of matrices are 0."""

import numpy as np

from krohn.program.domains import FloatArray

MOST_LETTERS, MOST_WORK = 64, 2**24
"""After how many letters columns may become alike, and the work of a letter more."""


def letters_until_rectangles(operators: FloatArray, length: int) -> int | None:
    """The least k ≤ ``length`` for which all products of k are rectangles, if it is found.

    A rectangle is positive on some rows and some columns, and 0 elsewhere. Where products
    of k are such, longer ones are, too. Patterns are what is multiplied, as there are
    fewer of them than products.

    Args:
        operators: ``(letters, n, n)``, no entry negative.
        length: T.
    """
    size, moves = operators.shape[1], (operators > 0).astype(np.float32)
    patterns, before = np.eye(size, dtype=np.float32)[None], b""
    for count in range(1, min(length, MOST_LETTERS) + 1):
        if len(patterns) * moves.size * size > MOST_WORK:
            return None
        packed = np.packbits(
            (patterns[:, None] @ moves > 0).reshape(-1, size**2), axis=1
        )
        some = np.unique(packed.view(f"V{packed.shape[1]}"))
        bits = np.unpackbits(some.view(np.uint8).reshape(len(some), -1), axis=1)
        there = bits[:, : size**2].reshape(-1, size, size)
        whole = there.any(axis=2, keepdims=True) & there.any(axis=1, keepdims=True)
        if (there == whole).all():
            return count
        if some.tobytes() == before:
            return None
        patterns, before = there.astype(np.float32), some.tobytes()
    return None
