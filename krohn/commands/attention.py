"""``krohn attention``."""

from pathlib import Path
from typing import Annotated

import typer

from krohn import show
from krohn.commands.options import Json, emit


def attention(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="F…", help="Models of one machine: constructions balanced and dyck."
        ),
    ],
    word: Annotated[
        str | None,
        typer.Option(help="A prefix (default: one with all kinds and depths)."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the prefixes on which functions are compared."
        ),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A picture: .svg, .png or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare what networks of one function attend to: variation, balance, a picture."""
    from krohn.attention import attended

    result = attended(files, word, seed, output)
    emit("attention", result, as_json, lambda: show.attention(result))
