"""``krohn decompile``: the hidden Markov model behind the laws of a network."""

from pathlib import Path
from typing import TYPE_CHECKING

from krohn.program.domains import FloatArray
from krohn.program.wording import at_most

if TYPE_CHECKING:
    from krohn.kinds.posterior_heads.commands_decompile import Recovered
from dataclasses import dataclass
from typing import Annotated

import typer

from krohn.commands import options as common
from krohn.commands.options import DONE, emit, expand_option_groups
from krohn.commands.progress import progress
from krohn.show.tables import new_table, print_table


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


@expand_option_groups
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
    """Recover the hidden Markov model behind a network's predictions.

    Examples:
        krohn compile Mess3 -T 16 --within 0.01 -o mess3.safetensors
        krohn decompile mess3.safetensors -o recovered.json
        krohn decompile mess3.safetensors --states 3 --off 0.01
    """
    from krohn.kinds.posterior_heads.commands_decompile import (
        check_suffix,
        decompile as decompiled,
    )

    if output is not None:
        check_suffix(output)
    with progress("asking"):
        found = decompiled(file, machine, **vars(law))
    if output is not None:
        found.save(output)
    told = {**found.to_object(), "file": None if output is None else str(output)}
    emit("decompile", told, as_json, lambda: show_model(found, output))
    return DONE


MOST = 12
"""So many states, letters or coordinates are printed."""


def show_model(found: "Recovered", output: Path | None) -> None:
    """Emissions, transitions, and how sure they are."""
    told = found.to_object()
    print(f"{told['network']}: a model of {told['states']} hidden states")
    points = "means" in told
    _matrix("means" if points else "emissions", found.pair[0], "x" if points else "")
    _matrix("transitions", found.pair[1], "to ")
    print(
        f"residual {at_most(told['residual'])}: the largest difference between the "
        "law of the network and that of this model"
    )
    if not points:
        print(
            f"condition {told['condition']:.3g}: an error of the law can change the "
            "model by this factor"
        )
    if told["error"] is not None:
        print(
            f"error {at_most(told['error'])}: the largest difference from the model "
            "in the file"
        )
    if output is not None:
        print(f"wrote {output}")


def _matrix(name: str, matrix: FloatArray, row: str) -> None:
    rows, columns = (min(size, MOST) for size in matrix.shape)
    table = new_table(name, *(f" state {i + 1}" for i in range(columns)))
    for i in range(rows):
        cells = (f"{x:.6f}" for x in matrix[i, :columns].tolist())
        table.add_row(f"{row}{i + 1}", *cells)
    print_table(table)
    if max(matrix.shape) > MOST:
        print(f"  … {matrix.shape[0]} × {matrix.shape[1]}; --json prints all")
