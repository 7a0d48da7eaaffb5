"""``krohn explain``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import NetworkOptions, Reading, emit, grouped, typed
from krohn.commands.progress import waiting

Arch = Annotated[
    str, typer.Option(help="transformer; or ssm, for diagonal state space models.")
]


@dataclass(frozen=True)
class Networks(NetworkOptions):
    """The networks whose costs are said."""

    length: common.Length = 128
    arch: Arch = "transformer"


@grouped
def explain(
    context: typer.Context,
    machine: common.Machine,
    *,
    networks: Networks,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Draw the depth and size of the networks of a machine: .svg, .png, .pdf.",
        ),
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    kind, source = reading.source(machine, typed(context))
    given = {**vars(networks), "observation": networks.observe}
    unsaid = {"observe"} | ({"length", "dtype", "arch"} - set(typed(context)))
    if output is not None:
        from krohn.drawing import check_suffix  # matplotlib takes half a second

        check_suffix(output)
    with waiting("explaining"):
        result = explained(
            source, **{n: v for n, v in given.items() if n not in unsaid}
        )
    if output is not None:
        from krohn.drawing import draw_front, save

        save(draw_front(result), output)
    shown = show.explanation if "constructions" in result else show.facts
    emit("explain", {**result, **kind.remarks(source)}, as_json, lambda: shown(result))
