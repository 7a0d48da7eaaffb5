"""A dynamic program from its text: each cell of each table, in its order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from program.domains import LARGEST
from program.errors import Refused, demand
from sources.dynamic_programs.dynamic_program import (
    MOST_TOKENS,
    DynamicProgram,
    Table,
    letters,
)
from sources.dynamic_programs.number_table import NumberTable
from sources.dynamic_programs.syntax import COMPARISONS, Node, Statement, parse
from sources.dynamic_programs.terms import (
    Cell,
    Value,
    bit,
    both,
    choose,
    compared,
    either,
    fixed,
    joined,
    maximum,
    minimum,
    read,
)

Scope: TypeAlias = Mapping[str, int]
Index: TypeAlias = tuple[int, ...]
MOST_WORK, MOST_PROBED = 2**20, 500
"""Expressions that are evaluated; cells that are looked at to find a circle."""


def read_text(
    text: str, name: str, sizes: Sequence[int] = (), options: Scope | None = None
) -> DynamicProgram:
    """The dynamic program that a text says.

    Args:
        text: The text.
        name: What it is called if it does not say.
        sizes: The numbers for its ``size`` lines, in their order; if there are none,
            those that the text says.
        options: Numbers for its ``option`` and ``size`` lines, by name.

    Raises:
        Refused: With the line that is wrong.
    """
    reader = Reader(DynamicProgram(name, text), sizes, dict(options or {}))
    statements = parse(text)
    for each in statements:
        if each.kind == "rule":
            reader.rules.setdefault(each.parts[0], []).append(each)
    for each in statements:
        reader.do(each)
    reader.finish()
    return reader.program


@dataclass
class Reader:
    """What is known while a text is read.

    Attributes:
        program: What is made.
        sizes: Numbers for sizes that were given and not used yet.
        options: Numbers for options that were given and not used yet.
        rules: The lines of each table.
        constants: Numbers by name.
        arrays: Tables of numbers by name.
        alphabets: Letters by name.
        tables: Tables and inputs by name.
        indices: The cells of each table, whether computed yet or not.
        spent: How much was evaluated.
    """

    program: DynamicProgram
    sizes: Sequence[int]
    options: dict[str, int]
    rules: dict[str, list[Statement]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, NumberTable] = field(default_factory=dict)
    alphabets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    indices: dict[str, dict[Index, None]] = field(default_factory=dict)
    spent: int = 0
    _title: str = ""
    _named: list[str] = field(default_factory=list)
    _sized: list[int] = field(default_factory=list)
    _missing: list[tuple[str, Index]] | None = None

    def do(self, statement: Statement) -> None:
        """What a line says.

        Raises:
            Refused: With the line.
        """
        try:
            getattr(self, f"_do_{statement.kind}")(*statement.parts)
        except Refused as reason:
            told = str(reason)
            at = "" if told.startswith("line ") else f"line {statement.line}: "
            raise Refused(f"{at}{told}") from None

    def finish(self) -> None:
        """Give the program its name; all that was given must have been used."""
        demand(not self.sizes, f"there are {len(self._sized)} sizes, not more")
        unknown = ", ".join(self.options)
        demand(not self.options, f"there is no size or option {unknown}")
        for name, lines in self.rules.items():
            demand(
                name in self.indices,
                f"line {lines[0].line}: there is no table {name!r}",
            )
        sizes = ",".join(map(str, self._sized))
        told = ":".join([f"{self._title or self.program.name}{sizes}"])
        self.program.name = ":".join(
            [told, *[",".join(self._named)] * bool(self._named)]
        )

    def _new(self, name: str) -> str:
        known = (self.constants, self.arrays, self.alphabets, self.tables)
        demand(all(name not in k for k in known), f"{name!r} is said twice")
        return name

    def _do_name(self, title: str) -> None:
        demand(not self._title, "the name is said twice")
        self._title = title

    def _do_rule(self, *parts: object) -> None:
        """Nothing: the table reads its lines."""

    def _do_size(
        self, *definitions: tuple[str, tuple[Node, ...], Node, Node | None]
    ) -> None:
        for name, ranges, said, limits in definitions:
            demand(not ranges, "a size is one number")
            usual = self.whole(said, {})
            if self.sizes:
                usual, self.sizes = self.sizes[0], self.sizes[1:]
            self._sized.append(self._given(name, usual, limits))

    def _do_option(
        self, *definitions: tuple[str, tuple[Node, ...], Node, Node | None]
    ) -> None:
        for name, ranges, said, limits in definitions:
            demand(not ranges, "an option is one number")
            usual = self.whole(said, {})
            if self._given(name, usual, limits) != usual:
                self._named.append(f"{name}={self.constants[name]}")

    def _given(self, name: str, usual: int, limits: Node | None) -> int:
        number = self.options.pop(name, usual)
        if limits is not None:
            low, high = self.ends(limits, {})
            demand(low <= number <= high, f"{name} is {number}, not {low} to {high}")
        self.constants[self._new(name)] = self.program.given[name] = number
        return number

    def _do_let(
        self, *definitions: tuple[str, tuple[Node, ...], Node, Node | None]
    ) -> None:
        for name, ranges, said, limits in definitions:
            demand(limits is None, "'in' is for sizes and options")
            if not ranges:
                self.constants[self._new(name)] = self.whole(said, {})
                continue
            sides = [self._side(each) for each in ranges]
            entries = list(self._entries(said, sides))
            self.arrays[self._new(name)] = NumberTable(
                name, tuple(sides), tuple(entries)
            )

    def _side(self, node: Node) -> range | tuple[str, ...]:
        """The indices of a table of numbers: a range, or letters."""
        if node.kind == "name" and node.parts[0] in self.alphabets:
            return self.alphabets[node.parts[0]]
        demand(node.kind == "range", "an index has a range, as 1..5, or an alphabet")
        low, high = self.ends(node, {})
        return range(low, high + 1)

    def _entries(
        self, node: Node, sides: Sequence[range | tuple[str, ...]]
    ) -> Iterator[int]:
        if not sides:
            yield self.whole(node, {})
            return
        fits = node.kind == "list" and len(node.parts) == len(sides[0])
        demand(fits, f"there is no list of {len(sides[0])} where one must be")
        for each in node.parts:
            yield from self._entries(each, sides[1:])

    def _do_alphabet(self, name: str, said: Node) -> None:
        self.alphabets[self._new(name)] = self._letters(said)

    def _letters(self, node: Node) -> tuple[str, ...]:
        if node.kind == "letters":
            return tuple(letters(self.whole(node.parts[0], {})))
        if node.kind == "name":
            demand(
                node.parts[0] in self.alphabets,
                f"there is no alphabet {node.parts[0]!r}",
            )
            return self.alphabets[node.parts[0]]
        kinds = {each.kind for each in node.parts}
        demand(kinds == {"letter"}, "an alphabet has letters, as 'a', 'b' or 'a'..'z'")
        told = tuple(each.parts[0] for each in node.parts)
        if node.kind == "range":
            short = all(len(name) == 1 for name in told) and told[0] <= told[1] <= "~"
            demand(
                short, "letters from one to another have one character each, in order"
            )
            told = tuple(map(chr, range(ord(told[0]), ord(told[1]) + 1)))
        demand(len(set(told)) == len(told), "a letter is there twice")
        return told

    def _do_input(self, name: str, ranges: tuple[Node, ...], of: Node) -> None:
        sides = []
        for each in ranges:
            low, high = self.ends(each, {})
            sides.append(range(low, high + 1))
        numbers = of.kind == "range" and of.parts[0].kind != "letter"
        found = self.program.input(
            self._new(name),
            *sides,
            letters=() if numbers else self._letters(of),
            numbers=self.ends(of, {}) if numbers else None,
        )
        self.tables[name] = found
        self.indices[name] = dict.fromkeys(found.cells)

    def _do_answer(self, said: Node) -> None:
        self.program.where = ""
        self.program.answer(self.value(said, {}))

    def _do_table(
        self,
        name: str,
        binders: tuple[tuple[str, Node], ...],
        order: tuple[Node, ...],
        limits: Node | None,
    ) -> None:
        ends = None if limits is None else self.ends(limits, {})
        table = self.program.table(self._new(name), ends)
        cells = dict[Index, Index]()
        names = [binder for binder, _ in binders]
        for scope in self.scopes(binders, {}):
            at = tuple(scope[n] for n in names)
            keys = tuple(self.whole(key, scope) for key in order)
            cells[at] = keys if order else at[:-1]
            demand(len(cells) <= MOST_TOKENS, f"the table has over {MOST_TOKENS} cells")
        demand(bool(cells), "the table has no cells")
        self.tables[name] = table
        ordered = sorted(cells, key=cells.__getitem__) if order else list(cells)
        self.indices[name] = dict.fromkeys(ordered)
        row, rows = cells[ordered[0]], len(binders) > 1 or bool(order)
        for at in ordered:
            if cells[at] != row and rows:
                self.program.row()
            row = cells[at]
            self._compute(table, at)
        if rows:
            self.program.row()

    def _compute(self, table: Table, at: Index) -> None:
        line, said, scope = self._rule(table, at)
        called = table.called(at)
        self.program.where = f"line {line}: "
        try:
            table[at] = self.value(said, scope)
        except Later as later:
            told = self._why(called, (table.name, at), later.cell)
            raise Refused(f"line {line}: {told}") from None
        except Refused as reason:
            told = str(reason)
            shown = (
                told if told.startswith("line ") else f"line {line}: {called}: {told}"
            )
            raise Refused(shown) from None

    def _rule(self, table: Table, at: Index) -> tuple[int, Node, Scope]:
        """The first line that is about a cell, with what its names are there."""
        for line in self.rules.get(table.name, ()):
            _, patterns, said, condition = line.parts
            if len(patterns) != len(at):
                raise Refused(f"line {line.line}: {table.name} has {len(at)} indices")
            scope = self._matched(patterns, at)
            if scope is None:
                continue
            if condition is None or self.whole(condition, scope):
                return line.line, said, scope
        raise Refused(f"no line says what {table.called(at)} is")

    def _matched(self, patterns: Sequence[Node], at: Index) -> dict[str, int] | None:
        """The names of indices, if the left side of a line is about a cell."""
        scope = dict[str, int]()
        for pattern, i in zip(patterns, at, strict=True):
            name = pattern.parts[0] if pattern.kind == "name" else ""
            if pattern.kind == "name" and name not in (*scope, *self.constants):
                scope[name] = i
            elif self.whole(pattern, scope) != i:
                return None
        return scope

    def _why(
        self, called: str, own: tuple[str, Index], other: tuple[str, Index]
    ) -> str:
        """Why a cell cannot be computed: a circle, or the order."""
        name = self.tables[other[0]].called(other[1])
        if own == other:
            return f"{called} reads itself"
        seen, waiting = {other}, [other]
        while waiting and len(seen) < MOST_PROBED:
            for each in self._read_by(*waiting.pop()):
                if each == own:
                    return f"{called} and {name} need each other (a circle)"
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return (
            f"{called} reads {name}, which comes later; say another order of the table "
            "by 'by'"
        )

    def _read_by(self, name: str, at: Index) -> list[tuple[str, Index]]:
        """What a cell reads that is not computed yet."""
        self._missing = []
        try:
            _, said, scope = self._rule(self.tables[name], at)
            self.value(said, scope)
        except Refused:
            pass
        found, self._missing = self._missing, None
        return found

    def scopes(
        self, binders: Sequence[tuple[str, Node]], scope: Scope
    ) -> Iterator[dict[str, int]]:
        """The names of indices in each of their ranges, the first one outermost."""
        if not binders:
            yield dict(scope)
            return
        (name, node), *rest = binders
        low, high = self.ends(node, scope)
        demand(name not in self.constants, f"{name!r} is a constant")
        for i in range(low, high + 1):
            self._spend()
            yield from self.scopes(rest, {**scope, name: i})

    def ends(self, node: Node, scope: Scope) -> tuple[int, int]:
        """The two ends of a range."""
        low, high = (self.whole(each, scope) for each in node.parts)
        return low, high

    def whole(self, node: Node, scope: Scope) -> int:
        """A number that indices and constants alone decide.

        Raises:
            Refused: If it depends on the input.
        """
        found = self.value(node, scope)
        demand(isinstance(found, int), "this must not depend on the input")
        assert isinstance(found, int)
        return found

    def _spend(self) -> None:
        self.spent += 1
        demand(self.spent <= MOST_WORK, "the table is too large to be computed")

    def value(self, node: Node, scope: Scope) -> Value:
        """What an expression is."""
        self._spend()
        if node.kind in _SIGNS:
            found = _SIGNS[node.kind](*(self.value(each, scope) for each in node.parts))
            small = not isinstance(found, int) or abs(found) < LARGEST
            demand(small, "a number is too large")
            return found
        return _KINDS[node.kind](self, node.parts, scope)

    def _number(self, parts: tuple[str], scope: Scope) -> Value:
        return int(parts[0])

    def _letter(self, parts: tuple[str], scope: Scope) -> Value:
        return self.program.letter(parts[0])

    def _name(self, parts: tuple[str], scope: Scope) -> Value:
        (name,) = parts
        known = {**self.constants, **scope}
        demand(name in known, f"there is no {name!r}")
        return known[name]

    def _cell(self, parts: tuple[str, tuple[Node, ...]], scope: Scope) -> Value:
        name, told = parts
        at = [self.value(each, scope) for each in told]
        if name in self.arrays:
            return self.arrays[name].at(at, self.program.alphabet)
        if name not in self.tables:
            later = "is computed later" if name in self.rules else "is not there"
            raise Refused(f"the table {name!r} {later}")
        demand(fixed(*at), f"an index of {name!r} depends on the input")
        table, index = self.tables[name], tuple(i for i in at if isinstance(i, int))
        inside = index in self.indices[name]
        demand(inside, f"{table.called(index)} is outside of {name!r}")
        if index in table.cells:
            return table.cells[index]
        if self._missing is None:
            raise Later(name, index)
        self._missing.append((name, index))
        return read(Cell("", 0), 0, 1)

    def _if(self, parts: tuple[Node, Node, Node], scope: Scope) -> Value:
        condition = self.value(parts[0], scope)
        if isinstance(condition, int):
            return self.value(parts[1 if condition else 2], scope)
        one, zero = (self.value(each, scope) for each in parts[1:])
        return choose(condition, one, zero)

    def _and(self, parts: tuple[Node, Node], scope: Scope) -> Value:
        first = self.value(parts[0], scope)
        decided = isinstance(first, int) and bit(first) == 0
        return 0 if decided else both(first, self.value(parts[1], scope))

    def _or(self, parts: tuple[Node, Node], scope: Scope) -> Value:
        first = self.value(parts[0], scope)
        decided = isinstance(first, int) and bit(first) == 1
        return 1 if decided else either(first, self.value(parts[1], scope))

    def _fold(self, parts: tuple[str, tuple[Node, ...]], scope: Scope) -> Value:
        how, told = parts
        items = [x for each in told for x in self._items(each.parts, scope)]
        if any(each.parts[1] for each in told):
            known = [x for x in items if x[1] is not None]
            if how == "sum":
                known = [(0, None), *known]
            given = [x if c is None else (x, c) for x, c in items]
            start: list[Value] = [0] if how == "sum" else []
            if fixed(*(x for x, _ in items)) and all(c is None for _, c in items):
                plain = [*start, *(x for x, _ in items)]
                demand(
                    bool(plain),
                    f"{how} of nothing; say a first number, as in {how}(0, …)",
                )
                return reduce(lambda x, y: joined(how, x, y), plain)
            return self.program.chain(how, [*start, *given], f"{how} so far")
        values = [x for x, _ in items]
        if how == "sum":
            return reduce(lambda x, y: x + y, values)
        return minimum(*values) if how == "min" else maximum(*values)

    def _items(
        self,
        parts: tuple[Node, tuple[tuple[str, Node], ...], Node | None],
        scope: Scope,
    ) -> Iterator[tuple[Value, Value | None]]:
        """The numbers of a fold, each with its condition if it depends on the input."""
        said, binders, condition = parts
        for inner in self.scopes(binders, scope):
            holds = 1 if condition is None else bit(self.value(condition, inner))
            if not isinstance(holds, int):
                yield self.value(said, inner), holds
            elif holds:
                yield self.value(said, inner), None

    def _not_here(self, parts: tuple[Node, ...], scope: Scope) -> Value:
        raise Refused("a list or a range is no number")


class Later(Refused):
    """A cell is read before it is computed."""

    def __init__(self, name: str, at: Index) -> None:
        super().__init__(f"{name}{list(at)} is not computed yet")
        self.cell = name, at


def _whole(how: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    def divided(x: Value, y: Value) -> Value:
        whole = isinstance(x, int) and isinstance(y, int)
        demand(whole, "// and % are for indices; what is divided depends on the input")
        demand(y != 0, "this divides by 0")
        assert isinstance(x, int)
        assert isinstance(y, int)
        return how(x, y)

    return divided


def _compared(sign: str) -> Callable[[Value, Value], Value]:
    return lambda x, y: compared(sign, x, y)


_SIGNS: dict[str, Callable[..., Value]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "//": _whole(lambda x, y: x // y),
    "%": _whole(lambda x, y: x % y),
    "minus": lambda x: -x,
    "not": lambda x: 1 - bit(x),
    **{sign: _compared(sign) for sign in COMPARISONS},
}
_KINDS: dict[str, Callable[..., Value]] = {
    "number": Reader._number,
    "letter": Reader._letter,
    "name": Reader._name,
    "cell": Reader._cell,
    "if": Reader._if,
    "and": Reader._and,
    "or": Reader._or,
    "fold": Reader._fold,
    "list": Reader._not_here,
    "range": Reader._not_here,
    "letters": Reader._not_here,
}
