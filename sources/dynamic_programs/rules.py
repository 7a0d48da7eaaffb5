"""Terms of one shape as one rule, with what each of them reads."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from krohn.program.errors import demand
from krohn.program.expressions import (
    Expression,
    argument,
    differs,
    gate,
    greater,
    maximum,
    minimum,
    number,
    rectified,
    value,
)
from krohn.sources.dynamic_programs.terms import Cell, Term

MOST_ATOMS, MOST_PAIRS = 4096, 1024
Ends: TypeAlias = list[tuple[int, int]]
Read: TypeAlias = tuple[Cell, bool]
"""What an argument is in one step, and whether that is a letter."""


def shape(term: Term) -> Hashable:
    """What terms of one rule have in common: all but the cells and the constants."""
    detail = () if term.kind in ("constant", "number", "letter") else term.detail
    return term.kind, detail, *map(shape, term.inner)


@dataclass
class Rule:
    """An expression for several terms of one shape.

    A constant that is not the same in all of them is an argument, as a number is that is
    read; its least value is added in the expression, since no argument is negative.

    Attributes:
        terms: The terms.
        expression: What they are, of arguments.
        reads: For each argument what it is in each term.
    """

    terms: Sequence[Term]
    expression: Expression = field(init=False)
    reads: list[tuple[Read, ...]] = field(init=False, default_factory=list)
    _at: int = 0

    def __post_init__(self) -> None:
        self._columns = list(zip(*(t.nodes() for t in self.terms), strict=True))
        self._slots: dict[int, Expression] = {}
        self._known: dict[tuple[Read, ...], Expression] = {}
        kinds = [column[0].kind for column in self._columns]
        for i, kind in enumerate(kinds):
            if kind in ("number", "letter"):
                self._slots[i] = self._read(self._columns[i])
        for i, kind in enumerate(kinds):
            if kind == "constant":
                self._slots[i] = self._constant([node.low for node in self._columns[i]])
        self.expression = self._built()
        if not self.reads:
            self.reads.append(((Cell("", 0), True),) * len(self.terms))

    def _read(self, column: Sequence[Term]) -> Expression:
        cells = [node.cell for node in column if node.cell is not None]
        if all(cell.place == 0 for cell in cells):
            return self._constant([cell.constant for cell in cells])
        return self._slot([(cell, column[0].kind == "letter") for cell in cells])

    def _constant(self, values: list[int]) -> Expression:
        least = min(values)
        if least == max(values):
            return number(least)
        cells = [(Cell("", 0, v - least), True) for v in values]
        return self._slot(cells) + least

    def _slot(self, reads: Sequence[Read]) -> Expression:
        key = tuple(
            (Cell("", cell.place, cell.constant), plain) for cell, plain in reads
        )
        if key not in self._known:
            self._known[key] = argument(len(self.reads))
            self.reads.append(key)
        return self._known[key]

    def _ends(self, i: int) -> tuple[int, int]:
        column = self._columns[i]
        return min(node.low for node in column), max(node.high for node in column)

    def _built(self) -> Expression:
        """The expression of the next node, and of all below it."""
        i = self._at
        self._at += 1
        node = self._columns[i][0]
        if i in self._slots:
            return self._slots[i]
        inner, ends = list[Expression](), Ends()
        for _ in node.inner:
            ends.append(self._ends(self._at))
            inner.append(self._built())
        found = _MADE[node.kind](node, inner, ends)
        demand(
            found.size <= MOST_ATOMS, "an expression is too large; say it in two steps"
        )
        return found


def _affine(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """A sum, a multiple, or a letter less the first one of its alphabet."""
    if node.kind == "sum":
        return inner[0] + inner[1]
    assert isinstance(node.detail, int)
    return inner[0] * node.detail if node.kind == "scaled" else inner[0] - node.detail


def _choice(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """``one`` where the bit is 1, else ``zero``: a gate for each that varies."""
    flag = value(inner[0])
    low = min(ends[1][0], ends[2][0])
    total = number(low)
    for bit, one, (_, most) in (
        (flag, inner[1], ends[1]),
        (1 - flag, inner[2], ends[2]),
    ):
        if (one - low).terms or one.constant > low:
            total = total + gate(one - low, bit, most - low)
    return value(total)


def _joined(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """max(x, y) or min(x, y) if a bit is 1, else x: one rectifier that the bit opens."""
    flag, x, y = value(inner[0]), inner[1], inner[2]
    if node.kind == "maximum-if":
        most = max(ends[2][1] - ends[1][0], 0)
        return value(x + rectified(y - x + most * flag - most))
    most = max(ends[1][1] - ends[2][0], 0)
    return value(x - rectified(x - y + most * flag - most))


def _product(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """x·y: y once for each value that x has reached, by a gate.

    Where one can be negative that would be a difference of large numbers, with bounds as
    large: then a line that bends at each pair of values.
    """
    (x, y), ((low, high), (least, most)) = inner, ends
    x, y, span = x - low, y - least, most - least + 1
    if min(low, least) < 0 and (high - low + 1) * span <= MOST_PAIRS:
        pairs = product(range(low, high + 1), range(least, most + 1))
        return _line([a * b for a, b in pairs], x * span + y)
    total = y * low + x * least + low * least
    for reached in range(1, high - low + 1):
        flag = value(greater(x, number(reached - 1)))
        total = total + gate(y, flag, most - least)
    return value(total)


def _entry(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """An entry of a table."""
    assert isinstance(node.detail, tuple)
    return _line(node.detail, inner[0])


def _line(entries: Sequence[int], at: Expression) -> Expression:
    """A function of a whole number from 0: a line that bends at each place."""
    total, slope = number(entries[0]), 0
    for k in range(len(entries) - 1):
        bent = entries[k + 1] - entries[k] - slope
        total, slope = total + bent * rectified(at - k), slope + bent
    return value(total)


_MADE: dict[str, Callable[[Term, list[Expression], Ends], Expression]] = {
    "sum": _affine,
    "scaled": _affine,
    "letter-place": _affine,
    "minimum": lambda node, inner, ends: minimum(*inner),
    "maximum": lambda node, inner, ends: maximum(*inner),
    "greater": lambda node, inner, ends: greater(*inner),
    "differs": lambda node, inner, ends: differs(*inner),
    "choice": _choice,
    "minimum-if": _joined,
    "maximum-if": _joined,
    "product": _product,
    "entry": _entry,
}
