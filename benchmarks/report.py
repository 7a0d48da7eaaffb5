"""Tables of measurements: to the terminal, as CSV files, or as JSON."""

import argparse
import csv
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import rich.table
from rich.console import Console

WIDTH = 200

Row = dict[str, Any]
Job = TypeVar("Job")
# Columns that differ from run to run: times, rates and memory.
MEASURED = re.compile(r"(^|[ /])(s|seconds|MiB|ratio|words/s)( |$)|/s|of that for it")


@dataclass(frozen=True)
class Table:
    """Rows of measurements under named columns; a row may lack some.

    Attributes:
        title: What was measured.
        rows: One dict per row; the keys of all of them are the columns, in order.
        note: What a reader must know.
    """

    title: str
    rows: Sequence[Row]
    note: str = ""

    @property
    def columns(self) -> list[str]:
        """Every key that occurs, in order of appearance."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


def shown(value: Any) -> str:
    """A cell: three significant digits of what is not whole."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
    return str(value)


def is_measured(column: str) -> bool:
    """Whether a column differs from run to run, as times do."""
    return MEASURED.search(column) is not None


def cell(value: Any) -> str:
    """A cell of a CSV file: whole numbers have no commas, and what is missing is empty."""
    if value is None:
        return ""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if whole else shown(value)


def slug(title: str) -> str:
    """The name of a table's file: letters without accents, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def write(table: Table, folder: Path) -> None:
    """Write a table as ``folder/TITLE.csv``, and its note as ``folder/TITLE.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{slug(table.title)}.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        for row in table.rows:
            writer.writerow([cell(row.get(column)) for column in table.columns])
    if table.note:
        path.with_suffix(".txt").write_text(f"{table.note}\n")


def parser(description: str | None) -> argparse.ArgumentParser:
    """Options that every benchmark has."""
    found = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    form = found.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", type=Path, help="a folder for CSV files")
    return found


def publish(tables: Iterable[Table], options: argparse.Namespace) -> None:
    """Print tables, or write them, in the form that was asked for."""
    kept = [table for table in tables if table.rows]
    if options.json:
        print(json.dumps({t.title: list(t.rows) for t in kept}, indent=1))
        return
    for table in kept:
        if options.csv is not None:
            write(table, options.csv)
        else:
            _print(table)


def _print(table: Table) -> None:
    grid = rich.table.Table(title=table.title, caption=table.note or None)
    for column in table.columns:
        grid.add_column(column, overflow="fold")
    for row in table.rows:
        grid.add_row(*(shown(row.get(c)) for c in table.columns))
    console = Console()
    # A pipe has no width of its own: lines need not be broken there.
    Console(width=None if console.is_terminal else WIDTH).print(grid)


def each(
    work: Callable[[Job], Row],
    jobs: Sequence[Job],
    processes: int = 1,
    keep: Callable[[Row], None] | None = None,
) -> list[Row]:
    """The row of every job, in their order; what is done is told on stderr.

    Args:
        work: What makes a row of a job.
        jobs: All jobs.
        processes: How many work at once.
        keep: Called with each row as soon as it is there.
    """
    began, console = monotonic(), Console(stderr=True)
    rows: dict[int, Row] = {}
    for done, (index, row) in enumerate(_work(work, jobs, processes), 1):
        rows[index] = row
        if keep is not None:
            keep(row)
        said = ", ".join(shown(v) for v in list(row.values())[:6])
        passed = monotonic() - began
        console.print(
            f"{done}/{len(jobs)} after {passed:.0f} s: {said[:90]}", highlight=False
        )
    return [rows[i] for i in range(len(jobs))]


def _work(
    work: Callable[[Job], Row], jobs: Sequence[Job], processes: int
) -> Iterator[tuple[int, Row]]:
    if processes == 1:
        for index, job in enumerate(jobs):
            yield index, work(job)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(work, job): i for i, job in enumerate(jobs)}
        for future in as_completed(futures):
            yield futures[future], future.result()
