"""Machine files: read whole or refused, and what is said of errors in them."""

import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from krohn.algebra.errors import MachineError
from krohn.algebra.wording import near
from krohn.program import files

if TYPE_CHECKING:
    from krohn.program.parsing import Misread

_GZIP = b"\x1f\x8b"
STANDARD_INPUT = "-"
"""The name of what is piped in."""

# What is said of how to read a file.

Complete = Literal["reject", "sink", "stay"]
"""The treatment of missing transitions.

``"sink"`` leads them to a new state that is never left; ``"stay"`` leaves the state as
it is; ``"reject"`` refuses the machine, unless it is an acceptor: it gets a sink, since
words that need a missing transition are not accepted.
"""
Kind = Literal["acceptor", "mealy"]
"""The kind as which a file is read that could mean either."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, or of standard input (``-``).

    It is unpacked first where its name ends in ``.gz``.

    Raises:
        MachineError: If the file cannot be read, is larger than `files.MOST_BYTES`, is
            no gzip archive although its name says so, or is not UTF-8.
    """
    from krohn.program.user_input import decode_utf8

    try:
        return decode_utf8(_read_unpacked(path), path)
    except files.Unreadable as error:
        hint = _neighbour(path) if error.missing else ""
        raise MachineError(f"{error}{hint}") from error


def _neighbour(path: Path) -> str:
    """The file beside it that somebody may have meant."""
    try:
        return near(path.name, os.listdir(path.parent))
    except OSError:
        return ""


def _read_unpacked(path: Path) -> bytes:
    if str(path) == STANDARD_INPUT:
        data = _small(sys.stdin.buffer, path)
        if data.startswith(_GZIP):
            reason = "this is a gzip archive; unpack it: gunzip -c F.gz | krohn … -"
            raise MachineError(f"{path}: {reason}")
        return data
    data = files.read_bytes(path)
    if path.suffix != ".gz":
        return data
    try:
        # A small archive may unpack to any size.
        with gzip.open(BytesIO(data)) as unpacked:
            return _small(unpacked, path)
    except (OSError, EOFError, zlib.error) as error:
        raise MachineError(f"{path}: not a whole gzip file ({error})") from error


def _small(stream: IO[bytes] | gzip.GzipFile, path: Path) -> bytes:
    data = stream.read(files.MOST_BYTES + 1)
    if len(data) > files.MOST_BYTES:
        raise files.too_large(path, files.MOST_BYTES)
    return data


# Errors in files of machines, and refusals before a file is written.


MAX_CELLS = 50_000_000
"""The largest table, letters times states: 400 MB of integers."""
MAX_TRANSITIONS = 3_000_000
"""The most that are read one by one, in about 1 GB."""


def problem(name: str, line: int, text: str) -> MachineError:
    """The error for one place of a file; line 0 stands for the file as a whole."""
    return MachineError(f"{name}:{line}: {text}" if line else f"{name}: {text}")


def misread(name: str, wrong: "Misread", form: str) -> MachineError:
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


def check_count(transitions: int, name: str) -> None:
    """Refuses more transitions than can be read one by one.

    Args:
        transitions: Their number, where a file says many in few words.
        name: What to call the file in messages.

    Raises:
        MachineError: If there are more than ``MAX_TRANSITIONS``.
    """
    if transitions > MAX_TRANSITIONS:
        reason = f"more than {MAX_TRANSITIONS} transitions; give a smaller machine"
        raise problem(name, 0, reason)


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
