"""The library for Coq, and running coqc on it."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from krohn.verify import kernel

LIBRARY = Path(kernel.__file__).parent / "coq"
IMPORTS = re.compile(r"From Krohn Require (?:Import |Export )?([\w\s]+)\.")


def all_modules() -> list[str]:
    """The modules of the library, each after those that it imports."""
    lines = (LIBRARY / "_CoqProject").read_text("utf-8").splitlines()
    return [line.removesuffix(".v") for line in lines if line.endswith(".v")]


def needed_modules(text: str) -> list[str]:
    """The modules of the library that a text for Coq needs, in the order of the library."""
    needed, todo = set[str](), [text]
    while todo:
        for names in IMPORTS.findall(todo.pop()):
            for name in set(names.split()) - needed:
                needed.add(name)
                todo.append((LIBRARY / f"{name}.v").read_text("utf-8"))
    return [name for name in all_modules() if name in needed]


def copy(modules: Iterable[str], folder: Path) -> None:
    """Put modules into a folder."""
    for name in modules:
        shutil.copyfile(LIBRARY / f"{name}.v", folder / f"{name}.v")


def coqc(
    folder: Path, module: str, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Have Coq prove a module of a folder, whose imports it has proved before.

    Raises:
        TimeoutExpired: If it takes longer than it may.
    """
    return subprocess.run(
        ["coqc", "-q", "-Q", ".", "Krohn", f"{module}.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


def compile_modules(folder: Path, modules: Iterable[str]) -> None:
    """Have Coq prove modules, in their order, in a folder.

    Raises:
        RuntimeError: If Coq does not accept a module.
    """
    names = list(modules)
    copy(names, folder)
    for name in names:
        if (ran := coqc(folder, name)).returncode:
            raise RuntimeError(f"{name}.v: {ran.stderr}")
