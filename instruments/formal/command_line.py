"""``krohn formal``: a theorem about a network, for Coq."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from krohn.commands.options import CANNOT, DONE, Json, emit
from krohn.commands.progress import progress

if TYPE_CHECKING:
    from krohn.instruments.formal.commands import Formal


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
    """Write a theorem about a network for the proof assistant Coq, and its proof.

    Examples:
        krohn formal ab.safetensors -o ab-coq
        krohn formal ab.safetensors -o ab-proved --prove
        krohn formal ab.safetensors -o ab-theorem --json
    """
    from krohn.instruments.formal.commands import write

    with progress("proving" if prove else "writing"):
        theorem = write(file, output, prove)
    emit("formal", theorem.to_object(), as_json, lambda: _show_formal(theorem))
    return CANNOT if theorem.proved is False else DONE


def _show_formal(found: "Formal") -> None:
    print(f"wrote {found.directory}, with the theorem: {found.says}")
    if found.proved is None:
        print(f"  `make -C {found.directory}` proves it (needs coqc)")
    elif found.proved:
        print(f"  proved by Coq in {found.seconds:.1f} s of CPU")
        print(f"  axioms: {', '.join(found.axioms) or 'none'}")
    else:
        print(f"  not proved: {found.reason}")
