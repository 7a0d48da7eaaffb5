"""Every machine file of a folder: read, explained, compiled and proved where possible.

A file with missing transitions is read once more with a sink state for them.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from report import Row, Table, each, parser, publish

import krohn
from algebra.automaton import Automaton
from algebra.errors import KrohnError
from krohn.explanation import explain
from krohn.sources import read

EXAMPLES = Path(__file__).parents[1] / "examples"
KINDS = {"machine with letters that merge some states and keep others apart": "merging"}
IGNORED = {".md", ".txt", ".png", ".py"}


@dataclass(frozen=True)
class Job:
    """A file, the folder that it is named within, and T."""

    path: Path
    folder: Path
    length: int
    dtype: str


def measure(job: Job) -> Row:
    """The row of one file."""
    row: Row = {"file": str(job.path.relative_to(job.folder))}
    try:
        machine, completed = read_completed(job.path)
    except KrohnError as error:
        reason = str(error).replace(f"{job.folder}/", "")
        return row | {"verdict": f"not read: {reason}"}
    facts = explain(machine, job.length, job.dtype)
    row |= described(facts) | {"missing transitions": completed}
    return row | certified(machine, facts, job)


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


def certified(machine: Automaton, facts: dict[str, Any], job: Job) -> Row:
    """The columns about the network."""
    if facts["chosen"] is None:
        reasons = {r["name"]: r["reason"] for r in facts["unavailable"]}
        return {"verdict": f"scan: {reasons['scan']}"}
    try:
        model = krohn.compile(machine, job.length, dtype=job.dtype)
    except KrohnError as error:
        return {"construction": facts["chosen"], "verdict": str(error)}
    found = model.summary()
    return {
        "construction": found["construction"],
        "depth": found["depth"],
        "layers": found["layers"],
        "parameters": found["parameters"],
        "seconds": model.seconds,
        "verdict": found["verdict"],
        "runner-up": _runner_up(facts, found["construction"]),
    }


def _runner_up(facts: dict[str, Any], won: str) -> str | None:
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
    found.add_argument("--jobs", type=int, default=1, help="processes")
    options = found.parse_args()
    paths = sorted(p for p in options.folder.rglob("*") if p.is_file())
    kept = [p for p in paths if p.suffix not in IGNORED]
    job = partial(
        Job, folder=options.folder, length=options.length, dtype=options.dtype
    )
    rows = each(measure, [job(p) for p in kept], options.jobs)
    title = f"{len(rows)} machine files at T = {options.length}, {options.dtype}"
    publish([Table(title, rows)], options)


if __name__ == "__main__":
    main()
