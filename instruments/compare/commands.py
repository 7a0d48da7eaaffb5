"""``krohn compare``."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from krohn.algebra.errors import KrohnError
from krohn.commands.options import (
    Json,
    Machine,
    StartedReading,
    emit,
    expand_option_groups,
)
from krohn.commands.progress import progress
from krohn.instruments.compare import commands_text
from krohn.program.writing import atomic_write


@dataclass(frozen=True)
class Training:
    """The networks that are trained, and how."""

    preset: Annotated[
        str,
        typer.Option(help="Sizes and recipes: desk (minutes on two cores) or paper."),
    ] = "desk"
    layers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Layers of the Transformer (default: 2); of the deepest one on a hidden "
            "Markov model.",
        ),
    ] = None
    seeds: Annotated[
        int, typer.Option(min=1, help="Networks of each kind, one for each seed.")
    ] = 2
    length: Annotated[
        int | None,
        typer.Option(
            "-T", "--length", min=1, help="Letters in the words that are trained on."
        ),
    ] = None
    positions: Annotated[
        str | None,
        typer.Option(
            help="Positions of the Transformer: sinusoidal, linear, learned, none, "
            "alibi, rope."
        ),
    ] = None
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Steps of training, instead of the preset's."),
    ] = None
    width: Annotated[
        int | None,
        typer.Option(min=1, help="Width of the Transformer, instead of the preset's."),
    ] = None
    provable: Annotated[
        bool,
        typer.Option(
            "--provable",
            help="Train a small LSTM with noise on its hidden states, which can be proved.",
        ),
    ] = False
    jobs: Annotated[
        int, typer.Option(min=1, help="Networks that are trained at once.")
    ] = 2
    device: Annotated[
        str, typer.Option(help="Where torch computes: cpu, cuda, cuda:1.")
    ] = "cpu"
    runs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep runs in this folder; an interrupted one goes on (default: beside "
            "the page).",
        ),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="Begin no further training after so many seconds."),
    ] = None


@expand_option_groups
def compare(
    context: typer.Context,
    machine: Machine,
    *,
    how: Training,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write all results to a page of HTML."),
    ] = None,
    reading: StartedReading,
    as_json: Json = False,
) -> None:
    """Train networks on a machine's task, and compare them with the derived network.

    Examples:
        krohn compare C2 -o c2.html
        krohn compare FlipFlop --layers 1 --seeds 1 --steps 200 -o flipflop.html
        krohn compare Dyck1,4 --steps 50 --jobs 1 --seconds 60
    """
    _check(output)
    from krohn.instruments.compare.comparison.compare import compare as compared
    from krohn.page.rendering import command

    arguments: Sequence[str] = context.find_root().obj or ()
    kept = how.runs or (None if output is None else output.with_suffix(".runs"))
    reading.check()
    with _interruptible(kept), progress("comparing") as report:
        comparison = compared(
            machine,
            **{**vars(how), **vars(reading), "runs": kept},
            command=command(arguments),
            progress=report,
            announce=_announce,
        )
    if output is not None:
        with progress("writing the page"):
            atomic_write(output, comparison.html())
    emit(
        "compare",
        comparison.to_object(),
        as_json,
        lambda: commands_text.show(comparison, output),
    )


def _announce(cost: object) -> None:
    print(f"krohn: {cost}", file=sys.stderr)


def _check(output: Path | None) -> None:
    if output is None:
        return
    from krohn.page import check_suffix

    check_suffix(output)
    folder = output.parent
    if output.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise KrohnError(
            f"{output}: no page can be written there; name a file in a folder that is "
            "there and can be written"
        )


@contextmanager
def _interruptible(kept: Path | None) -> Iterator[None]:
    """Say at Ctrl-C what is left of the work."""
    try:
        yield
    except KeyboardInterrupt:
        left = "nothing was kept"
        if kept is not None and kept.is_dir():
            again = "run the same command again to go on"
            left = f"what was trained is kept in {kept}; {again}"
        raise KrohnError(f"interrupted; {left}") from None
