"""Texts and tables on a terminal."""

import json
from typing import Any

from rich.console import Console
from rich.table import Table

from krohn.algebra.wording import count


def console(**how: Any) -> Console:
    """A terminal that takes texts as they are."""
    return Console(**{"soft_wrap": True, "highlight": False, "markup": False, **how})


def new_table(*columns: str) -> Table:
    """An empty table; a heading that begins with a blank is of numbers."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            column.strip(), justify="right" if column[0] == " " else "left"
        )
    return table


def print_table(table: Table, least: int = 0) -> None:
    """Print a table; where it has a least width, no cell is broken."""
    for column in table.columns:
        column.no_wrap = bool(least)
    out = console(soft_wrap=False)
    out.width = max(out.width, least)
    out.print(table)


def legibly(name: str) -> str:
    """A name quoted where it has blanks or what a terminal would obey."""
    plain = name.isprintable() and name and " " not in name
    return name if plain else json.dumps(name, ensure_ascii=not name.isprintable())


def cut_short(out: Console, facts: dict[str, Any]) -> None:
    """What a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "a higher --effort finds no more"
    if facts["effort"] is not None:
        more = f"each search may take {facts['effort']:,} steps; --effort allows more"
    out.print(f"Cut short: {'; '.join(facts['cut_short'])} ({more}).")


def tried(out: Console, rows: list[dict[str, Any]], indent: str = "") -> None:
    """What was tried before what is chosen, and why it is not proved, a line each."""
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
