"""``krohn learn``: the machine that stands behind the answers of a network."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands import options as common
from krohn.commands.options import (
    CANNOT,
    DONE,
    REFUTED,
    Wanted,
    check,
    emit,
    expand_option_groups,
)
from krohn.commands.progress import progress
from krohn.instruments.learning import commands_text
from krohn.option_rules import HELD

if TYPE_CHECKING:
    from krohn.instruments.learning.learner import Learned


@dataclass(frozen=True)
class Teaching:
    """The words that a learner asks about."""

    length: Annotated[
        int | None,
        typer.Option(
            "-T",
            "--length",
            min=1,
            help="No longer word teaches anything (default: what the file claims; else "
            "as long as all words are run).",
        ),
    ] = None
    method: Annotated[
        str,
        typer.Option(help="lstar: ask what is needed; rpni: read words with labels."),
    ] = "lstar"
    form: Annotated[
        str,
        typer.Option(
            "--form", help="moore: states show what is said; mealy: transitions."
        ),
    ] = "moore"
    queries: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many words may be asked.")
    ] = 200_000
    sample: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="How many long words each guess must pass."
        ),
    ] = 512
    seed: Annotated[int, typer.Option(help="Seed of these words.")] = 0


@expand_option_groups
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
    *,
    against: Wanted,
    teaching: Teaching,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The machine: .dot, .json, …; a picture: .svg, .png, .pdf.",
        ),
    ] = None,
    as_json: common.Json = False,
) -> int:
    """Learn the machine that a network computes, from its answers alone.

    Examples:
        krohn learn ab.safetensors
        krohn learn turnstile.safetensors -o learned.dot
        krohn learn ab.safetensors --method rpni --sample 100
    """
    from krohn.instruments.learning.learner import check_output, learn as learned, save

    check(context, HELD)
    if output is not None:
        check_output(output)
    with progress("learning") as report:
        outcome = learned(
            file,
            against.read(),
            length=teaching.length,
            method=teaching.method,
            form=teaching.form,
            observe=against.observe,
            queries=teaching.queries,
            sample=teaching.sample,
            seed=teaching.seed,
            progress=report,
        )
    if output is not None:
        save(outcome, output)
    result = {**outcome.to_object(), "file": None if output is None else str(output)}
    emit(
        "learn",
        result,
        as_json,
        lambda: commands_text.print_learned(file, outcome, output),
    )
    return _code(outcome)


def _code(found: "Learned") -> int:
    if found.verdict == "different":
        return REFUTED
    return CANNOT if found.spent else DONE
