"""The options of ``krohn compile`` alone."""

from pathlib import Path
from typing import Annotated

import typer

from krohn.option_rules import one_of_architectures

Attention = Annotated[
    str | None,
    typer.Option(
        help="Of a chain of thought: standard (default), linear or sparse. Of a balanced "
        "generator: random (default), symmetric, uniform."
    ),
]
DepthLayer = Annotated[
    str | None,
    typer.Option(
        help="How a balanced generator knows the depth: given (default) or attended."
    ),
]
ScoreSeed = Annotated[
    int | None, typer.Option(help="Of the scores of a balanced generator.")
]
Scale = Annotated[
    float | None,
    typer.Option(help="Standard deviation of the scores of a balanced generator."),
]
Opening = Annotated[
    str | None,
    typer.Option(
        metavar="Q", help="The probability that a bracket opens: 1/2 (default), 0.4, …"
    ),
]
Output = Annotated[
    Path, typer.Option("-o", "--output", help="The model file (.safetensors).")
]
LongestWord = Annotated[
    int | None,
    typer.Option("-T", "--length", min=1, help="The longest word (Transformers)."),
]
Construction = Annotated[
    str,
    typer.Option(
        help="auto, memory, window, counter, parity, parity-selected, parity-tree, "
        "product, gridworld, corridor, dyck, definite, content, piecewise, "
        "departures, cascade, scan, sequential; or scan3, scan5, scan10, … (fewer "
        "layers, more heads); or as Liu (2024) builds them: semidirect, "
        "semidirect-car, wreath, series, permutation-reset, krohn-rhodes, "
        "parity-table, chunked, memorising; or balanced: the law of the next "
        "bracket instead of the state."
    ),
]
Arch = Annotated[str, typer.Option(help=f"{one_of_architectures()}.")]
Prove = Annotated[bool, typer.Option(help="Prove the network before it is written.")]
Passes = Annotated[
    bool, typer.Option("--passes", help="Print the Program after every pass.")
]
