"""The text of a dynamic program: its syntax, tables of given numbers, expressions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial, reduce
from pathlib import Path
from typing import Any, TypeAlias

from krohn.kinds.dynamic_programs.source_cases import (
    Fact,
    NumberTable,
    cases,
    facts,
)
from krohn.kinds.dynamic_programs.source_dynamic_program import (
    DynamicProgram,
    Table,
    so_far,
)
from krohn.kinds.dynamic_programs.source_terms import (
    Cell,
    Term,
    Value,
    absolute,
    are_fixed,
    bit,
    both,
    choose,
    compare_values,
    either,
    join_values,
    letter_at,
    maximum,
    minimum,
    numbers,
    position,
    quotient,
    read,
    remainder,
)
from krohn.program.domains import LARGEST
from krohn.program.errors import Refused, demand
from krohn.program.parsing import Language, Misread, Node

# The text form of dynamic programs: its grammar, and what is said of wrong lines.


MOST_TEXT, MOST_DIGITS = 2**16, 9
"""Characters of a text; digits of a number."""
HEADS = (
    *("name", "size", "option", "let", "digits", "alphabet", "input", "table"),
    "answer",
)
"""The words that begin a line."""
_NAMES = ("WORD", "LETTERS", *map(str.upper, HEADS))
_LANGUAGE = Language(
    Path(__file__).with_name("grammar.lark"),
    phrases={
        "a value": (
            *("NUMBER", "LETTER", "FOLD", "ABS", "LPAR", "LSQB", "MINUS", "IF", "NOT"),
            *_NAMES,
        ),
        "a name": _NAMES,
        "an operator": (
            *("PLUS", "MINUS", "STAR", "DIVIDED", "PERCENT", "COMPARED", "AND", "OR"),
        ),
    },
    hints={
        ("COMPARED", "AND"): "; join comparisons by 'and'",
        (
            "LPAR",
            "LSQB",
        ): "; indices stand in [ ], and functions are min, max, sum and abs",
        ("/", ""): "; whole division is written //",
        (".", ""): "; numbers are whole",
    },
)


def parse(text: str) -> Sequence[Node]:
    """The statements of a text.

    Raises:
        Refused: With the line that is malformed.
    """
    demand(len(text) <= MOST_TEXT, f"the text has more than {MOST_TEXT} characters")
    lines = text.splitlines()
    try:
        return _LANGUAGE.parse("\n".join([*lines, ""])).parts
    except Misread as wrong:
        head = "".join(lines[wrong.line - 1].split()[:1])
        if wrong.expected == ("'['",) and head not in HEADS:
            near = get_close_matches(head, HEADS, 1)
            meant = f" ({near[0]}?)" if near else ""
            raise Refused(
                f"line {wrong.line}: no line begins with {head!r}{meant}; lines begin "
                f"with {', '.join(HEADS)}, or are about a cell, as D[i] = …"
            ) from None
        raise


# The values of expressions of a text, with the names of indices in their scope.


Scope: TypeAlias = Mapping[str, int]
Index: TypeAlias = tuple[int, ...]
NUMBERED = "number letters by a table, as in: let place[base] = [1, 2, 3, 4]"
MOST_WORK = 2**19
"""Expressions that are evaluated."""


@dataclass
class Evaluator:
    """The meanings of names while a text is read.

    Attributes:
        program: What is made.
        constants: Numbers by name.
        arrays: Tables of numbers by name.
        tables: Tables and inputs by name.
        indices: The cells of each table, whether computed yet or not.
        to_come: Tables by name, whether there yet or not, and the line of each.
        cell: What is being computed.
        held: The conditions on the input that hold where an expression counts.
        missing: What is read and not computed yet, if that is to be found out.
        spent: How much was evaluated.
    """

    program: DynamicProgram
    constants: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, NumberTable] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    indices: dict[str, dict[Index, None]] = field(default_factory=dict)
    to_come: dict[str, int] = field(default_factory=dict)
    cell: str = ""
    held: tuple[Fact, ...] = ()
    missing: list[tuple[str, Index]] | None = None
    spent: int = 0

    def scopes(self, binders: Sequence[Node], scope: Scope) -> Iterator[dict[str, int]]:
        """The names of indices in each of their ranges, the first one outermost."""
        if not binders:
            yield dict(scope)
            return
        first, *rest = binders
        name, limits = first.parts
        demand(
            limits.kind == "range", f"an index runs over numbers, as 1..3; {NUMBERED}"
        )
        low, high = self.ends(limits, scope)
        demand(
            not self.is_number(name),
            f"{name!r} is the name of a number that is said above; call the index "
            "otherwise",
        )
        for i in range(low, high + 1):
            self._spend()
            yield from self.scopes(rest, {**scope, name: i})

    def is_number(self, name: str) -> bool:
        """Whether a name is that of one number: a constant, or an input without indices."""
        return name in self.constants or () in self.indices.get(name, ())

    def ends(self, node: Node, scope: Scope) -> tuple[int, int]:
        """The two ends of a range."""
        low, high = (self.whole(each, scope) for each in node.parts)
        return low, high

    def whole(self, node: Node, scope: Scope) -> int:
        """A number that indices and constants alone decide.

        Raises:
            Refused: If it depends on the input.
        """
        number = self.value(node, scope)
        if not isinstance(number, int):
            raise Wrong("this number must not depend on the input", node)
        return number

    def _spend(self) -> None:
        self.spent += 1
        demand(self.spent <= MOST_WORK, "the table is too large to be computed")

    def value(self, node: Node, scope: Scope) -> Value:
        """The value of an expression.

        Raises:
            Wrong: With the innermost expression that is wrong.
            Later: If it reads a cell that is not computed yet.
        """
        self._spend()
        try:
            if node.kind not in _SIGNS:
                return _KINDS[node.kind](self, node.parts, scope)
            result = _SIGNS[node.kind](
                *(self.value(each, scope) for each in node.parts)
            )
            small = not isinstance(result, int) or abs(result) < LARGEST
            demand(small, "a number is too large")
            return result
        except Wrong as wrong:
            wrong.node = wrong.node or node
            raise
        except Refused as reason:
            raise Wrong(str(reason), node) from None

    def _number(self, parts: tuple[str], scope: Scope) -> Value:
        short = len(parts[0]) <= MOST_DIGITS
        demand(short, f"a number has over {MOST_DIGITS} digits")
        return int(parts[0])

    def _letter(self, parts: tuple[str], scope: Scope) -> Value:
        return self.program.letter(parts[0][1:-1])

    def _name(self, parts: tuple[str], scope: Scope) -> Value:
        (name,) = parts
        known = {**self.constants, **scope}
        if name not in known and self.is_number(name):
            return self._read(name, ())
        letter = "; letters stand in quotes, as 'a'" if len(name) == 1 else ""
        demand(name in known, f"there is no {name!r}{letter}")
        return known[name]

    def _cell(self, parts: tuple[Any, ...], scope: Scope) -> Value:
        name, *indices = parts
        at = [self.value(each, scope) for each in indices]
        if name in self.arrays:
            return self.arrays[name].at(at, self.program.alphabet)
        if name not in self.tables:
            raise Refused(f"the table {name!r} {self._missing_table(name)}")
        letter = any(isinstance(each, Term) and each.is_letter for each in at)
        demand(
            not letter, f"an index of {name!r} is a number, not a letter; {NUMBERED}"
        )
        if not are_fixed(*at):
            hint = "; where the input decides, a condition before can keep it inside: "
            hint += "if … then … else …"
            return self._by_cases(at, partial(self._read, name, hint=hint))
        return self._read(name, tuple(i for i in at if isinstance(i, int)))

    def _by_cases(
        self, at: Sequence[Value], read_at: Callable[[Index], Value]
    ) -> Value:
        """A number at indices that depend on the input: one case after the other.

        Each result on the way is written, so that each step reads few places.
        """
        for each in at:
            numbers(each)
        indices = cases(at, self.held)
        if not indices:
            raise Never("no input leads here")
        values = [read_at(index) for index in indices]
        letters = [isinstance(v, Term) and v.is_letter for v in values]
        if all(letters):
            values = [position(v, 0) for v in values if isinstance(v, Term)]
        result, *others = numbers(*values)
        for index, new in zip(indices[1:], others, strict=True):
            same = new.low == new.high == result.low == result.high
            if not (same or new.cell == result.cell is not None):
                here = reduce(both, map(partial(compare_values, "=="), at, index))
                number = choose(here, new, result)
                result = self.program.write(number, so_far(self.cell))
        return letter_at(result) if all(letters) else result

    def _read(self, name: str, index: Index, hint: str = "") -> Value:
        table = self.tables[name]
        sides = len(next(iter(self.indices[name])))
        demand(len(index) == sides, f"{name!r} has {sides} indices, not {len(index)}")
        inside = index in self.indices[name]
        demand(inside, f"{table.name_cell(index)} is outside of {name!r}{hint}")
        if index in table.cells:
            return table.cells[index]
        if self.missing is None:
            raise Later(name, index)
        self.missing.append((name, index))
        return read(Cell("", 0), 0, 1)

    def _missing_table(self, name: str) -> str:
        """Why there is no table of a name."""
        if name not in self.to_come:
            return "is not there"
        reason = f"is not there yet: its line 'table {name}[…]' is"
        if not self.to_come[name]:
            return f"{reason} missing"
        own = self.cell.partition("[")[0]
        reason += f" line {self.to_come[name]}, which is later"
        together = (
            f"; tables that read each other are filled together: table {own}, {name}[…]"
        )
        return reason + together * (own in self.tables)

    def _compare_values(self, parts: tuple[Node, str, Node], scope: Scope) -> Value:
        left, sign, right = parts
        return compare_values(sign, self.value(left, scope), self.value(right, scope))

    def _if(self, parts: tuple[Node, Node, Node], scope: Scope) -> Value:
        condition = self.value(parts[0], scope)
        if isinstance(condition, int):
            return self.value(parts[1 if condition else 2], scope)
        one = self._where(condition, 1, parts[1], scope)
        zero = self._where(condition, 0, parts[2], scope)
        if one is None or zero is None:
            return self._some(one, zero)
        return choose(condition, one, zero)

    @staticmethod
    def _some(*values: Value | None) -> Value:
        """The one that some input leads to."""
        value = next((v for v in values if v is not None), None)
        if value is None:
            raise Never("no input leads here")
        return value

    def _where(
        self, condition: Value, holds: int, node: Node, scope: Scope
    ) -> Value | None:
        """An expression where a condition holds, or fails; None if it always does not."""
        before = self.held
        (term,) = numbers(condition)
        self.held = (*before, *facts(term, holds))
        try:
            return self.value(node, scope)
        except Never:
            return None
        finally:
            self.held = before

    def _and(self, parts: tuple[Node, Node], scope: Scope) -> Value:
        first = self.value(parts[0], scope)
        if isinstance(first, int) and bit(first) == 0:
            return 0
        second = self._where(first, 1, parts[1], scope)
        return 0 if second is None else both(first, second)

    def _or(self, parts: tuple[Node, Node], scope: Scope) -> Value:
        first = self.value(parts[0], scope)
        if isinstance(first, int) and bit(first) == 1:
            return 1
        second = self._where(first, 0, parts[1], scope)
        return 1 if second is None else either(first, second)

    def _absolute(self, parts: tuple[Node], scope: Scope) -> Value:
        return absolute(self.value(parts[0], scope))

    def _divide_values(
        self,
        parts: tuple[Node, Node],
        scope: Scope,
        divide: Callable[[Value, Value], Value],
    ) -> Value:
        """A quotient or a remainder; the divisor may depend on the input."""
        left, right = (self.value(each, scope) for each in parts)
        if isinstance(right, int):
            return divide(left, right)
        return self._by_cases([right], lambda divisor: divide(left, divisor[0]))

    def _fold_items(self, parts: tuple[Any, ...], scope: Scope) -> Value:
        how, *groups = parts
        items = [x for each in groups for x in self._items(each.parts, scope)]
        if any(len(each.parts) > 1 for each in groups):
            known = [x for x in items if x[1] is not None]
            if how == "sum":
                known = [(0, None), *known]
            given = [x if c is None else (x, c) for x, c in items]
            start: list[Value] = [0] if how == "sum" else []
            if are_fixed(*(x for x, _ in items)) and all(c is None for _, c in items):
                plain = [*start, *(x for x, _ in items)]
                demand(
                    bool(plain),
                    f"{how} of an empty list; say a first number, as in {how}(0, …)",
                )
                return reduce(lambda x, y: join_values(how, x, y), plain)
            return self.program.chain(how, [*start, *given], so_far(self.cell))
        values = [x for x, _ in items]
        if how == "sum":
            return reduce(lambda x, y: x + y, values)
        return minimum(*values) if how == "min" else maximum(*values)

    def _items(
        self, parts: tuple[Any, ...], scope: Scope
    ) -> Iterator[tuple[Value, Value | None]]:
        """The numbers of a fold, each with its condition if it depends on the input."""
        body, loops, condition = parts if len(parts) > 1 else (*parts, None, None)
        for inner in self.scopes(loops.parts if loops else (), scope):
            holds = 1 if condition is None else bit(self.value(condition, inner))
            if not isinstance(holds, int):
                value = self._where(holds, 1, body, inner)
                if value is not None:
                    yield value, holds
            elif holds:
                yield self.value(body, inner), None

    def _not_here(self, parts: tuple[Node, ...], scope: Scope) -> Value:
        raise Refused("a list or a range is no number")


class Wrong(Refused):
    """A mistake in an expression.

    Attributes:
        node: The expression; None as long as that is not known.
    """

    def __init__(self, reason: str, node: Node | None = None) -> None:
        super().__init__(reason)
        self.node = node

    @property
    def place(self) -> str:
        """Where the expression begins in the text, as messages say it."""
        assert self.node is not None
        return f"line {self.node.line}, column {self.node.column}"


class Never(Wrong):
    """An expression that no input leads to, as conditions around it say."""


class Later(Wrong):
    """A cell is read before it is computed.

    Attributes:
        cell: The cell that is read.
    """

    def __init__(self, name: str, at: Index) -> None:
        super().__init__(f"{name}{list(at)} is not computed yet")
        self.cell = name, at


_SIGNS: dict[str, Callable[..., Value]] = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "times": lambda x, y: x * y,
    "negative": lambda x: -x,
    "not": lambda x: 1 - bit(x),
}
_KINDS: dict[str, Callable[..., Value]] = {
    "number": Evaluator._number,
    "letter": Evaluator._letter,
    "name": Evaluator._name,
    "cell": Evaluator._cell,
    "compared": Evaluator._compare_values,
    "if": Evaluator._if,
    "and": Evaluator._and,
    "or": Evaluator._or,
    "fold": Evaluator._fold_items,
    "abs": Evaluator._absolute,
    "quotient": partial(Evaluator._divide_values, divide=quotient),
    "remainder": partial(Evaluator._divide_values, divide=remainder),
    "list": Evaluator._not_here,
    "range": Evaluator._not_here,
    "letters": Evaluator._not_here,
}
