"""The files that the proof of one file of each kind rests on, with lines that ran.

The whole trusted base is the checker and the Program language; `krohn verify F --trusted`
says what one proof needs of it. Beside the rules stand the lines that are trusted where
the kernel speaks.
"""

import json
import shlex
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from report import Row, Table, each, parser, publish
from typer.testing import CliRunner

from krohn.cli import application
from krohn.program.errors import Refused
from krohn.verify.checker.network import open_model
from krohn.verify.kernel.evidence import find_kernel_evidence
from krohn.verify.kernel.trusted_files import kernel_rests
from krohn.verify.trusted import every_file, totals

ROOT = Path(__file__).parents[1]
GPT2 = "GPT-2 of a machine"
TITLE, EVERY = "What a proof rests on, by kind of file", "The trusted base"
SHARES = "Who needs the trusted base"
KINDS = {
    "Transformer of a machine": "FlipFlop -T 20",
    "Transformer of a machine, long words": "FlipFlop -T 1024",
    "Transformer of a machine, in disguise": "C2 -T 8 --disguise rotate --dtype float64",
    "Transformer of a machine, pruned": "C2 -T 8 --construction pruned",
    GPT2: "C2 -T 20 --strict",
    "RNN of a machine": "C2 --arch rnn",
    "RNN of a machine, pruned": "C2 --arch rnn --construction pruned",
    "LSTM of a machine": "C2 --arch lstm",
    "GRU of a machine": "C2 --arch gru",
    "state space model of a machine": "C2 --arch ssm -T 100",
    "generator of brackets": "Dyck2,2 -T 20 --construction balanced",
    "Transformer of text in blocks": "C2 -T 24 --block 4",
    "Transformer of a Program": "examples/majority.program -T 16",
    "Transformer of a dynamic program": "LCS2,2:letters=2",
    "Transformer of a rewriting system": "Sorting3 -T 40",
    "Transformer of increasing subsequences": "ShortLIS5",
    "Transformer of a linear system": "MatMul2,2@3 -T 8",
    "Transformer of a linear system, in blocks": "MatMul2,2@3 -T 16 --block 4",
    "RNN of a linear system": "MatMul2,2@3 --arch rnn -T 20",
    "Transformer of beliefs": "Cyclic-DET5,5@3 -T 20 --construction beliefs",
    "Transformer of beliefs, by heads that multiply": "Mess3 -T 20",
    "Transformer of beliefs, by products": "RanHMM2,2@3 -T 8 "
    "--construction normalised-products --dtype float64",
    "RNN of beliefs": "Cyclic-HARD5,5@3 --arch rnn",
    "learning in context": "InContext2,1",
    "attention layer of a grid function": "Sorted3,4",
    "attention layer of a posterior head": "RanHMM3,4@7:23given1",
    "attention layer of an exact selection": "Nearest6",
    "attention layer of a target": "Sine6,1.5 --within 0.1",
    "heads of a Kalman predictor": "RanLDS2@1 -T 8",
    "RNN of a Kalman predictor": "RanLDS2@1 --arch rnn",
    "attention layer of a kernel": "Exp32:swap=10",
    "linear recurrence of a kernel": "Exp32 --arch rnn",
}
"""An example of each kind, as `krohn compile` takes it."""


@cache
def imported(kind: str) -> dict[str, Any]:
    """The files that the proof of a file of a kind rests on, as `--trusted` lists them."""
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        _run(
            "compile",
            *shlex.split(KINDS[kind].replace("examples", str(ROOT / "examples"))),
            "-o",
            path,
        )
        if kind == GPT2:
            _run("export", path, "--to", "gpt2", "-o", path := f"{path}-gpt2")
        asked = ("verify", path, "--kernel", "none", "--trusted", "--json")
        found = json.loads(_run(*asked))
        told: dict[str, Any] = found["trusted"]
        told["with the kernel"] = _lines_with_the_kernel(Path(path))
    return told


def _lines_with_the_kernel(path: Path) -> int | None:
    """How many lines are trusted if the kernel speaks; None if it has no evidence."""
    if path.is_dir():
        return None
    try:
        model = open_model(path.read_bytes())
        find_kernel_evidence(model)
    except Refused:
        return None
    assert model.claim.architecture is not None
    return totals(kernel_rests(model.claim.architecture.kind).files)["lines"]


def measured(kind: str) -> Row:
    """The row of a kind of file."""
    told = imported(kind)
    names = ("files", "lines", "code", "ran", "with the kernel")
    counts = {name: told[name] for name in names}
    return {"kind of file": kind, "for example": KINDS[kind], **counts}


def shares() -> list[Row]:
    """The files that all kinds need, those of one kind alone, and the others."""
    needs = {kind: {f["file"] for f in imported(kind)["each"]} for kind in KINDS}
    every = {f.file: f for f in every_file()}
    users = {name: [k for k in KINDS if name in needs[k]] for name in every}

    def row(what: str, names: list[str]) -> Row:
        told = totals([every[name] for name in names])
        return {"needed by": what, **{n: told[n] for n in ("files", "lines", "code")}}

    found = [row("every kind", [n for n, of in users.items() if len(of) == len(KINDS)])]
    several = [n for n, of in users.items() if 1 < len(of) < len(KINDS)]
    found.append(row("several kinds", several))
    for kind in KINDS:
        own = [n for n, of in users.items() if of == [kind]]
        if own:
            found.append(row(f"{kind} alone", own))
    found.append(row("none of the examples", [n for n, of in users.items() if not of]))
    return found


def _run(*words: str) -> str:
    done = CliRunner().invoke(application(), words)
    if done.exit_code:
        raise RuntimeError(f"krohn {shlex.join(words)}: {done.output}")
    return done.stdout


def everything(_: object = None) -> Row:
    """The row of all that some proof can rest on."""
    return {n: t for n, t in totals(every_file()).items() if n != "ran"}


AGAIN = {TITLE: lambda row: measured(row["kind of file"]), EVERY: everything}
"""How rows are made again."""


def main() -> None:
    """Measure, and print the tables."""
    chosen = parser(__doc__).parse_args()
    rows = each(measured, list(KINDS), 1)
    tables = [Table(EVERY, [everything()]), Table(TITLE, rows), Table(SHARES, shares())]
    publish(tables, chosen)


if __name__ == "__main__":
    main()
