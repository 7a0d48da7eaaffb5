"""``krohn crasp``: a counting program of a language."""

from typing import TYPE_CHECKING

from krohn.program.word_texts import join_letters
from krohn.show.tables import console, several_lines

if TYPE_CHECKING:
    from krohn.kinds.counting.commands_short import Shallowest
    from krohn.kinds.counting.commands_words import Answer
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from krohn.commands import options as common
from krohn.commands.options import CODES, StartedReading, emit, expand_option_groups
from krohn.commands.progress import progress

Upto = Annotated[
    int,
    typer.Option("-T", "--length", min=1, help="All words of up to so many letters."),
]


@expand_option_groups
def crasp(
    machine: common.Machine,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the program: F.crasp."
        ),
    ] = None,
    length: Upto = 100,
    effort: common.Effort = "normal",
    reading: StartedReading,
    as_json: common.Json = False,
) -> int:
    """Derive a counting program of a language in C-RASP, and prove that it is right.

    A search looks for a short one of least nesting. If that cannot be proved, the program
    is the one of a theorem, which is longer; a check that is too large leaves it unproved.

    Examples:
        krohn crasp 'regex:a*ba*ba*'
        krohn crasp 'regex:(ab)*' -o alternating.crasp
        krohn crasp 'regex:a*b*' -T 20 --effort low
    """
    from krohn.kinds.counting.commands import save
    from krohn.kinds.counting.commands_short import (
        proved_program,
        shallowest,
    )
    from krohn.kinds.counting.source import write_program

    source = reading.read(machine)
    with progress("exploring") as report:
        program, answer = proved_program(
            source, length, effort, partial(report, "exploring")
        )
    least, text = shallowest(source), write_program(program)
    if output is not None:
        save(text, output)
    facts = {"depth": program.depth, "sums": len(program.sums), "program": text}
    bound = {"at_least": least.depth, "words": least.words}
    emit(
        "crasp",
        {**answer.to_object(), **facts, **bound, "file": output},
        as_json,
        lambda: counting_program(text, program.depth, least, answer, output),
    )
    return CODES[answer.verdict]


def counting_program(
    text: str, depth: int, least: "Shallowest", found: "Answer", output: str | None
) -> None:
    """The program of a language, or the file that it was written to."""
    console().print(several_lines(text if output is None else f"wrote {output}"))
    tight = least.depth == depth
    no_less = ", and no program has less" if tight else ""
    inner = ", where the i of an inner count is the j of the outer one" * (depth > 1)
    print(f"counts are nested {depth} deep{inner}{no_less}")
    if least.words is not None:
        have = (
            "both have the same letter counts and the same last letter"
            if least.depth == 2
            else "both end with the same letter"
        )
        yes, no = (f"“{join_letters(word)}”" for word in least.words)
        bound = "" if tight else f"; so at least {least.depth} deep"
        print(f"  {yes} is accepted, {no} is not; {have}{bound}")
    from krohn.kinds.counting.commands_text import print_words

    print_words(replace(found, left="the program"))
