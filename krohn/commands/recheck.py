"""``krohn recheck``."""

from typing import Annotated

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import Claimed, check, grouped, remarks, source_given
from krohn.commands.terminal import CANNOT, DONE, emit, waiting
from krohn.option_rules import RECHECK


@grouped
def recheck(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    evidence: Annotated[
        str, typer.Argument(metavar="EVIDENCE", help="What `verify --evidence` wrote.")
    ],
    against: Claimed,
    as_json: common.Json = False,
) -> int:
    """Check evidence again by the small checker alone, without the search for it."""
    from krohn.evidence import check as checked

    check(context, RECHECK)
    source = source_given(file, against.machine)
    wanted = None if source else against.read()
    with waiting("checking"):
        found = checked(
            file, evidence, source or wanted, against.observe, against.digest
        )
    emit(found.to_object() | remarks(wanted), as_json, lambda: show.evidence(found))
    return DONE if found.verdict == "verified" else CANNOT
