"""``krohn batch``, ``workbench`` and ``score``: many networks, and their known circuits."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import DONE, REFUTED, Json, check, emit, grouped
from krohn.commands.progress import progress
from krohn.option_rules import BATCH, WORKBENCH

Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="The table: .csv, .json or .html"),
]
JobFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Note here which rows are done, and keep it. Without: beside -o, until "
        "the table is written.",
    ),
]


@dataclass(frozen=True)
class Work:
    """How each row is done."""

    length: Annotated[
        int,
        typer.Option(
            "-T", "--length", min=1, help="The longest word where the row says none."
        ),
    ] = 128
    dtype: Annotated[
        str | None, typer.Option(help="The number format where the row says none.")
    ] = None
    longest: Annotated[
        bool,
        typer.Option(
            "--longest", help="Look for the longest certified words of each row."
        ),
    ] = False
    effort: common.Effort = "normal"


@grouped
def batch(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE|FOLDER",
            help="A CSV file with a column machine (docs/instruments/batch.md), or a "
            "folder of machine files.",
        ),
    ],
    *,
    output: Output = None,
    work: Work,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Processes, each on one thread.")
    ] = 1,
    job: JobFile = None,
    as_json: common.Json = False,
) -> int:
    """Compile, prove and run every row of a table; exit with 1 if one does not pass."""
    from krohn.algebra.budget import steps_of
    from krohn.algebra.errors import KrohnError
    from krohn.instruments.batch.batch import (
        batch as done,
        check_suffix,
        write,
    )
    from krohn.instruments.batch.work import (
        BatchWork,
        rows,
    )

    if output is not None:
        check_suffix(output)
    check(context, BATCH)
    steps_of(work.effort)
    todo = rows(source)
    if output is not None and output.exists() and output.samefile(source):
        raise KrohnError(
            f"-o {output} is the table itself; name another file for the results"
        )
    kept = job or (None if output is None else output.with_name(output.name + ".job"))
    each = BatchWork(work.length, work.dtype, work.effort if work.longest else None)
    with progress() as report:
        found = done(todo, each, workers, kept, partial(report, "rows"))
    if output is not None:
        write(found, output)
        if job is None and kept is not None:
            kept.unlink(missing_ok=True)
    emit("batch", found.to_object(), as_json, lambda: show.batch(found, output))
    return DONE if found.passed else REFUTED


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
        typer.Option(metavar="NAME", help="Only this network; may be given again."),
    ] = None,
    words: Words = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words.")] = 0,
    jobs: Jobs = 2,
    again: Annotated[bool, typer.Option("--check", help="Verify a set again.")] = False,
    as_json: Json = False,
) -> int:
    """Make a set of networks with known circuits, or check it again."""
    check(context, WORKBENCH)
    from krohn import workbench as bench

    asked: dict[str, Any] = {"only": only or (), "jobs": jobs}
    asked |= {} if words is None else {"words": words}
    if not again:
        with progress() as report:
            made = bench.make(directory, **asked, seed=seed, progress=report)
        told = {"models": [vars(each) for each in made]}
        emit("workbench", told, as_json, lambda: show.workbench(made))
        return DONE
    with progress() as report:
        rows = bench.check(directory, **asked, progress=report)
    wrong = sum(len(row.wrong) for row in rows)
    found = {"models": [vars(row) for row in rows], "wrong": wrong}
    emit("workbench", found, as_json, lambda: show.workbench_check(rows))
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
    """Hold what a method found in a network against its known circuit."""
    from krohn.instruments.workbench import scoring

    told = scoring.score(circuit, found, kind)  # type: ignore[arg-type]
    emit("score", vars(told), as_json, lambda: show.score(told))
