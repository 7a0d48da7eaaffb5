"""``krohn learn``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import Wanted, check, reading
from krohn.commands.terminal import CANNOT, DONE, REFUTED, emit, progress
from krohn.option_rules import LEARN

if TYPE_CHECKING:
    from krohn.learning import Learned


def learn(
    context: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="F",
            help="A model file, a trained network, the folder of a run of krohn compare, "
            "or the directory of an export.",
        ),
    ],
    machine: common.Against = None,
    length: Annotated[
        int | None,
        typer.Option(
            "-T",
            "--length",
            min=1,
            help="No longer word teaches anything (default: what the file claims; else "
            "as long as all words are run).",
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="lstar: ask what is needed; rpni: read words with labels."),
    ] = "lstar",
    kind: Annotated[
        str, typer.Option(help="moore: states show what is said; mealy: transitions.")
    ] = "moore",
    queries: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many words may be asked.")
    ] = 200_000,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How many long words each guess must pass."
        ),
    ] = 512,
    seed: Annotated[int, typer.Option(help="Of these.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The machine: .dot, .json, …; a picture: .svg, .png, .pdf.",
        ),
    ] = None,
    start: common.Start = None,
    observe: common.Observe = None,
    complete: common.Fill = "reject",
    reads: common.ReadAs = None,
    as_json: common.Json = False,
) -> int:
    """Learn the machine that a network follows, from its answers alone."""
    from krohn.learning import learn as learned
    from krohn.learning.result import check_output, save

    check(context, LEARN)
    if output is not None:
        check_output(output)
    against = Wanted(machine, start, observe, reading(complete, reads))
    with progress() as report:
        found = learned(
            file,
            against.read(),
            length=length,
            method=method,
            kind=kind,
            observation=observe,
            queries=queries,
            samples=sample,
            seed=seed,
            progress=report,
        )
    if output is not None:
        save(found, output)
    result = {**found.to_object(), "file": None if output is None else str(output)}
    emit(result, as_json, lambda: show.learned(file, found, output))
    return _code(found)


def _code(found: "Learned") -> int:
    if found.verdict == "different":
        return REFUTED
    return CANNOT if found.spent else DONE
