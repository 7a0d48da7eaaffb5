"""Commands in this process, as tests of sources ask them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from krohn.algebra.errors import KrohnError
from krohn.cli import app
from krohn.program.wording import in_a_command

Command = Callable[..., tuple[int, str, str]]
"""A command with arguments: its exit code, and what it printed on both outputs."""


def said(*command: object) -> Any:
    """The JSON that a command prints."""
    asked = [*map(str, command), "--json"]
    found = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def refused(why: str, *command: object) -> None:
    """Fail unless a command is refused, with a reason that matches."""
    with in_a_command(), pytest.raises(KrohnError, match=why):
        CliRunner().invoke(app, [*map(str, command)], catch_exceptions=False)
