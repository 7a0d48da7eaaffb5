"""From the numbers of a dynamic program to rules, and to a chain of thought."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple, TypeAlias

from krohn.kinds.dynamic_programs.source_terms import (
    MOST_ENTRIES,
    Cell,
    Term,
)
from krohn.kinds.dynamic_programs.statement import (
    MOST_RULES,
    Argument,
    ChainOfThought,
    Step,
)
from krohn.program.errors import Refused, demand
from krohn.program.expressions import (
    Bounds,
    Expression,
    Interval,
    argument,
    greater,
    number,
    read_expression,
    rectify,
    value,
)
from krohn.program.whole_expressions import differs, gate, maximum, minimum

# Terms of one shape as one rule, with what each of them reads.


MOST_ATOMS = 4096
Ends: TypeAlias = list[tuple[int, int]]
Read: TypeAlias = tuple[Cell, bool]
"""An argument of one step, and whether it is a letter."""


def shape(term: Term) -> Hashable:
    """The form of a term: all but its cells and constants, which terms of a rule share."""
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
        expression = _MADE[node.kind](node, inner, ends)
        demand(
            expression.size <= MOST_ATOMS,
            "an expression is too large; say it in two steps",
        )
        return expression


def _affine(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """A sum, a multiple, or a letter less the first one of its alphabet."""
    if node.kind == "sum":
        return inner[0] + inner[1]
    assert isinstance(node.detail, int)
    return inner[0] * node.detail if node.kind == "scaled" else inner[0] - node.detail


def _gate(inside: Expression, bit: Expression, most: int) -> Expression:
    """A gate; where the bit is always the same there is none."""
    if bit.terms:
        return gate(inside, bit, most)
    return inside if bit.constant else number(0)


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
            total = total + _gate(one - low, bit, most - low)
    return value(total)


def _maximum_if(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """max(x, y) or min(x, y) if a bit is 1, else x: one rectifier that the bit opens."""
    flag, x, y = value(inner[0]), inner[1], inner[2]
    if node.kind == "maximum-if":
        most = max(ends[2][1] - ends[1][0], 0)
        return value(x + rectify(y - x + most * flag - most))
    most = max(ends[1][1] - ends[2][0], 0)
    return value(x - rectify(x - y + most * flag - most))


def _product(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """x·y: y once for each value that x has reached, by a gate.

    Where one can be negative this adds up large numbers of both signs, whose bounds are
    too far apart; so the sum is cut off where no product can be.
    """
    (x, y), ((low, high), (least, most)) = inner, ends
    x, y = value(x) - low, y - least
    total = y * low + x * least + low * least
    for reached in range(1, high - low + 1):
        flag = value(greater(x, number(reached - 1)))
        total = total + _gate(y, flag, most - least)
    if min(low, least) >= 0:
        return value(total)
    products = [a * b for a in (low, high) for b in (least, most)]
    first, last, uncut = min(products), max(products), value(total)
    return value(first + rectify(uncut - first) - rectify(uncut - last))


def _quotient(node: Term, inner: list[Expression], ends: Ends) -> Expression:
    """A whole division by a constant: a step at each of its multiples."""
    assert isinstance(node.detail, int)
    x, divisor, (low, high) = value(inner[0]), node.detail, ends[0]
    demand(
        high // divisor - low // divisor < MOST_ENTRIES,
        f"{low} to {high} divided by {divisor} has over {MOST_ENTRIES} values; write "
        "numbers in digits",
    )
    total = number(low // divisor)
    for reached in range(low // divisor + 1, high // divisor + 1):
        total = total + greater(x, number(reached * divisor - 1))
    if node.kind == "remainder":
        total = x - divisor * total
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
        total, slope = total + bent * rectify(at - k), slope + bent
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
    "minimum-if": _maximum_if,
    "maximum-if": _maximum_if,
    "product": _product,
    "quotient": _quotient,
    "remainder": _quotient,
    "entry": _entry,
}


# From the numbers of a dynamic program to a chain of thought.


BAR, COMMA, SEPARATOR, END = "|", ",", "<sep>", "<eos>"
MOST_NUMBERS = 2048


@dataclass(frozen=True)
class Input:
    """A part of the prompt.

    Attributes:
        name: What it is called.
        names: What each token is called.
        letters: Its letters; () if it holds numbers.
        ends: Of numbers the least and the greatest one.
    """

    name: str
    names: tuple[str, ...]
    letters: tuple[str, ...]
    ends: tuple[int, int]

    @property
    def count(self) -> int:
        """How many tokens it has."""
        return len(self.names)


class Number(NamedTuple):
    """A number of the text.

    Attributes:
        term: What it is computed as.
        name: What it is called.
        where: What messages say of its place in what the user wrote.
        limits: The least and the greatest number that there must be tokens for.
    """

    term: Term
    name: str
    where: str
    limits: Interval | None


class Comma(NamedTuple):
    """The end of a row."""


@dataclass(frozen=True)
class Way:
    """How one number is found: a rule with its arguments.

    Attributes:
        number: What is found.
        expression: The rule.
        reads: What each argument of it is.
    """

    number: Number
    expression: Expression
    reads: tuple[Read, ...]

    def shift_tokens(self, offset: int) -> "Way":
        """The way for a text in which the token of a number x is x + offset."""
        if not offset:
            return self
        numbers = [0 if plain else offset for _, plain in self.reads]
        moved = (
            self.expression.with_arguments(lambda i: argument(i) - numbers[i]) + offset
        )
        reads = [
            (
                cell if cell.place else cell._replace(constant=cell.constant + more),
                plain,
            )
            for (cell, plain), more in zip(self.reads, numbers, strict=True)
        ]
        return Way(self.number, moved, tuple(reads))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the step."""
        return tuple(Argument(cell.place, cell.constant) for cell, _ in self.reads)


def assemble_chain(
    name: str,
    inputs: Sequence[Input],
    written: Sequence[Number | Comma],
    final: Sequence[Term],
) -> ChainOfThought:
    """The chain of thought of a prompt, of numbers, and of an answer's tokens.

    Raises:
        Refused: If a number leaves its limits, or there is too much.
    """
    answer = [Number(term, "the answer", "", None) for term in final]
    items = [*written, Comma(), *answer, Comma()]
    ways = _ways([each for each in items if isinstance(each, Number)])
    alphabet = tuple(dict.fromkeys(x for i in inputs for x in i.letters))
    low, high = _range(inputs, alphabet, items, ways)
    signs = [BAR] * (len(inputs) > 1) + [COMMA] * (Comma() in written)
    signs += [SEPARATOR, END]
    names = (*map(str, range(low, high + 1)), *alphabet, *signs)
    _check_tokens(names, alphabet)
    numbers = high - low + 1
    ways = [way.shift_tokens(-low) for way in ways]
    rules = tuple(dict.fromkeys(way.expression for way in ways))
    demand(len(rules) <= MOST_RULES, f"there are {len(rules)} rules, over {MOST_RULES}")
    at, steps = iter(ways), list[Step]()
    for each, sign in zip(
        items,
        [*[COMMA] * len(written), SEPARATOR, *[""] * len(answer), END],
        strict=True,
    ):
        if isinstance(each, Comma):
            steps.append(Step(names.index(sign), 0, ()))
        else:
            way = next(at)
            steps.append(Step(None, rules.index(way.expression), way.arguments))
    prompt = _prompt(inputs, names, -low)
    return ChainOfThought(
        name=name,
        tokens=names,
        contents=(*range(numbers), *range(len(alphabet)), *[0] * len(signs)),
        numbers=numbers,
        prompt=prompt,
        rules=rules,
        steps=tuple(steps),
        answer=len(prompt) + len(steps) - len(answer),
    )


def _check_tokens(names: tuple[str, ...], alphabet: tuple[str, ...]) -> None:
    twice = next((n for n in alphabet if names.count(n) > 1), None)
    demand(
        twice is None,
        f"the letter {twice!r} is also another token: numbers are, {BAR!r} stands between "
        f"inputs and {COMMA!r} behind rows; choose another letter",
    )


def _prompt(
    inputs: Sequence[Input], names: tuple[str, ...], offset: int
) -> tuple[Interval, ...]:
    """The tokens that may stand at each place of the prompt."""
    places = list[Interval]()
    for i, each in enumerate(inputs):
        ends = each.ends[0] + offset, each.ends[1] + offset
        if each.letters:
            ends = names.index(each.letters[0]), names.index(each.letters[-1])
        places += [ends] * each.count
        places.append((names.index(SEPARATOR if i == len(inputs) - 1 else BAR),) * 2)
    return tuple(places)


def _find_repeats(term: Term) -> tuple[int, ...]:
    """The pattern of what a term reads, if reading a number twice makes it simpler: x − x.

    Such numbers have rules of their own; () for others. In a rule of two arguments it would
    be another function than the network is shown to compute where both are the same.
    """
    places = [n.cell.place for n in term.nodes() if n.cell is not None and n.cell.place]
    if len(set(places)) == len(places):
        return ()
    apart = Rule([_apart(term, count(1))]).expression
    if _units(Rule([term]).expression) == _units(apart):
        return ()
    return tuple(map(places.index, places))


def _apart(term: Term, places: Iterator[int]) -> Term:
    """The term, with copies of numbers so that all its places are different."""
    cell = term.cell
    if cell is not None and cell.place:
        return replace(term, cell=cell._replace(place=next(places)))
    return replace(term, inner=tuple(_apart(each, places) for each in term.inner))


def _units(expression: Expression) -> int:
    """How many terms max(e, 0) and values there are in an expression."""
    inside = (a.inside for a, _ in expression.terms if isinstance(a.inside, Expression))
    return sum(1 + _units(each) for each in inside)


def _ways(numbers: Sequence[Number]) -> list[Way]:
    """How each number is found: one rule for all of one shape."""
    groups = dict[Hashable, list[int]]()
    for i, each in enumerate(numbers):
        key = shape(each.term), _find_repeats(each.term)
        groups.setdefault(key, []).append(i)
    ways = dict[int, Way]()
    for members in groups.values():
        try:
            rule = Rule([numbers[i].term for i in members])
            read_expression(rule.expression.to_wire(), len(rule.reads))
        except Refused as reason:
            first = numbers[members[0]]
            raise Refused(f"{first.where}{first.name}: {reason}") from None
        for k, i in enumerate(members):
            reads = tuple(column[k] for column in rule.reads)
            ways[i] = Way(numbers[i], rule.expression, reads)
    return [ways[i] for i in range(len(numbers))]


def _range(
    inputs: Sequence[Input],
    alphabet: tuple[str, ...],
    said: Sequence[Number | Comma],
    ways: Sequence[Way],
) -> Interval:
    """The least and the greatest number that needs a token; 0 is between them.

    Raises:
        Refused: If a number leaves its limits, or there are too many numbers.
    """
    boxes, low, high = [(0, 0)], 0, 0
    for one in inputs:
        ends = one.ends
        if one.letters:
            ends = alphabet.index(one.letters[0]), alphabet.index(one.letters[-1])
        else:
            low, high = min(low, ends[0]), max(high, ends[1])
        boxes += [*[ends] * one.count, (0, 0)]
    known, at = dict[tuple[Expression, tuple[Interval, ...]], Interval](), iter(ways)
    for each in said:
        if isinstance(each, Comma):
            boxes.append((0, 0))
            continue
        way = next(at)
        box = tuple(
            boxes[c.place] if c.place else (c.constant,) * 2 for c, _ in way.reads
        )
        key = way.expression, box
        if key not in known:
            known[key] = Bounds(dict(enumerate(box))).of(way.expression)
        boxes.append(_inside(each, known[key]))
        least, most = each.limits or boxes[-1]
        constants = (c.constant for c, plain in way.reads if not (plain or c.place))
        low, high = min(low, least, *constants), max(high, most)
        demand(
            high - low < MOST_NUMBERS,
            f"{each.where}{each.name} can be {boxes[-1][0]} to {boxes[-1][1]}; there are "
            f"at most {MOST_NUMBERS} numbers, each a token of its own; bound it by min or "
            "max, or write numbers in digits of a small base, as by the line 'digits 10'",
        )
    return low, high


def _inside(number: Number, ends: Interval) -> Interval:
    """Bounds of a number, which must be within its limits."""
    least, most = number.limits or ends
    demand(
        least <= ends[0] and ends[1] <= most,
        f"{number.where}{number.name} can be {ends[0]} to {ends[1]}, and the table says "
        f"{least}..{most}; where you know better, bound it by min or max",
    )
    return ends
