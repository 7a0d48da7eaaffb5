"""Errors in files of machines, and refusals before a file is written."""

import re
from collections.abc import Iterable

from krohn.algebra.errors import MachineError
from krohn.program.parsing import Misread

MAX_CELLS = 50_000_000
"""The largest table, letters times states: 400 MB of integers."""


def problem(name: str, line: int, text: str) -> MachineError:
    """The error for one place of a file; line 0 stands for the file as a whole."""
    return MachineError(f"{name}:{line}: {text}" if line else f"{name}: {text}")


def misread(name: str, wrong: Misread, form: str) -> MachineError:
    """The error for a text that the grammar of a format does not allow."""
    at = f"column {wrong.column}: " if wrong.column else ""
    return problem(name, wrong.line, f"not {form}: {at}{wrong.reason}")


def quote(text: str, limit: int = 60) -> str:
    """A piece of a file for a message: in quotes, on one line, and cut if long."""
    return repr(text if len(text) <= limit else f"{text[:limit]}…")


def check_size(letters: int, states: int, name: str) -> None:
    """Refuses a table that would not fit into memory.

    Raises:
        MachineError: If there are more than ``MAX_CELLS`` entries.
    """
    if letters * states > MAX_CELLS:
        raise problem(
            name,
            0,
            f"{letters} letters and {states} states make a table of more than "
            f"{MAX_CELLS} entries; give a smaller machine",
        )


def check_writable(
    names: Iterable[str], allowed: re.Pattern[str], what: str, form: str
) -> None:
    """Refuse names that a format cannot carry, before they turn into other names.

    Args:
        names: The names to write.
        allowed: The pattern that each name must match in full.
        what: The kind of thing named: ``"letter"``, ``"state"`` or ``"output"``.
        form: The format and its rule for names, for the message.

    Raises:
        MachineError: If a name does not match.
    """
    for name in names:
        if not allowed.fullmatch(name):
            raise MachineError(
                f"the {what} {quote(name)} cannot be written: {form}; rename it, "
                "or write JSON, which carries every name"
            )
