"""The examples that ``krohn COMMAND --help`` ends with."""

import shlex
from inspect import cleandoc
from typing import Any

import typer

from krohn import cli

GROUP: Any = typer.main.get_command(cli.application())
NAMES = sorted(GROUP.commands)
TOO_LONG = {"compare", "export", "batch", "score"}
"""Commands whose examples train, or take files that no example makes."""


def examples(name: str) -> list[list[str]]:
    """The arguments of each example of a command, the command's name first."""
    lines = cleandoc(GROUP.commands[name].epilog).splitlines()
    typed = [shlex.split(line) for line in lines]
    assert all(words[0] == "krohn" for words in typed)
    return [words[1:] for words in typed]
