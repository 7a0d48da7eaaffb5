"""``python -m krohn.verify.traced MODEL EVIDENCE``: the small checker and the lines it ran.

Nothing but the checker is imported, so what this process holds at its end is what the
proof rests on: `krohn.verify.trusted` reads it.
"""

import ast
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from krohn.program.errors import Refused
from krohn.program.slices import packages
from krohn.verify.checker.network import contents, recheck


def package_of(module: str) -> str:
    """The first part of the full name of a module."""
    return module.partition(".")[0]


BEFORE = frozenset({*sys.stdlib_module_names, *map(package_of, sys.modules)})
"""Python, and what the checker imports before it is asked: numpy and safetensors."""


def is_own(module: str) -> bool:
    """Whether a module, of a full name, is one of Krohn or of another slice."""
    return package_of(module) in packages()


def libraries() -> list[str]:
    """What was imported since of other packages: slices may need some."""
    return sorted({*map(package_of, sys.modules)} - BEFORE - packages())


def imported_files() -> dict[str, str]:
    """The files that are imported, of Krohn and of other slices, with their modules."""
    own = {name: module for name, module in sys.modules.items() if is_own(name)}
    own.pop("krohn.verify.traced", None)
    files = {name: getattr(module, "__file__", None) for name, module in own.items()}
    return {file: name for name, file in files.items() if file}


def import_late() -> None:
    """Import what functions of imported files import when they are called.

    But for `krohn` itself, of which the checker asks no name: users do.
    """
    done = {str(sys.modules["krohn"].__file__)}
    while files := imported_files().keys() - done:
        for file in sorted(files):
            for node in ast.walk(ast.parse(Path(file).read_text("utf-8"))):
                late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for each in ast.walk(node) if late else ():
                    if isinstance(each, ast.ImportFrom) and is_own(str(each.module)):
                        _import(str(each.module), [alias.name for alias in each.names])
        done |= files


def _import(module: str, names: list[str]) -> None:
    """A module, and those of its names that are modules too."""
    loaded = import_module(module)
    for name in names:
        if not hasattr(loaded, name):
            import_module(f"{module}.{name}")


def trace(model: Path, evidence: Path) -> dict[str, Any]:
    """The files that are imported to check evidence, and the lines of functions that run.

    Returns:
        As `report` does.

    Raises:
        Refused: If the evidence shows nothing.
    """
    ran: dict[CodeType, set[int]] = {}

    def line(frame: FrameType, event: str, _: Any) -> Any:
        ran[frame.f_code].add(frame.f_lineno)
        return line

    def trace_call(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if not code.co_flags & CO_OPTIMIZED:  # the body of a module or a class
            return None
        if not is_own(str(frame.f_globals.get("__name__"))):
            return None
        ran.setdefault(code, set()).add(frame.f_lineno)
        return line

    sys.settrace(trace_call)
    try:
        recheck(contents(model), evidence.read_bytes())
    finally:
        sys.settrace(None)
    lines_of: dict[str, set[int]] = {}
    for code, lines in ran.items():
        # What dataclasses write for themselves is in no file.
        lines_of.setdefault(code.co_filename, set()).update(lines)
    return report(lines_of)


def report(ran: Mapping[str, set[int]]) -> dict[str, Any]:
    """What this process has imported.

    Args:
        ran: The lines of files that ran.

    Returns:
        ``files``: each with its module and how many of its lines ran; ``libraries``.
    """
    files = [
        {"path": path, "module": module, "ran": len(ran.get(path, ()))}
        for path, module in imported_files().items()
    ]
    return {"files": files, "libraries": libraries()}


if __name__ == "__main__":
    try:
        print(json.dumps(trace(*map(Path, sys.argv[1:3]))))
    except Refused as refused:
        sys.exit(f"not shown: {refused}")
