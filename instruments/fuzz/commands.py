"""``krohn fuzz``: whether answers depend on orders of sums, kernels or batches."""

from pathlib import Path
from typing import Annotated

import typer

from krohn.commands import options as common
from krohn.commands.completion import completion, list_exports
from krohn.commands.options import DONE, REFUTED, emit, expand_option_groups
from krohn.commands.progress import progress


@expand_option_groups
def fuzz(
    model: Annotated[Path, typer.Argument(metavar="F", help="A model file.")],
    *,
    answers: Annotated[
        int,
        typer.Option(
            "--answers", metavar="N", min=1, help="How many, all ways together."
        ),
    ] = 1_000_000,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            "--engine",
            metavar="NAME",
            help="torch, numpy, or what export has after --to; may be given several "
            "times (default: all that are installed and can hold the network).",
            autocompletion=completion(lambda: ("torch", "numpy", *list_exports())),
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Of words, orders and batches.")
    ] = 0,
    as_json: common.Json = False,
) -> int:
    """Look for answers that change with the order of sums, the kernel, batch or engine.

    Exit with 1 if an answer depends on them, or is not the machine's.
    docs/instruments/fuzz.md says of which networks it is proved that none does.

    Examples:
        krohn fuzz s5.safetensors --answers 100000
        krohn fuzz s5.safetensors --engine torch --engine numpy --answers 20000
        krohn fuzz ab.safetensors --engine onnx --answers 20000
    """
    from krohn.instruments.fuzz import commands_text
    from krohn.instruments.fuzz.campaign import fuzz as run

    with progress("running words") as report:
        found = run(model, answers, engine=engine or (), seed=seed, progress=report)
    emit("fuzz", found.to_object(), as_json, lambda: commands_text.fuzz(found))
    return DONE if found.has_passed else REFUTED
