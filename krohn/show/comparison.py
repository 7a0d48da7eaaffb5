"""A derived network beside trained ones."""

from typing import TYPE_CHECKING

from krohn.show.tables import console, legibly, new_table

if TYPE_CHECKING:
    from krohn.comparison.result import Comparison


def comparison(found: "Comparison", page: object = None) -> None:
    """A derived network beside trained ones."""
    from krohn.comparison.headline import headline
    from krohn.page.summary import summary

    out = console()
    out.print(f"{legibly(found.name)}: {found.task}")
    for sentence in headline(found):
        out.print(f"  {sentence}")
    table = new_table("measure", *(f" {legibly(c.title)}" for c in found.contestants))
    for row in summary(found):
        table.add_row(row.title, *(entry.main for entry in row.entries))
    out.print(table)
    for remark in found.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"The page: {page}")
