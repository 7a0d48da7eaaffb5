"""Kernels: a linear recurrence says Σ ρ(s)·x(t − s) up to a stated error (Theorem K1).

docs/proofs/kernels.md has the theorem. Powers of W are followed near the true ones, and how
far each step is off is measured (Lemmas K2 and K3). What the recurrence computes in real
arithmetic is compared with the kernel exactly, in whole numbers of a fixed number of
binary places.
"""

from typing import Any, NamedTuple

import numpy as np

from krohn.architectures.linear_recurrence.statement import (
    BANDS,
    LinearRecurrence,
)
from krohn.kinds.kernels.statement import MOST_VALUES, StatedKernel
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import (
    STEPS,
    Format,
    Interval,
    Operand,
    bound_all_steps,
    bound_underflow,
    fits,
    gamma,
    own_error,
    sum_error,
)
from krohn.verify.checker.established import Established, added_up
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.simulation import decode_array

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

    def move_state(self, hidden: Operand) -> Interval:
        """``(n,)``: W h."""
        terms = Interval.of(hidden)[self.columns] * self.values
        return sum_by_place(terms, self.rows, self.size)

    def transpose(self) -> "Recurrence":
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
    shape, t = model.network(LinearRecurrence), model.tensors
    n, banded = shape.hidden, shape.form == "banded"
    demand(shape.kind == LinearRecurrence.kind, "it has a start of its own")
    demand(n <= MOST_UNITS, "too many units")
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
    nonzero = values != 0
    return rows[nonzero], columns[nonzero], values[nonzero]


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
    rough, largest = _of_absolute_values(w, length), Interval.of(1.0)
    for group in np.unique(groups):
        units = np.flatnonzero(groups == group)
        own = rough[units].max()
        if not own <= LARGEST_SUM:
            own = _of_powers(w, units, length)
        largest = largest.maximum(own)
    return Interval.of(largest.high)


def _of_absolute_values(w: Recurrence, length: int) -> Interval:
    """``(n,)``: Σ_{s<T} (|W|^s 1)_i, which is above the sum of |W^s| of each row."""
    wide, each, total = w.absolute(), Interval.of(np.ones(w.size)), Interval.of(0.0)
    for _ in range(length):
        total += each
        each = Interval.of(wide.move_state(each).high)
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
    entries = sum_by_place(Interval.of(w.values[own]), at, m * m)
    block = entries.each(lambda x: x.reshape(m, m))
    power, total, astray = np.eye(m), Interval.of(0.0), Interval.of(0.0)
    for _ in range(length):
        total += _rows(Interval.of(power))
        after = block @ power
        power = (after.low + after.high) / 2
        astray += _rows(after - power)
    demand(total <= LARGEST_SUM, "the powers of the recurrence grow: it is not stable")
    return bound_all_steps(lambda most: total + most * astray, 2 * total)


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
        after = w.move_state(each)
        each = (after.low + after.high) / 2
        astray += abs(after - each).max()
    bound = total + kappa * astray
    demand(bound <= LARGEST_SUM, "the states of the recurrence grow: it is not stable")
    return Interval.of(bound.high)


PLACES = 384
"""Binary places of whole numbers that stand for real ones."""
LOST = 2.0**-160
"""More than all of them together lose."""
MOST_POWERS = 2**21


def source_of(model: Model) -> StatedKernel:
    """The kernel of a file.

    Raises:
        Refused: If it states none, or one that takes too long.
    """
    kernel = StatedKernel.from_wire(model.source)
    values, modes = len(kernel.values), len(kernel.modes)
    demand(values + modes <= MOST_VALUES, "it has too many numbers")
    demand(modes * kernel.length <= MOST_POWERS, "too long for so many modes")
    return kernel


def exact_values(kernel: StatedKernel) -> list[int]:
    """ρ(0), …, ρ(T − 1), in units of 2^-384."""
    values = [_to_fixed_point(v) for v in kernel.values[: kernel.length]]
    values += [0] * (kernel.length - len(values))
    for mode in kernel.modes:
        c, d, a, b = map(_to_fixed_point, mode.to_wire())
        p, q = 1 << PLACES, 0
        for s in range(kernel.length):
            values[s] += (c * p - d * q) >> PLACES
            p, q = (a * p - b * q) >> PLACES, (a * q + b * p) >> PLACES
    return values


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error of a linear recurrence.

    Raises:
        Refused: If nothing can be shown.
    """
    source, form = source_of(model), model.format
    length = source.length
    demand(source.causal, "a recurrence reads its inputs in their order")
    w, groups = recurrence_of(model), decode_array(said["groups"])
    kappa = powers(w, length, groups)
    response = _response(w, length, kappa)
    gain = abs(_near(deviations(response, [0] * length))).sum()
    back = powers(w.transpose(), length, groups)
    parts = {
        "kernel": worst(source, deviations(exact_values(source), response)),
        "rounding": _rounding(w, source, form, (kappa, back)),
        "inputs": (form.unit * Interval.of(source.largest_input) + bound_underflow(1))
        * gain,
    }
    return added_up(form, source.box, parts)


def worst(source: StatedKernel, off: FloatArray) -> Interval:
    """The largest |Σ_{s≤t} e(s)·x(t − s)| over all inputs and all t < T (K1)."""
    low, high = map(Interval.of, source.inputs)
    middle, radius, near = (low + high) / 2, (high - low) / 2, _near(off)
    largest = (abs(middle * running(near)) + radius * running(abs(near))).max()
    demand(np.isfinite(largest.high), "the kernel is off by too much")
    return largest


def _near(numbers: FloatArray) -> Interval:
    """The range of all numbers of 384 places that these are the nearest to."""
    return Interval.of(numbers).wider(2.0**-52 * np.abs(numbers) + LOST)


def deviations(right: list[int], found: list[int]) -> FloatArray:
    """``(T,)``: e(s), each the nearest float64."""
    pairs = zip(right, found, strict=True)
    return np.array([(a - b) / (1 << PLACES) for a, b in pairs])


def _response(w: Recurrence, length: int, kappa: Interval) -> list[int]:
    """ρ̂(s) = C W^s U + D·[s = 0] in units of 2^-384, off by κ·‖C‖₁ units and a few."""
    size = abs(Interval.of(w.output)).sum() + 1
    demand(kappa * size * (w.size + 4) <= 2.0**100, "the recurrence is too large")
    entries, places = _scale_numbers(w.values)
    outward, finer = _scale_numbers(w.output)
    moves = list(zip(w.rows.tolist(), w.columns.tolist(), entries, strict=True))
    reads = [(i, c) for i, c in enumerate(outward) if c]
    hidden, response = [_to_fixed_point(u) for u in w.input.tolist()], list[int]()
    for _ in range(length):
        response.append(sum(c * hidden[i] for i, c in reads) >> finer)
        after = [0] * w.size
        for row, column, value in moves:
            if state := hidden[column]:
                after[row] += value * state
        hidden = [x >> places for x in after]
    response[0] += _to_fixed_point(w.skip)
    return response


def _rounding(
    w: Recurrence, source: StatedKernel, form: Format, powers: tuple[Interval, Interval]
) -> Interval:
    """The error of rounding inputs, states and outputs to the format (Theorem K4).

    Args:
        w: The recurrence.
        source: The kernel.
        form: The format.
        powers: κ of W, and of its transpose.
    """
    most, (kappa, back) = (
        source.largest_input * (1 + 2 * Interval.of(form.unit)),
        powers,
    )
    states, wide = sums(w, source.length, kappa) * most, w.absolute()
    reached = sums(w.transpose(), source.length, back)
    terms, rounds = _rounds(w)
    unit, lost = gamma(rounds, form.sum_unit), bound_underflow(terms)
    first = wide.move_state(states) + most * np.abs(w.input)

    def step(off: Interval) -> Interval:
        """The error that one step adds, if states are so far off."""
        return unit * (first + wide.move_state(off * np.ones(w.size))) + lost

    apart = bound_all_steps(lambda off: (kappa * step(off)).max(), states.max() + most)
    largest_output = (
        Interval.of(np.abs(w.output)) @ (states + apart) + abs(w.skip) * most
    )
    for size in (states.max() + apart, largest_output, first.max(), most):
        fits(size, form, "a sum", STEPS)
    read = sum_error(form, int(np.count_nonzero(w.output)) + 1, largest_output)
    return reached @ step(apart) + read


def _rounds(w: Recurrence) -> tuple[FloatArray, FloatArray]:
    """``(n,)`` terms of the sum of each unit, and how often one of them is rounded.

    A term whose weight is ± a power of two is exact, so a sum of one such term is.
    """
    fresh = (w.input != 0).astype(float)
    terms = np.bincount(w.rows, minlength=w.size) + fresh
    plain = np.bincount(w.rows, inexact(w.values), w.size) + inexact(w.input)
    return terms, np.maximum(terms - 1, 0) + (plain > 0)


def inexact(weights: FloatArray) -> FloatArray:
    """1 where a product with a weight may be rounded."""
    is_inexact: FloatArray = np.abs(np.frexp(weights)[0]) != 0.5
    return np.where(weights != 0, is_inexact, 0.0)


def _to_fixed_point(number: float) -> int:
    """A number in units of 2^-384, rounded down."""
    above, below = number.as_integer_ratio()
    return (above << PLACES) // below


def _scale_numbers(numbers: FloatArray) -> tuple[list[int], int]:
    """Numbers as whole ones times 2^-places, exactly."""
    ratios = [x.as_integer_ratio() for x in numbers.tolist()]
    places = max((below.bit_length() - 1 for _, below in ratios), default=0)
    return [above * (1 << places) // below for above, below in ratios], places


def sum_by_place(x: Interval, place: IntArray, size: int) -> Interval:
    """``(size,)``: sums of the entries of ``(terms,)`` that have each place."""
    each = (x.low, x.high, x.size, np.ones(len(x.low)))
    low, high, most, terms = (
        np.bincount(place, part, size).astype(np.float64) for part in each
    )
    return Interval(low, high).wider(own_error(terms, most))


def running(x: Interval) -> Interval:
    """``(terms,)``: sums of the entries up to each."""
    terms = np.arange(1.0, len(x.low) + 1)
    low, high, most = map(np.cumsum, (x.low, x.high, x.size))
    return Interval(low, high).wider(own_error(terms, most))
