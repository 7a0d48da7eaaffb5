"""``krohn run``."""

import sys
from functools import partial
from typing import Annotated

import typer

from krohn import show
from krohn.commands.options import Json
from krohn.commands.terminal import emit


def run(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    word: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="Letters by name, with spaces between them. Without a word, one word a "
            "line is read from standard input.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a model on a word and print what it says after every letter."""
    from krohn.running import letters_of, open_runner

    runner = open_runner(file)
    lines = [" ".join(word)] if word else (line for line in sys.stdin)
    for line in lines:
        result = runner.run(letters_of(line, runner.machine.letters))
        emit(result, as_json, partial(show.answers, result))
