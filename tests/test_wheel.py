"""A wheel that is built from the source distribution runs what README shows."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import krohn

ROOT = Path(__file__).parents[1]
COMMANDS = """\
compile turnstile.dot -T 64 -o turnstile.safetensors
verify turnstile.safetensors --proof --exhaustive 6 --sample 500
run turnstile.safetensors coin push push coin card push"""
"""The three commands of README."""

pytestmark = pytest.mark.slow


def run(*command: str | Path, at: Path, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=at,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel that was built from nothing but the source distribution."""
    pytest.importorskip("hatchling")
    home = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "sdist", "-d", home, at=ROOT)
    (packed,) = home.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(home / "unpacked", filter="data")
    (source,) = (home / "unpacked").iterdir()
    run("-m", "hatchling", "build", "-t", "wheel", "-d", home, at=source)
    (wheel,) = home.glob("*.whl")
    assert wheel.name.startswith(f"krohn-{krohn.__version__}-")
    zipfile.ZipFile(wheel).extractall(home / "installed")
    # It is for every system, and so without the kernel, which a checkout may have built.
    assert not [*(home / "installed").rglob("krohn-kernel")]
    return home / "installed"


def test_it_runs_the_commands_of_readme(installed: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    shutil.copy(ROOT / "examples" / "turnstile.dot", tmp_path)
    for command in COMMANDS.splitlines():
        assert (
            f"$ krohn {command}".replace(" turnstile.dot", " examples/turnstile.dot")
            in readme
        )
        said = run(
            "-m", "krohn", *command.split(), at=tmp_path, PYTHONPATH=str(installed)
        )
    assert said.split() == [
        "thanks",
        "through",
        "blocked",
        "thanks",
        "welcome",
        "through",
    ]


def test_it_runs_the_first_tutorial(installed: Path, tmp_path: Path) -> None:
    script = ROOT / "docs" / "tutorials" / "ten-minutes.py"
    said = run(script, at=tmp_path, PYTHONPATH=str(installed))
    assert "verified" in said
    where = run(
        "-c",
        "import krohn; print(krohn.__file__)",
        at=tmp_path,
        PYTHONPATH=str(installed),
    )
    assert where.startswith(str(installed))
