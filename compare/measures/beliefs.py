"""Errors of beliefs: their size, the length up to which they fit, the entropy left."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krohn.compare.tasks.task import BoolArray
from krohn.network.precision import FloatArray

Errors = tuple[float | None, ...]
THRESHOLDS = (0.05, 0.1)
"""The ε of fit lengths (Hu et al. 2024, section 4.1)."""
NO_NUMBER = 1e9
"""The error of an output that is no number, and the largest one."""


def distances(found: FloatArray, truth: FloatArray, probabilities: bool) -> FloatArray:
    """‖x̂ − x‖_p/(3 − p) with p = 1 for laws (total variation), else p = 2.

    Args:
        found: ``(…, n)``: the outputs.
        truth: ``(…, n)``: the true vectors.
        probabilities: Whether they are laws.

    Returns:
        ``(…,)``; `NO_NUMBER` where an output is no number.
    """
    off = np.abs(found - truth)
    size = off.sum(-1) / 2 if probabilities else np.sqrt((off * off).sum(-1))
    least: FloatArray = np.fmin(size, NO_NUMBER)  # of NaN and a number, the number
    return least


def by_position(off: FloatArray, asked: BoolArray) -> Errors:
    """el_t: the mean of distances ``(count, length)`` over words, where asked for."""
    many = asked.sum(axis=0)
    means = np.where(asked, off, 0).sum(axis=0) / np.maximum(many, 1)
    return tuple(
        x if n else None for x, n in zip(means.tolist(), many.tolist(), strict=True)
    )


@dataclass(frozen=True)
class Fit:
    """Up to which length a network fits.

    Attributes:
        length: The largest t such that the errors of the last evaluations at 1 … t are
            all below ε; 0 if there is none.
        since: The number of the evaluation from which on that is so without exception,
            counted from 0; None if the length is 0.
    """

    length: int
    since: int | None


def fit(history: Sequence[Errors], epsilon: float) -> Fit:
    """The ε-fit length of Hu et al. 2024, section 4.1, made precise.

    It is the largest t such that from some evaluation e_0 on all errors at positions 1 … t
    are below ε. The weakest e_0 is the last one, so that the length depends on the last
    evaluation only; `Fit.since` says how long it has been so. A position at which nothing
    is asked for is passed over, but is not counted as the last one.

    Args:
        history: Of each evaluation the errors by position; not empty.
        epsilon: The threshold.
    """
    length = _fits(history[-1], epsilon)
    if not length:
        return Fit(0, None)
    since = len(history) - 1
    while since and _fits(history[since - 1], epsilon) >= length:
        since -= 1
    return Fit(length, since)


def _fits(errors: Errors, epsilon: float) -> int:
    length = 0
    for t, error in enumerate(errors, 1):
        if error is None:
            continue
        if not error < epsilon:
            break
        length = t
    return length


def entropies(laws: FloatArray) -> FloatArray:
    """``(…, n)`` to ``(…,)``: in nats. No cross entropy to these laws is below."""
    safe = np.where(laws > 0, laws, 1.0)
    found: FloatArray = -(safe * np.log(safe)).sum(-1)
    return found


def excesses(found: FloatArray, laws: FloatArray) -> FloatArray:
    """Σ p ln(p/p̂), in nats: cross entropy less its floor, the entropy of the law p.

    Infinite where p̂ says that the possible is impossible, or is no number.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(laws > 0, laws * (np.log(laws) - np.log(found)), 0.0)
    sums: FloatArray = np.nan_to_num(each.sum(-1), nan=np.inf, posinf=np.inf)
    return np.maximum(sums, 0.0)  # but for rounding, it is no less
