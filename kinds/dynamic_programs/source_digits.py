"""Wide numbers as several tokens: sums, minima and comparisons digit by digit.

A number x is written as digits d of x − o = Σ d[k]·B^k, the least significant one first; o
is the offset, which is negative where x can be. A sum is added up from the right, modulo
a power of B that is above all that it can be, so that negative terms are complements. Each
carry is a token, and so are the borrows of a comparison: no rule grows with the digits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from krohn.kinds.dynamic_programs.source_terms import (
    Term,
    Value,
    both,
    choose,
    compare_values,
    constant,
    entry,
    make_term,
    minimum,
    multiply_values,
    numbers,
    quotient,
    remainder,
)
from krohn.program.errors import demand

WIDEST, FACTOR = 32, 4
"""So many times the base can be what an expression says, or a product, without digits."""
Say: TypeAlias = Callable[[Value, str], Term]
"""Writes a number that has a token; what it is called is added to the name of a cell."""


def digits_of(places: Sequence[Term], low: int, high: int, offset: int = 0) -> Term:
    """A number of so many digits, the least significant one first."""
    return make_term("digits", tuple(places), low, high, offset)


def count_digits(number: int, base: int) -> int:
    """How many digits a number from 0 on has, at least one."""
    count = 1
    while number >= base**count:
        count += 1
    return count


@dataclass(frozen=True)
class Lowering:
    """From terms of wide numbers to tokens that are digits.

    Attributes:
        base: B, the base of the digits.
        say: How a token is written.
    """

    base: int
    say: Say

    def lower_term(self, term: Term) -> Term:
        """The number as digits that are written, or as an expression for one token."""
        narrow_term = self.narrow(term)
        small = -self.base < narrow_term.low and narrow_term.high < self.base
        return (
            narrow_term
            if small and narrow_term.kind != "digits"
            else self.digits(narrow_term)
        )

    def narrow(self, term: Term) -> Term:
        """The number as digits that are written, or as an expression without digits.

        Raises:
            Refused: If there is no such operation on digits.
        """
        if term.kind in ("digits", "constant", "number", "letter"):
            return term
        if term.kind in ("sum", "scaled"):
            return self._sum(term)
        inner = tuple(map(self.narrow, term.inner))
        wide = any(each.kind == "digits" for each in inner)
        widest = (FACTOR if term.kind == "product" else WIDEST) * self.base
        if not wide and term.high - term.low < widest:
            return replace(term, inner=inner)
        match term.kind:
            case "greater" | "differs":
                return self._compare_terms(term.kind, *inner)
            case "minimum" | "maximum":
                above = self._greater(*inner)
                first, second = inner if term.kind == "maximum" else inner[::-1]
                return self._choice((above, first, second), term)
            case "minimum-if" | "maximum-if":
                return self._join_extreme(inner, term)
            case "choice":
                return self._choice(inner, term)
            case "product":
                return self._product(inner, term)
            case "entry":
                return self._entry(inner[0], term)
        return self._divide_number(inner[0], term)

    def digits(self, term: Term) -> Term:
        """A number as digits: those that it has, or those of an expression."""
        if term.kind == "digits":
            return term
        least = term.low
        return self._carry_rows([term - least], least, (term.low, term.high))

    def plain(self, term: Term) -> Term:
        """Digits of a number that is not negative, without an offset."""
        digits = self.digits(term)
        if digits.detail == 0:
            return digits
        assert isinstance(digits.detail, int)
        return self._carry_rows(digits.inner, digits.detail, (digits.low, digits.high))

    def _carry_rows(
        self, rows: Sequence[Value], offset: int, ends: tuple[int, int]
    ) -> Term:
        """The digits of offset + Σ rows[k]·B^k, where no row is negative."""
        base, (low, high) = self.base, ends
        target = min(low, 0)
        count = count_digits(high - target, base)
        added, carry, digits = (
            (offset - target) % base**count,
            constant(0),
            list[Term](),
        )
        for k in range(count):
            row = self._plain_row(rows[k]) if k < len(rows) else constant(0)
            total = row + constant(added // base**k % base) + carry
            digits.append(self.say(remainder(total, base), f" digit {k}"))
            if k < count - 1:
                carry = self.say(quotient(total, base), " carry")
        return digits_of(digits, low, high, target)

    def _plain_row(self, row: Value) -> Term:
        """The sum, made of numbers that are written.

        Each step at a multiple of B has the noise of all summands; tokens have none.
        """
        parts, added = _linear(numbers(row)[0], 1)
        total = constant(added)
        for factor, part in parts:
            total = total + factor * self.say(part, " part")
        return total

    def _sum(self, term: Term) -> Term:
        parts, added = _linear(term, 1)
        summands = [(factor, self.narrow(each)) for factor, each in parts]
        plain = all(each.kind != "digits" for _, each in summands)
        if plain and term.high - term.low < WIDEST * self.base:
            total: Value = added
            for factor, each in summands:
                total = total + factor * each
            return numbers(total)[0]
        rows = list[Value]()
        for factor, each in summands:
            places, low = self._positive(factor, each)
            added += low
            rows += [0] * (len(places) - len(rows))
            for k, place in enumerate(places):
                rows[k] = rows[k] + place
        return self._carry_rows(rows, added, (term.low, term.high))

    def _positive(self, factor: int, term: Term) -> tuple[list[Value], int]:
        """A multiple as digits that are not negative, by complements, and the rest."""
        top = self.base - 1
        if term.kind != "digits":
            least = factor * (term.low if factor > 0 else term.high)
            return [factor * term - least], least
        assert isinstance(term.detail, int)
        rest = factor * term.detail
        if factor > 0:
            return [factor * place for place in term.inner], rest
        rest += factor * (self.base ** len(term.inner) - 1)
        return [-factor * (top - place) for place in term.inner], rest

    def _align_digits(self, *terms: Term) -> tuple[list[Term], ...]:
        """The digits of numbers, as many of each, with one offset, and the offset."""
        numerals = [self.digits(each) for each in terms]
        low, high = (
            min(each.low for each in numerals),
            max(each.high for each in numerals),
        )
        target = min(low, 0)
        count = count_digits(high - target, self.base)
        rows = list[list[Term]]()
        for each in numerals:
            if each.detail != target or len(each.inner) > count:
                assert isinstance(each.detail, int)
                each = self._carry_rows(each.inner, each.detail, (target, high))
            padding = [constant(0)] * (count - len(each.inner))
            rows.append([*each.inner, *padding])
        return (*rows, [constant(target)])

    def _greater(self, left: Term, right: Term) -> Term:
        """1 where left > right: it borrows from beyond the last digit of the right."""
        first, second, _ = self._align_digits(left, right)
        borrow = constant(0)
        for one, other in zip(first, second, strict=True):
            (above,) = numbers(compare_values(">", one + borrow, other))
            borrow = self.say(above, " borrow")
        return borrow

    def _compare_terms(self, kind: str, left: Term, right: Term) -> Term:
        if kind == "greater":
            return self._greater(left, right)
        first, second, _ = self._align_digits(left, right)
        apart: Value = 0
        for one, other in zip(first, second, strict=True):
            apart = apart + compare_values("!=", one, other)
        return numbers(minimum(apart, 1))[0]

    def _choice(self, inner: Sequence[Term], term: Term) -> Term:
        flag, one, zero = inner
        first, second, (offset,) = self._align_digits(one, zero)
        flag = self.say(flag, " choice")
        pairs = zip(first, second, strict=True)
        digits = [
            self.say(choose(flag, x, y), f" digit {k}")
            for k, (x, y) in enumerate(pairs)
        ]
        return digits_of(digits, term.low, term.high, offset.low)

    def _join_extreme(self, inner: Sequence[Term], term: Term) -> Term:
        flag, best, new = inner
        pair = (new, best) if term.kind == "maximum-if" else (best, new)
        flag, above = self.say(flag, " condition"), self._greater(*pair)
        (taken,) = numbers(both(flag, above))
        return self._choice((taken, new, best), term)

    def _product(self, inner: Sequence[Term], term: Term) -> Term:
        """A product digit by digit: for each digit of one factor the other is added."""
        left, right = inner
        demand(
            min(left.low, right.low) >= 0,
            "a factor of a product in digits can be negative; add a number to it",
        )
        if right.kind != "digits" and right.high < self.base:
            left, right = right, left
        small = left.kind != "digits" and left.high < self.base
        places = (left,) if small else self.plain(left).inner
        right, total = self.plain(right), constant(0)
        for i, digit in enumerate(places):
            rows: list[Value] = [
                *[0] * i,
                *(multiply_values(digit, place) for place in right.inner),
            ]
            for k, place in enumerate(total.inner):
                rows[k] = rows[k] + place
            high = total.high + digit.high * right.high * self.base**i
            total = self._carry_rows(rows, 0, (0, min(high, term.high)))
        return total

    def _divide_number(self, number: Term, term: Term) -> Term:
        """A division by a constant, by a division of digits for each of its factors."""
        divisor = term.detail
        assert isinstance(divisor, int)
        # Of a number that can be negative, a multiple of the divisor more is divided.
        below = max(0, -(number.low // divisor))
        added = below * divisor
        parts = self.digits(number)
        assert isinstance(parts.detail, int)
        if parts.detail or added:
            ends = number.low + added, number.high + added
            parts = self._carry_rows(parts.inner, parts.detail + added, ends)
        whole, rest = parts, constant(0)
        for factor in _factors(divisor, self.base):
            whole, rest = self._divided_digits(whole, factor)
        if term.kind == "quotient":
            ends = term.low, term.high
            return self._carry_rows(whole.inner, -below, ends) if below else whole
        if len(_factors(divisor, self.base)) == 1:
            return rest
        (left,) = numbers(parts - divisor * whole)
        return self._sum(replace(left, low=0, high=divisor - 1))

    def _divided_digits(self, number: Term, divisor: int) -> tuple[Term, Term]:
        """Digits without an offset, divided as on paper; and the remainder."""
        high, rest, digits = number.high // divisor, constant(0), list[Term]()
        if divisor == self.base:
            digits, rest = list(number.inner[1:]) or [constant(0)], number.inner[0]
            return digits_of(digits, 0, high), rest
        for k, place in reversed([*enumerate(number.inner)]):
            total = self.base * rest + place
            digit = self.say(quotient(total, divisor), f" digit {k}")
            rest = self.say(remainder(total, divisor), " rest")
            digits.insert(0, digit)
        return digits_of(digits[: count_digits(high, self.base)], 0, high), rest

    def _entry(self, at: Term, term: Term) -> Term:
        """An entry of a table of wide numbers: the digits of each are tables."""
        assert isinstance(term.detail, tuple)
        demand(at.kind != "digits", "an index stands in digits")
        target = min(term.low, 0)
        digits = list[Term]()
        for k in range(count_digits(term.high - target, self.base)):
            column = [(e - target) // self.base**k % self.base for e in term.detail]
            digits.append(self.say(entry(column, at), f" digit {k}"))
        return digits_of(digits, term.low, term.high, target)


def _factors(number: int, base: int) -> list[int]:
    """Factors of a number, the base first, which costs nothing; no other is too large.

    Raises:
        Refused: If it has a prime factor that is.
    """
    factors = list[int]()
    while number > 1:
        # Small ones last, as they are preferred: a step's noise grows with its divisor.
        tried = (*range(WIDEST, WIDEST // 2, -1), *range(2, WIDEST // 2 + 1), base)
        able = [f for f in tried if number % f == 0]
        demand(
            bool(able),
            f"a number in digits is divided by products of numbers up to {WIDEST}, and "
            f"{number} is none",
        )
        factors.append(able[-1])
        number //= able[-1]
    return factors


def _linear(term: Term, factor: int) -> tuple[list[tuple[int, Term]], int]:
    """A term as a sum of multiples of others that are no sums, and a constant."""
    if term.kind == "constant":
        return [], factor * term.low
    if term.kind == "scaled":
        assert isinstance(term.detail, int)
        return _linear(term.inner[0], factor * term.detail)
    if term.kind == "sum":
        (first, one), (second, other) = (_linear(t, factor) for t in term.inner)
        return [*first, *second], one + other
    return [(factor, term)], 0
