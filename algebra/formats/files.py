"""Machine files: read whole or refused, unpacked, or piped in."""

import gzip
import os
import sys
import zlib
from io import BytesIO
from pathlib import Path
from typing import IO

from krohn.algebra.errors import MachineError
from krohn.algebra.near_names import near
from krohn.program import files

STANDARD_INPUT = "-"
"""The name of what is piped in."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, or of standard input (``-``).

    It is unpacked first where its name ends in ``.gz``.

    Raises:
        MachineError: If the file cannot be read, is larger than `files.MOST_BYTES`, is
            no gzip archive although its name says so, or is not UTF-8.
    """
    try:
        return files.decode_utf8(_read_unpacked(path), path)
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
        return _small(sys.stdin.buffer, path)
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
