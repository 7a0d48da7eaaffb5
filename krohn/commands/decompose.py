"""``krohn decompose``."""

from pathlib import Path
from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import FileReading, emit, grouped
from krohn.commands.progress import waiting
from krohn.source_kinds import machines


@grouped
def decompose(
    machine: common.Machine,
    *,
    method: Annotated[
        str, typer.Option(help="auto, holonomy, derived, congruence or prime.")
    ] = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A picture: .svg, .png or .pdf; the tables: .json."
        ),
    ] = None,
    effort: common.Effort = "high",
    start: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", help="Decompose only what is reachable from this state."
        ),
    ] = None,
    reading: FileReading,
    as_json: common.Json = False,
) -> None:
    """Take a machine apart into a cascade of small ones, proved to cover it."""
    from krohn import decomposition

    if output is not None:
        decomposition.check_output(output)
    read = reading.read(machine)
    with waiting("decomposing"):
        found = decomposition.decompose(read, method, effort, start)
        if output is not None:
            decomposition.save(found, output)
    result = decomposition.describe(found) | machines().remarks(read)
    if output is not None:
        result["file"] = str(output)
    emit("decompose", result, as_json, lambda: show.decomposition(result))
