"""The weights of rivals where scores depend on how far a key is from what is asked for.

Theorem R6 of docs/proofs/attention.md: codes of positions on circles, which queries turn.
"""

import numpy as np

from krohn.program.domains import FloatArray, IntArray
from krohn.verify.checker.arithmetic import enclose_sum, most_exp, own_error

SAMPLES = 64
OWN_CIRCLE = 2.0**-40
"""More than points of a circle are off by as they are computed here (A11)."""


def heaviest_by_distance(
    q: FloatArray, k: FloatArray, asked: IntArray, ahead: FloatArray, size: float
) -> float | None:
    """The largest weight of all rivals of a row, in units of the right position's.

    The rivals of a row are all keys but that of the position that is asked for.

    Args:
        q: ``(rows, d)``: entries of queries.
        k: ``(T, d)``: what they multiply at the positions 1, …, T.
        asked: ``(rows,)``: the position that is asked for; less than 1 where it is none.
        ahead: ``(rows,)``: what any key scores besides, less what the right one scores,
            at most.
        size: At least the sum of the absolute values of the terms of any score.

    Returns:
        The weight; None where entries are not the points of circles.
    """
    turns, place = _find_turns(k), np.arange(1, len(k) + 1)
    if turns is None or asked.max() > len(k):
        return None
    apart = np.arange(len(k) + 1 + max(0, -int(asked.min())))
    score, off = np.zeros(len(apart)), 0.0
    for turn, columns in turns.items():
        a, b = (float(np.abs(x[:, list(columns.values())]).max()) for x in (k, q))
        for sine, column in columns.items():
            circle = _points(turn, np.arange(2**turn), sine)
            far_k = np.abs(k[:, column] - a * circle[place % 2**turn]).max()
            far_q = np.abs(q[:, column] - b * circle[asked % 2**turn]).max()
            far_k, far_q = far_k + 2 * OWN_CIRCLE * a, far_q + 2 * OWN_CIRCLE * b
            off += float(a * far_q + b * far_k + far_k * far_q)
            score += 0.0 if sine else a * b * circle[apart % 2**turn]
        off += 2 * OWN_CIRCLE * a * b
    off += own_error(8 * len(turns) + 64, size + float(score[0])).most
    # At most all keys that are further behind; or all on both sides.
    further = np.cumsum(most_exp(score[:0:-1] - score[0]))[::-1]
    rivals = np.where(asked < 1, further[np.maximum(-asked, 0)], 2 * further[0])
    found = most_exp(ahead + (score[0] + 2 * off)) * rivals
    return enclose_sum(float(found.max()), 4 * len(apart) + 64).most


def _find_turns(k: FloatArray) -> dict[int, dict[bool, int]] | None:
    """The columns of the cosine and the sine of each turn; None if there are others.

    By some positions only: what all others are off by is measured.
    """
    some = np.unique(np.geomspace(1, len(k), SAMPLES).astype(np.int64))
    largest = np.abs(k).max(axis=0)
    if not (len(largest) and np.isfinite(largest).all() and largest.all()):
        return None
    ways = [(t, s) for t in range(1, len(k).bit_length() + 3) for s in (False, True)]
    points = np.array([_points(turn, some, sine) for turn, sine in ways])
    unlike = np.abs((k[some - 1] / largest).T[:, None] - points).max(axis=2)
    turns = dict[int, dict[bool, int]]()
    for column, way in enumerate(unlike.argmin(axis=1).tolist()):
        turn, sine = ways[way]
        turns.setdefault(turn, {}).setdefault(sine, column)
    # A turn by a half has no sine.
    whole = all(len(columns) == 1 + (turn > 1) for turn, columns in turns.items())
    every = sum(map(len, turns.values())) == len(largest)
    return turns if whole and every and True not in turns.get(1, {}) else None


def _points(turn: int, n: IntArray, sine: bool) -> FloatArray:
    """The cosine, or the sine, of n parts of a circle that has 2^turn of them."""
    angles = 2 * np.pi * (n % 2**turn) / 2**turn
    return np.asarray(np.sin(angles) if sine else np.cos(angles))
