"""``krohn draw``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands.options import EFFORT, Fill, Json, ReadAs, check, reading, remarks
from krohn.commands.terminal import emit, waiting
from krohn.option_rules import DRAW

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from algebra.automaton import Automaton


def draw(
    context: typer.Context,
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
    effort: Annotated[str | None, EFFORT] = None,
    complete: Fill = "reject",
    kind: ReadAs = None,
    as_json: Json = False,
) -> None:
    """Draw a machine, its monoid, or the layers, channels and heads of a model."""
    from krohn import drawing
    from network import modelfile
    from network.architecture import kind_of

    check(context, DRAW)
    drawing.check_suffix(output)
    how = reading(complete, kind)
    if source.endswith(".safetensors"):
        file = modelfile.read(source)
        if kind_of(file.header["architecture"]).answers == "laws":
            from krohn.attention import compare_attention

            compare_attention([source], output=output)
            emit({"file": str(output)}, as_json, lambda: print(f"drew {output}"))
            return
        figure, remarked = drawing.draw_model(file), remarks(None)
    else:
        machine = how.read(source)
        remarked = remarks(machine)
        figure = (
            _eggbox(machine, effort or "high")
            if eggbox
            else drawing.draw_machine(machine)
        )
    drawing.save(figure, output)
    result = {"file": str(output), **remarked}
    emit(result, as_json, lambda: print(f"drew {output}"))


def _eggbox(machine: "Automaton", effort: str) -> "Figure":
    from krohn.monoid import draw_monoid

    with waiting("listing the monoid"):
        return draw_monoid(machine, effort)
