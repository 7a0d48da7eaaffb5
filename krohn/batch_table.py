"""The rows of a batch: from a table in CSV, or the machine files of a folder."""

import csv
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import SUFFIXES
from krohn.algebra.formats.files import read_text
from krohn.algebra.near_names import near
from krohn.machines import FORMAL, MODEL, REGEX
from krohn.network.modelfile import LARGEST_FILE
from krohn.option_rules import one_of_architectures
from krohn.program.files import Unreadable, read_bytes
from krohn.source_kinds import ENTRIES

NOT_ALONE = (".csv", ".pcfg")
"""Suffixes of files that need not be sources: tables, and grammars, which need a depth."""
COLUMNS = {
    "name": "what the row is called; without it, as the machine is written",
    "machine": "a name, a file, regex:…, or a model file, which is verified",
    "length": "the longest word (T)",
    "dtype": "the number format",
    "arch": one_of_architectures(),
    "construction": "how it is built",
    "start": "the start state",
    "observe": "what the network says instead of the state",
    "within": "how far an output of a hidden Markov model's network may be off",
    "complete": "missing transitions of the file: reject, sink or stay",
    "as": "what an AT&T text file is: acceptor or mealy",
    "words": "a file of labelled words",
    "labelled": "labelled words themselves: a b=accept; b=reject",
}
"""The columns that a table may have."""
OF_MODELS = ("name", "machine", "words", "labelled")
"""Those that a model file has a use for: all else it states itself."""
FILES = ("machine", "words")
"""Columns that may name a file, from the folder of the table."""


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes:
        name: What it is called.
        machine: What is compiled, as the table has it.
        cells: Everything that the table says, by column; files as they are found from
            here.
        trouble: Why it cannot be read; empty if it can.
    """

    name: str
    machine: str
    cells: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    def told(self) -> list[Any]:
        """All that its result depends on: what it says, and hashes of its files."""
        files = {c: _hash(self.cells[c]) for c in FILES if c in self.cells}
        return [self.name, self.machine, dict(self.cells), files, self.trouble]


def rows(source: Path) -> list[Row]:
    """The rows of a table, or a row for each machine file of a folder, by name.

    Args:
        source: The table or the folder.

    Raises:
        KrohnError: If it cannot be read, has an unknown column, or has no rows.
    """
    found = _of_folder(source) if source.is_dir() else _of_table(source)
    if not found:
        raise KrohnError(f"{source}: the table has no rows below its first line")
    return found


def _of_folder(folder: Path) -> list[Row]:
    others = {suffix for entry in ENTRIES.values() for suffix in entry.ends}
    known = (*SUFFIXES, *MODEL, *others.difference(NOT_ALONE))
    try:
        names = sorted(p.name for p in folder.iterdir() if p.is_file())
    except OSError as error:
        raise KrohnError(f"{folder}: cannot be read: {error.strerror}") from None
    machines = [n for n in names if n.lower().removesuffix(".gz").endswith(known)]
    return [Row(name, name, {"machine": str(folder / name)}) for name in machines]


def _of_table(path: Path) -> list[Row]:
    lines = csv.reader(StringIO(read_text(path), newline=""), strict=True)
    try:
        table = [line for line in lines if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise KrohnError(f"{path}:{lines.line_num}: no CSV: {error}") from None
    columns = [cell.strip() for cell in table[0]] if table else []
    _check_columns(path, columns)
    return [_row(path.parent, columns, line) for line in table[1:]]


def _check_columns(path: Path, columns: list[str]) -> None:
    for column in columns:
        if column not in COLUMNS:
            raise KrohnError(
                f"{path}:1: there is no column {column!r}{near(column, COLUMNS)}; there "
                f"are {', '.join(COLUMNS)}"
            )
    if len(set(columns)) < len(columns):
        raise KrohnError(f"{path}:1: a column is there twice")
    if "machine" not in columns:
        raise KrohnError(
            f"{path}:1: there is no column machine, which names the machines to compile"
        )


def _row(folder: Path, columns: list[str], line: list[str]) -> Row:
    said = zip(columns, (cell.strip() for cell in line), strict=False)
    cells = {column: cell for column, cell in said if cell}
    machine = cells.get("machine", "")
    name = cells.get("name") or machine
    if len(line) != len(columns):
        trouble = (
            f"the row has {len(line)} cells and the first line {len(columns)}; put cells "
            "with commas in double quotes"
        )
        return Row(name, machine, cells, trouble)
    if not machine:
        return Row(name, machine, cells, "the row names no machine")
    return Row(name, machine, cells | _found(folder, cells))


def _found(folder: Path, cells: Mapping[str, str]) -> dict[str, str]:
    """The cells that name files of the folder, as they are found from here."""
    found = {c: str(folder / cells[c]) for c in FILES if c in cells}
    written = Path(cells["machine"])
    is_path = written.suffix != "" or len(written.parts) > 1
    if cells["machine"].startswith((REGEX, FORMAL)) or not (
        is_path and _is_file(found)
    ):
        del found["machine"]
    return found


def _is_file(found: Mapping[str, str]) -> bool:
    try:
        return Path(found["machine"]).is_file()
    except (OSError, ValueError):
        return False


def _hash(name: str) -> str:
    try:
        return hashlib.sha256(read_bytes(name, LARGEST_FILE)).hexdigest()
    except Unreadable:
        return ""
