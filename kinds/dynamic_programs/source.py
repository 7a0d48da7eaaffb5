"""Dynamic programs: tables of numbers that are computed one after the other.

`DynamicProgram` is one in Python, and `read_text` reads the text form; both become the
chain of thought that a network is compiled from.
"""

import re
from pathlib import Path

from krohn.kinds.dynamic_programs.source_dynamic_program import (
    DynamicProgram,
    Table,
)
from krohn.kinds.dynamic_programs.source_evaluation import MOST_TEXT
from krohn.kinds.dynamic_programs.source_examples import CATALOGUE
from krohn.kinds.dynamic_programs.source_reading import read_text
from krohn.program import user_input
from krohn.program.errors import demand

__all__ = [
    "DynamicProgram",
    "Table",
    "dynamic_program",
    "find_by_name",
    "read_text",
]
SUFFIX = ".dp"
_FORM = re.compile(r"([A-Za-z_]+)(\d{1,9}(?:,\d{1,9})*)?(?::(.+))?")
_FILE = re.compile(r"(.+\.dp)(?::(.+))?", re.DOTALL)
_OPTION = re.compile(r"(\w+)=(-?\d{1,9})")


def dynamic_program(name: str) -> DynamicProgram:
    """A dynamic program without inputs and numbers yet.

    Args:
        name: What to call it.

    Raises:
        Refused: If its name is that of a file, or a text.

    Examples:
        >>> p = krohn.dynamic_program("larger")
        >>> x = p.input("x", 2, numbers=(0, 9))
        >>> p.answer(p.maximum(x[1], x[2]))
        >>> krohn.compile(p).model.write("7 3").answer
        '7'
    """
    demand(
        not name.endswith(SUFFIX) and "=" not in name,
        "krohn.dynamic_program takes a name, and begins without numbers; the text of one "
        f"is a {SUFFIX} file, which krohn.compile takes by its name",
    )
    return DynamicProgram(name)


def find_by_name(text: str) -> DynamicProgram | None:
    """The dynamic program of a name or of a file; None if it is the name of none.

    Args:
        text: ``EditDistance6,7:letters=4``, with the sizes and options of a text of the
            catalogue, or ``my.dp:n=8``.

    Raises:
        KrohnError: If the file cannot be read.
        Refused: If its text is wrong.
    """
    if match := _FILE.fullmatch(text):
        return _of(Path(match[1]), "", match[2])
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in CATALOGUE:
        return None
    return _of(CATALOGUE[match[1]], match[2] or "", match[3])


def _of(path: Path, sizes: str, told: str | None) -> DynamicProgram:
    options = [_OPTION.fullmatch(each) for each in told.split(",")] if told else []
    wrong = "after the colon are sizes and options, as n=8,letters=4"
    demand(all(options), wrong)
    given = {each[1]: int(each[2]) for each in options if each}
    demand(len(given) == len(options), wrong)
    numbers = [int(size) for size in sizes.split(",")] if sizes else []
    return read_text(
        user_input.read_text(path, 4 * MOST_TEXT), path.stem, numbers, given
    )
