"""A derived network beside trained ones."""

from typing import TYPE_CHECKING

from krohn.show.tables import console, legibly, new_table

if TYPE_CHECKING:
    from krohn.comparison.belief_result import BeliefComparison
    from krohn.comparison.result import Comparison


ON_PAGES = ("parameters", "training")
"""Columns that a terminal has no room for."""


def beliefs(found: "BeliefComparison", page: object = None) -> None:
    """A derived network beside trained ones, on a hidden Markov model."""
    from krohn.comparison.belief_headline import headline, lines

    out = console()
    out.print(f"{legibly(found.name)}: {found.task}")
    for sentence in headline(found):
        out.print(f"  {sentence}")
    rows = lines(found)
    shown = [column for column in rows[0].cells if column not in ON_PAGES]
    table = new_table("network", *(f" {column}" for column in shown))
    for row in rows:
        table.add_row(row.title, *(row.cells[column] for column in shown))
    out.print(table)
    for remark in found.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"The page: {page}")


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
