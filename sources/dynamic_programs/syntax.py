"""The text form of dynamic programs: from lines to statements and expressions.

Nothing is computed here, and nothing is believed: what is malformed, nested too deep or
too long is refused with its line.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from krohn.program.errors import demand
from krohn.sources.dynamic_programs.lexemes import FOLDS, Words, statements_of

MOST_TEXT, MOST_DIGITS, DEEPEST, MOST_SIGNS = 2**16, 9, 30, 100
"""Characters of a text; digits of a number; nesting and operators of a line."""
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Node(NamedTuple):
    """An expression.

    Attributes:
        kind: ``number``, ``letter``, ``name``, ``cell``, ``fold``, ``item``, ``list``,
            ``letters``, ``range``, ``if``, ``not``, ``-`` (of one), or a sign of two.
        parts: What it is made of: nodes, and names.
    """

    kind: str
    parts: tuple[Any, ...]


class Statement(NamedTuple):
    """A line.

    Attributes:
        kind: Its first word; ``rule`` for a line of the recurrence.
        parts: What it is made of.
        line: Its number, from 1.
    """

    kind: str
    parts: tuple[Any, ...]
    line: int


def parse(text: str) -> list[Statement]:
    """The statements of a text.

    Raises:
        Refused: With the line that is malformed.
    """
    demand(len(text) <= MOST_TEXT, f"the text has more than {MOST_TEXT} characters")
    return [Line(lexemes).statement() for lexemes in statements_of(text)]


class Line(Words):
    """A statement that is being read."""

    def statement(self) -> Statement:
        """The whole line."""
        first = self.next
        kind = first.text if first.text in _STATEMENTS else "rule"
        self.at += kind != "rule"
        after = self.lexemes[min(self.at + 1, len(self.lexemes) - 1)]
        plain = kind != "rule" or first.kind != "name" or after.text == "["
        known = ", ".join(name for name in _STATEMENTS if name != "rule")
        demand(
            plain,
            f"{self.here}: no line begins with {self._next}; lines begin with {known}, or "
            "are about a cell, as D[i] = …",
        )
        parts = _STATEMENTS[kind](self)
        demand(
            self.next.kind == "end",
            f"{self.here}: nothing is known of {self._next} here",
        )
        return Statement(kind, tuple(parts), first.line)

    def definition(self) -> tuple[Any, ...]:
        """``name = value``, ``name = value in low..high``, ``name[ranges] = value``."""
        name = self.name()
        ranges = self.bracketed(self.dimension) if self.next.text == "[" else ()
        self.expect("=")
        value = self.expression()
        return name, ranges, value, self.range() if self.take("in") else None

    def dimension(self) -> Node:
        """A range, or the name of an alphabet."""
        first = self.sum()
        return self._ranged(first) if self.next.text == ".." else first

    def range(self) -> Node:
        """``low..high``."""
        return self._ranged(self.sum())

    def _ranged(self, low: Node) -> Node:
        self.expect("..")
        return Node("range", (low, self.sum()))

    def alphabet(self) -> Node:
        """Letters, or some from one to another, ``letters(n)``, or a name."""
        if self.take("letters"):
            self.expect("(")
            count = self.expression()
            self.expect(")")
            return Node("letters", (count,))
        first = self.dimension()
        letters = first if first.kind == "letter" else first.parts[0]
        if not isinstance(letters, Node) or letters.kind != "letter":
            return first
        others = self.several(self.dimension) if self.take(",") else ()
        return Node("list", (first, *others))

    def binder(self) -> tuple[str, Node]:
        """``i in low..high``."""
        name = self.name()
        self.expect("in")
        return name, self.range()

    def expression(self) -> Node:
        """Any expression."""
        self.deep += 1
        demand(self.deep <= DEEPEST, f"{self.here}: an expression is nested too deep")
        found = self._choice() if self.take("if") else self._joined("or")
        self.deep -= 1
        return found

    def _choice(self) -> Node:
        parts = [self.expression()]
        for word in ("then", "else"):
            self.expect(word)
            parts.append(self.expression())
        return Node("if", tuple(parts))

    def _joined(self, word: str) -> Node:
        below = self._negated if word == "and" else lambda: self._joined("and")
        return self._chained(below, word)

    def _negated(self) -> Node:
        turns = 0
        while self.take("not"):
            turns += 1
        found = self._comparison()
        return Node("not", (found,)) if turns % 2 else found

    def _comparison(self) -> Node:
        found, sign = self.sum(), self.next.text
        if not self.take(*COMPARISONS):
            return found
        found = Node(sign, (found, self.sum()))
        demand(
            self.next.text not in COMPARISONS, f"{self.here}: join comparisons by 'and'"
        )
        return found

    def sum(self) -> Node:
        """Without comparisons."""
        return self._chained(self._product, "+", "-")

    def _product(self) -> Node:
        return self._chained(self._signed, "*", "//", "%")

    def _chained(self, below: Callable[[], Node], *signs: str) -> Node:
        found = below()
        while (sign := self.next.text) and self.take(*signs):
            self.signs += 1
            demand(self.signs <= MOST_SIGNS, f"{self.here}: the line is too long")
            found = Node(sign, (found, below()))
        return found

    def _signed(self) -> Node:
        turns = 0
        while self.take("-"):
            turns += 1
        found = self.primary()
        return Node("minus", (found,)) if turns % 2 else found

    def primary(self) -> Node:
        """A number, a letter, a name, a cell, a fold, a list, or brackets."""
        lexeme = self.next
        if lexeme.kind in ("number", "letter"):
            self.at += 1
            short = len(lexeme.text) <= MOST_DIGITS or lexeme.kind == "letter"
            demand(short, f"line {lexeme.line}: a number has over {MOST_DIGITS} digits")
            return Node(lexeme.kind, (lexeme.text,))
        if self.take("("):
            found = self.expression()
            self.expect(")")
            return found
        if lexeme.text == "[":
            return Node("list", self.bracketed(self.expression))
        if self.take(*FOLDS):
            return self._fold(lexeme.text)
        name = self.name()
        if self.next.text == "[":
            return Node("cell", (name, self.bracketed(self.expression)))
        called = self.next.text == "("
        demand(
            not called, f"{self.here}: {name!r} is no function; {', '.join(FOLDS)} are"
        )
        return Node("name", (name,))

    def _fold(self, name: str) -> Node:
        self.expect("(")
        items = self.several(self._item)
        self.expect(")")
        return Node("fold", (name, items))

    def _item(self) -> Node:
        """``value``, or ``value for i in range … if condition``."""
        value, binders = self.expression(), list[tuple[str, Node]]()
        while self.take("for"):
            binders.append(self.binder())
        condition = self.expression() if binders and self.take("if") else None
        return Node("item", (value, tuple(binders), condition))


def _title(line: Line) -> tuple[Any, ...]:
    return (line.name(),)


def _named_letters(line: Line) -> tuple[Any, ...]:
    name = line.name()
    line.expect("=")
    return name, line.alphabet()


def _input(line: Line) -> tuple[Any, ...]:
    name, ranges = line.name(), line.bracketed(line.range)
    line.expect("of")
    return name, ranges, line.alphabet()


def _table(line: Line) -> tuple[Any, ...]:
    name, binders = line.name(), line.bracketed(line.binder)
    limits = line.range() if line.take("in") else None
    order = line.several(line.sum) if line.take("by") else ()
    limits = line.range() if limits is None and line.take("in") else limits
    return name, binders, order, limits


def _rule(line: Line) -> tuple[Any, ...]:
    name, indices = line.name(), line.bracketed(line.sum)
    line.expect("=")
    said = line.expression()
    return name, indices, said, line.expression() if line.take("when") else None


def _definitions(line: Line) -> tuple[Any, ...]:
    return line.several(line.definition)


def _answer(line: Line) -> tuple[Any, ...]:
    return (line.expression(),)


_STATEMENTS: dict[str, Callable[[Line], tuple[Any, ...]]] = {
    "name": _title,
    "size": _definitions,
    "option": _definitions,
    "let": _definitions,
    "alphabet": _named_letters,
    "input": _input,
    "table": _table,
    "answer": _answer,
    "rule": _rule,
}
