"""How cutting a coupling of sines after m terms errs, on inputs that are drawn.

Cutting ρ leaves a squared error of Σ_{i>m} i^(−2α) for a pair of two independent inputs; an
input paired with itself is another matter, which the proof of Jiang and Li leaves out
(erratum A25).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from krohn.kinds.attention_targets.source_sampling import (
    SineSeries,
    aggregate,
)
from krohn.program.domains import FloatArray

SETTLED = 3
"""Slopes are fitted from this m on."""


@dataclass(frozen=True, eq=False)
class Truncation:
    """Errors of cutting ρ after m terms, by m.

    Attributes:
        pairs: Mean square of ρ − ρ̃ where s ≠ t.
        diagonal: Mean square of ρ − ρ̃ where s = t.
        output: Mean square of H − Ĥ.
        absolute: Mean of |H − Ĥ|.
    """

    pairs: FloatArray
    diagonal: FloatArray
    output: FloatArray
    absolute: FloatArray


def truncation(
    series: SineSeries, inputs: FloatArray, terms: Sequence[int]
) -> Truncation:
    """The errors on inputs ``(count, τ)``, for each number of terms."""
    whole = series.logits(inputs)
    right = aggregate(whole, inputs)
    same = np.eye(inputs.shape[1], dtype=bool)
    found = []
    for m in terms:
        cut = series.logits(inputs, m)
        squares = (whole - cut) ** 2
        off = right - aggregate(cut, inputs)
        means = (squares[:, ~same], squares[:, same], off**2, np.abs(off))
        found.append([float(part.mean()) for part in means])
    return Truncation(*np.array(found).T)


def slopes(terms: Sequence[int], errors: Truncation) -> dict[str, float]:
    """The exponent of each error in m, by least squares of logarithms from m = 3 on."""
    settled = np.asarray(terms) >= SETTLED
    places = np.log(np.asarray(terms)[settled])
    series = {part.name: getattr(errors, part.name)[settled] for part in fields(errors)}
    return {n: float(np.polyfit(places, np.log(e), 1)[0]) for n, e in series.items()}
