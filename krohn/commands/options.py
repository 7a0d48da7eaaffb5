"""The options that several commands have."""

from typing import Annotated

import typer

from algebra.errors import KrohnError
from algebra.formats import Complete

Machine = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Zoo name, file, or regex:…")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Length = Annotated[int, typer.Option("-T", "--length", min=1, help="The longest word.")]
Dtype = Annotated[str, typer.Option(help="float64, float32, bfloat16 or float16.")]
Start = Annotated[
    str | None, typer.Option(metavar="STATE", help="Start state by name.")
]
Strict = Annotated[
    bool,
    typer.Option(help="Plain residuals x + f(x), one hidden layer per MLP."),
]
Activation = Annotated[
    str,
    typer.Option(
        help="relu, or sine: counters whose width does not grow with the length."
    ),
]
Uniform = Annotated[
    bool,
    typer.Option(
        "--uniform",
        help="Weights that do not depend on the length: only the positions grow with it.",
    ),
]
Minimise = Annotated[
    str,
    typer.Option(help="What to choose by: depth, width, parameters or latency."),
]
Observe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Say what a state shows instead of the state: outputs (the machine's own), "
        "stack-top, balance, boundary, first-chair, occupant, zero, location, accept.",
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        "--complete",
        metavar="HOW",
        help="Missing transitions of a file: reject, sink (a new state) or stay.",
    ),
]


def filled(how: str) -> Complete:
    """What to do about missing transitions.

    Raises:
        KrohnError: If it is no such way.
    """
    if how not in ("reject", "sink", "stay"):
        raise KrohnError(f"--complete takes reject, sink or stay, not {how!r}")
    return how  # type: ignore[return-value]
