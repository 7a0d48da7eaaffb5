"""Errors of positive matrices up to a common factor: Hilbert's projective metric.

Theorem W9 of docs/within.md, section 6. All bounds are rounded outwards.
"""

from dataclasses import dataclass

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import INFLATION, UNDERFLOW, Format
from krohn.verify.checker.matrix_errors import MatrixErrors
from krohn.verify.checker.normaliser import Normaliser
from krohn.verify.checker.positive_noise import Curve, Held, Range, logarithms, rounding
from krohn.verify.checker.positive_operators import EXTREME, PositiveOperators, ordinary
from krohn.verify.checker.product_gates import SLACK, Gates


@dataclass(frozen=True)
class Projective(MatrixErrors):
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
        demand((rows > 0) & np.isfinite(rows), "a matrix of a letter has an entry 0")
        demand(ordinary(rows), EXTREME)
        ratio = np.log(rows / operators)
        slack = 2.0**-50 * (1 + np.abs(ratio).max())
        apart = ratio.max(axis=(1, 2)) - ratio.min(axis=(1, 2))
        columns = (ratio.max(axis=1) - ratio.min(axis=1)).max()
        mass, whole = (rows @ start).sum(axis=1), start.sum() ** 2
        one = np.append(0.0, np.ones(length))
        held = Held(
            one,
            1 - one,
            one * (apart.max() + slack),
            one * (columns + slack),
            np.where(one, mass.min(), whole) / INFLATION,
            np.where(one, mass.max(), whole) * INFLATION,
            0 * one,
        )
        return cls(len(start), products, np.array(held))

    def told(self, noise: FloatArray) -> float:
        """The largest C: how far logarithms of errors of a column are apart."""
        return float(Held(*noise).columns.max())

    def embedded(self) -> FloatArray:
        """How letters were rounded."""
        return self.first

    def largest(self, noise: FloatArray) -> float:
        """The largest entry at any position."""
        return float(self._range(Held(*noise)).top.max())

    def fetched(
        self, noise: FloatArray, by: int, leak: float, astray: float
    ) -> FloatArray:
        """What other positions add is compared with the least entry."""
        at = np.maximum(np.arange(noise.shape[1]) - by, 0)
        x, stray = Held(*noise[:, at]), 4 * leak * self.largest(noise)
        off = astray + stray / self._range(x).bottom
        beside = (x.beside * (1 + astray) + stray) * (x.letters == 0)
        near = 2 * self._near(beside)
        found = x.scaled(x.low * (1 - off) - near, x.high * (1 + off) + near)
        found = found.apart(logarithms(off), logarithms(off))
        return found._replace(beside=beside * INFLATION).noise("a head")

    def multiplied(
        self, name: str, left: FloatArray, right: FloatArray, units: Gates, form: Format
    ) -> FloatArray:
        """The later factor on the left."""
        x, y = Held(*left), Held(*right)
        later = (x.letters > 0) | (y.letters == 0)
        demand(later, f"the left factor of {name!r} is no later one")
        a, b = self._range(x), self._range(y)
        reach, inside = float((a.top + b.top).max()), 1 if units.exact else 3
        curve = Curve.of(units.inside, a, b)
        each = rounding(units, reach, (inside, 4 * self.size), form)
        off = 4 * self.size * (8 * units.outside + 1) * UNDERFLOW / units.gain
        mixed = self._mixed(x, y, curve, each, off)
        moved = np.where(y.letters > 0, self._rounded(x, y, each, off), mixed)
        moved, beside = moved * INFLATION, self._beside(x, y, curve, each, off)
        low, high = self._sums(x)
        low = low * (y.low - self._near(y.beside)) * (1 - curve.under - moved)
        high = high * (y.high + self._near(y.beside)) * (1 + curve.over + moved)
        near, gain = self._near(beside), units.gain
        apart = curve.spread + logarithms(moved / (1 - curve.under))
        passed = self._contracted(x) * (x.spread + y.columns)
        columns = np.minimum(passed, x.spread - x.columns + y.spread)
        found = x.apart(y.spread + apart, columns + apart)
        found = found.scaled((low - near) * gain, (high + near) * gain)
        ended = np.maximum(x.ended, y.ended)
        letters, beside = x.letters + y.letters, beside * gain * INFLATION
        return found._replace(letters=letters, ended=ended, beside=beside).noise(name)

    def normalised(
        self, name: str, noise: FloatArray, units: Normaliser, form: Format
    ) -> FloatArray:
        """Every entry times one number: only gates move entries apart."""
        x, gates = Held(*noise), units.gates
        demand(np.array_equal(units.vector, self.products.start), "another mass is 1")
        sums = x.high + 2 * self._near(x.beside)
        (least, most), off = units.masses(x.low, x.high), units.astray(sums, form)
        least, most = least - x.high * off, most + x.high * off
        factor = Range(least / x.high, most / x.low, np.zeros_like(least))
        demand(least > 0, f"{name!r} may be made 0")
        a = self._range(x)
        curve = Curve.of(gates.inside, a, factor)
        reach = float((a.top + factor.top).max())
        each = rounding(gates, reach, (units.terms, 4), form)
        flushed = (units.terms + 8) * (gates.outside + 1) * 4 * UNDERFLOW / gates.gain
        rounded = each * np.maximum(1 / a.bottom, 1 / factor.bottom)
        rounded = (rounded + flushed / (a.bottom * factor.bottom)) / (1 - curve.under)
        moved = curve.spread + logarithms(rounded)
        beside = x.beside * factor.top * (1 + curve.over) + flushed
        beside = (beside + each * np.maximum(x.beside, factor.top)) * (x.letters == 0)
        near = 2 * self._near(beside)
        least = least * (1 - curve.under) * (1 - rounded) - near
        most = most * (1 + curve.over) * (1 + rounded) + near
        found = x.apart(moved, moved).scaled(least * gates.gain, most * gates.gain)
        return found._replace(beside=beside * gates.gain * INFLATION).noise(name)

    def belief(self, noise: FloatArray) -> tuple[float, float, float]:
        """Of what a held matrix makes of the start, after at least one letter.

        Returns:
            How far logarithms of what it is off by are apart; the least and the largest
            mass.
        """
        x = Held(*noise[:, 1:])
        mixed = x.columns + self._contracted(x) * x.spread
        apart = np.minimum(x.spread, mixed) * INFLATION
        return float(apart.max()), float(x.low.min()), float(x.high.max())

    def _near(self, beside: FloatArray) -> FloatArray:
        """The mass of what is where a matrix is 0."""
        mass = self.size * float(self.products.start.sum()) * INFLATION
        return np.asarray(beside * mass)

    def _range(self, x: Held) -> Range:
        """Between which numbers entries are."""
        near, (least, most) = self._near(x.beside), self._bounds(x)
        most = most.max(axis=(1, 2)) * np.exp(x.spread) * INFLATION
        least = least.min(axis=(1, 2), initial=np.inf, where=least > 0)
        least = least * np.exp(-x.spread) / INFLATION
        top, floor = (x.high + near) * most, np.maximum(x.high - near, 0) * least
        bottom, squares = (x.low - near) * least, top**2 - floor**2
        return Range(bottom, np.maximum(top, x.beside), squares)

    def _bounds(self, x: Held) -> FloatArray:
        """``(2, T + 1, n, n)``: below and above exact entries, for a mass of 1."""
        exact, at = self.products, self.products.at(x.letters)
        whole = exact.start.sum()
        share = np.where(
            x.letters[:, None] > 0, exact.share[:, at], exact.start / whole
        )
        ended = (
            share[..., None] / whole * np.array([1 / SLACK, SLACK])[:, None, None, None]
        )
        open_ = np.array([exact.least[at], exact.most[at]])
        return np.where(x.ended[:, None, None] > 0, ended, open_)

    def _sums(self, x: Held) -> tuple[FloatArray, FloatArray]:
        """Below and above the sum of a held column, without what is beside."""
        exact, at = self.products, self.products.at(x.letters)
        low = np.where(x.ended > 0, 1 / exact.start.sum(), exact.low.min(axis=1)[at])
        high = np.where(x.ended > 0, 1 / exact.start.sum(), exact.high.max(axis=1)[at])
        near, grown = self._near(x.beside), np.exp(x.spread) * INFLATION
        return low * (x.low - near) / grown, high * (x.high + near) * grown

    def _contracted(self, x: Held) -> FloatArray:
        tau = self.products.contraction[x.letters.astype(np.int64)]
        return np.where(x.ended > 0, 0.0, tau)

    def _entries(self, x: Held) -> FloatArray:
        """``(2, T + 1, n, n)``: below and above entries as they are held."""
        near = self._near(x.beside)
        scale = np.array([x.low - near, x.high + near])
        scale = scale * np.exp(np.array([[-1], [1]]) * x.spread)
        slack = np.array([1 / INFLATION, INFLATION])[:, None, None, None]
        return np.asarray(self._bounds(x) * scale[:, :, None, None] * slack)

    def _rounded(self, x: Held, y: Held, each: float, flushed: float) -> FloatArray:
        """By how much of themselves entries are rounded if both factors are positive.

        A sum of k larger factors, in units of that of k products, is at most the largest
        such ratio of one k, and at most the ratio of bounds of both sums.
        """
        a, b = self._entries(x), self._entries(y)
        made = a[0] @ b[0]
        sums = a[1].sum(axis=2)[:, :, None] + b[1].sum(axis=1)[:, None]
        each_k = np.maximum(1 / a[0].min(axis=(1, 2)), 1 / b[0].min(axis=(1, 2)))
        share = np.minimum((sums / made).max(axis=(1, 2)), each_k)
        return np.asarray(each * share + flushed / made.min(axis=(1, 2)))

    def _mixed(
        self, x: Held, y: Held, curve: Curve, each: float, flushed: float
    ) -> FloatArray:
        """The same if the right factor is that of BOS, which may have rows near 0."""
        a, b, start = self._entries(x), self._range(y), self.products.start > 0
        rows = a[0][:, :, start].sum(axis=2)
        least = rows.min(axis=1, initial=np.inf, where=rows > 0) * b.bottom
        held = int(np.count_nonzero(start))
        grown, none = np.exp(x.spread), self.size - held
        others = self.products.others[self.products.at(x.letters)]
        others = np.where(x.ended > 0, none / held, others) * grown
        share = (1 + others) / b.bottom + self.size * b.top / least
        mixed = others * y.beside * (1 + curve.over) / b.bottom
        return np.asarray(each * share + flushed / least + mixed)

    def _beside(
        self, x: Held, y: Held, curve: Curve, each: float, flushed: float
    ) -> FloatArray:
        """What is where the product at BOS is 0."""
        top = self._range(y).top + x.beside
        column = (y.high + self._near(y.beside)) * np.exp(y.spread)
        column = column / self.products.start.sum() + self.size * y.beside
        beside = x.beside * column * (1 + curve.over) + each * self.size * top + flushed
        return np.asarray(beside * (x.letters == 0) * ~self.products.start.all())
