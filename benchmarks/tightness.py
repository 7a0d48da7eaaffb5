"""Proved errors beside the largest ones that are found, for networks that say numbers.

    python benchmarks/tightness.py [--sample N]

Inputs are random, and those that a kind of source calls adversarial, as
`krohn verify F --sample N` runs them.
"""

import json
import shlex
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from report import Row, Table, each, parser, publish
from typer.testing import CliRunner

from krohn.cli import application

TITLE = "Proved and found errors"
FILES = {
    "learning in context": ["InContext2,1", "InContext2,1 --dtype float32"],
    "RNN of matrices": [
        "MatMul2,2@3 --arch rnn -T 20",
        "MatMul2,2@3 --arch rnn -T 20 --dtype float32",
    ],
    "Transformer of matrices": ["MatMul2,2@3 -T 16"],
    "kernel by attention": ["Exp32:swap=10", "Exp32:swap=10 --dtype float32"],
    "kernel by a recurrence": ["Exp32 --arch rnn", "Exp32 --arch rnn --dtype float32"],
    "exact selection": ["Nearest6", "Nearest6 --dtype float32", "Gravity10", "Select8"],
    "target": ["Sine6,1.5 --within 0.1", "Sine6,1.5 --within 0.1 --dtype float32"],
    "grid function": ["Sorted3,4"],
    "posterior head": ["RanHMM3,4@7:23given1"],
    "beliefs": [
        "Mess3 -T 32",
        "Mess3 -T 32 --construction normalised-products --dtype float64",
        "RRXOR -T 32",
        "Cyclic-HARD5,5@3 --arch rnn",
    ],
}
"""Examples of each kind, as `krohn compile` takes them."""


def measured(sample: int, job: tuple[str, str]) -> Row:
    """The row of a network, of which so many inputs are run."""
    kind, words = job
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        made = json.loads(_run("compile", *shlex.split(words), "-o", path, "--json"))
        told = json.loads(_run("verify", path, "--sample", str(sample), "--json"))
    proved, found = told["error"], told["largest_error"]
    return {
        "kind": kind,
        "network": words,
        "construction": made["construction"],
        "format": told["about"]["dtype"],
        "proved": f"{proved:.2e}",
        "found": f"{found:.2e}",
        "proved/found": round(proved / found, 1) if found else None,
    }


def again(row: dict[str, str]) -> Row:
    """The row of a network without what was found, which may differ by the processor."""
    found = measured(1, (row["kind"], row["network"]))
    return {n: cell for n, cell in found.items() if "found" not in n}


AGAIN = {TITLE: again}
"""How rows are made again."""


def _run(*words: str) -> str:
    done = CliRunner().invoke(application(), words)
    if done.exit_code not in (0, 1):
        raise RuntimeError(f"krohn {shlex.join(words)}: {done.output}")
    return done.stdout


def main() -> None:
    """Measure, and print the table."""
    options = parser(__doc__)
    options.add_argument("--sample", type=int, default=512, help="inputs of each")
    chosen = options.parse_args()
    jobs = [(kind, words) for kind, several in FILES.items() for words in several]
    rows = each(partial(measured, chosen.sample), jobs)
    publish([Table(TITLE, rows)], chosen)


if __name__ == "__main__":
    main()
