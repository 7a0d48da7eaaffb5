"""The table of a batch: as CSV, JSON or a page, by the end of its name."""

import csv
import json
from collections.abc import Callable
from dataclasses import fields
from io import StringIO
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.batch import Batch
from krohn.batch_work import RowResult
from krohn.program.writing import atomic_write

COLUMNS = tuple(field.name for field in fields(RowResult))


def as_csv(found: Batch) -> str:
    """A line for each row; a cell is empty where there is nothing to say."""
    out = StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(COLUMNS)
    for result in found.results:
        cells = result.to_object()
        lines.writerow(["" if cells[c] is None else cells[c] for c in COLUMNS])
    return out.getvalue()


def as_json(found: Batch) -> str:
    """All rows as one object."""
    return json.dumps(found.to_object(), ensure_ascii=False, indent=1) + "\n"


def as_page(found: Batch) -> str:
    """A page that needs nothing else."""
    from krohn.page.rendering import rendered

    return rendered("batch.html", {"found": found})


FORMATS: dict[str, Callable[[Batch], str]] = {
    ".csv": as_csv,
    ".json": as_json,
    ".html": as_page,
}


def check_suffix(path: Path) -> None:
    """Refuse names by which no format goes.

    Raises:
        KrohnError: If there is none.
    """
    if path.suffix.lower() not in FORMATS:
        raise KrohnError(
            f"{path}: no table format goes by the ending {path.suffix!r}; choose a name "
            f"that ends in {', '.join(FORMATS)}"
        )


def write(found: Batch, path: Path) -> None:
    """Write the table whole or not at all.

    Raises:
        KrohnError: If the end of the name is unknown, or the file system refuses.
    """
    check_suffix(path)
    atomic_write(path, FORMATS[path.suffix.lower()](found))
