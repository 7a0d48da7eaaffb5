"""A dynamic program from its text: each cell of each table, in its order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from krohn.program.domains import LARGEST
from krohn.program.errors import Refused, demand
from krohn.program.parsing import Node
from krohn.sources.dynamic_programs.dynamic_program import (
    MOST_TOKENS,
    DynamicProgram,
    Table,
    letters,
)
from krohn.sources.dynamic_programs.evaluation import (
    Evaluator,
    Index,
    Later,
    NumberTable,
    Scope,
    parse,
)

# The cells of a table, one after the other, by the first line that is about each.


MOST_PROBED = 500
"""Cells that are looked at to find a circle."""


@dataclass
class Filler(Evaluator):
    """The evaluator that computes tables.

    Attributes:
        rules: The lines of each table.
    """

    rules: dict[str, list[Node]] = field(default_factory=dict)

    def fill(
        self,
        name: str,
        binders: Sequence[Node],
        order: Sequence[Node],
        limits: Node | None,
    ) -> None:
        """Compute a table that is new, cell by cell, in the order that is said."""
        ends = None if limits is None else self.ends(limits, {})
        table = self.program.table(name, ends)
        cells = dict[Index, Index]()
        names = [binder.parts[0] for binder in binders]
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
        self.program.where, self.cell = f"line {line}: ", called
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
            if len(patterns.parts) != len(at):
                raise Refused(f"line {line.line}: {table.name} has {len(at)} indices")
            scope = self._matched(patterns.parts, at)
            if scope is None:
                continue
            if condition is None or self.whole(condition, scope):
                return line.line, said, scope
        raise Refused(f"no line defines {table.called(at)}")

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
                    return (
                        f"{called} and {name} need each other, so neither can be "
                        "computed first"
                    )
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return (
            f"{called} reads {name}, which is computed later; choose another order of "
            "the table with 'by'"
        )

    def _read_by(self, name: str, at: Index) -> list[tuple[str, Index]]:
        """The cells that a cell reads and that are not computed yet."""
        self.missing = []
        try:
            _, said, scope = self._rule(self.tables[name], at)
            self.value(said, scope)
        except Refused:
            pass
        found, self.missing = self.missing, None
        return found


# A dynamic program from its text: each cell of each table, in its order.


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
    reader = Reader(
        DynamicProgram(name, text), sizes=sizes, options=dict(options or {})
    )
    statements = parse(text)
    for each in statements:
        if each.kind == "rule":
            reader.rules.setdefault(each.parts[0], []).append(each)
    reader.to_come = tuple(reader.rules)
    for each in statements:
        reader.do(each)
    reader.finish()
    return reader.program


@dataclass
class Reader(Filler):
    """A text that is being read, statement by statement.

    Attributes:
        sizes: Numbers for sizes that were given and not used yet.
        options: Numbers for options that were given and not used yet.
        alphabets: Letters by name.
    """

    sizes: Sequence[int] = ()
    options: dict[str, int] = field(default_factory=dict)
    alphabets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _title: str = ""
    _named: list[str] = field(default_factory=list)
    _sized: list[int] = field(default_factory=list)

    def do(self, statement: Node) -> None:
        """Carry out a line.

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

    def _do_title(self, title: str) -> None:
        demand(not self._title, "the name is said twice")
        self._title = title

    def _do_rule(self, *parts: object) -> None:
        """Nothing: the table reads its lines."""

    def _do_size(self, *definitions: Node) -> None:
        for name, sides, said, limits in (each.parts for each in definitions):
            demand(sides is None, "a size is one number")
            usual = self.whole(said, {})
            if self.sizes:
                usual, self.sizes = self.sizes[0], self.sizes[1:]
            self._sized.append(self._set_option(name, usual, limits))

    def _do_option(self, *definitions: Node) -> None:
        for name, sides, said, limits in (each.parts for each in definitions):
            demand(sides is None, "an option is one number")
            usual = self.whole(said, {})
            if self._set_option(name, usual, limits) != usual:
                self._named.append(f"{name}={self.constants[name]}")

    def _set_option(self, name: str, usual: int, limits: Node | None) -> int:
        number = self.options.pop(name, usual)
        small = type(number) is int and abs(number) < LARGEST
        demand(small, f"{name} is no number, or too large")
        if limits is not None:
            low, high = self.ends(limits, {})
            demand(low <= number <= high, f"{name} is {number}, not {low} to {high}")
        self.constants[self._new(name)] = self.program.given[name] = number
        return number

    def _do_let(self, *definitions: Node) -> None:
        for name, sides, said, limits in (each.parts for each in definitions):
            demand(limits is None, "'in' is for sizes and options")
            if sides is None:
                self.constants[self._new(name)] = self.whole(said, {})
                continue
            indices = tuple(map(self._side, sides.parts))
            entries = tuple(self._entries(said, indices))
            self.arrays[self._new(name)] = NumberTable(name, indices, entries)

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
        if len(node.parts) == 1 and node.parts[0].kind == "name":
            (name,) = node.parts[0].parts
            demand(name in self.alphabets, f"there is no alphabet {name!r}")
            return self.alphabets[name]
        told = tuple(x for each in node.parts for x in _some(each))
        demand(len(set(told)) == len(told), "a letter is there twice")
        return told

    def _do_input(self, name: str, ranges: Node, of: Node) -> None:
        sides = []
        for each in ranges.parts:
            low, high = self.ends(each, {})
            sides.append(range(low, high + 1))
        first, *more = of.parts
        numbers = not more and first.kind == "range" and first.parts[0].kind != "letter"
        found = self.program.input(
            self._new(name),
            *sides,
            letters=() if numbers else self._letters(of),
            numbers=self.ends(first, {}) if numbers else None,
        )
        self.tables[name] = found
        self.indices[name] = dict.fromkeys(found.cells)

    def _do_answer(self, said: Node) -> None:
        self.program.where = ""
        self.cell = "answer"
        self.program.answer(self.value(said, {}))

    def _do_table(self, name: str, binders: Node, *more: Node) -> None:
        said = {each.kind: each.parts for each in more}
        (limits,) = said.get("limits", (None,))
        self.fill(self._new(name), binders.parts, said.get("order", ()), limits)


def _some(node: Node) -> tuple[str, ...]:
    """A letter, or those from one to another."""
    ends = node.parts if node.kind == "range" else (node,)
    known = node.kind in ("letter", "range") and {e.kind for e in ends} == {"letter"}
    demand(
        known,
        "an alphabet has letters, as 'a', 'b' or 'a'..'z'; numbers need none: "
        "input x[1..n] of 0..9",
    )
    names = [str(end.parts[0])[1:-1] for end in ends]
    if node.kind == "letter":
        return (names[0],)
    short = all(len(name) == 1 for name in names) and names[0] <= names[1] <= "~"
    demand(short, "letters from one to another have one character each, in order")
    return tuple(map(chr, range(ord(names[0]), ord(names[1]) + 1)))
