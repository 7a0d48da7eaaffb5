"""``krohn explain``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import NetworkOptions, Reading, grouped, remarks, typed
from krohn.commands.terminal import emit
from krohn.option_rules import refuse_others
from krohn.source_kinds import named

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

    told: object = machine
    remarked: dict[str, object] = {}
    if (other := named(machine)) is None:
        told = read = reading.read(machine)
        remarked = remarks(read)
    else:
        files = [option for option in typed(context) if option in vars(reading)]
        refuse_others(files, (), other[0].called)
    given = {**vars(networks), "observation": networks.observe}
    unsaid = {"observe"} | ({"length", "dtype", "arch"} - set(typed(context)))
    result = explained(told, **{n: v for n, v in given.items() if n not in unsaid})
    shown = show.explanation if "constructions" in result else show.facts
    emit({**result, **remarked}, as_json, lambda: shown(result))
