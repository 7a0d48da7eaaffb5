"""``krohn draw``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands.options import (
    EFFORT,
    Fill,
    Json,
    ReadAs,
    check,
    reading,
    remarks,
    typed,
)
from krohn.commands.terminal import emit, waiting
from krohn.option_rules import DRAW, refuse_others

if TYPE_CHECKING:
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
    from krohn.drawing import check_suffix, save
    from krohn.source_kinds import named

    check(context, DRAW)
    check_suffix(output)
    how = reading(complete, kind)
    remarked: dict[str, object] = {}
    if source.endswith(".safetensors"):
        _draw_model(source, output)
    elif (other := named(source)) is not None:
        refuse_others(typed(context), ("source",), other[0].called)
        save(other[0].draw(other[1]), output)
    else:
        machine = how.read(source)
        _draw_machine(machine, output, (effort or "high") if eggbox else None)
        remarked = remarks(machine)
    result = {"file": str(output), **remarked}
    emit(result, as_json, lambda: print(f"drew {output}"))


def _draw_model(source: str, output: Path) -> None:
    """Draw what lies where in a network, or what a generator attends to."""
    from krohn.drawing import draw_model, save
    from network import modelfile
    from network.architecture import kind_of

    file = modelfile.read(source)
    if kind_of(file.header["architecture"]).answers == "laws":
        from krohn.attention import compare_attention

        compare_attention([source], output=output)
    else:
        save(draw_model(file), output)


def _draw_machine(machine: "Automaton", output: Path, effort: str | None) -> None:
    """Draw a machine; with an effort for listing it, its monoid."""
    from krohn.drawing import draw_machine, save

    if effort is None:
        save(draw_machine(machine), output)
        return
    from krohn.monoid import draw_monoid

    with waiting("listing the monoid"):
        figure = draw_monoid(machine, effort)
    save(figure, output)
