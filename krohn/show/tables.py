"""Texts and tables on a terminal: batches, comparisons, recovered models, grammars."""

import sys
from dataclasses import dataclass, field
from typing import Any, Literal, TextIO

from krohn.algebra.budget import EFFORTS, depends_on_effort
from krohn.algebra.wording import count
from krohn.program.quoting import Lines, on_a_line

# Texts and tables on a terminal.


LONGEST_LINE = 1_000_000
"""More columns than any table has: no line of it is broken."""
Cell = str | list[str]
"""A text, which is shown on one line; or its lines."""


class Terminal:
    """A stream of text on which each text is a line, whatever names hold."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def print(self, text: Cell = "") -> None:
        """Print a text."""
        print("\n".join(_lines(text)), file=self.stream)


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        columns: The headings; one that begins with a blank is of numbers.
        rows: The cells of each row.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def add_row(self, *cells: Cell) -> None:
        """Add the cells of a row."""
        self.rows.append(cells)


def _lines(text: Cell) -> list[str]:
    return [on_a_line(text)] if isinstance(text, str) else text


def several_lines(text: str) -> list[str]:
    """A text of our own that has line breaks, which a cell or a terminal shows as such."""
    return [on_a_line(line) for line in text.split("\n")]


def console(stderr: bool = False) -> Terminal:
    """Standard output, or standard error, as a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    return Terminal(stream.beneath if isinstance(stream, Lines) else stream)


def new_table(*columns: str) -> Table:
    """An empty table; a heading that begins with a blank is of numbers."""
    return Table(columns)


def print_table(table: Table, whole: bool = False) -> None:
    """Print a table; cells are broken to the width of the terminal, or it is left whole."""
    # Most commands print none, and rich takes a third as long to import as numpy.
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column[0] == " " else "left"
        heading = Text(on_a_line(column.strip()))
        grid.add_column(heading, justify=justify, overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text("\n".join(_lines(cell))) for cell in row))
    stream, width = console().stream, LONGEST_LINE if whole else None
    Console(file=stream, width=width).print(grid)


def cut_short(out: Terminal, facts: dict[str, Any]) -> None:
    """Print the parts that a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "A smaller network may exist, but no --effort finds it."
    steps = facts["effort"]
    if steps is not None and any(map(depends_on_effort, facts["cut_short"])):
        higher = next(name for name, most in EFFORTS.items() if most > steps)
        more = f"A smaller network may exist (--effort {higher})."
    out.print(f"The search hit a limit: {'; '.join(facts['cut_short'])}. {more}")


def print_attempts(out: Terminal, rows: list[dict[str, Any]], indent: str = "") -> None:
    """Print the ways that were tried before the chosen one, and why they are not proved."""
    for row in rows:
        sizes = ""
        if row["depth"] is not None:
            sizes = (
                f" (depth {row['depth']}, {count(row['layers'], 'layer')}, "
                f"{row['parameters']:,} parameters)"
            )
        form = f" in {row['dtype']}" if row["dtype"] else ""
        out.print(
            f"{indent}Tried without success: {row['construction']}{form}{sizes}: "
            f"{row['reason']}"
        )
