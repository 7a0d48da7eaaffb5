"""Every machine file of a folder: read, explained, compiled and proved where possible.

A file with missing transitions is read once more with a sink state for them. Seconds are
of the processor; explaining, and compiling with proof, are done in a process each, whose
start is not counted. What a search left out is said; ``--effort`` lets it do more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

from report import Row, Table, each, parser, publish

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compilation import explain
from krohn.machines import read

EXAMPLES = Path(__file__).parents[1] / "examples"
SHOWN = 160
Found = TypeVar("Found")
KINDS = {"machine with letters that merge some states and keep others apart": "merging"}
IGNORED = {".md", ".txt", ".png", ".py"}


@dataclass(frozen=True)
class Job:
    """A file, the folder that it is named within, T, and how much to search."""

    path: Path
    folder: Path
    length: int
    dtype: str
    effort: str


def measure(job: Job) -> Row:
    """The row of one file."""
    row: Row = {"file": str(job.path.relative_to(job.folder))}
    try:
        machine, completed = read_completed(job.path)
    except KrohnError as error:
        reason = str(error).replace(f"{job.folder}/", "")
        return row | {"verdict": f"not read: {reason}"}
    facts, seconds = alone(explained, machine, job)
    row |= described(facts) | {"missing transitions": completed}
    row["explain CPU s"] = seconds
    found, seconds = alone(certified, machine, job)
    row |= found | {"compile CPU s": seconds}
    row["runner-up"] = _runner_up(facts, row.get("construction"))
    return row | {"cut short": "; ".join(facts["cut_short"])}


def alone(
    work: Callable[[Automaton, Job], Found], machine: Automaton, job: Job
) -> tuple[Found, float]:
    """The result of some work in a new process, and its seconds there."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(timed, (work, machine, job))


def timed(
    work: Callable[[Automaton, Job], Found], machine: Automaton, job: Job
) -> tuple[Found, float]:
    """The result of some work, and the seconds of the processor that it took."""
    began = process_time()
    found = work(machine, job)
    return found, process_time() - began


def explained(machine: Automaton, job: Job) -> dict[str, Any]:
    """The explanation of the machine."""
    return explain(machine, job.length, job.dtype, effort=job.effort)


def read_completed(path: Path) -> tuple[Automaton, str]:
    """The machine, and how transitions that the file lacks were filled in."""
    try:
        return read(path), "none"
    except KrohnError as error:
        if "transition" not in str(error):
            raise
    return read(path, "sink"), "sink"


def described(facts: dict[str, Any]) -> Row:
    """The columns about the machine."""
    kind = facts["kind"].partition(":")[0].removeprefix("a ")
    return {
        "states": facts["states"],
        "minimal": facts["minimal"],
        "letters": facts["letters"],
        "kind": KINDS.get(kind, kind),
    }


def certified(machine: Automaton, job: Job) -> Row:
    """The columns about the network."""
    try:
        model = krohn.compile(machine, job.length, dtype=job.dtype, effort=job.effort)
    except KrohnError as error:
        return {"verdict": str(error)[:SHOWN]}
    found = model.summary()
    return {
        "construction": found["construction"],
        "depth": found["depth"],
        "layers": found["layers"],
        "parameters": found["parameters"],
        "verdict": found["verdict"],
    }


def _runner_up(facts: dict[str, Any], won: str | None) -> str | None:
    """The next construction with its depth, layers and parameters."""
    for cost in facts["constructions"]:
        if cost["name"] != won:
            sizes = "{depth} / {layers} / {parameters:,}".format(**cost)
            return f"{cost['name']}: {sizes}"
    return None


def main() -> None:
    """Measure all files, and print the table."""
    found = parser(__doc__)
    found.add_argument("folder", nargs="?", type=Path, default=EXAMPLES)
    found.add_argument("-T", "--length", type=int, default=64)
    found.add_argument("--dtype", default="float32")
    found.add_argument("--effort", default="normal", help="as of krohn explain")
    found.add_argument("--jobs", type=int, default=1, help="processes")
    options = found.parse_args()
    paths = sorted(p for p in options.folder.rglob("*") if p.is_file())
    kept = [p for p in paths if p.suffix not in IGNORED]
    job = partial(
        Job,
        folder=options.folder,
        length=options.length,
        dtype=options.dtype,
        effort=options.effort,
    )
    rows = each(measure, [job(p) for p in kept], options.jobs)
    title = f"{len(rows)} machine files at T = {options.length}, {options.dtype}"
    publish([Table(title, rows)], options)


if __name__ == "__main__":
    main()
