"""The house: imports run downwards, names are free, everything public is described."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOWER = ("algebra", "network", "program", "sources", "jobs", "compiler", "verify")
PACKAGES = (*LOWER, "compare", "krohn")
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


@pytest.mark.parametrize(
    "path", [p for p in MODULES if p.parts[0] in (*LOWER, "compare")], ids=str
)
def test_packages_do_not_know_the_public_face(path: Path) -> None:
    """They import each other (in what order, import-linter says), and no more."""
    below = (*LOWER, "compare")
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for first, *rest in (name.split(".") for name in names):
            assert first not in below
            assert first != "krohn" or (rest and rest[0] in below)


OTHERS = (*LOWER, "compare")
"""Names that files of users bear, too."""


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


@pytest.mark.parametrize("package", ["krohn.algebra", "krohn.verify.proof"])
def test_these_need_no_torch(package: str) -> None:
    script = f"import sys, {package}; raise SystemExit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0


def test_help_is_instant() -> None:
    script = "import sys, krohn.cli; raise SystemExit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    "path", [p for p in MODULES if p.parts[0] in ("algebra", "compiler")], ids=str
)
def test_no_clock_decides_what_is_found(path: Path) -> None:
    """Budgets count work, so that the same input gives the same network."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {n.partition(".")[0] for n in names} & {"time", "datetime", "timeit"}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_module_hides_another(path: Path) -> None:
    name = path.stem if path.stem != "__init__" else path.parent.name
    operation = path.parent.name == "operations"  # called as it is in Programs
    assert operation or name not in sys.stdlib_module_names
    assert name not in ("utils", "util", "helpers", "misc", "common")


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_everything_public_is_described(path: Path) -> None:
    tree = ast.parse((ROOT / path).read_text())
    assert ast.get_docstring(tree), f"{path} has no docstring"
    missing = [
        node.name
        for node in public(tree)
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


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_are_absolute(path: Path) -> None:
    tree = ast.parse((ROOT / path).read_text())
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not any(n.level for n in nodes)
