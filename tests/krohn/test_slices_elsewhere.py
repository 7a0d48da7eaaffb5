"""A slice of another distribution: one folder, and an entry point that names it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SLICE = '''"""A toy instrument: how many letters a model file reads."""

from krohn.program.slices import Schema, Slice

SLICE = Slice(
    commands={"letters": f"{__name__}.commands:letters"},
    schemas={"letters": Schema("`krohn letters --json`", f"{__name__}.commands:Letters")},
    public={"letters_of": f"{__name__}.commands"},
)
'''
COMMANDS = '''"""``krohn letters``."""

from typing import TypedDict

from krohn.commands.options import Json, emit
from krohn.network import modelfile


class Letters(TypedDict):
    """How many letters there are."""

    letters: int


def letters_of(file: str) -> int:
    """How many letters a model file reads."""
    return len(modelfile.read(file).claim.letters)


def letters(file: str, as_json: Json = False) -> None:
    """Say how many letters a model reads."""
    count = letters_of(file)
    emit("letters", {"letters": count}, as_json, lambda: print(count))
'''


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder on the path with the distribution of a toy instrument."""
    for name, text in {
        "toy_letters/__init__.py": SLICE,
        "toy_letters/commands.py": COMMANDS,
        "toy_letters-1.dist-info/METADATA": "Name: toy-letters\nVersion: 1\n",
        "toy_letters-1.dist-info/entry_points.txt": (
            "[krohn.slices]\nletters = toy_letters\n"
        ),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_an_instrument_of_another_distribution_is_a_command(elsewhere: Path) -> None:
    paths = [str(elsewhere), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def krohn(*words: str) -> str:
        command = [sys.executable, "-m", "krohn", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    model = str(elsewhere / "s3.safetensors")
    krohn("-q", "compile", "S3", "-T", "4", "-o", model)
    assert "letters  " in krohn("--help")
    assert krohn("letters", model) == "5\n"
    assert '"letters": 5' in krohn("letters", model, "--json")
    assert "How many letters there are." in krohn("schema", "letters")
