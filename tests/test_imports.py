"""The house: imports run downwards, names are free, everything public is described."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from source_code import nodes, tree

from krohn.program.slices import GROUPS

ROOT = Path(__file__).parents[1]
LOWER = ("algebra", "network", "program", "jobs", "compiler", "verify")
PACKAGES = (*LOWER, *GROUPS, "krohn")
MODULES = sorted(
    path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*.py")
)


def test_imports_run_downwards_only() -> None:
    script = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@cache
def imports(path: Path) -> list[tuple[str, int]]:
    """The full names that a module imports, and from how many levels above."""
    found = list[tuple[str, int]]()
    for node in nodes(ROOT / path):
        if isinstance(node, ast.Import):
            found += [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += [(f"{module}.{a.name}", node.level) for a in node.names]
    return found


def test_packages_do_not_know_the_public_face() -> None:
    """They import each other (in what order, import-linter says), and no more."""
    below = LOWER
    for path in (p for p in MODULES if p.parts[0] in below):
        for first, *rest in (name.split(".") for name, _ in imports(path)):
            assert first not in below, path
            assert first != "krohn" or (rest and rest[0] in (*below, *GROUPS)), path


def for_types(path: Path) -> set[str]:
    """The names that a module imports for annotations alone."""
    return {
        f"{node.module}.{alias.name}"
        for block in nodes(ROOT / path)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_no_modules_need_each_other() -> None:
    """Not by imports inside functions either, which would hide it."""
    names = {}
    for path in MODULES:
        parts = path.with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        names[".".join(parts if parts[0] == "krohn" else ("krohn", *parts))] = path
    needs = {}
    for name, path in names.items():
        run = {found for found, _ in imports(path)} - for_types(path)
        at = {n if n in names else n.rpartition(".")[0] for n in run}
        needs[name] = at & names.keys()
    TopologicalSorter(needs).prepare()


OTHERS = (*LOWER, *GROUPS)
"""Names that files of users bear, too."""


@pytest.mark.slow
def test_one_name_is_installed(tmp_path: Path) -> None:
    """Files that are called as packages of Krohn are do not stand in its way."""
    for name in OTHERS:
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    script = tmp_path / "script.py"
    script.write_text(
        f"import {', '.join(OTHERS)}\n"
        f"assert all(m.mine for m in ({', '.join(OTHERS)}))\n"
        "import krohn\n"
        "from krohn.verify.proof import prove\n"
        "model = krohn.compile('C2', 5)\n"
        "assert krohn.verify(model).verdict == 'verified'\n"
        "assert callable(prove) and callable(krohn.program) and callable(krohn.compare)\n"
    )
    subprocess.run([sys.executable, script], cwd=tmp_path, check=True)


def test_algebra_proofs_and_help_need_no_torch() -> None:
    script = (
        "import sys, krohn.algebra, krohn.verify.proof, krohn.cli\n"
        "raise SystemExit('torch' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0


def test_no_clock_decides_what_is_found() -> None:
    """Budgets count work, so that the same input gives the same network."""
    for path in (p for p in MODULES if p.parts[0] in ("algebra", "compiler")):
        first = {name.partition(".")[0] for name, _ in imports(path)}
        assert not first & {"time", "datetime", "timeit"}, path


def test_no_module_hides_another() -> None:
    for path in MODULES:
        name = path.stem if path.stem != "__init__" else path.parent.name
        operation = path.parent.name == "operations"  # called as it is in Programs
        assert operation or name not in sys.stdlib_module_names, path
        assert name not in ("utils", "util", "helpers", "misc", "common"), path


def test_everything_public_is_described() -> None:
    assert [path for path in MODULES if not ast.get_docstring(tree(ROOT / path))] == []
    missing = [
        (path, node.name)
        for path in MODULES
        for node in public(tree(ROOT / path))
        if not ast.get_docstring(node) and not overload(node)
    ]
    assert missing == []


Described = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public(tree: ast.Module | ast.ClassDef) -> Iterator[Described]:
    for node in tree.body:
        if isinstance(node, Described) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def overload(node: Described) -> bool:
    names = [d.id for d in node.decorator_list if isinstance(d, ast.Name)]
    return "overload" in names


def test_imports_are_absolute() -> None:
    assert [p for p in MODULES if any(level for _, level in imports(p))] == []


def test_fixtures_that_modules_share_are_found() -> None:
    """`from module import *` leaves out what begins with an underscore."""
    for path in (ROOT / "tests").glob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
                marks = [ast.unparse(each) for each in node.decorator_list]
                assert path.name == "conftest.py" or not any(
                    mark.startswith("pytest.fixture") for mark in marks
                ), f"{path}: {node.name}"
