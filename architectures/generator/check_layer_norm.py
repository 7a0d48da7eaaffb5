"""How far LN_C of a softmax head, plus its input, can be from its value in real numbers.

LN_C(a) = Pa / max(|Pa|, C), P subtracting the mean; the lemmas and their proofs are in
docs/proofs/generator.md. All bounds hold for every order of summation and
for kernels with a running maximum.
"""

import math
from typing import NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.affine_arithmetic import Noisy, exact, snaps
from krohn.verify.checker.arithmetic import (
    INSIDE,
    LARGEST_FLOAT64,
    STEPS,
    SUM,
    Format,
    Interval,
    bound_underflow,
    fits,
)
from krohn.verify.checker.model_file import FloatArray, Model
from krohn.verify.checker.softmax_weights import exponentials

REAL = Format(
    "real arithmetic", "", 53, 0.0, 0.0, LARGEST_FLOAT64, LARGEST_FLOAT64, 2.0**-1022
)
"""Arithmetic without rounding."""
LARGEST_RATIO = 80.0
GRID = 2.0**20
SLACK = 1.01


class Head(NamedTuple):
    """A softmax head with exact queries, keys and values on finitely many tokens.

    Attributes:
        rows: ``(tokens, d)``: the vectors X that the head reads, exact.
        scores: ``(keys, queries)``, exact.
        values: ``(tokens, d)``, exact, each with mean 0.
        constant: C.
        form: The format that it is computed in.
    """

    rows: FloatArray
    scores: FloatArray
    values: FloatArray
    constant: float
    form: Format

    @property
    def norms(self) -> Interval:
        """``(tokens,)``: the length of each value."""
        return (Interval.of(self.values) * self.values).sum(axis=1).root()

    @property
    def _storing(self) -> tuple[float, float]:
        """The relative and absolute error of storing what was accumulated."""
        unit = self.form.unit if self.form.narrow else 0.0
        return unit, unit * self.form.smallest

    @property
    def _summing(self) -> Interval:
        """The error of a mean, and of differences from it, by the vector's length."""
        return SLACK * Interval.of(self.values.shape[1] + 4) * self.form.sum_unit

    @property
    def _dividing(self) -> Interval:
        """The relative error of a vector that is divided by its length, or by C."""
        d, constant = self.values.shape[1], Interval.of(self.constant)
        lost = bound_underflow(d) / constant / constant
        return SLACK * Interval.of(d + 8) * self.form.sum_unit + lost

    @property
    def _lost(self) -> Interval:
        """The length of all that entries of a vector lose below the normal range."""
        d = Interval.of(self.values.shape[1])
        return (bound_underflow(1) + self._storing[1]) * d.root()

    def relative(self, query: int, positions: int) -> Interval:
        """τ of Lemma D-B: the error of each term of the weighted sum, relative to it.

        A factor that all terms of a row share does not count.
        """
        column, (narrow, floor) = Interval.of(self.scores[:, query]), self._storing
        size, spread = abs(column).max(), column.max() - column.min()
        least = np.abs(self.values[self.values != 0]).min(initial=1.0)
        normal = (-spread).through(np.exp) / positions * least >= 2.0**-120
        small = normal & (spread <= LARGEST_RATIO)
        demand(small, "a weight can be below the range")
        rises = len(np.unique(column.low)) - 1
        total = (4 + 16 * size + positions) * self.form.sum_unit
        total += exponentials(rises, self.form, size.most)
        stored = narrow + floor * positions * spread.through(np.exp)
        total = SLACK * (total + stored)
        demand(total <= 1 / 8, f"sums over {positions} positions are too long")
        return total.through(np.expm1)

    def deviation(
        self, error: Interval, signal: Interval, relative: Interval
    ) -> Interval:
        """Lemma D-C: the error of entries of LN_C where the head is longer than C.

        Args:
            error: ``(cases,)``: the distance of head and true value, as vectors,
                relative to `signal`.
            signal: ``(cases,)``: the least length of the true value.
            relative: τ of the row.
        """
        narrow, around = self._storing[0], self._dividing
        raw = error + 2 * self._lost / signal + narrow
        off = raw + self._summing * (1 + raw)
        demand(off <= 1 / 4, "rounding errors exceed the difference")
        least = (1 - off - 3 * relative - around) * signal
        demand(least > self.constant, "cancelling leaves less than C")
        return 2 * off + around + narrow + 2 * self.form.unit

    def ripple(self, relative: Interval) -> Interval:
        """Lemma D-D: how far from 0 an entry of LN_C is where every value is 0."""
        demand(self._dividing <= 1 / 16, "LayerNorm is too wide, or C too small")
        noise = relative + self._storing[0] + self._summing
        noise = noise * self.norms.max() + self._lost
        return SLACK * 1.25 * noise / self.constant + 2 * self.form.unit

    def add_normed(self, tokens: IntArray, normed: Interval, form: Format) -> Noisy:
        """``(cases, d)``: X + LN_C, stored, on a grid that shows which sums are exact.

        Args:
            tokens: ``(cases,)``: the queries, whose X is added.
            normed: ``(cases, d)``: where LN_C is, one addition to X = 0 included.
            form: The format that goes on from there.
        """
        x = self.rows[tokens]
        total = (normed + x).wider(2 * self.form.unit * np.abs(x))
        value = np.round(total.middle()[0] * GRID) / GRID
        rest = (total - value).size
        return Noisy(value, np.zeros((0, *value.shape)), rest, form)


def head(model: Model, layer: int, rows: FloatArray, form: Format) -> Head:
    """The head of a layer on exact vectors ``(tokens, d)``.

    Raises:
        Refused: If a query, key, score or value is not exact, a value has another mean
            than 0, C is not positive, or a number could overflow.
    """
    at, tensors = f"layers.{layer}", model.tensors
    query, key, value = (
        project_rows(rows, tensors[f"{at}.attention.{name}"], model.format, f"a {name}")
        for name in ("query", "key", "value")
    )
    products = exact(key, model.format).products(query.T).whole(np.zeros(len(query)))
    scores = certain(products, "a score")
    certain(products.store_rounded(), "a score")
    demand(not any(map(math.fsum, value.tolist())), "a value has not mean 0")
    constant = float(tensors[f"{at}.constant"][0])
    demand(constant > 0, "the constant of a LayerNorm is not positive")
    exact_head = Head(rows, scores, value, constant, form)
    sizes, longest = Interval.of(np.abs(key)) @ np.abs(query).T, exact_head.norms.max()
    fits(sizes, model.format, "a score", SUM)
    fits(longest, model.format, "what a head adds up", STEPS)
    fits(longest * longest, model.format, "the square in a LayerNorm", INSIDE)
    return exact_head


def project_rows(
    rows: FloatArray, weight: FloatArray, form: Format, name: str
) -> FloatArray:
    """``rows @ weight`` of exact rows, if it is computed without rounding."""
    if np.isin(rows, (0, 1)).all() and (rows.sum(axis=1) <= 1).all():
        return rows @ weight  # every entry is one entry of ``weight``, or 0
    return certain(exact(rows, form).affine(weight, np.zeros(weight.shape[1])), name)


def certain(numbers: Noisy, name: str) -> FloatArray:
    """Numbers that are computed without rounding."""
    representable = snaps(numbers.value, np.zeros_like(numbers.value), numbers.form)
    demand(representable & (numbers.total == 0), f"{name} is not exact")
    return numbers.value
