"""Evidence for every machine of the zoo: finding it, checking it, and what that rests on.

For each network: how long the proof takes, the search for evidence and the check of it, how
large the evidence is, and how many lines of the trusted base were executed at all.
"""

import argparse
import ast
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

import torch
from report import Row, Table, each, parser, publish

import krohn
import program
import verify.checker
from algebra.errors import KrohnError
from network.modelfile import pack
from program.errors import Refused
from verify.blas_threads import one_thread
from verify.checker.network import recheck
from verify.errors import Rejected
from verify.search.find import find

# The trusted base: the small checker, and the Program language that it reads.
BASE = [Path(p).parent for p in (verify.checker.__file__, program.__file__) if p]
# What modules or, if they are not named, folders are about.
PARTS = {
    "checker": "the file, the whole network",
    "refinement": "the Program and the machine",
    "invariant": "the Program and the machine",
    "followed": "the Program and the machine",
    "lemmas": "the Program and the machine",
    "lowered_sums": "the Program and the machine",
    "departures": "the Program and the machine",
    "affine_arithmetic": "arithmetic",
    "attention": "heads",
    "mlp": "MLPs",
    "case_split": "MLPs",
    "contributions": "MLPs",
    "recurrent": "RNNs",
    "gated_recurrent": "RNNs",
    "sparse_matrix": "RNNs",
    "generator": "generators",
    "balanced_head": "generators",
    "layer_norm": "generators",
    "brackets": "generators",
    "program": "the Program language",
    "operations": "the Program language",
}


def code_lines(path: Path) -> set[int]:
    """The lines of a module that hold code: no blank ones, comments or docstrings."""
    text = path.read_text()
    lines = enumerate(text.splitlines(), 1)
    found = {i for i, line in lines if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return found


def sizes() -> list[Row]:
    """The lines of each part of the trusted base."""
    rows: dict[str, Row] = {}
    for path in sorted(path for folder in BASE for path in folder.rglob("*.py")):
        part = PARTS.get(path.stem) or PARTS[path.parent.name]
        row = rows.setdefault(part, {"part": part, "modules": 0, "code": 0, "all": 0})
        every = len(path.read_text().splitlines())
        found = {"modules": 1, "code": len(code_lines(path)), "all": every}
        row |= {key: row[key] + number for key, number in found.items()}
    total = {key: sum(row[key] for row in rows.values()) for key in found}
    return [*rows.values(), {"part": "together", **total}]


def executed(run: Callable[[], Any]) -> int:
    """How many lines of functions of the trusted base a run executes."""
    seen: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, _: Any) -> Any:
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def called(frame: FrameType, event: str, _: Any) -> Any:
        return local if {*Path(frame.f_code.co_filename).parents} & {*BASE} else None

    sys.settrace(called)
    try:
        run()
    finally:
        sys.settrace(None)
    return len(seen)


def measure(job: tuple[str, int, str], trace: bool) -> Row:
    """The row of one network."""
    torch.set_num_threads(1)
    name, length, how = job
    row: Row = {"machine": name, "T": length}
    try:
        began = monotonic()
        model = krohn.compile(name, length, how)
        row |= {"construction": model.file.header["construction"]}
        assert model.proof is not None
        row |= {"compiled s": monotonic() - began, "proved s": model.proof.seconds}
        data, began = pack(model.file.header, model.file.tensors), monotonic()
        evidence = json.dumps(find(data)).encode()
        row |= {"found s": monotonic() - began, "KiB": len(evidence) / 1024}
    except (KrohnError, Refused, Rejected) as error:
        return row | {"reason": str(error)}
    began = monotonic()
    with one_thread():
        recheck(data, evidence)
    row |= {"checked s": monotonic() - began}
    if trace:
        row |= {"lines executed": executed(partial(recheck, data, evidence))}
    return row


def main() -> None:
    """Measure, and print the tables."""
    options: argparse.ArgumentParser = parser(__doc__)
    options.add_argument("-T", "--length", type=int, default=100)
    options.add_argument(
        "--only",
        nargs="*",
        default=None,
        help="machines of the zoo; none: lines of code",
    )
    options.add_argument("--trace", action="store_true", help="count executed lines")
    chosen = options.parse_args()
    names = chosen.only if chosen.only is not None else krohn.zoo()
    jobs = [(name, chosen.length, "auto") for name in names]
    jobs += [("S5", 1024, "scan")] if chosen.only is None else []
    found = list(each(partial(measure, trace=chosen.trace), jobs, 1))
    base = Table("The trusted base", sizes())
    publish([Table("Evidence", found) if found else base], chosen)


if __name__ == "__main__":
    main()
