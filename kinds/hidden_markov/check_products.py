"""Beliefs of a hidden Markov model by products of its operators: Theorem W9.

Errors of positive matrices are measured up to a common factor, in Hilbert's projective
metric (docs/proofs/beliefs.md); Lemma W9b is about gates.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from krohn.kinds.hidden_markov.check_normaliser import MassErrors, Normaliser
from krohn.kinds.hidden_markov.check_positive_operators import (
    EXTREME,
    PositiveOperators,
    apart,
    ordinary,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.kinds.hidden_markov.statement_inputs import PossibleWords
from krohn.kinds.linear_systems.check import (
    check_window,
    find_output_channel,
)
from krohn.kinds.linear_systems.check_product_gates import (
    ROUNDED,
    Gates,
)
from krohn.program.domains import BoolArray, FloatArray
from krohn.program.errors import demand
from krohn.program.operations.letter_matrix import LetterMatrix
from krohn.program.statement import Statement
from krohn.verify.checker.arithmetic import (
    INSIDE,
    Format,
    Interval,
    bound_underflow,
    fits,
    sum_error,
)
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Model
from krohn.verify.checker.residual_stream import Stream
from krohn.verify.checker.sublayers import collect_streams


class Held(NamedTuple):
    """Bounds of the matrix that a channel holds at each position, ``(T + 1,)`` each.

    It is s·X∘exp(ε), X an exact matrix of mass 1, where that is not 0, and s its own mass.

    Attributes:
        letters: How many letters are multiplied.
        ended: Whether they are the whole word so far, times the matrix of BOS.
        spread: D ≥ max ε − min ε.
        columns: C ≥ max ε − min ε in each column.
        mass: s.
        beside: Above what is where X is 0: at BOS, in rows where the start is 0.
    """

    letters: FloatArray
    ended: BoolArray
    spread: Interval
    columns: Interval
    mass: Interval
    beside: Interval

    @classmethod
    def of(cls, noise: FloatArray) -> "Held":
        """From one array, as the noise of a channel is."""
        letters, ended, spread, columns, low, high, beside = noise
        ends = Interval.of(spread), Interval.of(columns), Interval(low, high)
        return cls(letters, ended > 0, *ends, Interval.of(beside))

    def apart(self, more: Interval) -> "Held":
        """With more between the logarithms of errors, of columns as of all."""
        return self._replace(spread=self.spread + more, columns=self.columns + more)

    @property
    def spread_range(self) -> Interval:
        """From e^−D to e^D."""
        most = self.spread.through(np.exp)
        return most.join_with(1 / most)

    def noise(self, name: str) -> FloatArray:
        """As one array.

        Raises:
            Refused: If nothing is known any more.
        """
        least, most = self.mass.low, self.mass.high
        above = [x.high for x in (self.spread, self.columns)]
        rows = np.array(
            [self.letters, self.ended, *above, least, most, self.beside.high]
        )
        demand(np.isfinite(rows) & (least > 0), f"nothing is left of {name!r}")
        demand(self.spread < 1, f"{name!r} can be off by its own size")
        return rows


class Range(NamedTuple):
    """Between which numbers the entries of a factor are.

    Attributes:
        bottom: Below all that are not 0 in exact numbers; above 0.
        top: Above the absolute value of all.
        squares: How far squares of those at one position are apart.
    """

    bottom: Interval
    top: Interval
    squares: Interval


class Curve(NamedTuple):
    """The curve by which gates distort products of positive numbers (Lemma W3).

    Attributes:
        under: f(a, b) ≥ ab·(1 − under).
        over: f(a, b) ≤ ab·(1 + over).
        spread: How far logarithms of f(a, b)/ab are apart.
    """

    under: Interval
    over: Interval
    spread: Interval

    @classmethod
    def of(cls, w: float, a: Range, b: Range) -> "Curve":
        """That of gates with weights w.

        Raises:
            Refused: If factors are too large for it.
        """
        x, y = (w * r.top * (w * r.top) for r in (a, b))
        under, over = (x + y) / 3, (3 * x * x + 10 * x * y + 3 * y * y) / 40
        demand(under + over < 0.25, "factors are too large for their gates")
        moved = Interval.of(w) * w * (a.squares + b.squares) / 3 + over
        return cls(under, over, (moved / (1 - under)).through(np.log1p))

    def factor(self, rounded: Interval) -> Interval:
        """The factor of sums of products, if they are rounded so much, too."""
        return (1 - self.under - rounded).join_with(1 + self.over + rounded)

    def apart(self, rounded: Interval) -> Interval:
        """How far logarithms of what they are multiplied by are apart."""
        return self.spread + logarithms(rounded / (1 - self.under))


def logarithms(off: Interval) -> Interval:
    """How far logarithms of 1 ± off are apart; infinite where that has none."""
    near = off.minimum(1.0)
    return near.through(np.log1p) - (-near).through(np.log1p)


def rounding(
    units: Gates, reach: Interval, terms: tuple[int, int], form: Format
) -> Interval:
    """The rounding error of a product of two numbers, in units of the larger factor.

    Four units are added, whose numbers inside add up to twice the factors.
    """
    inner, outer = units.rounding(reach, terms, form)
    weight = ROUNDED * 4 * Interval.of(units.outside) * units.inside / units.gain
    return weight * (2 * inner + outer)


@dataclass(frozen=True)
class Projective(MassErrors):
    """How matrices are told apart that stand for products of positive operators.

    Attributes:
        size: n.
        products: What products have in common.
        first: The noise of the letters' matrices: a `Held` as one array, as all noise is.
    """

    name = "projective metric"
    size: int
    products: PositiveOperators
    first: FloatArray

    @classmethod
    def of(
        cls, operators: FloatArray, start: FloatArray, rows: FloatArray, length: int
    ) -> "Projective":
        """That of operators ``(letters, n, n)``, for which the embedding holds ``rows``.

        Raises:
            Refused: If these are not positive, or no multiples of the operators.
        """
        products = PositiveOperators.of(operators, start, length)
        demand(rows.shape == operators.shape, "there are other letters")
        demand((rows > 0) & np.isfinite(rows), "a matrix of a letter has an entry 0")
        demand(ordinary(rows), EXTREME)
        whole_rows = rows.reshape(len(rows), -1, 1)
        spreads = apart(whole_rows, operators), apart(rows, operators)
        whole, mass = Interval.of(start).sum(), (Interval.of(rows) @ start).sum(axis=1)
        one, none = np.arange(length + 1) > 0, Interval.of(np.zeros(length + 1))
        count = one.astype(np.float64)
        far, within = (x * count for x in spreads)
        masses = mass.min().join_with(mass.max()).where(one, whole * whole)
        letter_errors = Held(count, ~one, far, within, masses, none)
        return cls(len(start), products, letter_errors.noise("a letter"))

    def describe_noise(self, noise: FloatArray) -> float:
        """The largest C: how far logarithms of errors of a column are apart."""
        return Held.of(noise).columns.most

    def bound_embedding(self) -> FloatArray:
        """How letters were rounded."""
        return self.first

    def largest(self, noise: FloatArray) -> float:
        """The largest entry at any position."""
        return self._range(Held.of(noise)).top.most

    def bound_fetch(
        self, noise: FloatArray, by: int, leak: float, astray: float, lost: Interval
    ) -> FloatArray:
        """The error of a copy: other positions' share is compared with the least entry."""
        at = np.maximum(np.arange(noise.shape[1]) - by, 0)
        x, stray = (
            Held.of(noise[:, at]),
            4 * Interval.of(leak) * self.largest(noise) + lost,
        )
        off = astray + stray / self._range(x).bottom
        beside = (x.beside * (1 + Interval.of(astray)) + stray) * (x.letters == 0)
        mass = x.mass * (1 - off).join_with(1 + off)
        errors = x.apart(logarithms(off))._replace(beside=beside)
        return errors._replace(mass=mass.wider(2 * self._near(beside))).noise("a head")

    def bound_product(
        self, name: str, left: FloatArray, right: FloatArray, units: Gates, form: Format
    ) -> FloatArray:
        """The later factor on the left."""
        x, y = Held.of(left), Held.of(right)
        later = (x.letters > 0) | (y.letters == 0)
        demand(later, f"the left factor of {name!r} is no later one")
        a, b, inside = self._range(x), self._range(y), 1 if units.exact else 3
        reach, curve = (a.top + b.top).max(), Curve.of(units.inside, a, b)
        each = rounding(units, reach, (inside, 4 * self.size), form)
        lost = (
            4
            * self.size
            * bound_underflow(8 * Interval.of(units.outside) + 2)
            / units.gain
        )
        mixed, astray = (
            self._bound_with_start(x, y, curve, each, lost),
            units.astray(4 * self.size, form),
        )
        moved = self._bound_rounding(x, y, each, lost).where(y.letters > 0, mixed)
        moved = moved + astray * (1 + curve.over + moved)
        beside = self._beside(x, y, curve, each, lost) * (1 + astray)
        mass = self._sums(x) * y.mass.wider(self._near(y.beside)) * curve.factor(moved)
        mass = mass.wider(self._near(beside)) * units.gain
        columns = self._contract_columns(x, y.columns.minimum(y.spread)) + curve.apart(
            moved
        )
        spread = x.spread + y.spread + curve.apart(moved)
        letters, ended = x.letters + y.letters, x.ended | y.ended
        beside = beside * units.gain
        return Held(letters, ended, spread, columns, mass, beside).noise(name)

    def bound_normalisation(
        self, name: str, noise: FloatArray, units: Normaliser, form: Format
    ) -> FloatArray:
        """Every entry times one number: only gates move entries apart."""
        x, gates = Held.of(noise), units.gates
        demand(np.array_equal(units.vector, self.products.start), "another mass is 1")
        astray = units.astray(x.mass + 2 * self._near(x.beside), form)
        product = units.masses(x.mass).wider(x.mass * astray)
        demand(product > 0, f"{name!r} may be made 0")
        ends = product / x.mass
        factor = Range(Interval.of(ends.low), Interval.of(ends.high), 0 * ends)
        a = self._range(x)
        curve, reach = Curve.of(gates.inside, a, factor), (a.top + factor.top).max()
        each = rounding(gates, reach, (units.terms, 4), form)
        lost = (units.terms + 8) * bound_underflow(Interval.of(gates.outside) + 2) * 4
        lost = lost / gates.gain
        rounded = each * (1 / a.bottom).maximum(1 / factor.bottom)
        rounded = rounded + lost / (a.bottom * factor.bottom)
        astray = gates.astray(4, form)
        rounded = rounded + astray * (1 + curve.over + rounded)
        beside = x.beside * factor.top * (1 + curve.over) + lost
        beside = beside + each * x.beside.maximum(factor.top)
        beside = beside * (1 + astray) * np.asarray(x.letters == 0)
        mass = product * curve.factor(rounded)
        mass = mass.wider(2 * self._near(beside)) * gates.gain
        errors = x.apart(curve.apart(rounded))._replace(mass=mass)
        return errors._replace(beside=beside * gates.gain).noise(name)

    def belief(self, noise: FloatArray) -> tuple[Interval, Interval]:
        """Of what a held matrix makes of the start, after at least one letter.

        Returns:
            How far logarithms of what it is off by are apart; the mass.
        """
        x = Held.of(noise[:, 1:])
        passed = self._contract_columns(x, Interval.of(0.0))
        return passed.max(), x.mass.min().join_with(x.mass.max())

    def _near(self, beside: Interval) -> Interval:
        """The mass of what is where a matrix is 0."""
        return beside * (self.size * Interval.of(self.products.start).sum())

    def _range(self, x: Held) -> Range:
        """Between which numbers entries are.

        Raises:
            Refused: If one that is not 0 may be held as 0.
        """
        near, exact = self._near(x.beside), self._exact(x)
        least = exact.low.min(axis=(1, 2), initial=np.inf, where=exact.low > 0)
        ends = Interval(least, exact.high.max(axis=(1, 2))) * x.spread_range
        bottom = (Interval.of(x.mass.low) - near) * ends.low
        floor = (x.mass.high - near).maximum(0.0) * ends.low
        top = (x.mass.high + near) * ends.high
        demand(bottom > 0, "an entry may be held as 0")
        return Range(bottom, top.maximum(x.beside), top * top - floor * floor)

    def _exact(self, x: Held) -> Interval:
        """``(T + 1, n, n)``: exact entries, for a mass of 1."""
        exact, at = self.products, self.products.at(x.letters)
        whole = Interval.of(exact.start).sum()
        share = exact.share[at].where(x.letters[:, None] > 0, exact.start / whole)
        return (share / whole)[:, :, None].where(
            x.ended[:, None, None], exact.entries[at]
        )

    def _sums(self, x: Held) -> Interval:
        """The sum of a held column, without what is beside."""
        exact, whole = self.products, Interval.of(self.products.start).sum()
        sums = exact.columns[exact.at(x.letters)]
        sums = (1 / whole).where(x.ended, sums)
        return sums * x.mass.wider(self._near(x.beside)) * x.spread_range

    def _contract_columns(self, x: Held, apart: Interval) -> Interval:
        """How far apart a column becomes that is multiplied by x (Lemma W13e)."""
        tau = self.products.contraction[x.letters.astype(np.int64)]
        own = x.columns.minimum(x.spread)
        return own + (x.spread - own + apart) * np.where(x.ended, 0.0, tau)

    def _entries(self, x: Held) -> Interval:
        """``(T + 1, n, n)``: entries as they are held."""
        scale = x.mass.wider(self._near(x.beside)) * x.spread_range
        return self._exact(x) * scale[:, None, None]

    def _bound_rounding(
        self, x: Held, y: Held, each: Interval, lost: Interval
    ) -> Interval:
        """By how much of themselves entries are rounded if both factors are positive.

        A sum of k larger factors, in units of that of k products, is at most the largest
        such ratio of one k, and at most the ratio of bounds of both sums. Where the right
        factor is that of BOS this says nothing.
        """
        both = y.letters[:, None, None] > 0
        a, b = (self._entries(z).where(both, 1.0) for z in (x, y))
        demand((a > 0) & (b > 0), "an entry may be held as 0")
        made = Interval.of(a.low) @ b.low
        sums = a.sum(axis=2)[:, :, None] + b.sum(axis=1)[:, None]
        single = 1 / Interval.of(np.minimum(a.low, b.low).min(axis=(1, 2)))
        share = Interval.of((sums / made).high.max(axis=(1, 2))).minimum(single)
        least = Interval.of(made.low.min(axis=(1, 2)))
        return each * share + lost / least

    def _bound_with_start(
        self, x: Held, y: Held, curve: Curve, each: Interval, lost: Interval
    ) -> Interval:
        """The distance if the right factor is that of BOS, which may have rows near 0."""
        a, b, start = self._entries(x), self._range(y), self.products.start > 0
        rows = a[:, :, start].sum(axis=2).low
        lowest = rows.min(axis=1, initial=np.inf, where=rows > 0)
        least = b.bottom * Interval.of(lowest)
        support = int(np.count_nonzero(start))
        none = Interval.of(Fraction(self.size - support, support))
        others = none.where(x.ended, self.products.others[self.products.at(x.letters)])
        others = others * x.spread_range
        share = (1 + others) / b.bottom + self.size * b.top / least
        mixed = others * y.beside * (1 + curve.over) / b.bottom
        return each * share + lost / least + mixed

    def _beside(
        self, x: Held, y: Held, curve: Curve, each: Interval, lost: Interval
    ) -> Interval:
        """The error of entries where the product at BOS is 0."""
        top = self._range(y).top + x.beside
        column = (y.mass + self._near(y.beside)) * y.spread_range
        column = column / Interval.of(self.products.start).sum() + self.size * y.beside
        beside = x.beside * column * (1 + curve.over) + each * self.size * top + lost
        return beside * np.asarray((x.letters == 0) & ~self.products.start.all())


def prove_error(model: Model, program: Statement, said: Any) -> Established:
    """The error that can be shown.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source = StatedHiddenMarkov.from_wire(model.source)
    check_window(program)
    start = np.array(program.vector)
    demand(np.array_equal(start > 0, source.start > 0), "it starts elsewhere")
    begun = apart(start[None, :, None], source.start)
    operations = program.operations.values()
    letters = [o for o in operations if isinstance(o, LetterMatrix)]
    demand(len(letters) == 1, "letters have matrices in several channels")
    demand(letters[0].start == program.vector, "a word starts elsewhere")
    rows = letters[0].rows[:-1]
    metric = Projective.of(source.operators, start, rows, program.length)
    streams, looks = collect_streams(model, program, said, metric)
    error = _read_out(model, streams[-1], begun, metric).most
    inputs, facts = PossibleWords(program.length), metric.facts
    return Established(model.format, inputs, facts, error, streams, looks)


def _read_out(
    model: Model, stream: Stream, begun: Interval, metric: Projective
) -> Interval:
    """How far any output can be off; ``begun`` is how far the start is, in the metric."""
    start = metric.products.start
    channel = find_output_channel(model, stream, start)
    off, mass = metric.belief(stream.noise[channel.name])
    fits(mass, stream.form, "an output", INSIDE)
    rounded = sum_error(stream.form, int(np.count_nonzero(start)), mass)
    return abs(mass - 1) + mass * ((off + begun) / 4).through(np.tanh) + rounded
