"""Tables and examples of the documents are what the program prints today."""

import importlib
import random
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from regenerate import ROOT, Block, blocks, stale
from report import Row
from typer.testing import CliRunner

from compiler.construction_choice.known_constructions import CONSTRUCTIONS, ON_REQUEST
from krohn.cli import app
from krohn.commands.compile_options import Construction

SHOWN = (
    ROOT / "README.md",
    *sorted(
        path
        for kind in ("start", "how-to")
        for path in (ROOT / "docs" / kind).glob("*.md")
    ),
)
"""Pages whose commands print what stands below them."""
# The networks of these machines are small enough to be made again in a quick test.
MACHINES = {
    *("C2", "C3", "C5", "FlipFlop", "C2xC2", "Memory5", "FFLTracker2", "Grid4"),
    *("bccb(aa)*", "(ab)*c(a|b)*"),
}
EACH = 3


def test_every_table_has_a_script_and_rows() -> None:
    for block in blocks():
        assert (ROOT / "benchmarks" / f"{block.script}.py").is_file(), block.command
        assert block.tables(), block.command
        assert all(block.tables().values()), block.command


def test_a_changed_cell_is_stale_and_a_changed_time_is_not() -> None:
    printed = {"layers": "2", "parameters": "1,036", "proof s": "0.1"}
    found = {"layers": 2, "parameters": 1036, "proof s": 0.2}
    assert stale(printed, found) == {}
    assert stale(printed, found | {"layers": 3}) == {"layers": ("2", "3")}
    assert stale(printed, found | {"depth": 1}) == {"depth": ("–", "1")}


def _again(block: Block) -> dict[str, Callable[[dict[str, str]], Row]]:
    """For each table of a block whose rows can be made one by one, how that is done."""
    return getattr(importlib.import_module(block.script), "AGAIN", {})


@pytest.mark.parametrize("block", [b for b in blocks() if _again(b)], ids=str)
def test_rows_drawn_from_a_table_are_as_printed(block: Block) -> None:
    drawn = [
        (title, row)
        for title in _again(block)
        for row in _sample(title, block.tables().get(title, []))
    ]
    assert drawn or "FOLDER" in block.command
    for title, row in drawn:
        assert stale(row, _again(block)[title](row)) == {}, (block.command, title, row)


def _sample(title: str, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    small = [row for row in rows if row.get("machine", "C2") in MACHINES]
    small = [row for row in small if len(row.get("tokens", "")) < 3]
    return random.Random(title).sample(small, min(EACH, len(small)))


def _examples(page: Path) -> list[tuple[str, list[str]]]:
    """Each command of a page with the lines that it is shown to print."""
    shown = re.findall(
        r"^```\n(\$ .*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
    )
    parts = [part for block in shown for part in re.split(r"^\$ ", block, flags=re.M)]
    commands = [part.splitlines() for part in parts if part]
    return [(command, lines) for command, *lines in commands]


def _pattern(line: str) -> str:
    """A line of a page as a pattern: times differ, and … stands for anything."""
    timeless = re.sub(r"\d+(\.\d+)? s\b", "§", line)
    return re.escape(timeless).replace("§", r"[\d.]+ s").replace("…", ".*")


def test_the_readme_shows_commands() -> None:
    assert len(_examples(SHOWN[0])) >= 3


@pytest.mark.parametrize(
    "page", [p for p in SHOWN if _examples(p)], ids=lambda p: p.stem
)
def test_pages_show_what_commands_print(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, lines in _examples(page):
        done = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "200"})
        printed = iter(done.output.splitlines())
        for line in filter(str.strip, lines):
            wanted = re.compile(_pattern(line.rstrip()))
            assert any(wanted.fullmatch(p.rstrip()) for p in printed), (command, line)


@pytest.mark.parametrize("name", [*CONSTRUCTIONS, *ON_REQUEST, "balanced"])
def test_document_and_help_name_every_construction(name: str) -> None:
    text = (ROOT / "docs" / "constructions.md").read_text()
    names = text.partition("## All names\n")[2].partition("\n## ")[0]
    assert re.search(rf"\b{name}\b", names) or name == "scan10"
    (option,) = Construction.__metadata__
    assert re.search(rf"\b{name}\b", option.help)
