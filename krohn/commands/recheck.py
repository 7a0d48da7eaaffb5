"""``krohn recheck``."""

from typing import Annotated

import typer

from krohn import show
from krohn.commands.options import Against, Fill, Json, Observe, Start, Wanted
from krohn.commands.terminal import CANNOT, DONE, emit, waiting


def recheck(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    evidence: Annotated[
        str, typer.Argument(metavar="EVIDENCE", help="What `verify --evidence` wrote.")
    ],
    machine: Against = None,
    start: Start = None,
    observe: Observe = None,
    complete: Fill = "reject",
    as_json: Json = False,
) -> int:
    """Check evidence again, by a small checker that shares no code with the proof."""
    from krohn.evidence import check

    wanted = Wanted(machine, start, observe, complete).read()
    with waiting("checking"):
        found = check(file, evidence, wanted, observe)
    emit(found.to_object(), as_json, lambda: show.evidence(found))
    return DONE if found.verdict == "verified" else CANNOT
