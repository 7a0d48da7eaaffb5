"""A dynamic program from its text: each cell of each table, in its order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from krohn.program.domains import LARGEST
from krohn.program.errors import Refused, demand
from krohn.program.parsing import Node
from krohn.sources.dynamic_programs.dynamic_program import DynamicProgram, letters
from krohn.sources.dynamic_programs.evaluation import Scope
from krohn.sources.dynamic_programs.filling import Filler
from krohn.sources.dynamic_programs.number_table import NumberTable
from krohn.sources.dynamic_programs.syntax import parse


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
            self._sized.append(self._given(name, usual, limits))

    def _do_option(self, *definitions: Node) -> None:
        for name, sides, said, limits in (each.parts for each in definitions):
            demand(sides is None, "an option is one number")
            usual = self.whole(said, {})
            if self._given(name, usual, limits) != usual:
                self._named.append(f"{name}={self.constants[name]}")

    def _given(self, name: str, usual: int, limits: Node | None) -> int:
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
