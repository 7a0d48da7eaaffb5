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
from typing import Any

from krohn.program.errors import Refused, demand

HOME = Path(sys.modules["krohn"].__path__[0]).parent
"""The folder that `krohn` is imported from."""


@dataclass(frozen=True)
class TrustedFile:
    """A file that was imported to check evidence.

    Attributes:
        file: Its module as a path, which begins with ``krohn/``, or with the name of a
            package of another distribution.
        lines: How many lines it has.
        code: How many of them hold code: no blank lines, comments or docstrings.
        ran: How many lines of its functions ran.
    """

    file: str
    lines: int
    code: int
    ran: int = 0


EVERYTHING = """
import importlib, json, pkgutil, re
from krohn.verify.traced import import_late, report
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
import_late()
print(json.dumps(report({})))
"""


@dataclass(frozen=True)
class Rests:
    """What one proof rests on.

    Attributes:
        files: The files that the small checker imports for it: those of Krohn, and of
            slices of other distributions; or those of the kernel.
        libraries: The packages that such slices have imported beside.
        beside: What else it rests on.
    """

    files: tuple[TrustedFile, ...]
    libraries: tuple[str, ...]
    beside: tuple[str, ...] = ("Python", "numpy", "safetensors")

    def to_object(self) -> dict[str, Any]:
        """As ``krohn verify --trusted --json`` prints it."""
        each = [vars(file) for file in self.files]
        others = {"libraries": [*self.libraries], "beside": [*self.beside]}
        return {**totals(self.files), "each": each, **others}


def every_file() -> tuple[TrustedFile, ...]:
    """All files that proofs can rest on: the checker, and all its imports."""
    return _alone("-c", EVERYTHING).files


def rests_on(model: str | Path, evidence: bytes) -> Rests:
    """What the checker imports in a process of its own to check evidence.

    Args:
        model: The model file, or the directory of a GPT-2.
        evidence: Its evidence.

    Raises:
        Refused: If the checker alone is not shown the claim.
    """
    with tempfile.TemporaryDirectory() as folder:
        evidence_file = Path(folder, "evidence")
        evidence_file.write_bytes(evidence)
        return _alone("-m", "krohn.verify.traced", str(model), str(evidence_file))


def _alone(*arguments: str) -> Rests:
    """What a process of its own has imported, as it prints it."""
    paths = os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        # -P: no module of the folder in which the user works is imported
        [sys.executable, "-P", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths.rstrip(os.pathsep)},
    )
    if done.returncode:
        messages = done.stderr.strip().splitlines() or ["without a word"]
        raise Refused(f"the checker alone ended: {messages[-1]}")
    found = json.loads(done.stdout)
    files = [_count_lines(**each) for each in found["files"]]
    files.sort(key=lambda each: each.file)
    return Rests(tuple(files), tuple(found["libraries"]))


def totals(files: Sequence[TrustedFile]) -> dict[str, int]:
    """How many files there are, and their lines together."""
    return {
        "files": len(files),
        "lines": sum(file.lines for file in files),
        "code": sum(file.code for file in files),
        "ran": sum(file.ran for file in files),
    }


def _count_lines(path: str, module: str, ran: int) -> TrustedFile:
    demand(
        path.endswith(".py"),
        f"{module} is installed without its source, so no lines count",
    )
    text, name = Path(path).read_text("utf-8"), module.replace(".", "/")
    if Path(path).name == "__init__.py":
        name = f"{name}/__init__"
    name = f"{name}.py"
    return TrustedFile(name, len(text.splitlines()), len(_code(text)), ran)


def _code(text: str) -> set[int]:
    """The lines of a module that hold code: no blank ones, comments or docstrings."""
    lines = enumerate(text.splitlines(), 1)
    numbers = {i for i, line in lines if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                numbers -= set(range(first.lineno, (first.end_lineno or 0) + 1))
    return numbers
