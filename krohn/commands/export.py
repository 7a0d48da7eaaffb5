"""``krohn export`` and ``krohn formal``: a network for another library, or for Coq."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands.options import CANNOT, DONE, Json, emit
from krohn.commands.progress import progress, waiting
from krohn.program.wording import at_most

if TYPE_CHECKING:
    from krohn.architectures.exports.commands import Export
    from krohn.instruments.formal.commands import Formal


def export(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    to: Annotated[
        str, typer.Option(help="transformer-lens, huggingface, onnx or gpt2.")
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
    """Write a network for another library, and run what was written beside the original."""
    from krohn.architectures.exports.commands import export as exported

    with progress() as report:
        found = exported(
            file,
            to=to,
            directory=output,
            states=states,
            sample=sample,
            seed=seed,
            progress=report,
        )
    emit("export", found.to_object(), as_json, lambda: _show_export(found))


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
    print(
        f"  read back and run on {ran.words:,} words of {ran.length} letters{right}; "
        f"largest deviation of a logit {at_most(ran.deviation)}"
    )
    print(f"  computed there: {found.arithmetic}")


def formal(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="A new directory.")
    ],
    prove: Annotated[
        bool, typer.Option("--prove", help="Run Coq, which proves the theorem.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Write a theorem about a network for the proof assistant Coq, and its proof."""
    from krohn.instruments.formal.commands import write

    with waiting("proving" if prove else "writing"):
        found = write(file, output, prove)
    emit("formal", found.to_object(), as_json, lambda: _show_formal(found))
    return CANNOT if found.proved is False else DONE


def _show_formal(found: "Formal") -> None:
    print(f"wrote {found.directory}, with the theorem: {found.says}")
    if found.proved is None:
        print(f"  `make -C {found.directory}` proves it (needs coqc)")
    elif found.proved:
        print(f"  proved by Coq in {found.seconds:.1f} s of CPU")
        print(f"  axioms: {', '.join(found.axioms) or 'none'}")
    else:
        print(f"  not proved: {found.reason}")
