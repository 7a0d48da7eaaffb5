"""Krohn runs however its files came: without links, without sources, in one folder."""

import compileall
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINKED = ("algebra", "compiler", "verify")

SCRIPT = """\
import krohn.algebra.automaton
import krohn.verify.checker.network as v
krohn.compile("FlipFlop", 20).save("model")
print(krohn.verify("model").verdict, v.recheck.__module__, krohn.__file__)
"""


def run(home: Path, *command: str, at: Path) -> str:
    """The output of Python, where `krohn` is that of a folder."""
    done = subprocess.run(
        [sys.executable, "-P", *command],
        cwd=at,
        env={**os.environ, "PYTHONPATH": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def trusted(home: Path, at: Path) -> dict[str, int]:
    """How many lines each file has that the proof of ``model`` rests on."""
    rules = ("--kernel", "none", "--trusted", "--json")
    command = ("-m", "krohn", "verify", "model", *rules)
    each = json.loads(run(home, *command, at=at))["trusted"]["each"]
    return {file["file"]: file["lines"] for file in each}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with its folders in the place of links, as a wheel has it."""
    home = tmp_path / "home"
    cache = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "krohn", home / "krohn", ignore=cache)
    return home


def git(*command: str) -> bytes:
    """The output of git in this repository; skips the test where there is none."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, and the repository")
    done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, check=True)
    return done.stdout


def cloned(home: Path) -> None:
    """Clone what is committed, as Git for Windows does."""
    git("clone", "-q", "--shared", "-c", "core.symlinks=false", str(ROOT), str(home))


def unpacked(home: Path) -> None:
    """Unpack an archive of the files of this checkout by a program that makes no links."""
    packed = home.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as archive:
        for name in git("ls-files", "-z", "--", "*/*").decode().split("\0")[:-1]:
            file = ROOT / name
            if file.is_symlink():
                archive.writestr(name, str(file.readlink()))
            elif file.is_file():
                archive.write(file, name)
    zipfile.ZipFile(packed).extractall(home)


@pytest.mark.sample(1)
@pytest.mark.parametrize("make", [cloned, unpacked])
def test_a_checkout_needs_no_links(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    home = tmp_path / "home"
    make(home)
    assert all((home / "krohn" / name).is_file() for name in LINKED)
    verdict, module, file = run(home, "-c", SCRIPT, at=tmp_path).split()
    assert (verdict, module) == ("verified", "krohn.verify.checker.network")
    assert Path(file).is_relative_to(home)
    lines = len((home / "verify/checker/network.py").read_text().splitlines())
    assert trusted(home, tmp_path)["krohn/verify/checker/network.py"] == lines


@pytest.mark.slow
def test_a_build_needs_no_sources(package: Path, tmp_path: Path) -> None:
    compileall.compile_dir(package, quiet=2, legacy=True)
    for source in package.rglob("*.py"):
        source.unlink()
    verdict, _, file = run(package, "-c", SCRIPT, at=tmp_path).split()
    assert (verdict, Path(file).suffix) == ("verified", ".pyc")
    with pytest.raises(AssertionError, match="installed without its source"):
        trusted(package, tmp_path)


@pytest.mark.slow
def test_a_proof_rests_on_every_module_that_is_imported(
    package: Path, tmp_path: Path
) -> None:
    """Wherever in the package it lies."""
    elsewhere = package / "krohn" / "elsewhere"
    elsewhere.mkdir()
    elsewhere.joinpath("__init__.py").touch()
    elsewhere.joinpath("rule.py").write_text("TRUTH = True\n")
    registry = package / "krohn/verify/checker/registry.py"
    text = registry.read_text()
    registry.write_text(text + "\nfrom krohn.elsewhere.rule import TRUTH as TRUTH\n")
    run(package, "-c", SCRIPT, at=tmp_path)
    assert trusted(package, tmp_path)["krohn/elsewhere/rule.py"] == 1
