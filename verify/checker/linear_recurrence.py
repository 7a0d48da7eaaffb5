"""Linear recurrences h_t = W h_{t−1} + U x_t: how large, and how far rounding takes them.

Lemmas K2 and K3 of docs/kernels.md: powers of W are followed near the true ones, and how
far each step is off is measured.
"""

from typing import NamedTuple

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.linear_recurrence import BANDS, LinearRecurrence
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval, Operand
from krohn.verify.checker.error_recursion import settled
from krohn.verify.checker.model_file import Model

MOST_UNITS, MOST_STEPS, MOST_PRODUCTS = 2**12, 2**25, 2**33
"""Of units, of entries of W times T, and of products of dense powers: some seconds."""
LARGEST_SUM = 2.0**64


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

    def moved(self, hidden: Operand) -> Interval:
        """``(n,)``: W h."""
        terms = Interval.of(hidden)[self.columns] * self.values
        return terms.gathered(self.rows, self.size)

    def transposed(self) -> "Recurrence":
        """Wᵀ, with C and U exchanged."""
        return self._replace(
            rows=self.columns, columns=self.rows, input=self.output, output=self.input
        )

    def absolute(self) -> "Recurrence":
        """|W|."""
        return self._replace(values=np.abs(self.values))


def recurrence_of(model: Model) -> Recurrence:
    """The tensors of a file, of one input and one output.

    Raises:
        Refused: If they are others than the architecture says, or their format is narrow.
    """
    narrow = model.format.narrow
    demand(not narrow, f"{model.format.name} is too narrow for real numbers")
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


def powers(w: Recurrence, length: int, groups: IntArray) -> Interval:
    """κ ≥ Σ_{s<T} ‖W^s‖_∞ (Lemma K2): the largest of units that read each other alone.

    Args:
        w: The recurrence.
        length: T.
        groups: ``(n,)``: a number for each unit; units that read each other have the same.

    Raises:
        Refused: If none is found that is small enough to be of use.
    """
    demand(length * (len(w.rows) + 2 * w.size) <= MOST_STEPS, "too long to be checked")
    apart = groups.shape == (w.size,) and groups[w.rows] == groups[w.columns]
    demand(apart, "a unit reads one of another group")
    rough, found = _of_absolute_values(w, length), Interval.of(1.0)
    for group in np.unique(groups):
        units = np.flatnonzero(groups == group)
        own = rough[units].max()
        if not own <= LARGEST_SUM:
            own = _of_powers(w, units, length)
        found = found.maximum(own)
    return Interval.of(found.high)


def _of_absolute_values(w: Recurrence, length: int) -> Interval:
    """``(n,)``: Σ_{s<T} (|W|^s 1)_i, which is above the sum of |W^s| of each row."""
    wide, each, total = w.absolute(), Interval.of(np.ones(w.size)), Interval.of(0.0)
    for _ in range(length):
        total += each
        each = Interval.of(wide.moved(each).high)
    return total


def _of_powers(w: Recurrence, units: IntArray, length: int) -> Interval:
    """The sums of some units that read each other alone, from matrices near the powers.

    Raises:
        Refused: If they are too many, or the powers grow.
    """
    m, place = len(units), np.full(w.size, -1)
    demand(
        m**3 * length <= MOST_PRODUCTS, "a dense recurrence is too large to be checked"
    )
    place[units] = np.arange(m)
    own = place[w.rows] >= 0
    at = place[w.rows[own]] * m + place[w.columns[own]]
    entries = Interval.of(w.values[own]).gathered(at, m * m)
    block = entries.each(lambda x: x.reshape(m, m))
    power, total, astray = np.eye(m), Interval.of(0.0), Interval.of(0.0)
    for _ in range(length):
        total += _rows(Interval.of(power))
        after = block @ power
        power = (after.low + after.high) / 2
        astray += _rows(after - power)
    demand(total <= LARGEST_SUM, "the powers of the recurrence grow: it is not stable")
    return settled(lambda most: total + most * astray, 2 * total)


def _rows(matrix: Interval) -> Interval:
    """‖·‖_∞."""
    return abs(matrix).sum(axis=1).max()


def sums(w: Recurrence, length: int, kappa: Interval) -> Interval:
    """``(n,)``: bounds of Σ_{s<T} |W^s U|, entry by entry (Lemma K3).

    Raises:
        Refused: If the sums are too large.
    """
    each, total, astray = w.input, Interval.of(np.zeros(w.size)), Interval.of(0.0)
    for _ in range(length):
        total += np.abs(each)
        after = w.moved(each)
        each = (after.low + after.high) / 2
        astray += abs(after - each).max()
    found = total + kappa * astray
    demand(found <= LARGEST_SUM, "the states of the recurrence grow: it is not stable")
    return Interval.of(found.high)
