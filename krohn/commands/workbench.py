"""``krohn workbench`` and ``krohn score``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn import show
from krohn.commands.options import DONE, REFUTED, Json, check, emit
from krohn.commands.progress import progress
from krohn.option_rules import WORKBENCH

if TYPE_CHECKING:
    from krohn.workbench.scoring import EdgeScore


def workbench(
    context: typer.Context,
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="A new directory; with --check, the set."),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this network; may be given again."),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Words and interchanges to list (200); with --check, words to run in "
            "each form (1,000).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words.")] = 0,
    again: Annotated[bool, typer.Option("--check", help="Verify a set again.")] = False,
    as_json: Json = False,
) -> None:
    """Make a set of networks with known circuits, each proved; or check it again."""
    check(context, WORKBENCH)
    from krohn import workbench as bench

    with progress() as report:
        if not again:
            made = bench.make(
                directory, only or (), words=words or 200, seed=seed, progress=report
            )
        else:
            rows = bench.check(directory, words=words or 1_000, progress=report)
    if not again:
        told = {"models": [vars(each) for each in made]}
        emit("workbench", told, as_json, lambda: show.workbench(made))
        return
    wrong = sum(len(row.wrong) for row in rows)
    found = {"models": [vars(row) for row in rows], "wrong": wrong}
    emit("workbench", found, as_json, lambda: show.workbench_check(rows))
    raise typer.Exit(REFUTED if wrong else DONE)


def score(
    circuit: Annotated[
        Path, typer.Argument(metavar="CIRCUIT", help="The circuit.json of a network.")
    ],
    found: Annotated[
        Path,
        typer.Argument(
            metavar="EDGES", help="A CSV file: columns from and to, and perhaps score."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Hold edges that a method for circuit discovery found against the known circuit."""
    from krohn.workbench.scoring import score_edges

    told = score_edges(circuit, found)
    emit("score", vars(told), as_json, lambda: _show_score(told))


def _show_score(told: "EdgeScore") -> None:
    auc = "" if told.auc is None else f", area under the ROC curve {told.auc:.3f}"
    print(
        f"{told.found} edges found, {told.true} true, {told.possible} possible: precision "
        f"{told.precision:.3f}, recall {told.recall:.3f}, F1 {told.f1:.3f}{auc}"
    )
