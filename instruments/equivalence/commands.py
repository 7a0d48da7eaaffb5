"""``krohn equivalent``: whether two things mean the same."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from krohn.algebra.errors import KrohnError
from krohn.commands import options as common
from krohn.commands.options import (
    CODES,
    StartedReading,
    emit,
    expand_option_groups,
)
from krohn.commands.progress import progress
from krohn.instruments.equivalence import commands_text
from krohn.machines import MODEL

if TYPE_CHECKING:
    from krohn.kinds.counting.source_systems import Relation

UpTo = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help="The answers to compare: accept; outputs, by their names; or names: answers "
        "up to a renaming (default: accept; for model files outputs, or states if they "
        "have none).",
    ),
]
Always = Annotated[
    bool,
    typer.Option(
        "--always", help="Words of every length: z3 looks for an invariant as well."
    ),
]


@expand_option_groups
def equivalent(
    left: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="A .crasp file, crasp:NAME, a machine, as regex:(ab)*; or a model file.",
        ),
    ],
    right: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    *,
    length: Annotated[
        int | None,
        typer.Option(
            "-T", "--length", min=1, help="All words of up to so many letters; 100."
        ),
    ] = None,
    always: Always = False,
    relation: Annotated[
        str,
        typer.Option(
            help="What holds of the words: equal (A and B accept the same) or included "
            "(B accepts all that A does)."
        ),
    ] = "equal",
    up_to: UpTo = None,
    reading: StartedReading,
    as_json: common.Json = False,
) -> int:
    """Decide whether two counting programs or machines accept the same words.

    Of two model files: whether they are one function, and which tensors are the same.

    Examples:
        krohn equivalent 'regex:(ab)*' 'regex:(ab)*(ab)*'
        krohn equivalent crasp:Alternating 'regex:(ab)*' --always
        krohn equivalent s5.safetensors s5.safetensors
    """
    from krohn.instruments.equivalence.question import (
        USUAL_LENGTH,
        equivalent as decided,
    )

    words = length is not None or always or relation != "equal"
    if Path(left).suffix in MODEL and Path(right).suffix in MODEL:
        return _twins(left, right, words, reading, up_to, as_json)
    if words and up_to in ("outputs", "names"):
        raise KrohnError(
            "-T, --always and --relation are for what is accepted; outputs and names are "
            "compared for words of every length"
        )
    with progress("comparing") as report:
        answer = decided(
            _side(left, reading),
            _side(right, reading),
            USUAL_LENGTH if length is None else length,
            relation=cast("Relation", relation),
            always=always,
            up_to=up_to,
            progress=lambda done, total: report(f"exploring: {relation}", done, total),
        )
    emit(
        "equivalent",
        answer.to_object(),
        as_json,
        lambda: commands_text.equivalence(answer),
    )
    return CODES[answer.verdict]


def _side(name: str, reading: StartedReading) -> object:
    """The counting program, or the machine, of a name."""
    from krohn.kinds.counting.commands import counting_program

    return counting_program(name) or reading.read(name)


def _twins(
    left: str,
    right: str,
    options: bool,
    reading: StartedReading,
    up_to: str | None,
    as_json: bool,
) -> int:
    """The answer of two model files."""
    if reading != StartedReading():
        raise KrohnError(
            "--complete, --as and --start are for machines; these are networks, which "
            "are compared as they are"
        )
    if options:
        raise KrohnError(
            "-T, --always and --relation are for programs and machines; networks are "
            "compared on all words that they are proved for"
        )
    from krohn.instruments.equivalence.models import twins

    with progress("comparing") as report:
        report_proving = partial(report, "proving")
        answer = twins(left, right, report_proving, up_to=up_to)
    emit("equivalent", answer.to_object(), as_json, lambda: commands_text.twins(answer))
    return CODES[answer.verdict]
