"""``krohn batch``: many machines at once."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from krohn.commands import options as common
from krohn.commands.options import (
    DONE,
    REFUTED,
    check,
    emit,
    expand_option_groups,
    print_remark,
)
from krohn.commands.progress import progress
from krohn.option_rules import Need, is_given

BATCH = (Need(("effort",), is_given("longest"), "is for --longest only; leave it out"),)


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


@expand_option_groups
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
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", metavar="N", min=1, help="Processes, each on one thread."
        ),
    ] = 1,
    job_file: JobFile = None,
    as_json: common.Json = False,
) -> int:
    """Compile, prove and run every row of a table; exit with 1 if one does not pass.

    Examples:
        krohn batch machines.csv -o table.html
        krohn batch folder -T 64 -o table.csv
        krohn batch folder --longest --effort low -o longest.json
    """
    from krohn.algebra.budget import steps_of
    from krohn.algebra.errors import KrohnError
    from krohn.instruments.batch import commands_text
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
    todo = rows(source, print_remark)
    if output is not None and output.exists() and output.samefile(source):
        raise KrohnError(
            f"-o {output} is the table itself; name another file for the results"
        )
    kept = job_file or (
        None if output is None else output.with_name(output.name + ".job")
    )
    each = BatchWork(work.length, work.dtype, work.effort if work.longest else None)
    with progress("compiling each file") as report:
        result = done(todo, each, jobs, kept, partial(report, "rows"))
    if output is not None:
        write(result, output)
        if job_file is None and kept is not None:
            kept.unlink(missing_ok=True)
    emit(
        "batch",
        result.to_object(),
        as_json,
        lambda: commands_text.batch(result, output),
    )
    return DONE if result.has_passed else REFUTED
