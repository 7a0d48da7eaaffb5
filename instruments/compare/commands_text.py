"""A derived network beside trained ones, on a terminal."""

from typing import TYPE_CHECKING

from krohn.program.quoting import on_a_terminal
from krohn.show.tables import console, new_table, print_table

if TYPE_CHECKING:
    from krohn.instruments.compare.comparison.belief_result import BeliefComparison
    from krohn.instruments.compare.comparison.result import Comparison


def show(comparison: "Comparison | BeliefComparison", page: object = None) -> None:
    """The question, the sentences, the table, and what was left out."""
    out = console()
    out.print(f"{on_a_terminal(comparison.name)}: {comparison.task}")
    for sentence in comparison.headline():
        out.print(f"  {sentence}")
    for (first, *columns), *rows in (comparison.table(), *comparison.further_tables()):
        table = new_table(first, *(f" {on_a_terminal(column)}" for column in columns))
        for row in rows:
            table.add_row(*row)
        print_table(table)
    for remark in comparison.origin.remarks:
        out.print(remark)
    if page is not None:
        out.print(f"wrote {page}")
