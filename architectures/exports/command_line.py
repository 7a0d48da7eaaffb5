"""``krohn export``: a network for another library."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands.completion import completion, list_exports
from krohn.commands.options import Json, emit, print_remark
from krohn.commands.progress import progress
from krohn.program.slices import slice_exports
from krohn.program.wording import at_most

if TYPE_CHECKING:
    from krohn.architectures.exports.commands import Export


def export(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    to: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(slice_exports())}.",
            autocompletion=completion(list_exports),
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="A new directory.")
    ],
    states: Annotated[
        bool,
        typer.Option(
            "--states", help="Name classes by states, though the machine has outputs."
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Run N adversarial words there (10,000; fewer of more than 163 letters).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the words.")] = 0,
    as_json: Json = False,
) -> None:
    """Write a network for another library, and check it there.

    Examples:
        krohn export ab.safetensors --to onnx -o ab-onnx
        krohn export ab.safetensors --to huggingface -o ab-hf
        krohn compile S3 -T 16 --strict -o strict.safetensors
        krohn export strict.safetensors --to transformer-lens -o strict-lens
    """
    from krohn.architectures.exports.commands import export as exported

    with progress("exporting") as report:
        result = exported(
            file,
            to=to,
            directory=output,
            states=states,
            sample=sample,
            seed=seed,
            progress=report,
        )
    print_remark(result.warning)
    emit("export", result.to_object(), as_json, lambda: _show_export(result))


def _show_export(found: "Export") -> None:
    ran = found.ran
    right = {
        "the machine": ", each answer that of the machine",
        "the source": ", each token that of the dynamic program",
        "the network": ", each answer that of the file",
        "nothing": "",
    }[ran.against]
    print(f"wrote {found.directory}, for {found.to}")
    print(f"  {found.proved}")
    if found.classes == "states":
        hint = "; `krohn compile --observe outputs` makes them its outputs"
        print(f"  classes are the states of the machine{hint * found.hides_outputs}")
    print(
        f"  read back and run on {ran.words:,} words of {ran.length} letters{right}; "
        f"largest deviation of a logit {at_most(ran.deviation)}"
    )
    print(f"  arithmetic: {found.arithmetic}")
