"""The scripts of examples/ run, and print what they are about."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# What other scripts import prints nothing.
PRINTS = {
    "barrington.py": ("a & b", "1 1 true true"),
    "decompose.py": ("", "the same states"),
    "independent.py": ("", "refuted"),
    "branching_program.py": ("", ""),
    "formula.py": ("", ""),
}
SLOW = {"independent.py"}


def test_all_scripts_are_listed() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.sample(1, at=1)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in PRINTS
    ],
)
def test_a_script_runs(name: str) -> None:
    argument, text = PRINTS[name]
    command = [sys.executable, str(EXAMPLES / name), *filter(None, [argument])]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert text in ended.stdout
