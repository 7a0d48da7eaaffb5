"""``krohn draw``."""

from pathlib import Path
from typing import Annotated

import typer

from krohn.commands.options import (
    EFFORT,
    Json,
    StartedReading,
    check,
    emit,
    expand_option_groups,
    given_parameters,
)
from krohn.commands.progress import progress
from krohn.option_rules import DRAW, refuse_others


@expand_option_groups
def draw(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="MACHINE|F",
            help="A machine, a model file, the circuit.json of one, or a workbench.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help=".svg, .png or .pdf; of a model also .html, a page that runs it.",
        ),
    ],
    *,
    eggbox: Annotated[
        bool,
        typer.Option(
            "--eggbox", help="Draw the D-classes of the machine's monoid instead."
        ),
    ] = False,
    word: Annotated[
        str | None,
        typer.Option(
            "--word",
            metavar="WORD",
            help="Draw which token attends to which while the text after this prompt is "
            "written; of a generator, the attention on this prefix.",
        ),
    ] = None,
    effort: Annotated[str | None, EFFORT] = None,
    reading: StartedReading,
    as_json: Json = False,
) -> None:
    """Draw a machine, a network or another source, or write a page that runs a network.

    Examples:
        krohn draw examples/turnstile.dot -o turnstile.svg
        krohn draw turnstile.safetensors -o network.svg
        krohn draw turnstile.safetensors -o turnstile.html
        krohn draw S4 --eggbox -o eggbox.png
    """
    from krohn.machines import MODEL
    from krohn.pictures import check_output, circuit_drawer, draw as drawn

    check(context, DRAW)
    check_output(output, source.endswith(MODEL))
    reading.check()
    remarked: dict[str, object] = {}
    subject: object = source
    if not source.endswith(MODEL) and circuit_drawer(source) is None:
        kind, subject = reading.source(source, given_parameters(context))
        refuse_others(given_parameters(context), kind.pictured, kind.called)
        remarked = kind.remarks(subject)
    with progress("drawing"):
        drawn(subject, output, eggbox=eggbox, word=word, effort=effort)
    result = {"file": str(output), **remarked}
    emit("draw", result, as_json, lambda: print(f"drew {output}"))
