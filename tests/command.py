"""Commands in this process, as tests of sources ask them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from krohn.algebra.errors import KrohnError
from krohn.cli import application
from krohn.program.wording import in_a_command

Command = Callable[..., tuple[int, str, str]]
"""A command with arguments: its exit code, and what it printed on both outputs."""


@dataclass(frozen=True)
class Done:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on standard output."""
        (line,) = self.out.splitlines()
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    @property
    def trouble(self) -> str:
        """The one line on standard error."""
        (line,) = self.err.splitlines()
        assert line.startswith("krohn: ")
        return line


def said(*command: object) -> Any:
    """The JSON that a command prints."""
    asked = [*map(str, command), "--json"]
    found = CliRunner().invoke(application(), asked, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def refused(why: str, *command: object) -> None:
    """Fail unless a command is refused, with a reason that matches."""
    with in_a_command(), pytest.raises(KrohnError, match=why):
        CliRunner().invoke(application(), [*map(str, command)], catch_exceptions=False)
