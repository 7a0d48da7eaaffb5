"""The table of a batch on a terminal."""

from typing import TYPE_CHECKING

from krohn.show.tables import console, legibly, new_table, print_table

if TYPE_CHECKING:
    from krohn.batch import Batch
    from krohn.batch_work import RowResult


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
            out.print(f"{legibly(row.name)}: {why}")
    failed = sum(not row.passed for row in found.results)
    out.print(f"{len(found.results) - failed} passed, {failed} did not")
    if table is not None:
        out.print(f"The table: {table}")


def _cells(row: "RowResult", longest: bool) -> list[str]:
    every = "every" if row.construction else ""
    length = every if row.length is None else f"{row.length:,}"
    sizes = [_number(n) for n in (row.depth, row.width, row.parameters)]
    words = "" if row.words is None else f"{row.wrong:,} of {row.words:,}"
    begin = [legibly(row.name), row.verdict, length, row.construction]
    return [*begin, *sizes, *([_number(row.longest)] * longest), words]


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
