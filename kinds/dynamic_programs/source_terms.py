"""The terms that numbers of a dynamic program are computed by, with their ranges.

A term is a tree over constants, numbers that were written before and inputs. Python
operators make further terms; of whole numbers they make whole numbers, so that what
depends on indices alone is known at once.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, NoReturn, TypeAlias

from krohn.program.domains import LARGEST
from krohn.program.errors import Refused, demand

MOST_FACTOR, MOST_NODES, DEEPEST = 64, 2000, 100
"""Values of the smaller factor of a product; nodes of a term, and how deep they are."""
MOST_ENTRIES = 1024
"""Entries of a table that an input chooses; values of a quotient."""


class Cell(NamedTuple):
    """A number of the text, an input, or a constant.

    Attributes:
        name: What it is called.
        place: Its place in the text, from 1; 0 for a constant.
        constant: The constant.
    """

    name: str
    place: int
    constant: int = 0


@dataclass(frozen=True, eq=False)
class Term:
    """A node of a tree.

    Attributes:
        kind: ``constant``, ``number`` and ``letter`` (a cell that is read), ``sum``,
            ``scaled``, ``quotient`` and ``remainder`` (by a constant), ``minimum``,
            ``maximum``, ``greater``, ``differs``, ``choice`` (1 says the second, 0 the
            third), ``product``, ``entry`` of a table,
            ``letter-place``: a letter as its place in its alphabet; ``letter-at``: the
            letter at such a place; ``minimum-if`` and
            ``maximum-if``: where the first is 1 of the second and the third, else the
            second; ``digits``: a number that was written in digits.
        inner: What it is computed from.
        low: The least that it can be.
        high: The greatest that it can be.
        detail: The factor of ``scaled``; the divisor of ``quotient`` and ``remainder``;
            all entries, in their order, of ``entry``; the first letter of ``letter-place``;
            the offset of ``digits``.
        cell: What is read.
        size: How many nodes it has.
        deep: How many are above one another.
    """

    kind: str
    inner: "tuple[Term, ...]"
    low: int
    high: int
    detail: int | tuple[int, ...] = 0
    cell: Cell | None = None
    size: int = 1
    deep: int = 1

    def __add__(self, other: "Value") -> "Term":
        first, second = numbers(self, other)
        low, high = first.low + second.low, first.high + second.high
        return make_term("sum", (first, second), low, high)

    __radd__ = __add__

    def __mul__(self, other: "Value") -> "Value":
        return multiply_values(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> "Term":
        return _scale_term(self, -1)

    def __sub__(self, other: "Value") -> "Term":
        return self + -other

    def __rsub__(self, other: int) -> "Term":
        return -self + other

    def __floordiv__(self, other: "Value") -> "Value":
        return quotient(self, other)

    def __mod__(self, other: "Value") -> "Value":
        return remainder(self, other)

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]
        return compare_values("==", self, other)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]
        return compare_values("!=", self, other)

    def __lt__(self, other: object) -> "Value":
        return compare_values("<", self, other)

    def __le__(self, other: object) -> "Value":
        return compare_values("<=", self, other)

    def __gt__(self, other: object) -> "Value":
        return compare_values(">", self, other)

    def __ge__(self, other: object) -> "Value":
        return compare_values(">=", self, other)

    def __and__(self, other: "Value") -> "Value":
        return both(self, other)

    def __or__(self, other: "Value") -> "Value":
        return either(self, other)

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> "Value":
        return 1 - bit(self)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> NoReturn:
        raise Refused(
            "a condition on the input has no truth value yet; join conditions by &, | "
            "and ~, and choose by choose(condition, a, b)"
        )

    @property
    def is_letter(self) -> bool:
        """Whether it is a letter, not a number."""
        return self.kind in ("letter", "letter-at")

    @property
    def has_digits(self) -> bool:
        """Whether a number is in it that is written in digits."""
        return any(node.kind == "digits" for node in self.nodes())

    def nodes(self) -> "Iterator[Term]":
        """Itself and all nodes below it, from the left, each before its own ones."""
        yield self
        for each in self.inner:
            yield from each.nodes()


Value: TypeAlias = Term | int
"""A number, or what will be one."""
Compared = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def constant(value: int) -> Term:
    """A whole number that may differ from cell to cell."""
    return make_term("constant", (), value, value)


def read(cell: Cell, low: int, high: int) -> Term:
    """A number of the text."""
    return make_term("number", (), low, high, cell=cell)


def make_term(
    kind: str,
    inner: tuple[Term, ...],
    low: int,
    high: int,
    detail: int | tuple[int, ...] = 0,
    cell: Cell | None = None,
) -> Term:
    """A node of a tree.

    Raises:
        Refused: If a number, or the tree, becomes too large.
    """
    demand(max(-low, high) < LARGEST, "a number can become too large")
    size = 1 + sum(each.size for each in inner)
    deep = 1 + max((each.deep for each in inner), default=0)
    demand(size <= MOST_NODES and deep <= DEEPEST, "an expression is too large")
    return Term(kind, inner, low, high, detail, cell, size, deep)


def numbers(*values: object) -> list[Term]:
    """Numbers as terms.

    Raises:
        Refused: If one is a letter, or none at all.
    """
    terms = []
    for value in values:
        if isinstance(value, int):
            terms.append(constant(value))
            continue
        demand(isinstance(value, Term), f"{value!r} is no number")
        assert isinstance(value, Term)
        demand(not value.is_letter, "this is a letter, not a number")
        terms.append(value)
    return terms


def are_fixed(*values: Value) -> bool:
    """Whether all are whole numbers that the indices alone decide."""
    return all(isinstance(v, int) for v in values)


def bit(value: Value) -> Value:
    """The term of a value that must be 0 or 1.

    Raises:
        Refused: If it can be something else.
    """
    (term,) = numbers(value)
    inside = 0 <= term.low and term.high <= 1
    demand(inside, f"a condition is 0 or 1; this is {term.low} to {term.high}")
    return value


def _scale_term(term: Term, factor: int) -> Term:
    (term,) = numbers(term)
    if term.kind == "constant":
        return constant(term.low * factor)
    ends = sorted((term.low * factor, term.high * factor))
    return make_term("scaled", (term,), ends[0], ends[1], factor)


def multiply_values(left: Value, right: Value) -> Value:
    """A product; of two unknown numbers the smaller one has few values.

    Raises:
        Refused: If both have many values.
    """
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if isinstance(left, int) or isinstance(right, int):
        term, factor = (right, left) if isinstance(left, int) else (left, right)
        assert isinstance(term, Term)
        assert isinstance(factor, int)
        return _scale_term(term, factor)
    first, second = sorted(numbers(left, right), key=lambda t: t.high - t.low)
    demand(
        first.high - first.low <= MOST_FACTOR or first.has_digits or second.has_digits,
        f"a product of two unknown numbers needs one with at most {MOST_FACTOR + 1} "
        f"values; these are {first.low} to {first.high} and {second.low} to "
        f"{second.high}",
    )
    ends = [
        x * y for x, y in product((first.low, first.high), (second.low, second.high))
    ]
    return make_term("product", (first, second), min(ends), max(ends))


def quotient(left: Value, right: Value) -> Value:
    """A whole division by a constant, rounded down.

    Raises:
        Refused: If the divisor is 0 or no constant.
    """
    divisor = _divisor(right)
    if isinstance(left, int):
        return left // divisor
    (term,) = numbers(left)
    if divisor < 0:
        return quotient(-term, -divisor)
    least, most = _ends_of_quotient(term, divisor)
    if least == most:
        return least
    return make_term("quotient", (term,), least, most, divisor)


def remainder(left: Value, right: Value) -> Value:
    """The remainder of a division by a constant; it has the sign of the divisor.

    Raises:
        Refused: If the divisor is 0 or no constant.
    """
    divisor = _divisor(right)
    if isinstance(left, int):
        return left % divisor
    (term,) = numbers(left)
    if divisor < 0:
        return 0 - remainder(-term, -divisor)
    least, most = _ends_of_quotient(term, divisor)
    if least == most:
        return term - divisor * least
    return make_term("remainder", (term,), 0, divisor - 1, divisor)


def _divisor(value: Value) -> int:
    if not isinstance(value, int):
        raise Refused(
            "the divisor of // or % is a constant, and this one depends on the input"
        )
    demand(
        value != 0,
        "this expression divides by 0; if only some inputs lead to that, decide before: "
        "if y == 0 then … else x // y",
    )
    return value


def _ends_of_quotient(term: Term, divisor: int) -> tuple[int, int]:
    return term.low // divisor, term.high // divisor


def _extreme(kind: str, choose: Callable[..., int], values: Sequence[Value]) -> Value:
    """A balanced tree of minima or maxima of two."""
    if are_fixed(*values) or len(values) == 1:
        return values[0] if len(values) == 1 else choose(values)
    half = (len(values) + 1) // 2
    sides = _extreme(kind, choose, values[:half]), _extreme(kind, choose, values[half:])
    left, right = numbers(*sides)
    low, high = choose(left.low, right.low), choose(left.high, right.high)
    return make_term(kind, (left, right), low, high)


def minimum(*values: Value) -> Value:
    """The least of some."""
    return _extreme("minimum", min, values)


def maximum(*values: Value) -> Value:
    """The greatest of some."""
    return _extreme("maximum", max, values)


def both(left: Value, right: Value) -> Value:
    """1 if both conditions hold, else 0."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int):
            return bit(other) if bit(one) else 0
    return maximum(bit(left) + bit(right) - 1, 0)


def either(left: Value, right: Value) -> Value:
    """1 if one of two conditions holds, else 0."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, int):
            return 1 if bit(one) else bit(other)
    return minimum(bit(left) + bit(right), 1)


def compare_values(sign: str, left: object, right: object) -> Value:
    """1 if a comparison holds, else 0.

    Raises:
        Refused: If a letter is compared with a number, or letters are ordered.
    """
    if isinstance(left, int) and isinstance(right, int):
        return int(Compared[sign](left, right))
    letters = [isinstance(x, Term) and x.is_letter for x in (left, right)]
    demand(letters[0] == letters[1], "a letter is compared with a number")
    if letters[0]:
        demand(sign in ("==", "!="), "letters are equal or not; they have no order")
        assert isinstance(left, Term)
        assert isinstance(right, Term)
        one, other = left, right
        if "letter-at" in (left.kind, right.kind):
            one, other = position(left, 0), position(right, 0)
    else:
        one, other = numbers(left, right)
    if sign in ("==", "!="):
        apart = _differs(one, other)
        return apart if sign == "!=" else 1 - apart
    if sign in ("<", ">="):
        one, other = other, one
    least, most = int(one.low > other.high), int(one.high > other.low)
    above = make_term("greater", (one, other), least, most)
    return above if sign in ("<", ">") else 1 - above


def _differs(left: Term, right: Term) -> Term:
    least = int(left.low > right.high or right.low > left.high)
    most = int(not left.low == left.high == right.low == right.high)
    return make_term("differs", (left, right), least, most)


# Terms that choose: by a condition, or by a number of the input in a table.


def choose(condition: Value, one: Value, zero: Value) -> Value:
    """``one`` where a condition holds, else ``zero``."""
    if isinstance(condition, int):
        demand(condition in (0, 1), f"a condition is 0 or 1, not {condition}")
        return one if condition else zero
    flag, first, second = numbers(bit(condition), one, zero)
    low, high = min(first.low, second.low), max(first.high, second.high)
    return make_term("choice", (flag, first, second), low, high)


def join_values(how: str, found: Value, new: Value, condition: Value = 1) -> Value:
    """``min``, ``max`` or ``sum`` of two numbers; the first where a condition fails.

    Raises:
        Refused: If there is no such way, or the condition can be no 0 or 1.
    """
    demand(how in ("min", "max", "sum"), f"numbers are not joined by {how!r}")
    if how == "sum":
        return found + choose(condition, new, 0)
    if isinstance(condition, int):
        extreme = minimum if how == "min" else maximum
        return extreme(found, new) if condition else found
    flag, first, second = numbers(bit(condition), found, new)
    low, high = first.low, max(first.high, second.high)
    if how == "min":
        low, high = min(first.low, second.low), first.high
    return make_term(f"{how}imum-if", (flag, first, second), low, high)


def entry(entries: Sequence[int], at: Value) -> Value:
    """The number of a table at a place from 0 that may depend on the input.

    Raises:
        Refused: If the place can be outside of the table.
    """
    (term,) = numbers(at)
    inside = 0 <= term.low and term.high < len(entries)
    demand(inside, "an index can be outside of its range")
    demand(
        len(entries) <= MOST_ENTRIES, f"a table has more than {MOST_ENTRIES} entries"
    )
    if isinstance(at, int):
        return entries[at]
    reachable_entries = entries[term.low : term.high + 1]
    return make_term(
        "entry", (term,), min(reachable_entries), max(reachable_entries), tuple(entries)
    )


def position(term: Term, first: int) -> Term:
    """A letter as a number: its place among those of its alphabet, from 0."""
    if term.kind == "letter-at":
        return term.inner[0] - first
    assert term.cell is not None
    return make_term(
        "letter-place", (term,), term.low - first, term.high - first, first
    )


def letter_at(place: Term) -> Term:
    """The letter at a place among all letters."""
    return make_term("letter-at", (place,), place.low, place.high)


def absolute(value: Value) -> Value:
    """A number without its sign."""
    if isinstance(value, int):
        return abs(value)
    (term,) = numbers(value)
    low, high = max(0, term.low, -term.high), max(-term.low, term.high)
    return make_term("maximum", (term, -term), low, high)
