"""Every system of the five papers by a command, and whether it does what it should.

    python benchmarks/papers.py
    python benchmarks/papers.py hu-hao --rows 15 16

``benchmarks/papers/*.toml`` lists the systems: for each one command, the exit code that it
should have, regular expressions that what it prints must contain, the errata that the
printed version needs, and what is still missing. A row is ● if the command does all that
and nothing is missing; else the row says the reason. Commands run in a folder of their own.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from report import Row, Table, each, parser, publish

ROOT = Path(__file__).parents[1]
PAPERS = Path(__file__).parent / "papers"
RESULTS = ROOT / "results"  # copied: what is trained to show a row belongs to no table
LINKS = ("benchmarks", "examples", "tests")
DONE = "●"


@dataclass(frozen=True)
class System:
    """A row of a paper.

    Attributes:
        paper: The title of the table.
        number: The number of the row, from 1.
        system: What the paper describes, and where.
        command: What shows it: one line for a shell.
        prints: Regular expressions, each of which occurs in what is printed.
        code: The exit code.
        errata: Ids of errata of the printed version.
        missing: What is not reached, with its number, or nothing.
    """

    paper: str
    number: int
    system: str
    command: str
    prints: Sequence[str]
    code: int = 0
    errata: str = ""
    missing: str = ""


def systems(names: Sequence[str] = ()) -> Iterator[System]:
    """The systems of the papers of these names, or of all."""
    for path in sorted(PAPERS.glob("*.toml")):
        if not names or path.stem in names:
            listed = tomllib.loads(path.read_text())
            for number, row in enumerate(listed["row"], 1):
                yield System(listed["title"], number, **row)


def run(command: str) -> tuple[int, str]:
    """The exit code of a command in a new folder, and all that it prints."""
    places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(places),
        "COLUMNS": "200",
        "OMP_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in LINKS:
            (Path(folder) / name).symlink_to(ROOT / name)
        shutil.copytree(RESULTS, Path(folder) / RESULTS.name)
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=os.environ | settings,
            capture_output=True,
            text=True,
            check=False,
        )
    return ended.returncode, ended.stdout + ended.stderr


def find_reason(system: System) -> str:
    """Why a row is not done, or nothing."""
    code, text = run(system.command)
    if code != system.code:
        last = text.strip().rpartition("\n")[2]
        return f"ends with {code}: {last}"
    for pattern in system.prints:
        if not re.search(pattern, text):
            return f"does not print {pattern}"
    return system.missing


def make_row(system: System) -> Row:
    """The row of a system as the page shows it."""
    return {
        "row": system.number,
        "system": system.system,
        "command": f"`{system.command}`",
        "errata": system.errata,
        "result": find_reason(system) or DONE,
    }


def tables(chosen: Sequence[System], processes: int) -> Iterator[Table]:
    """A table for each paper, and one of how many rows are done."""
    rows = each(make_row, chosen, processes)
    papers = list(dict.fromkeys(system.paper for system in chosen))
    counts: list[Row] = []
    for paper in papers:
        own = [r for s, r in zip(chosen, rows, strict=True) if s.paper == paper]
        yield Table(paper, own)
        done = sum(row["result"] == DONE for row in own)
        counts.append({"paper": paper, "systems": len(own), DONE: done})
    yield Table("How many", counts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the commands."""
    options = parser(__doc__)
    options.add_argument("papers", nargs="*", help="names of benchmarks/papers/*.toml")
    options.add_argument("--rows", nargs="*", type=int, help="only these numbers")
    options.add_argument("--jobs", type=int, default=1, help="commands at once")
    asked = options.parse_args(arguments)
    chosen = [
        s for s in systems(asked.papers) if not asked.rows or s.number in asked.rows
    ]
    publish(tables(chosen, asked.jobs), asked)


if __name__ == "__main__":
    main()
