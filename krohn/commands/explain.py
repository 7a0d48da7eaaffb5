"""``krohn explain``."""

from dataclasses import dataclass
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
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    kind, source = reading.source(machine, typed(context))
    given = {**vars(networks), "observation": networks.observe}
    unsaid = {"observe"} | ({"length", "dtype", "arch"} - set(typed(context)))
    with waiting("explaining"):
        result = explained(
            source, **{n: v for n, v in given.items() if n not in unsaid}
        )
    shown = show.explanation if "constructions" in result else show.facts
    emit("explain", {**result, **kind.remarks(source)}, as_json, lambda: shown(result))
