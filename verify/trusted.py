"""The code that a proof rests on: files of the small checker, and their lines that ran."""

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from krohn.program.errors import Refused, demand

HOMES = tuple(map(Path, sys.modules["krohn"].__path__))
"""The folder of `krohn`; in a checkout without links also that of its packages."""


@dataclass(frozen=True)
class TrustedFile:
    """A file that was imported to check evidence.

    Attributes:
        file: Its name, which begins with ``krohn/``.
        lines: How many lines it has.
        code: How many of them hold code: no blank lines, comments or docstrings.
        ran: How many lines of its functions ran.
    """

    file: str
    lines: int
    code: int
    ran: int = 0


EVERYTHING = """
import importlib, json, pkgutil, re, sys
for name in ("krohn.program.operations", "krohn.verify.checker"):
    folder = importlib.import_module(name)
    for found in pkgutil.walk_packages(folder.__path__, name + "."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
from krohn.program.slices import slices
for name in slices():
    for found in pkgutil.iter_modules(importlib.import_module(name).__path__, name + "."):
        if re.fullmatch(r"(statement|check)(_\\w+)?", found.name.rpartition(".")[2]):
            importlib.import_module(found.name)
from krohn.verify.traced import import_late, imported_files
import_late()
print(json.dumps({name: [] for name in imported_files()}))
"""


def every_file() -> list[TrustedFile]:
    """All files that proofs can rest on: the checker, and all its imports."""
    return _alone("-c", EVERYTHING)


def rests_on(model: str | Path, evidence: bytes) -> list[TrustedFile]:
    """The files that the checker imports in a process of its own to check evidence.

    Args:
        model: The model file, or the directory of a GPT-2.
        evidence: Its evidence.

    Raises:
        Refused: If the checker alone is not shown the claim.
    """
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "evidence")
        said.write_bytes(evidence)
        return _alone("-m", "krohn.verify.traced", str(model), str(said))


def _alone(*arguments: str) -> list[TrustedFile]:
    """The files that a process of its own has imported, as it prints them."""
    paths = os.pathsep.join([str(HOMES[0].parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        # -P: no module of the folder in which the user works is imported
        [sys.executable, "-P", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep)},
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["without a word"]
        raise Refused(f"the checker alone ended: {said[-1]}")
    found = {Path(name): lines for name, lines in json.loads(done.stdout).items()}
    found.pop(Path(__file__).with_name("traced.py"), None)
    return [_count_lines(path, len(lines)) for path, lines in sorted(found.items())]


def totals(files: Sequence[TrustedFile]) -> dict[str, int]:
    """How many files there are, and their lines together."""
    return {
        "files": len(files),
        "lines": sum(file.lines for file in files),
        "code": sum(file.code for file in files),
        "ran": sum(file.ran for file in files),
    }


def _count_lines(path: Path, ran: int) -> TrustedFile:
    demand(
        path.suffix == ".py", "Krohn is installed without its source, so no lines count"
    )
    text = path.read_text("utf-8")
    home = next(home for home in HOMES if path.is_relative_to(home))
    name = Path("krohn", path.relative_to(home)).as_posix()
    return TrustedFile(name, len(text.splitlines()), len(_code(text)), ran)


def _code(text: str) -> set[int]:
    """The lines of a module that hold code: no blank ones, comments or docstrings."""
    lines = enumerate(text.splitlines(), 1)
    found = {i for i, line in lines if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return found
