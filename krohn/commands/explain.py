"""``krohn explain``."""

from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import reading, remarks, typed
from krohn.commands.terminal import emit
from krohn.option_rules import refuse_others
from krohn.source_kinds import named

Arch = Annotated[
    str, typer.Option(help="transformer; or ssm, for diagonal state space models.")
]
FILES = ("complete", "kind", "formal")
"""Options that say how a machine is read."""


def explain(
    context: typer.Context,
    machine: common.Machine,
    length: common.Length = 128,
    dtype: common.Dtype = "float32",
    start: common.Start = None,
    strict: common.Strict = False,
    activation: common.Activation = "relu",
    minimise: common.Minimise = None,
    observe: common.Observe = None,
    block: common.Block = None,
    within: common.Within = None,
    effort: common.Effort = "normal",
    arch: Arch = "transformer",
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    formal: common.Formal = False,
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    told: object = machine
    remarked: dict[str, object] = {}
    if (other := named(machine)) is None:
        told = read = reading(complete, kind, formal).read(machine)
        remarked = remarks(read)
    else:
        files = [option for option in typed(context) if option in FILES]
        refuse_others(files, (), other[0].called)
    taken = ("length", "dtype", "arch")
    given = {n: context.params[n] for n in typed(context) if n in taken}
    result = explained(
        told,
        start=start,
        strict=strict,
        minimise=minimise,
        observation=observe,
        activation=activation,
        effort=effort,
        block=block,
        within=within,
        **given,
    )
    shown = show.explanation if "constructions" in result else show.facts
    emit({**result, **remarked}, as_json, lambda: shown(result))
