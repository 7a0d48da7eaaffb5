"""``krohn recheck``."""

from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import CANNOT, DONE, Claimed, check, emit, grouped
from krohn.commands.progress import waiting
from krohn.option_rules import RECHECK
from krohn.source_kinds import machines


@grouped
def recheck(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    evidence: Annotated[
        str,
        typer.Argument(
            metavar="EVIDENCE", help="The file that `verify --evidence` wrote."
        ),
    ],
    against: Claimed,
    as_json: common.Json = False,
) -> int:
    """Check evidence again by the small checker alone, without the search for it."""
    from krohn.evidence import check as checked
    from krohn.verification import subject

    check(context, RECHECK)
    wanted = against.read() if (about := subject(file)).of_machine else None
    held = wanted if about.of_machine else against.machine
    with waiting("checking"):
        found = checked(file, evidence, held, against.observe, against.digest)
    told = found.to_object() | machines().remarks(wanted)
    emit("recheck", told, as_json, lambda: show.evidence(found))
    return DONE if found.verdict == "verified" else CANNOT
