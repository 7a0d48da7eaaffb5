"""A dynamic program from its text: each cell of each table, in its order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from krohn.kinds.dynamic_programs.source_cases import NumberTable
from krohn.kinds.dynamic_programs.source_dynamic_program import (
    MOST_TOKENS,
    DynamicProgram,
    Table,
    letters,
)
from krohn.kinds.dynamic_programs.source_evaluation import (
    Evaluator,
    Index,
    Later,
    Scope,
    Wrong,
    parse,
)
from krohn.program.domains import LARGEST
from krohn.program.errors import Refused, demand
from krohn.program.parsing import Node

# The cells of a table, one after the other, by the first line that is about each.


MOST_BASE = 64
"""The largest base of digits."""
MOST_PROBED, MOST_SHOWN = 500, 8
"""Cells that are looked at to find a circle; cells of one that a message names."""
Cell = tuple[str, Index]


@dataclass
class Filler(Evaluator):
    """The evaluator that computes tables.

    Attributes:
        rules: The lines of each table.
        used: The lines that a cell was computed by.
    """

    rules: dict[str, list[Node]] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def fill(
        self,
        tables: Sequence[str],
        binders: Sequence[Node],
        order: Sequence[Node],
        limits: Node | None,
    ) -> None:
        """Compute tables that are new together, cell by cell, in the order that is said.

        At each place first those cells are computed that others at the place read.
        """
        group = [self.program.table(name) for name in tables]
        cells = dict[Index, Index]()
        names = [binder.parts[0] for binder in binders]
        for scope in self.scopes(binders, {}):
            at = tuple(scope[n] for n in names)
            keys = tuple(self.whole(key, scope) for key in order)
            cells[at] = keys if order else at[:-1]
            small = len(cells) * len(group) <= MOST_TOKENS
            demand(small, f"the table has over {MOST_TOKENS} cells")
        demand(bool(cells), "the table has no cells")
        ordered = sorted(cells, key=cells.__getitem__) if order else list(cells)
        for table in group:
            self.tables[table.name] = table
            self.indices[table.name] = dict.fromkeys(ordered)
        row, rows = cells[ordered[0]], len(binders) > 1 or bool(order)
        for at in ordered:
            if cells[at] != row and rows:
                self.program.row()
            row = cells[at]
            if limits is not None:
                ends = self.ends(limits, dict(zip(names, at, strict=True)))
                for table in group:
                    table.limits = ends
            group = self._compute_group(group, at)
        if rows:
            self.program.row()

    def _compute_group(self, group: Sequence[Table], at: Index) -> list[Table]:
        """Compute a cell of each table, and give back the tables in the order taken.

        The next place begins with that order, which most often holds there as well.
        """
        done, waiting = list[Table](), list(group)
        while waiting:
            late = dict[str, Later]()
            for table in waiting:
                try:
                    self._compute(table, at)
                    done.append(table)
                except Later as later:
                    late[table.name] = later
            if len(late) == len(waiting):
                raise self._stuck(late, at)
            waiting = [table for table in waiting if table.name in late]
        return done

    def _compute(self, table: Table, at: Index) -> None:
        line, expression, scope = self._rule(table, at)
        called, written = table.name_cell(at), len(self.program.written)
        self.program.where, self.cell = f"line {line}: ", called
        try:
            table[at] = self.value(expression, scope)
        except Later:
            del self.program.written[written:]
            raise
        except Wrong as wrong:
            raise Refused(f"{wrong.place}: {called}: {wrong}") from None
        except Refused as reason:
            raise Refused(f"line {line}: {called}: {reason}") from None

    def _stuck(self, late: dict[str, Later], at: Index) -> Refused:
        """Why none of some cells at one place can be computed."""
        name, seen = next(iter(late)), set[str]()
        while name not in seen:
            seen.add(name)
            other, place = late[name].cell
            if place == at and other in late:
                name = other
        later = late[name]
        return Refused(f"{later.place}: {self._why((name, at), later.cell)}")

    def _rule(self, table: Table, at: Index) -> tuple[int, Node, Scope]:
        """The first line that is about a cell, with what its names are there."""
        for line in self.rules.get(table.name, ()):
            _, patterns, expression, condition = line.parts
            if len(patterns.parts) != len(at):
                raise Refused(f"line {line.line}: {table.name} has {len(at)} indices")
            scope = self._match_indices(patterns.parts, at)
            if scope is None:
                continue
            if condition is None or self.whole(condition, scope):
                self.used.add(line.line)
                return line.line, expression, scope
        raise Refused(f"no line defines {table.name_cell(at)}")

    def _match_indices(
        self, patterns: Sequence[Node], at: Index
    ) -> dict[str, int] | None:
        """The names of indices, if the left side of a line is about a cell."""
        scope = dict[str, int]()
        for pattern, i in zip(patterns, at, strict=True):
            name = pattern.parts[0] if pattern.kind == "name" else ""
            new = name not in scope and not self.is_number(name)
            if pattern.kind == "name" and new:
                scope[name] = i
            elif self.whole(pattern, scope) != i:
                return None
        return scope

    def _why(self, own: Cell, other: Cell) -> str:
        """Why a cell cannot be computed: a circle, or the order."""
        if own == other:
            return f"{self._name_cell(own)} reads itself"
        before, waiting = {other: own}, [other]
        while waiting and len(before) < MOST_PROBED:
            cell = waiting.pop(0)
            for each in self._read_by(*cell):
                if each == own:
                    return self._circle(own, cell, before)
                if each not in before:
                    before[each] = cell
                    waiting.append(each)
        return (
            f"{self._name_cell(own)} reads {self._name_cell(other)}, which is "
            "computed later; "
            "choose another order of the table with 'by'"
        )

    def _circle(self, own: Cell, last: Cell, before: dict[Cell, Cell]) -> str:
        """A circle of cells, each of which reads the next one."""
        back = [own, last]
        while back[-1] != own:
            back.append(before[back[-1]])
        first, *others = map(self._name_cell, reversed(back))
        if len(others) > MOST_SHOWN:
            others[MOST_SHOWN // 2 : -MOST_SHOWN // 2] = ["…"]
        chain = ", which reads ".join(others)
        return f"{first} reads {chain}: a circle, so none of them can be computed first"

    def _name_cell(self, cell: Cell) -> str:
        return self.tables[cell[0]].name_cell(cell[1])

    def _read_by(self, name: str, at: Index) -> list[Cell]:
        """The cells that a cell reads and that are not computed yet."""
        self.missing = []
        try:
            _, expression, scope = self._rule(self.tables[name], at)
            self.value(expression, scope)
        except Refused:
            pass
        missing, self.missing = self.missing, None
        return missing


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
    reader.to_come = dict.fromkeys(reader.rules, 0)
    for each in statements:
        if each.kind == "table":
            reader.to_come |= dict.fromkeys(each.parts[0].parts, each.line)
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
        except Wrong as wrong:
            raise Refused(f"{wrong.place}: {wrong}") from None
        except Refused as reason:
            message = str(reason)
            at = "" if message.startswith("line ") else f"line {statement.line}: "
            raise Refused(f"{at}{message}") from None

    def finish(self) -> None:
        """Give the program its name; all that was given must have been used."""
        demand(not self.sizes, f"more sizes are given than its {len(self._sized)}")
        unknown = ", ".join(self.options)
        demand(not self.options, f"there is no size or option {unknown}")
        for name, lines in self.rules.items():
            demand(
                name in self.indices,
                f"line {lines[0].line}: there is no table {name!r}",
            )
            idle = (line.line for line in lines if line.line not in self.used)
            self.program.idle_lines += idle
        sizes = ",".join(map(str, self._sized))
        title = ":".join([f"{self._title or self.program.name}{sizes}"])
        self.program.name = ":".join(
            [title, *[",".join(self._named)] * bool(self._named)]
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
        for name, sides, expression, limits in (each.parts for each in definitions):
            demand(sides is None, "a size is one number")
            usual = self.whole(expression, {})
            if self.sizes:
                usual, self.sizes = self.sizes[0], self.sizes[1:]
            self._sized.append(self._set_option(name, usual, limits))

    def _do_option(self, *definitions: Node) -> None:
        for name, sides, expression, limits in (each.parts for each in definitions):
            demand(sides is None, "an option is one number")
            usual = self.whole(expression, {})
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
        for name, sides, expression, limits in (each.parts for each in definitions):
            demand(limits is None, "'in' is for sizes and options")
            if sides is None:
                self.constants[self._new(name)] = self.whole(expression, {})
                continue
            indices = tuple(map(self._side, sides.parts))
            entries = tuple(self._entries(expression, indices))
            self.arrays[self._new(name)] = NumberTable(name, indices, entries)

    def _side(self, node: Node) -> range | tuple[str, ...]:
        """The indices of a table of numbers: a range, or letters."""
        if node.kind == "name" and node.parts[0] in self.alphabets:
            return self.alphabets[node.parts[0]]
        if node.kind == "range" and node.parts[0].kind == "letter":
            return _some(node)
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

    def _do_digits(self, said: Node) -> None:
        base = self.whole(said, {})
        demand(not self.program.inputs, "digits are said before inputs")
        demand(not self.program.base, "digits are said twice")
        demand(
            2 <= base <= MOST_BASE, f"digits have a base from 2 to {MOST_BASE}, as 100"
        )
        self.program.base = base

    def _do_alphabet(self, name: str, said: Node) -> None:
        self.alphabets[self._new(name)] = self._letters(said)

    def _letters(self, node: Node) -> tuple[str, ...]:
        if node.kind == "letters":
            return tuple(letters(self.whole(node.parts[0], {})))
        if len(node.parts) == 1 and node.parts[0].kind == "name":
            (name,) = node.parts[0].parts
            demand(name in self.alphabets, f"there is no alphabet {name!r}")
            return self.alphabets[name]
        alphabet = tuple(x for each in node.parts for x in _some(each))
        demand(len(set(alphabet)) == len(alphabet), "a letter is there twice")
        return alphabet

    def _do_input(self, name: str, ranges: Node | None, of: Node) -> None:
        sides = []
        for each in ranges.parts if ranges else ():
            low, high = self.ends(each, {})
            sides.append(range(low, high + 1))
        first, *more = of.parts
        numbers = not more and first.kind == "range" and first.parts[0].kind != "letter"
        table = self.program.input(
            self._new(name),
            *sides,
            letters=() if numbers else self._letters(of),
            numbers=self.ends(first, {}) if numbers else None,
        )
        self.tables[name] = table
        self.indices[name] = dict.fromkeys(table.cells)

    def _do_answer(self, said: Node) -> None:
        self.program.where = ""
        self.cell = "answer"
        self.program.answer(self.value(said, {}))

    def _do_table(self, names: Node, binders: Node, *more: Node) -> None:
        clauses = {each.kind: each.parts for each in more}
        (limits,) = clauses.get("limits", (None,))
        group = [self._new(name) for name in names.parts]
        demand(len(set(group)) == len(group), "a table of a group is said twice")
        self.fill(group, binders.parts, clauses.get("order", ()), limits)


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
