"""Counting programs (C-RASP, Yang and Chiang 2024): docs/counting.md."""

from pathlib import Path

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
CATALOGUE = {
    path.stem: path
    for path in sorted(Path(__file__).parent.glob(f"catalogue/*{SUFFIX}"))
}


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


def _summary(path: Path) -> str:
    """The summary of a program of the catalogue: its first line."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix(f"# {path.stem}: ")


FAMILIES = {f"crasp:{name}": _summary(path) for name, path in CATALOGUE.items()}
"""By name what each program of the catalogue accepts."""
