"""Tables and examples of the documents are what the program prints today."""

import importlib
import random
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from regenerate import RESULTS, ROOT, RUNS, Block, blocks, make, read, stale
from report import Row, is_measured, slug
from tables import LINK

import krohn
from krohn.cli import run
from krohn.commands.compile import Construction
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    ON_REQUEST,
)
from krohn.instruments.compare.models import (
    EfficientGpt,
    Gpt,
    Lstm,
    RecurrentLayer,
    Rnn,
)
from krohn.instruments.compare.training import Recipe
from krohn.instruments.compare.training.beliefs import BeliefRecipe
from krohn.instruments.compare.training.provenance import content_name
from krohn.instruments.compare.training.run_table import RunTable

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
# Pages whose commands load libraries of other people or take more than some seconds.
SLOW_PAGES = {
    *("exports", "gpt2", "dynamic_programs", "equivalence", "fuzz"),
    *("efficient-attention", "batch", "explain"),
    *("learning", "regex", "rewriting", "counting"),
}
ARCHITECTURES = (Gpt, EfficientGpt, Lstm, Rnn, RecurrentLayer)
# Scripts of whose tables a row takes more than a second.
SLOW_SCRIPTS = {
    *("counting", "shallow", "gpt2", "attention_rates", "chains_of_thought"),
    *("depth_records", "trusted", "margins", "arithmetic", "tightness"),
    *("grammar_sizes", "sawtooth", "fuzz"),
}
SLOW = ("-T 1024 ", "-T 4096 ", "Dyck10,2", "C2 -T 1380")
# The networks of these machines are small enough to be made again in a quick test.
MACHINES = {
    *("C2", "C3", "C5", "FlipFlop", "C2xC2", "Memory5", "FFLTracker2", "Grid4"),
    *("bccb(aa)*", "(ab)*c(a|b)*"),
}
EACH = 1
# Scripts whose tables are made again in a minute or little more, whole.
MINUTE = {"trusted"}


def test_every_table_has_a_script_and_rows() -> None:
    for block in blocks():
        assert (ROOT / "benchmarks" / f"{block.script}.py").is_file(), block.command
        assert block.tables(), block.command
        assert all(block.tables().values()), block.command


def test_pages_show_every_table_and_no_other() -> None:
    paths = RESULTS.rglob("*.csv")
    shown = {
        (page.parent / path).resolve()
        for page in PAGES
        for _, path in LINK.findall(page.read_text())
    }
    assert shown == {path for path in paths if path.name != RUNS}


def test_a_changed_cell_is_stale_and_a_changed_time_is_not() -> None:
    printed = {"layers": "2", "parameters": "1036", "proof s": "0.1"}
    found = {"layers": 2, "parameters": 1036, "proof s": 0.2}
    assert stale(printed, found) == {}
    assert stale(printed, found | {"layers": 3}) == {"layers": ("2", "3")}
    assert stale(printed, found | {"depth": 1}) == {"depth": ("", "1")}


TABLES = sorted(RESULTS.glob(f"*/{RUNS}"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.parent.name)
def test_tables_of_runs_are_as_they_would_be_written(
    path: Path, tmp_path: Path
) -> None:
    records = RunTable(path.parent).read()
    for name, record in records.items():
        assert "cell" not in record or name == content_name(record["cell"])
    RunTable(tmp_path).add(records)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.sample(5)
@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.parent.name)
def test_runs_say_all_that_recipes_and_architectures_hold_today(path: Path) -> None:
    """A new field gives cells new names: without it, finished runs are not found again."""
    classes = {c.__name__: c for c in (Recipe, BeliefRecipe, *ARCHITECTURES)}
    for record in RunTable(path.parent).read().values():
        for part in ("recipe", "architecture"):
            said = record["cell"][part] if "cell" in record else {"kind": ""}
            if (kind := classes.get(said["kind"])) is not None:
                assert set(said) == {"kind", *(f.name for f in fields(kind))}


def _again(block: Block) -> dict[str, Callable[[dict[str, str]], Row]]:
    """For each table of a block whose rows can be made one by one, how that is done."""
    ways = getattr(importlib.import_module(block.script), "AGAIN", {})
    return {slug(title): way for title, way in ways.items()}


def _drawn() -> Iterator[Any]:
    for block in filter(_again, blocks()):
        marks = [pytest.mark.slow] if block.script in SLOW_SCRIPTS else []
        yield pytest.param(block, marks=marks, id=str(block))


@pytest.mark.slow
@pytest.mark.parametrize("block", list(_drawn()))
def test_rows_drawn_from_a_table_are_as_printed(block: Block) -> None:
    drawn = [
        (title, row)
        for title in _again(block)
        for row in _sample(title, block.tables().get(title, []))
    ]
    assert drawn or "FOLDER" in block.command
    for title, row in drawn:
        assert stale(row, _again(block)[title](row)) == {}, (block.command, title, row)


@pytest.mark.slow
@pytest.mark.parametrize("block", [b for b in blocks() if b.script in MINUTE], ids=str)
def test_whole_tables_are_as_printed(block: Block, tmp_path: Path) -> None:
    make(block, tmp_path, None)
    assert {path.name for path in tmp_path.iterdir()} <= {
        path.name for path in block.folder.iterdir()
    }
    for title, rows in block.tables().items():
        again = read(tmp_path / f"{title}.csv")
        assert [*map(_unmeasured, rows)] == [*map(_unmeasured, again)], title


def _unmeasured(row: dict[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if not is_measured(column)}


def _sample(title: str, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    small = [row for row in rows if row.get("machine", "C2") in MACHINES]
    small = [row for row in small if len(row.get("tokens", "")) < 3]
    return random.Random(title).sample(small, min(EACH, len(small)))


def _examples(page: Path) -> list[tuple[str, list[str]]]:
    """Each command of a page with the lines that it is shown to print."""
    shown = re.findall(
        r"^```(?:console)?\n(\$ .*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
    )
    parts = [part for block in shown for part in re.split(r"^\$ ", block, flags=re.M)]
    commands = [part.splitlines() for part in parts if part]
    return [(command, lines) for command, *lines in commands]


def _pattern(line: str) -> str:
    """A line of a page as a pattern: times differ, and … stands for anything."""
    timeless = re.sub(r"\d+(\.\d+)? s\b", "§", line)
    return re.escape(timeless).replace("§", r"[\d.]+ s").replace("…", ".*")


def test_the_readme_shows_commands() -> None:
    assert len(_examples(PAGES[0])) >= 3


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with the examples of the repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def _page(path: Path) -> Any:
    marks = [pytest.mark.slow] if path.stem in SLOW_PAGES else []
    return pytest.param(path, marks=marks, id=path.stem)


# What runs with slices that are installed first, by tests/test_toys.py.
OTHERS = {"own-slice"}


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "page", [_page(p) for p in PAGES if _examples(p) and p.stem not in OTHERS]
)
def test_pages_show_what_commands_print(
    page: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, lines in _examples(page):
        program, *words = shlex.split(command)
        if program == "cat":  # a page shows the files that its commands read
            (workplace / words[0]).write_text("\n".join(lines))
            continue
        assert program == "krohn"
        run(words)
        out, err = capsys.readouterr()
        printed = iter([*out.splitlines(), *err.splitlines()])
        for line in filter(str.strip, lines):
            wanted = re.compile(_pattern(line.rstrip()))
            assert any(wanted.fullmatch(p.rstrip()) for p in printed), (command, line)


# Of what stands behind a command, this is what it prints, word for word.
PRINTED = re.compile(
    r"(?:depth|width|heads|MLP) [\d,]*\d|[\d,]*\d parameters|within \d[\d.e-]*"
)
COMMENTED = re.compile(r"^    (krohn compile [^#\n]*?) +# (.*)$", re.MULTILINE)


def _commented() -> Iterator[Any]:
    """Commands of pages that say behind them what comes of them."""
    for page in PAGES:
        for command, said in COMMENTED.findall(page.read_text()):
            if PRINTED.search(said) or said.startswith("refused"):
                slow = any(part in command for part in SLOW)
                marks = [pytest.mark.slow] if slow else []
                yield pytest.param(command, said, marks=marks, id=command)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "said"), list(_commented()))
def test_commands_do_what_is_said_behind_them(
    command: str, said: str, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(shlex.split(command)[1:])
    assert code == (2 if said.startswith("refused") else 0)
    printed = capsys.readouterr().out
    for number in PRINTED.findall(said):
        assert re.search(rf"\b{re.escape(number)}\b", printed), number


# A comment before a paragraph or a table names a command, and what it prints of the
# numbers that stand there: <!-- printed by `krohn …`: width 14; 3,130 parameters -->
CLAIMED = re.compile(r"<!-- printed by `(.*?)`: (.*?) -->")


def _claimed() -> Iterator[Any]:
    for page in PAGES:
        for command, said in CLAIMED.findall(page.read_text()):
            yield pytest.param(page, command, said, id=command)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("page", "command", "said"), list(_claimed()))
def test_numbers_are_printed_by_the_command_that_is_marked(
    page: Path,
    command: str,
    said: str,
    workplace: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(shlex.split(command)[1:]) == 0
    printed = capsys.readouterr().out
    behind = page.read_text().partition(f"<!-- printed by `{command}`")[2]
    shown = re.sub(r"<!--.*?-->", "", behind.partition("-->")[2]).strip()
    shown = shown.partition("\n\n")[0]
    for part in said.split("; "):
        assert re.search(rf"\b{re.escape(part)}\b", printed), part
        for number in re.findall(r"\d(?:[\d.,e-]*\d)?", part):
            assert re.search(rf"(?<!\d){re.escape(number)}\b", shown), number


NAMED = re.compile(r"^\| (\w+)(?: by ([\w-]+))? \| (\d+) \| (`[^|]*`) \|", re.MULTILINE)


@pytest.mark.slow
def test_channels_of_the_glossary_are_those_of_networks() -> None:
    rows = NAMED.findall((ROOT / "docs" / "glossary.md").read_text())
    assert len(rows) > 5
    held = dict[tuple[str, ...], set[str]]()
    for name, construction, length in {row[:3] for row in rows}:
        how = construction or "auto"
        model = krohn.compile(name, int(length), how, proof=False)
        channels = model.file.header["program"]["channels"]
        held[name, construction, length] = {c["name"] for c in channels}
    for *asked, channels in rows:
        assert {*re.findall("`(.*?)`", channels)} <= held[tuple(asked)], asked


@pytest.mark.parametrize("name", [*CONSTRUCTIONS, *ON_REQUEST, "balanced"])
def test_document_and_help_name_every_construction(name: str) -> None:
    text = (ROOT / "docs" / "constructions.md").read_text()
    names = text.partition("## All names\n")[2].partition("\n## ")[0]
    assert re.search(rf"\b{name}\b", names) or name == "scan10"
    (option,) = Construction.__metadata__
    assert re.search(rf"\b{name}\b", option.help)
