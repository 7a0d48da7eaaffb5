"""Sweeps whose results are kept as tables, one row for each network, and can grow."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from time import monotonic
from typing import Protocol, TypeVar

from report import Row, each, parser

from krohn.algebra.errors import KrohnError
from krohn.commands.progress import progress
from krohn.instruments.compare.training.run import (
    Cell,
    Measure,
)
from krohn.instruments.compare.training.run_table import RunTable, fold
from krohn.instruments.compare.training.sweep import (
    Result,
    duration,
    sweep,
)

RESULTS = Path(__file__).parents[1] / "results"


class Named(Protocol):
    """A network of a table, which a script trains by itself."""

    @property
    def name(self) -> str:
        """Of its row: a function of all that the network depends on."""


Work = TypeVar("Work", bound=Named)


def timed(description: str | None) -> argparse.ArgumentParser:
    """The options of a script that adds to a table of runs."""
    found = parser(description)
    found.add_argument(
        "--seconds",
        type=float,
        help="after so many, no further network is begun; 0 shows what is there",
    )
    return found


def rows_of(
    name: str, cells: Iterable[Work], work: Callable[[Work], Row], seconds: float | None
) -> dict[Work, Row]:
    """The rows of ``results/NAME`` that are there, after what the time allows for."""
    table, began = RunTable(RESULTS / name), monotonic()
    known, asked = table.read(), list(cells)
    for cell in asked:
        if monotonic() - began >= (inf if seconds is None else seconds):
            break
        if cell.name not in known:
            (known[cell.name],) = each(work, [cell])
            table.add({cell.name: known[cell.name]})
    return {cell: known[cell.name] for cell in asked if cell.name in known}


def cpu_time(known: Mapping[Work, Row], asked: Sequence[Work]) -> str:
    """A sentence for notes: how many networks there are, and how long they took."""
    times = [row["cpu_seconds"] for row in known.values() if row.get("cpu_seconds")]
    taken = f"; {len(times)} of them in {duration(sum(times))} of CPU time"
    return f"{len(known)} of {len(asked)} networks are trained{taken * bool(times)}."


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that every sweep has."""
    found = timed(description)
    found.add_argument("--jobs", type=int, default=2, help="processes")
    found.add_argument("--cluster", help="a Dask scheduler, or local:N")
    found.add_argument("--device", default="cpu", help="where torch computes")
    return found


def spent(results: Sequence[Result], asked: int | None = None) -> str:
    """A sentence for notes: how many networks there are, and how long they took."""
    hours = sum(r.record["provenance"]["seconds"] for r in results) / 3600
    wanted = "" if asked is None else f" of {asked}"
    return (
        f"{len(results)}{wanted} networks are trained, in {hours:.2f} hours of one process "
        "on shared cores; what was not run stands empty."
    )


def trained(
    name: str, cells: Iterable[Cell], measure: Measure, chosen: argparse.Namespace
) -> tuple[Result, ...]:
    """The results of a sweep that are there, after what the time allows for.

    They are in the table of ``results/NAME``; what was found there before is not done
    again. If the sweep is interrupted, what was found stays beside the table, one file
    for each network, until the sweep is run again.
    """
    folder = RESULTS / name
    try:
        with progress("measuring") as report:
            found = sweep(
                cells,
                folder,
                measure,
                chosen.cluster or chosen.jobs,
                seconds=chosen.seconds,
                device=chosen.device,
                report=report,
            )
        fold(folder)
    except KrohnError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    return found
