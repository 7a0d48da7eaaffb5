"""``krohn texts``: texts of chains of thought, for training and for testing."""

from pathlib import Path
from typing import Annotated, Any

import typer

from krohn.commands.options import Json, emit
from krohn.commands.progress import progress


def texts(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="EditDistance6,7, ShortLIS20, Arithmetic6,11:handles=random, a .dp or "
            ".rules file, …",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="A new folder."),
    ],
    train: Annotated[
        int,
        typer.Option("-n", "--train", metavar="N", min=1, help="Texts to train on."),
    ] = 1000,
    test: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            min=0,
            help="Texts with other prompts, to test on (default: N/10).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the prompts.")] = 0,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="krohn: texts as they are compiled, as JSON lines. feng: those of the "
            "public code of Feng et al. (2023), with its distributions and files.",
        ),
    ] = "krohn",
    fewer: Annotated[
        bool,
        typer.Option(
            "--fewer-operators",
            help="Of arithmetic: also train on k of n operators, in proportion to k.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write chains of thought for training and for testing, with no prompt in both.

    Examples:
        krohn texts EditDistance6,7 -o edits -n 1000
        krohn texts Arithmetic6,11 -o arithmetic --format feng
        krohn texts EditDistance6,7 -o few --train 100 --test 20 --seed 1
    """
    from krohn.instruments.compare.tasks.text_sets import TextSet, write_texts

    count = max(1, train // 10) if test is None else test
    asked = TextSet(source, form, train, count, seed, fewer)
    with progress("writing texts") as report:
        result = write_texts(asked, output, report)
    emit("texts", result, as_json, lambda: _show(output, result))


def _show(folder: Path, result: dict[str, Any]) -> None:
    print(
        f"wrote {folder}: {result['train']:,} texts of {result['source']} to train on, "
        f"{result['test']:,} to test on"
    )
    print(
        f"  up to {result['longest']:,} tokens, of {len(result['tokens']):,} kinds; "
        f"{', '.join(result['files'])}"
    )
