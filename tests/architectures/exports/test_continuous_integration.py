"""The workflow of docs/how-to/ci.md does what the page says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")
ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/ci.md").read_text("utf-8")
SHELL = f"""\
set -e
krohn() {{ {sys.executable} -m krohn "$@"; }}
python() {{ {sys.executable} "$@"; }}
"""


def run(lines: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell in a directory, to the first that fails."""
    script = SHELL + "\n".join(lines)
    return subprocess.run(
        ["bash", "-c", script], cwd=place, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_every_command_of_the_workflow_runs(tmp_path: Path) -> None:
    """And another machine stops it where the claim is held against the digest."""
    compiled, *others = re.findall(r"- run: ((?:krohn|python) .*)", PAGE)
    (digest,) = re.findall(r"```\n(krohn verify .*?)```", PAGE, re.DOTALL)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "run.py").write_text(program)
    machine = (ROOT / "examples/turnstile.dot").read_text()
    (tmp_path / "turnstile.dot").write_text(machine)
    done = run([compiled, digest, *others], tmp_path)
    assert done.returncode == 0, done.stderr
    changed = machine.replace("card / bye", "card / welcome")
    assert changed != machine
    (tmp_path / "turnstile.dot").write_text(changed)
    done = run([compiled, *others], tmp_path)
    assert done.returncode == 1
    assert "the claim is not the one asked for" in done.stderr
