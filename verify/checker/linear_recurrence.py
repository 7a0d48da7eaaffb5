"""Linear recurrences h_t = W h_{t−1} + U x_t: how large, and how far rounding takes them.

Lemmas K2 and K3 of docs/kernels.md. All numbers of tensors are exact; what the checker's
own float64 sums are off by is bounded from what they gave.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.linear_recurrence import BANDS, LinearRecurrence
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand
from krohn.verify.checker.arithmetic import INFLATION, OWN_UNIT
from krohn.verify.checker.model_file import Model

MOST_UNITS, MOST_STEPS, MOST_PRODUCTS = 2**12, 2**25, 2**33
"""Of units, of entries of W times T, and of products of dense powers: some seconds."""
LARGEST_SUM = 2.0**64
FLUSHED = 2.0**-1000
"""What a sum of the checker's own can lose to subnormal numbers."""


class Recurrence(NamedTuple):
    """The tensors: W by its entries that are not 0, and U, C, D.

    Attributes:
        size: n.
        rows: ``(entries,)``: which unit each entry of W writes to.
        columns: ``(entries,)``: which it reads.
        values: ``(entries,)``.
        input: ``(n,)``: U.
        output: ``(n,)``: C.
        skip: D.
    """

    size: int
    rows: IntArray
    columns: IntArray
    values: FloatArray
    input: FloatArray
    output: FloatArray
    skip: float

    def moved(self, hidden: FloatArray) -> FloatArray:
        """``(n,)``: W h in float64."""
        terms = self.values * hidden[self.columns]
        found: FloatArray = np.bincount(self.rows, terms, self.size).astype(float)
        return found

    def transposed(self) -> "Recurrence":
        """Wᵀ, with C and U exchanged."""
        return self._replace(
            rows=self.columns,
            columns=self.rows,
            input=self.output,
            output=self.input,
        )

    def absolute(self) -> "Recurrence":
        """|W|."""
        return self._replace(values=np.abs(self.values))

    @property
    def norm(self) -> float:
        """‖W‖_∞: the largest sum of absolute values of a row, or what is above it."""
        sums = self.absolute().moved(np.ones(self.size))
        return float(sums.max() * INFLATION)

    @property
    def unit(self) -> float:
        """What sums of the checker's own can be off by, of their absolute values."""
        return (self.size + 2) * OWN_UNIT * INFLATION


def recurrence_of(model: Model) -> Recurrence:
    """The tensors of a file, of one input and one output.

    Raises:
        Refused: If they are others than the architecture says.
    """
    shape, t = held(LinearRecurrence, model.header, model.tensors), model.tensors
    n, banded = shape.hidden, shape.form == "banded"
    demand(n <= MOST_UNITS, "too many units")
    stated = model.header["architecture"]["dtype"] == model.format.name
    demand(stated, "another kind")
    demand(shape.inputs == shape.outputs == 1, "one input and one output")
    rows, columns, values = _entries(t, n, banded)
    ends = t["input.weight"][0], t["unembed.weight"][:, 0]
    return Recurrence(n, rows, columns, values, *ends, float(t["skip.weight"][0, 0]))


def _entries(
    t: dict[str, FloatArray], n: int, banded: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """W, entry by entry; a banded one may say several numbers of one entry if n ≤ 2."""
    if not banded:
        columns, rows = np.nonzero(t["hidden.weight"])
        return rows, columns, t["hidden.weight"][columns, rows]
    own = np.arange(n)
    rows = np.tile(own, 3)
    columns = np.concatenate([own, np.roll(own, 1), np.roll(own, -1)])
    values = np.concatenate([t[name] for name in BANDS])
    held = values != 0
    return rows[held], columns[held], values[held]


def powers(w: Recurrence, length: int) -> float:
    """κ ≥ Σ_{s<T} ‖W^s‖_∞ (Lemma K2).

    Raises:
        Refused: If none is found that is small enough to be of use.
    """
    demand(length * (len(w.rows) + 2 * w.size) <= MOST_STEPS, "too long to be checked")
    groups = _components(w)
    rough = _of_absolute_values(w, length)
    found = 1.0
    for units in groups:
        own = float(rough[units].max())
        if not own <= LARGEST_SUM:
            own = _of_powers(w, units, length)
        found = max(found, own)
    return found


def _of_absolute_values(w: Recurrence, length: int) -> FloatArray:
    """``(n,)``: Σ_{s<T} (|W|^s 1)_i, which is above the sum of |W^s| of each row."""
    each, sums = np.ones(w.size), np.zeros(w.size)
    grown = 1 + w.unit
    for _ in range(length):
        sums += each
        each = w.absolute().moved(each) * grown
    off = np.exp(2 * length * w.unit)
    return np.asarray(sums * off * INFLATION)


def _of_powers(w: Recurrence, units: list[int], length: int) -> float:
    """The same of some units that read each other alone, from powers in float64.

    Raises:
        Refused: If they are too many, or the powers grow.
    """
    m, place = len(units), {unit: i for i, unit in enumerate(units)}
    demand(
        m**3 * length <= MOST_PRODUCTS, "a dense recurrence is too large to be checked"
    )
    block = np.zeros((m, m))
    for row, column, value in zip(
        w.rows.tolist(), w.columns.tolist(), w.values.tolist(), strict=True
    ):
        if row in place:
            block[place[row], place[column]] += value
    power, total = np.eye(m), 0.0
    for _ in range(length):
        total += float(np.abs(power).sum(axis=1).max()) * INFLATION
        power = block @ power
    demand(total <= LARGEST_SUM, "the powers of the recurrence grow: it is not stable")
    share = total * w.unit * w.norm + length * FLUSHED
    demand(share <= 0.25, "the powers of the recurrence cannot be bounded")
    return total / (1 - share) * INFLATION


def _components(w: Recurrence) -> list[list[int]]:
    """Units that are linked by entries of W, group by group."""
    near: list[list[int]] = [[] for _ in range(w.size)]
    for row, column in zip(w.rows.tolist(), w.columns.tolist(), strict=True):
        near[row].append(column)
        near[column].append(row)
    found, seen = list[list[int]](), [False] * w.size
    for first in range(w.size):
        if seen[first]:
            continue
        seen[first], group, at = True, [first], 0
        while at < len(group):
            for other in near[group[at]]:
                if not seen[other]:
                    seen[other] = True
                    group.append(other)
            at += 1
        found.append(sorted(group))
    return found


def sums(w: Recurrence, length: int, kappa: float) -> FloatArray:
    """``(n,)``: bounds of Σ_{s<T} |W^s U|, entry by entry (Lemma K3).

    Raises:
        Refused: If the sums are too large.
    """
    each, total, norms = w.input, np.zeros(w.size), 0.0
    for _ in range(length):
        total += np.abs(each)
        norms += float(np.abs(each).max()) * INFLATION
        each = w.moved(each)
    off = kappa * (w.unit * w.norm * norms + length * FLUSHED)
    found: FloatArray = (total * (1 + length * OWN_UNIT) + off) * INFLATION
    if not (found <= LARGEST_SUM).all():
        raise Refused("the states of the recurrence grow: it is not stable")
    return found
