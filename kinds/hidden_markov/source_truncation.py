"""Models without their smallest probabilities, as fits leave them: 1e-40, 1e-311.

Let p bound the probability that a path of T steps of a model uses an entry that is left
out: what the start loses, and T times the most that a state loses. After the letters
o_1 … o_t let r_t be the probability that the path so far has used one. The belief of the
model is b_t = (1 − r_t)·b'_t + r_t·c, with b'_t the belief of the operators without these
entries, and c a law: so each set of states is as likely under both, up to r_t.

A path that has used one stays one that has. So r_t ≤ m_t = Pr(used within T | o_1 … o_t),
a martingale of mean at most p, and by Ville's inequality Pr(some m_t ≥ λ) ≤ p/λ. With
λ = √p: **of the words that the model says, all but a share of √p have every belief within
√p of that of the operators without these entries.** Letters may be chosen by any rule
that sees what was said.

Columns are then divided by their sums, which are at least 1 − p/T. So weights of paths
change by factors between 1 and (1 − p/T)^−T, and beliefs by p at most (the read-out of
Theorem W9 of docs/proofs/beliefs.md). `Truncated.share` is √p + p.

Of single words nothing follows: one that the model says only by an entry that is left
out has probability 0 without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import BoolArray

MOST_THRESHOLDS = 48
"""How many powers of ten are looked at: fewer where probabilities are of few sizes."""
MOST_SHARE = 0.01
"""Of the words of a model that may have other beliefs."""
ROUNDINGS = 1 + 2.0**-16
"""More than sums of probabilities are off by, in units of themselves."""


@dataclass(frozen=True)
class Truncated:
    """A model without some of its probabilities.

    Attributes:
        model: What is left, with columns that add up to what they did before.
        share: Of all words that the whole model says, but for such a share, beliefs are so
            near to its own.
    """

    model: HiddenMarkovModel
    share: float


class _Kept(NamedTuple):
    """Which entries are kept."""

    operators: BoolArray
    start: BoolArray


def truncations(
    model: HiddenMarkovModel, length: int, most: float = MOST_SHARE
) -> Iterator[Truncated]:
    """Models with ever fewer entries, the fullest first, while the share is small.

    Args:
        model: The model.
        length: T.
        most: The largest share, at most `MOST_SHARE`.
    """
    if model.final is not None:
        return  # no law says which words of a weighted automaton matter
    entries = np.concatenate([model.operators.ravel(), model.start])
    exponents = np.unique(np.floor(np.log10(entries[entries > 0]))).astype(int)
    some = np.linspace(0, len(exponents) - 1, min(MOST_THRESHOLDS, len(exponents)))
    for exponent in exponents[some.round().astype(int)].tolist():
        threshold = f"1e{exponent + 1}"
        below = float(threshold)
        kept = _Kept(model.operators >= below, model.start >= below)
        name = f"{model.name} without probabilities below {threshold}"
        truncated = _truncate_model(model, kept, name, length)
        if truncated is None or truncated.share > most:
            return
        yield truncated


def truncation_to(
    model: HiddenMarkovModel, left: HiddenMarkovModel, length: int
) -> Truncated | None:
    """The truncation of a model that another one is; None if it is none of `truncations`.

    Args:
        model: The model.
        left: What may be left of it.
        length: T.
    """
    both = (model.operators, left.operators), (model.start, left.start)
    if (
        any(whole.shape != some.shape for whole, some in both)
        or model.final is not None
    ):
        return None
    kept = _Kept(left.operators > 0, left.start > 0)
    gone = max(whole[some == 0].max(initial=0.0) for whole, some in both)
    least = min(whole[some > 0].min() for whole, some in both)
    if not 0 < gone < least:
        return None
    truncated = _truncate_model(model, kept, left.name, length)
    same = truncated is not None and (
        np.array_equal(truncated.model.operators, left.operators)
        and np.array_equal(truncated.model.start, left.start)
    )
    return truncated if same else None


def _truncate_model(
    model: HiddenMarkovModel, kept: _Kept, name: str, length: int
) -> Truncated | None:
    """The model of some entries; None if too many words may need others."""
    operators = np.where(kept.operators, model.operators, 0.0)
    start = np.where(kept.start, model.start, 0.0)
    actions = np.unique(model.actions or [0] * len(operators), return_inverse=True)[1]
    lost, left = (
        np.array([each[actions == a].sum(axis=(0, 1)) for a in range(max(actions) + 1)])
        for each in (model.operators - operators, operators)
    )
    used = float((model.start - start).sum() + length * lost.max()) * ROUNDINGS
    if _share(used) > MOST_SHARE:
        return None
    operators = operators * (1 + lost / left)[actions][:, None]
    start = start / (start.sum() / model.start.sum())
    fewer = replace(model, name=name, operators=operators, start=start)
    return Truncated(fewer, _share(used))


def _share(used: float) -> float:
    """√p + p of p."""
    return (sqrt(used) + used) * ROUNDINGS
