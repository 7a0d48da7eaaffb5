"""Texts and tables on a terminal: batches, comparisons, recovered models, grammars."""

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from krohn.algebra.wording import count
from krohn.program.quoting import Lines, on_a_line

if TYPE_CHECKING:
    pass

# Texts and tables on a terminal.


class _Console(Console):
    """A terminal on which each text is a line."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print texts, or a table."""
        super().print(*map(_line, objects), **how)


class _Table(Table):
    """A table in which each text is a line."""

    def add_row(self, *cells: Any, **how: Any) -> None:
        """Add texts."""
        super().add_row(*map(_line, cells), **how)


def _line(told: Any) -> Any:
    return on_a_line(told) if isinstance(told, str) else told


def several_lines(text: str) -> Text:
    """A text of our own that has line breaks, which a cell or a terminal shows as such."""
    return Text("\n".join(map(on_a_line, text.split("\n"))))


def console(**how: Any) -> Console:
    """A terminal that takes texts as they are, each as a line."""
    if isinstance(sys.stdout, Lines) and not how.get("stderr"):
        how = {"file": sys.stdout.beneath, **how}
    return _Console(**{"soft_wrap": True, "highlight": False, "markup": False, **how})


def new_table(*columns: str) -> Table:
    """An empty table; a heading that begins with a blank is of numbers."""
    table = _Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        named = on_a_line(column.strip())
        table.add_column(named, justify="right" if column[0] == " " else "left")
    return table


def print_table(table: Table, least: int = 0) -> None:
    """Print a table; where it has a least width, no cell is broken."""
    for column in table.columns:
        column.no_wrap = bool(least)
    out = console(soft_wrap=False)
    out.width = max(out.width, least)
    out.print(table)


def cut_short(out: Console, facts: dict[str, Any]) -> None:
    """Print the parts that a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "a higher --effort finds no more"
    if facts["effort"] is not None:
        more = f"each search may take {facts['effort']:,} steps; --effort allows more"
    out.print(f"Cut short: {'; '.join(facts['cut_short'])} ({more}).")


def print_attempts(out: Console, rows: list[dict[str, Any]], indent: str = "") -> None:
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
            f"{indent}Tried before: {row['construction']}{form}{sizes}: {row['reason']}"
        )
