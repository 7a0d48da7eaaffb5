"""``krohn workbench`` and ``krohn score``: networks with known circuits."""

from pathlib import Path
from typing import Annotated, Any

import typer

from krohn.commands.completion import completion
from krohn.commands.options import DONE, REFUTED, Json, check, emit
from krohn.commands.progress import progress
from krohn.instruments.workbench import commands_text
from krohn.option_rules import Need

WORKBENCH = (
    Need(
        ("seed",),
        lambda values: not values["again"],
        "has no effect with --check, which takes the set as it is",
    ),
)


def _list_circuits() -> list[str]:
    """The networks of the set."""
    from krohn.instruments.workbench.models import MODELS

    return [entry.name for entry in MODELS]


Words = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Words and interchanges to list (200); with --check, words to run in "
        "each form (1,000).",
    ),
]
Jobs = Annotated[
    int, typer.Option(min=1, help="Networks that are made, or checked, at once.")
]


def workbench(
    context: typer.Context,
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A new directory; with --check, the set."),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this network; may be given again.",
            autocompletion=completion(_list_circuits),
        ),
    ] = None,
    words: Words = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words.")] = 0,
    jobs: Jobs = 2,
    again: Annotated[bool, typer.Option("--check", help="Verify a set again.")] = False,
    as_json: Json = False,
) -> int:
    """Make a set of networks with known circuits, or check it again.

    Examples:
        krohn workbench set --only parity --only d6
        krohn workbench set --check
        krohn workbench set --check --words 100 --jobs 1
    """
    check(context, WORKBENCH)
    from krohn import workbench as bench

    asked: dict[str, Any] = {"only": only or (), "jobs": jobs}
    asked |= {} if words is None else {"words": words}
    if not again:
        with progress("compiling networks") as report:
            made = bench.make(directory, **asked, seed=seed, progress=report)
        made_result = {"models": [vars(each) for each in made]}
        emit("workbench", made_result, as_json, lambda: commands_text.workbench(made))
        return DONE
    with progress("checking networks") as report:
        rows = bench.check(directory, **asked, progress=report)
    wrong = sum(len(row.wrong) for row in rows)
    result = {"models": [vars(row) for row in rows], "wrong": wrong}
    emit("workbench", result, as_json, lambda: commands_text.workbench_check(rows))
    return REFUTED if wrong else DONE


def score(
    circuit: Annotated[
        Path, typer.Argument(metavar="CIRCUIT", help="The circuit.json of a network.")
    ],
    found: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWER",
            help="Edges: a CSV file with columns from, to, and perhaps score. Otherwise a "
            "safetensors file of directions.",
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--of",
            metavar="KIND",
            help="What is scored: edges, directions (of variables, as probes find them), "
            "features (of a dictionary), or interchange (of directions).",
        ),
    ] = "edges",
    as_json: Json = False,
) -> None:
    """Score the circuit that a method found in a network against the known one.

    Examples:
        krohn score set/parity/circuit.json edges.csv
        krohn score set/parity/circuit.json directions.safetensors --of directions
        krohn score set/parity/circuit.json directions.safetensors --of interchange
    """
    from krohn.instruments.workbench import scoring

    result = scoring.score(circuit, found, kind)  # type: ignore[arg-type]
    emit("score", vars(result), as_json, lambda: commands_text.score(result))
