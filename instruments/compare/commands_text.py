"""A derived network beside trained ones, on a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from krohn.program.quoting import on_a_terminal

if TYPE_CHECKING:
    from krohn.instruments.compare.comparison.belief_result import BeliefComparison
    from krohn.instruments.compare.comparison.result import Comparison
from krohn.show.tables import console, new_table

ON_PAGES = ("parameters", "training")
"""Columns that a terminal has no room for."""


def beliefs(found: "BeliefComparison", page: object = None) -> None:
    """A derived network beside trained ones, on a hidden Markov model."""
    from krohn.instruments.compare.comparison.belief_result import (
        headline,
        lines,
    )

    rows = lines(found)
    shown = [column for column in rows[0].cells if column not in ON_PAGES]
    table = new_table("network", *(f" {column}" for column in shown))
    for row in rows:
        table.add_row(row.title, *(row.cells[column] for column in shown))
    _compared(found, headline(found), table, page)


def comparison(found: "Comparison", page: object = None) -> None:
    """A derived network beside trained ones."""
    from krohn.instruments.compare.comparison.models import headline
    from krohn.instruments.compare.draw_comparison_page import summary

    table = new_table(
        "measure", *(f" {on_a_terminal(c.title)}" for c in found.contestants)
    )
    for row in summary(found):
        table.add_row(row.title, *(entry.main for entry in row.entries))
    _compared(found, headline(found), table, page)


def _compared(
    found: "Comparison | BeliefComparison",
    sentences: Iterable[str],
    table: object,
    page: object,
) -> None:
    out = console()
    out.print(f"{on_a_terminal(found.name)}: {found.task}")
    for sentence in sentences:
        out.print(f"  {sentence}")
    out.print(table)
    for remark in found.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"The page: {page}")
