"""A file of JSON objects, one a line, to which records are added as work is done.

A line is written whole by one call and is on the disk when that returns. The order of
lines is of no importance to the file: those of parts of a job are joined by writing one
file behind the other. A line that was cut off when a run was killed is no record.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from krohn.program import strict_json
from krohn.program.files import read_bytes

MOST_BYTES = 2**30
"""Of such a file that is read."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of the lines that are whole.

    Raises:
        KrohnError: If the file cannot be read.
    """
    for line in read_bytes(path, MOST_BYTES).decode(errors="replace").splitlines():
        try:
            record = strict_json.read(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def append(path: Path, record: dict[str, Any]) -> None:
    """Add a line; it begins with a line break if the last one was cut off.

    Raises:
        OSError: If the file cannot be written.
    """
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    with path.open("ab+", buffering=0) as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            data = data if file.read(1) == b"\n" else b"\n" + data
        file.write(data)
        os.fsync(file.fileno())
