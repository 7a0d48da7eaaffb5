"""``python -m krohn.verify.traced MODEL EVIDENCE``: the small checker and the lines it ran.

Nothing but the checker is imported, so what this process holds at its end is what the
proof rests on: `krohn.verify.trusted` reads it.
"""

import ast
import json
import sys
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from krohn.program.errors import Refused
from krohn.verify.checker.network import contents, recheck


def is_own(module: str) -> bool:
    """Whether the full name of a module is that of one of this project."""
    return module.partition(".")[0] == "krohn"


def imported_files() -> list[str]:
    """The files of this project that are imported, wherever in it they lie."""
    own = [module for name, module in sys.modules.items() if is_own(name)]
    return [module.__file__ for module in own if module.__file__]


def import_late() -> None:
    """Import what functions of imported files import when they are called.

    But for `krohn` itself, of which the checker asks no name: users do.
    """
    done = {str(sys.modules["krohn"].__file__)}
    while files := {*imported_files()} - done:
        for file in sorted(files):
            for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
                late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for each in ast.walk(node) if late else ():
                    if isinstance(each, ast.ImportFrom) and is_own(str(each.module)):
                        _import(str(each.module), [alias.name for alias in each.names])
        done |= files


def _import(module: str, names: list[str]) -> None:
    """A module, and those of its names that are modules too."""
    found = import_module(module)
    for name in names:
        if not hasattr(found, name):
            import_module(f"{module}.{name}")


def trace(model: Path, evidence: Path) -> dict[str, list[int]]:
    """The files that are imported to check evidence, and the lines of functions that run.

    Raises:
        Refused: If the evidence shows nothing.
    """
    ran: dict[CodeType, set[int]] = {}

    def line(frame: FrameType, event: str, _: Any) -> Any:
        ran[frame.f_code].add(frame.f_lineno)
        return line

    def called(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_flags & CO_OPTIMIZED:  # the body of a module or a class
            return None
        if not is_own(str(frame.f_globals.get("__name__"))):
            return None
        ran.setdefault(code, set()).add(frame.f_lineno)
        return line

    sys.settrace(called)
    try:
        recheck(contents(model), evidence.read_bytes())
    finally:
        sys.settrace(None)
    files: dict[str, set[int]] = {name: set() for name in imported_files()}
    for code, lines in ran.items():
        # What dataclasses write for themselves is in no file.
        files.get(code.co_filename, set()).update(lines)
    return {name: sorted(lines) for name, lines in files.items()}


if __name__ == "__main__":
    try:
        print(json.dumps(trace(*map(Path, sys.argv[1:3]))))
    except Refused as refused:
        sys.exit(f"not shown: {refused}")
