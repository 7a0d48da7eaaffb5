"""Delete slices, and look whether the rest goes on: ``make walls``.

For each slice the repository is copied, without the slice, without those that use it, and
without their tests and pages. What is left must import, and compile and verify a machine;
with ``--collect`` its tests must be found, too, with ``--tests`` its quick tests must pass.

To run all that is left so many times takes hours. ``--alone`` is as good and takes as long
as all tests do once: the quick tests of the core must pass where no slice is left, and
those of each slice where only it is left and what it uses. So no test needs a slice that
may be deleted while the test stays. A file of tests that imports several slices, none of
which uses the other, is run only where all of them are.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from os import environ
from pathlib import Path

from slices_here import NOTE, imports_of, what_leads_to

from krohn.program.slices import GROUPS, slices

ROOT = Path(__file__).parents[1]
CORE = "the core alone"
IMPORTS = """
import importlib, pkgutil, krohn
from krohn.program.slices import slices
for name in slices():
    for module in pkgutil.iter_modules(importlib.import_module(name).__path__):
        importlib.import_module(f"{name}.{module.name}")
for module in pkgutil.iter_modules(krohn.__path__):
    if module.name not in ("__main__", "kinds", "architectures", "instruments"):
        importlib.import_module(f"krohn.{module.name}")
"""
"""Imports all modules of slices, and those of the face."""


def short(package: str) -> str:
    """The name of a slice as `Slice.uses` has it."""
    return package.removeprefix("krohn.")


def users(name: str) -> set[str]:
    """A slice and all that cannot do without it, as ``group.name``."""
    gone = {name}
    while more := {
        short(package)
        for package, each in slices().items()
        if gone & {*each.uses} and short(package) not in gone
    }:
        gone |= more
    return gone


def copy_without(gone: Iterable[str], place: Path) -> None:
    """Copy what git tracks, but for slices, their tests, pages and benchmarks."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    away = [name.replace(".", "/") for name in gone]
    folders = tuple(f"{top}{path}/" for path in away for top in ("", "tests/"))
    pages = {f"docs/{path}.md" for path in away}
    for name in filter(None, listed.split("\0")):
        if name.startswith(folders) or name in pages or not (ROOT / name).exists():
            continue
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, place / name, follow_symlinks=False)
    for path in (place / "benchmarks").glob("*.py"):
        if any(".".join(name.split(".")[1:3]) in gone for name in imports_of(path)):
            path.unlink()
    _forget_tables(place)
    note = {name: what_leads_to(name) for name in gone}
    (place / "tests" / NOTE.name).write_text(json.dumps(note))


def _forget_tables(place: Path) -> None:
    """Tables whose benchmark is deleted are listed no longer."""
    listed = place / "results/commands.csv"
    header, *rows = listed.read_text().splitlines(keepends=True)
    scripts = [row.split(",")[1].strip('"').split()[0] for row in rows]
    kept = [
        row
        for row, script in zip(rows, scripts, strict=True)
        if (place / "benchmarks" / script).exists()
    ]
    listed.write_text("".join([header, *kept]))


def used(name: str) -> set[str]:
    """A slice and all that it uses, as ``group.name``."""
    found = {name}
    for other in slices()[f"krohn.{name}"].uses:
        found |= used(other)
    return found


def tests_of(name: str) -> list[str]:
    """The folder of the tests of a slice, and the files of the core that name it."""
    folders = (p for p in (ROOT / "tests").iterdir() if p.name not in GROUPS)
    files = (path for folder in folders for path in sorted(folder.rglob("test_*.py")))
    named = [str(p.relative_to(ROOT)) for p in files if name in p.read_text()]
    return [f"tests/{name.replace('.', '/')}", *named]


def commands(
    place: Path, level: str, tests: Iterable[str]
) -> Iterator[tuple[str, list[str]]]:
    """What must succeed without the slices, by what it is."""
    python, model = sys.executable, str(place / "f.safetensors")
    krohn = [python, "-m", "krohn"]
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    yield "imports", [python, "-c", IMPORTS]
    yield "help", [*krohn, "--help"]
    yield "compile", [*krohn, "compile", "FlipFlop", "-T", "8", "-o", model]
    yield "verify", [*krohn, "verify", model, "--sample", "10", "--proof"]
    if level == "collect":
        yield "collect", [*pytest, "--co", "-m", "not slow", *tests]
    if level == "tests":
        yield "tests", [*pytest, "-m", "not slow", *tests]


def check(name: str, gone: set[str], level: str, tests: Iterable[str]) -> bool:
    """Whether all goes on without some slices; what fails is printed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        copy_without(gone, place)
        broken = []
        for what, command in commands(place, level, tests):
            path = {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": ""}
            done = subprocess.run(
                command,
                cwd=place,
                env={**_environment(), **path},
                capture_output=True,
                text=True,
            )
            if done.returncode:
                broken.append(what)
                last = [*done.stdout.splitlines(), *done.stderr.splitlines()][-12:]
                print("\n".join(f"    {line}" for line in last))
    print(
        f"{name}: {'broken: ' + ', '.join(broken) if broken else 'goes on'} "
        f"({len(gone)} deleted, {time.monotonic() - began:.0f} s)",
        flush=True,
    )
    return not broken


def _environment() -> dict[str, str]:
    return {name: value for name, value in environ.items() if name != "PYTHONPATH"}


def main() -> int:
    """Delete the slices that are named, or each in turn; or all others."""
    every = [short(package) for package in slices() if package.startswith("krohn.")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("slice", nargs="*", help=f"as {GROUPS[0]}.kernels")
    for level, what in (
        ("collect", "collect the tests"),
        ("tests", "run the quick tests"),
        (
            "alone",
            "run the quick tests of the core and of each slice without others",
        ),
    ):
        how = {"action": "store_const", "const": level, "default": "smoke"}
        parser.add_argument(f"--{level}", dest="level", help=what, **how)
    asked = parser.parse_args()
    names = asked.slice or every
    if asked.level == "alone":
        core = [] if asked.slice else [check(CORE, {*every}, "tests", ["tests"])]
        results = core + [
            check(f"{name} alone", {*every} - used(name), "tests", tests_of(name))
            for name in names
        ]
    else:
        results = [
            check(f"without {name}", users(name), asked.level, ["tests"])
            for name in names
        ]
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
