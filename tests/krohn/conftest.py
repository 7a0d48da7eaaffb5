"""Fixtures that tests of the commands share."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from command import Command

from krohn import cli

Call = Callable[..., tuple[int, Any]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command with --json: its exit code and what it printed."""

    def run(*arguments: object) -> tuple[int, Any]:
        code = cli.run([*map(str, arguments), "--json"])
        (line,) = capsys.readouterr().out.splitlines()
        return code, json.loads(line)

    return run


@pytest.fixture
def compared(capsys: pytest.CaptureFixture[str]) -> Command:
    """`krohn compare`: its exit code, and what it printed."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run(["compare", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run
