"""Sweeps whose results are kept, one file for each network, so that they can grow."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from report import parser

from krohn.algebra.errors import KrohnError
from krohn.commands.terminal import progress
from krohn.compare.training.cells import Cell, Measure
from krohn.compare.training.sweep import Result, sweep

RESULTS = Path(__file__).parents[1] / "results"


def options(description: str | None) -> argparse.ArgumentParser:
    """What every sweep can be told."""
    found = parser(description)
    found.add_argument("--jobs", type=int, default=2, help="processes")
    found.add_argument("--cluster", help="a Dask scheduler, or local:N")
    found.add_argument("--device", default="cpu", help="where torch computes")
    found.add_argument(
        "--seconds", type=float, help="after so many, no further network is begun"
    )
    return found


def trained(
    name: str, cells: Iterable[Cell], measure: Measure, chosen: argparse.Namespace
) -> tuple[Result, ...]:
    """The results of a sweep that are there, after what the time allows for.

    They are in ``results/NAME``; what was found there before is not done again.
    """
    try:
        with progress() as report:
            return sweep(
                cells,
                RESULTS / name,
                measure,
                jobs=chosen.jobs,
                cluster=chosen.cluster,
                seconds=chosen.seconds,
                device=chosen.device,
                report=report,
            )
    except KrohnError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
