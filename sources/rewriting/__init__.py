"""Rewriting systems: lines of text that are changed at one place a step."""

import re
from pathlib import Path

from krohn.program import user_input
from krohn.program.errors import demand
from krohn.program.rewriting import Rewriting
from krohn.sources.rewriting.arithmetic import arithmetic, longest_text
from krohn.sources.rewriting.termination import most_steps, order
from krohn.sources.rewriting.text import MOST_TEXT, read_text
from krohn.sources.text_catalogue import first_line, texts

__all__ = ["EXAMPLES", "SUFFIX", "named", "shrinking_length", "usual_length"]
SUFFIX = ".rules"
CATALOGUE = texts(__file__, SUFFIX)
_ARITHMETIC = re.compile(r"Arithmetic(\d{1,4})(?:,(\d{1,4}))?")
_FORM = re.compile(r"([A-Za-z]+)(\d{1,5})")
_FILE = re.compile(r"(.+\.rules)(?::n=(\d{1,5}))?", re.DOTALL)


def named(text: str) -> Rewriting | None:
    """The rewriting system of a name or of a file; None if it is the name of none.

    Args:
        text: ``Arithmetic6,11``, operators and prime; ``Sorting8``, of the catalogue, with
            the letters of a line; or ``my.rules``, ``my.rules:n=12``.

    Raises:
        Refused: If a number is out of range, the file cannot be read, or its text is
            wrong.
    """
    if found := _ARITHMETIC.fullmatch(text):
        return arithmetic(int(found[1]), int(found[2] or 11))
    if found := _FILE.fullmatch(text):
        return _read(Path(found[1]), Path(found[1]).stem, found[2])
    found = _FORM.fullmatch(text)
    if found is None or found[1] not in CATALOGUE:
        return None
    return _read(CATALOGUE[found[1]], text, found[2])


def usual_length(system: Rewriting) -> int | None:
    """So many tokens a network reads for whole texts; None if that is not known.

    Of arithmetic all expressions with n operators count. Lines that get shorter say how
    many there are; of others an order may (`krohn.sources.rewriting.termination`).
    """
    found = shrinking_length(system)
    if found is None and (weights := order(system)):
        lines = most_steps(weights, system.longest) + 1
        found = max(lines * (system.longest + 1) - 1, 2 * system.longest + 1)
    return found


def shrinking_length(system: Rewriting) -> int | None:
    """The longest text if all lines get shorter, or it is arithmetic; else None.

    If each rule makes a line shorter by s letters or more, lines have at most n, n − s, …
    letters.
    """
    n, told = system.longest, _ARITHMETIC.fullmatch(system.name)
    if told:
        return longest_text(int(told[1]))
    shrinks = min(r.stop - r.start - len(r.writes) for r in system.rules)
    if not shrinks:
        return None
    return max(sum(m + 1 for m in range(n, -1, -shrinks)) - 1, 2 * n + 1)


def _read(path: Path, name: str, longest: str | None) -> Rewriting:
    if longest is not None:
        demand(int(longest) > 0, "a line has at least one letter")
    text = user_input.read_text(path, 4 * MOST_TEXT)
    return read_text(text, name, int(longest) if longest else None)


EXAMPLES = {
    "Arithmetic6,11": "expressions modulo a prime, step by step",
    **{f"{name}8": first_line(path).rstrip(".") for name, path in CATALOGUE.items()},
}
"""An example of each family, with what it is."""
