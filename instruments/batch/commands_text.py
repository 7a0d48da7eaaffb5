"""The table of a batch on a terminal."""

from typing import TYPE_CHECKING

from krohn.program.quoting import on_a_terminal

if TYPE_CHECKING:
    from krohn.instruments.batch.batch import Batch
    from krohn.instruments.batch.work import RowResult
from krohn.show.tables import console, new_table, print_table

UNASKED = "–"
"""In the place of wrong words, where a row gives no words to be run."""


def batch(found: "Batch", table: object = None) -> None:
    """A line for each row, then why rows did not pass."""
    longest = any(row.longest is not None for row in found.results)
    columns = ["name", "verdict", " T", "how", " depth", " width", " parameters"]
    columns += [" longest T"] * longest + [" wrong words"]
    shown = new_table(*columns)
    for row in found.results:
        shown.add_row(*_cells(row, longest))
    print_table(shown)
    out = console()
    for row in found.results:
        for why in filter(None, (row.reason, row.first_wrong)):
            out.print(f"{on_a_terminal(row.name)}: {why}")
    if any(row.longest is not None and not row.refused_at for row in found.results):
        out.print("≥: the search ended there; a higher --effort looks at longer words.")
    if len({row.words is None for row in found.results}) > 1:
        out.print(f"{UNASKED} in column wrong words: the row names no labelled words.")
    out.print(found.summary)
    if table is not None:
        out.print(f"wrote {table}")


def _cells(row: "RowResult", longest: bool) -> list[str]:
    every = "every" if row.construction else ""
    length = every if row.length is None else f"{row.length:,}"
    sizes = [_number(n) for n in (row.depth, row.width, row.parameters)]
    words = UNASKED if row.words is None else f"{row.wrong:,} of {row.words:,}"
    begin = [on_a_terminal(row.name), row.verdict, length, row.construction]
    found = "" if row.longest is None or row.refused_at else "≥ "
    return [*begin, *sizes, *([found + _number(row.longest)] * longest), words]


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
