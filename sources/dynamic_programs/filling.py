"""The cells of a table, one after the other, by the first line that is about each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from krohn.program.errors import Refused, demand
from krohn.program.parsing import Node
from krohn.sources.dynamic_programs.dynamic_program import MOST_TOKENS, Table
from krohn.sources.dynamic_programs.evaluation import Evaluator, Index, Later, Scope

MOST_PROBED = 500
"""Cells that are looked at to find a circle."""


@dataclass
class Filler(Evaluator):
    """What computes tables.

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
        """What a cell reads that is not computed yet."""
        self.missing = []
        try:
            _, said, scope = self._rule(self.tables[name], at)
            self.value(said, scope)
        except Refused:
            pass
        found, self.missing = self.missing, None
        return found
