"""Counting programs (C-RASP, Yang and Chiang 2024): docs/counting.md."""

from krohn.program.errors import demand
from krohn.sources.counting.function import function
from krohn.sources.counting.program import (
    Builder,
    Comparison,
    CountingProgram,
    Formula,
    Junction,
    Letter,
    Negation,
)
from krohn.sources.counting.text import SUFFIX, parse, written
from krohn.sources.text_catalogue import first_line, texts

__all__ = [
    "CATALOGUE",
    "SUFFIX",
    "Builder",
    "Comparison",
    "CountingProgram",
    "Formula",
    "Junction",
    "Letter",
    "Negation",
    "function",
    "named",
    "parse",
    "written",
]
CATALOGUE = texts(__file__, SUFFIX)


def named(name: str) -> CountingProgram:
    """The counting program of a name in the catalogue.

    Raises:
        Refused: If there is none.
    """
    known = ", ".join(CATALOGUE)
    demand(
        name in CATALOGUE, f"there is no counting program {name!r}; there are {known}"
    )
    return parse(CATALOGUE[name].read_text(encoding="utf-8"), CATALOGUE[name].name)


FAMILIES = {
    f"crasp:{name}": first_line(path).removeprefix(f"{name}: ")
    for name, path in CATALOGUE.items()
}
"""By name what each program of the catalogue accepts."""
