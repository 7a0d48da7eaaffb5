"""Every Program on the pages prints what stands beside it."""

import re
from pathlib import Path
from typing import Any

import pytest

from krohn.sources.sequence_functions import ProgramError

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs/programs.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
)
TEXT = "".join(page.read_text() for page in PAGES)
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
EXAMPLES = [block for block in BLOCKS if "krohn.program(" in block]


def checked(line: str, told: dict[str, Any]) -> None:
    """Run a line and hold its value against the comment behind it."""
    code, _, said = line.partition("  # ")
    if said.startswith("ProgramError"):
        with pytest.raises(ProgramError) as found:
            exec(compile(code, "programs.md", "exec"), told)
        wanted = re.escape(said.removeprefix("ProgramError: ")).replace("…", ".*")
        wanted = re.sub(r"programs\\.md:\d+", r"programs\\.md:\\d+", wanted)
        assert re.fullmatch(wanted, str(found.value)), str(found.value)
    elif said.startswith("["):
        shown = said[: said.index("]") + 1]
        assert eval(code, told) == eval(shown), line
    else:
        exec(compile(line, "programs.md", "exec"), told)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_it_runs_and_prints_what_is_said(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {}
    exec("import krohn", told)
    for line in filter(str.strip, example.splitlines()):
        checked(line, told)
