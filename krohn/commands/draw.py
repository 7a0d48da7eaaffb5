"""``krohn draw``."""

from pathlib import Path
from typing import Annotated

import typer

from algebra.errors import KrohnError
from krohn.commands.options import Fill, Json, filled
from krohn.commands.terminal import emit, waiting


def draw(
    source: Annotated[
        str, typer.Argument(metavar="MACHINE|F", help="A machine or a model file.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help=".svg, .png or .pdf")],
    eggbox: Annotated[
        bool,
        typer.Option(
            "--eggbox", help="Draw the D-classes of the machine's monoid instead."
        ),
    ] = False,
    budget: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="How long to list the monoid."),
    ] = 30.0,
    complete: Fill = "reject",
    as_json: Json = False,
) -> None:
    """Draw a machine, its monoid, or the layers, channels and heads of a model."""
    from krohn import drawing
    from krohn.sources import read
    from network import modelfile

    drawing.check_suffix(output)
    if source.endswith(".safetensors"):
        if eggbox:
            raise KrohnError("--eggbox needs a machine, not a model file")
        file = modelfile.read(source)
        if file.header["architecture"]["kind"] == "generator":
            from krohn.attention import compare_attention

            compare_attention([source], output=output)
            emit({"file": str(output)}, as_json, lambda: print(f"drew {output}"))
            return
        figure = drawing.draw_model(file)
    elif eggbox:
        from krohn.monoid import draw_monoid

        with waiting("listing the monoid"):
            figure = draw_monoid(read(source, filled(complete)), budget)
    else:
        figure = drawing.draw_machine(read(source, filled(complete)))
    drawing.save(figure, output)
    emit({"file": str(output)}, as_json, lambda: print(f"drew {output}"))
