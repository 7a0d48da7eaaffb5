"""What it takes to explain the machines of a folder, and to compile them with proof.

Times are of the processor, each of a process of its own, without its start. A search that
was cut short says what it left out; `--effort` lets it do more.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

from report import Row, Table, each, parser, publish

import krohn
from algebra.automaton import Automaton
from algebra.errors import KrohnError
from krohn.explanation import explain

EXAMPLES = Path(__file__).parents[1] / "examples"
LENGTH = 64
LONGEST_NOTE = 90


@dataclass(frozen=True)
class Job:
    """A machine to plan for.

    Attributes:
        path: Its file.
        length: T.
        effort: How much each search may do.
    """

    path: Path
    length: int
    effort: str


def measure(job: Job) -> Row:
    """The row of one machine, made in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_row, (job,))


def _row(job: Job) -> Row:
    row: Row = {"machine": job.path.name}
    try:
        machine = krohn.read(str(job.path), "sink")
    except KrohnError as reason:
        return row | {"said": _cut(str(reason).removeprefix(f"{job.path}:"))}
    row |= {"states": len(machine.states), "letters": len(machine.letters)}
    explained, row["explain CPU s"] = _timed(partial(_explained, machine, job))
    compiled, row["compile CPU s"] = _timed(partial(_compiled, machine, job))
    return row | explained | compiled


def _explained(machine: Automaton, job: Job) -> Row:
    facts = explain(machine, job.length, effort=job.effort)
    return {"cut short in explain": len(facts["cut_short"])}


def _compiled(machine: Automaton, job: Job) -> Row:
    made = krohn.compile(machine, job.length, effort=job.effort).summary()
    kept = {k: made[k] for k in ("construction", "depth", "parameters", "verdict")}
    return kept | {"cut short": _cut("; ".join(made["cut_short"]))}


def _timed(work: Callable[[], Row]) -> tuple[Row, float]:
    began = process_time()
    try:
        row = work()
    except KrohnError as reason:
        row = {"said": _cut(str(reason))}
    return row, process_time() - began


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_NOTE else f"{text[:LONGEST_NOTE]}…"


def files(folder: Path) -> list[Path]:
    """The files of a folder and of those inside it, the documents among them left out."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in found if path.suffix not in (".md", ".py")]


def main() -> None:
    """Explain and compile every machine, and print the table."""
    found = parser(__doc__)
    found.add_argument("folder", type=Path, nargs="?", default=EXAMPLES)
    found.add_argument("--length", type=int, default=LENGTH, help="T")
    found.add_argument("--effort", default="normal", help="as of krohn explain")
    options: argparse.Namespace = found.parse_args()
    jobs = [Job(path, options.length, options.effort) for path in files(options.folder)]
    rows: list[dict[str, Any]] = each(measure, jobs)
    publish([Table(f"planning at T = {options.length}", rows)], options)


if __name__ == "__main__":
    main()
