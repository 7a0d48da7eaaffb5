"""The list of what five papers describe: each row has a command that exists."""

import re
import shlex
from pathlib import Path

import pytest
from papers import ROOT, System, find_reason, systems
from slices_here import DELETED

from krohn.cli import commands

pytestmark = pytest.mark.skipif(bool(DELETED), reason="papers ask for every slice")

ROWS = list(systems())
# What each paper has, by the notes on it; the last row of the second one is optional.
SIZES = {
    "Liu (2024), automata": 30,
    "Liu (2024), flip-flops, brackets, parity, masked prediction": 21,
    "Hu et al. (2024)": 19,
    "Hao et al. (2025)": 9,
    "Yang et al. (2024), Feng et al. (2023)": 20,
    "Jiang and Li": 10,
}


def test_no_system_is_left_out() -> None:
    papers = [row.paper for row in ROWS]
    assert {paper: papers.count(paper) for paper in papers} == SIZES
    assert len({row.system for row in ROWS}) == len(ROWS)


def test_errata_are_listed() -> None:
    page = (ROOT / "docs/errata.md").read_text()
    known = {
        i
        for ids in re.findall(r"^\| ([A-Z].*?) \|", page, re.M)
        for i in ids.split(", ")
    }
    for row in ROWS:
        for erratum in filter(None, re.split(r", | to ", row.errata)):
            assert erratum in known, (row.system, erratum)


def _words(row: System) -> list[list[str]]:
    return [shlex.split(part) for part in row.command.split(" && ")]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.paper} {row.number}")
def test_commands_exist(row: System) -> None:
    for program, *words in _words(row):
        if program == "krohn":
            assert words[0] in commands(), words
        else:
            assert program == "python"
            paths = [word for word in words if word.endswith(".py")]
            assert paths, words
            assert all((ROOT / path).is_file() for path in paths), words
    for pattern in row.prints:
        re.compile(pattern)


def test_a_command_that_fails_is_no_success() -> None:
    row = System("paper", 1, "system", "echo right; exit 3", ["right"])
    assert find_reason(row) == "ends with 3: right"


def test_what_is_not_printed_is_named(tmp_path: Path) -> None:
    row = System("paper", 1, "system", "echo wrong", ["right"])
    assert find_reason(row) == "does not print right"


def test_what_is_missing_is_said() -> None:
    row = System("paper", 1, "system", "echo right", ["right"], missing="S5 at T = 64")
    assert find_reason(row) == "S5 at T = 64"
