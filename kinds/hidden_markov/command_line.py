"""``krohn decompile``: the hidden Markov model behind the laws of a network."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import DONE, emit, grouped
from krohn.commands.progress import waiting


@dataclass(frozen=True)
class Law:
    """The law that a network says, and how it is taken apart."""

    task: Annotated[
        str | None,
        typer.Option(
            help="The guesses of an array: 23given1 (default), 13given2, 12given3."
        ),
    ] = None
    states: Annotated[
        int | None,
        typer.Option(
            metavar="K", min=1, help="How many hidden states; found if not said."
        ),
    ] = None
    off: Annotated[
        float | None,
        typer.Option(
            metavar="E", min=0, help="How far the law may be off (default: as claimed)."
        ),
    ] = None
    draws: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many projections are tried.")
    ] = 8
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0


@grouped
def decompile(
    file: Annotated[
        str,
        typer.Argument(
            metavar="F",
            help="A model file of a hidden Markov model or a posterior head, a trained "
            "network of the next letter, or a law as an array (.npy).",
        ),
    ],
    *,
    machine: Annotated[
        str | None,
        typer.Option(metavar="M", help="The model that a trained network has learned."),
    ] = None,
    law: Law,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write the model: F.json."),
    ] = None,
    as_json: common.Json = False,
) -> int:
    """Recover the hidden Markov model of which a network says the law."""
    from krohn.kinds.hidden_markov.commands_decompile import (
        check_suffix,
        decompile as decompiled,
    )

    if output is not None:
        check_suffix(output)
    with waiting("asking"):
        found = decompiled(file, machine, **vars(law))
    if output is not None:
        found.save(output)
    told = {**found.to_object(), "file": None if output is None else str(output)}
    emit("decompile", told, as_json, lambda: show.decompiled(found, output))
    return DONE
