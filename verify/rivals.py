"""Scores that compete with the right one, at worst, over all ways to set flags.

docs/soundness.md, section 4.4, proves that these bounds cover every word.
"""

from dataclasses import dataclass

import numpy as np

from network.precision import FloatArray


def leak_latest(scores: FloatArray, only_bos: bool = False) -> tuple[float, float]:
    """The worst leak and smallest gap over all flaggings; BOS is always flagged.

    Args:
        scores: ``(2, T + 1)``: the score of each position, unflagged and flagged.
        only_bos: Whether no later position can be flagged.
    """
    unflagged, flagged = scores[0].copy(), scores[1]
    unflagged[0] = -np.inf
    before = _Rivals.before(np.maximum(unflagged, flagged))
    after = _Rivals.before(unflagged[::-1]).reversed()
    rivals = before.joined(after)
    if only_bos:
        return _apart(flagged[:1], _Rivals(rivals.mass[:1], rivals.highest[:1]))
    return _apart(flagged, rivals)


def leak_earliest(scores: FloatArray) -> tuple[float, float]:
    """The worst leak and smallest gap over all flaggings; BOS is right if none is.

    Args:
        scores: ``(2, T + 1)``: the score of each position, unflagged and flagged; BOS
            is never flagged.
    """
    unflagged, flagged = scores[0], scores[1, 1:]
    rivals = _Rivals.before(unflagged).from_second()
    after = _Rivals.before(np.maximum(unflagged[1:], flagged)[::-1]).reversed()
    leak, gap = _apart(flagged, rivals.joined(after))
    found = _apart(unflagged[:1], _Rivals.of(unflagged[1:]))
    return max(leak, found[0]), min(gap, found[1])


def leak_pointed(scores: FloatArray, first: int = 0) -> tuple[float, float]:
    """The worst leak and smallest gap of queries that each ask for one position.

    Args:
        scores: ``(rows, T + 1)``: for the queries ``first``, ``first`` + 1, … the score
            of each position. BOS is right for 0, for what lies beyond T, and while the
            position asked for is still to come.
        first: What the first row asks for.
    """
    rows, x = np.arange(len(scores)), first + np.arange(len(scores))
    found = np.flatnonzero((0 < x) & (x < scores.shape[1]))
    others = scores.copy()
    others[found, x[found]] = -np.inf
    right = scores[found, x[found]]
    leak, gap = _apart(right, _Rivals.all_of(others[found]))
    others[:, 0] = -np.inf
    none = _apart(scores[rows, 0], _Rivals.all_of(others))
    return max(leak, none[0]), min(gap, none[1])


def leak_growing(scores: FloatArray, bonus: FloatArray) -> tuple[float, float]:
    """Bounds of the leak and the gap if a flag is worth more at later queries.

    Args:
        scores: ``(2, T + 1)``: the score of each position, unflagged and flagged, the
            latter without what the query adds.
        bonus: ``(T + 1,)``: what the query of each position adds to flagged ones.
    """
    unflagged, flagged = scores[0].copy(), scores[1]
    unflagged[0] = -np.inf
    # Rivals before the right position, at whatever later position the query stands.
    before = _Rivals.before(np.maximum(unflagged - bonus.min(), flagged))
    leak, gap = _apart(flagged, before)
    # Unflagged rivals between it and the query, each position being right at worst.
    behind = _Rivals.before(np.append(unflagged, -np.inf)).from_second()
    found = _apart(bonus + np.minimum.accumulate(flagged), behind)
    return leak + found[0], min(gap, found[1])


def leak_in_sibling(
    plain: FloatArray, flagged: FloatArray, first: int, level: int
) -> tuple[float, float]:
    """Worst leak and smallest gap over all flaggings.

    Args:
        plain: ``(rows, T + 1)``: the scores of unflagged positions, for the queries of
            positions ``first``, ``first`` + 1, …
        flagged: The same of flagged positions; BOS is always flagged.
        first: The position of the first row.
        level: Blocks are of 2^level positions.
    """
    leak, gap = 0.0, np.inf
    for t, (u, f) in enumerate(zip(plain, flagged, strict=True), start=first):
        found = _leak_of_query(u[: t + 1], f[: t + 1], t >> level, level)
        leak, gap = max(leak, found[0]), min(gap, found[1])
    return leak, gap


def _leak_of_query(
    u: FloatArray, f: FloatArray, block: int, level: int
) -> tuple[float, float]:
    """The worst leak and smallest gap of one query, which lies in ``block``."""
    either = np.maximum(u, f)
    inside = block % 2 == 1
    low = max((block - 1) << level, 1) if inside else len(u)
    high = block << level if inside else len(u)
    outside = np.concatenate([either[1:low], either[high:]])
    # Nothing flagged in the sibling block: BOS is right.
    leak, gap = _apart(f[:1], _Rivals.of(np.concatenate([outside, u[low:high]])))
    if low < high:
        # Else its last flagged position: before it anything, after it nothing flagged.
        fixed = _Rivals.of(np.append(outside, f[0]))
        before = _Rivals.before(either[low:high])
        after = _Rivals.before(u[low:high][::-1]).reversed()
        found = _apart(f[low:high], fixed.joined(before).joined(after))
        leak, gap = max(leak, found[0]), min(gap, found[1])
    return leak, gap


@dataclass(frozen=True)
class _Rivals:
    """Scores that compete with each of some right ones: log of the sum, and largest."""

    mass: FloatArray
    highest: FloatArray

    @staticmethod
    def of(scores: FloatArray) -> "_Rivals":
        """The same scores for all."""
        if not len(scores):
            return _Rivals(np.array([-np.inf]), np.array([-np.inf]))
        mass = np.logaddexp.reduce(scores)
        return _Rivals(np.array([mass]), scores.max(keepdims=True))

    @staticmethod
    def all_of(scores: FloatArray) -> "_Rivals":
        """For each row, of at least one number that may be −∞, the numbers in it."""
        return _Rivals(np.logaddexp.reduce(scores, axis=1), scores.max(axis=1))

    @staticmethod
    def before(scores: FloatArray) -> "_Rivals":
        """For each place the scores before it."""
        none = [-np.inf]
        mass = np.concatenate([none, np.logaddexp.accumulate(scores)[:-1]])
        highest = np.concatenate([none, np.maximum.accumulate(scores)[:-1]])
        return _Rivals(mass, highest)

    def from_second(self) -> "_Rivals":
        """Without the first place."""
        return _Rivals(self.mass[1:], self.highest[1:])

    def reversed(self) -> "_Rivals":
        """The same from the last place to the first."""
        return _Rivals(self.mass[::-1], self.highest[::-1])

    def joined(self, other: "_Rivals") -> "_Rivals":
        """Both together."""
        return _Rivals(
            np.logaddexp(self.mass, other.mass),
            np.maximum(self.highest, other.highest),
        )


def _apart(right: FloatArray, rivals: _Rivals) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        leak = np.exp(rivals.mass - right).max(initial=0.0)
    return float(leak), float((right - rivals.highest).min(initial=np.inf))
