"""The results of many runs as two files: a table to read, and curves, compressed.

``runs.csv`` has a row for each run, with its settings, its numbers and where they come
from. A column is the place of a value in the record of the run: ``cell.recipe.rate``. What
is no single value, such as curves, accuracies by position and the tables of machines, is
in ``runs.json.gz``: a line of JSON for each run, known by its digest, which is the last
cell of the row. Each value is in one of the two files, and floats keep all their digits.
"""

import csv
import fcntl
import gzip
import hashlib
import io
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from krohn.instruments.compare.training.provenance import (
    Json,
    canonical_text,
    content_name,
)
from krohn.program import strict_json
from krohn.program.errors import KrohnError
from krohn.program.files import Unreadable, read_bytes
from krohn.program.user_input import read_text
from krohn.program.writing import atomic_write

TABLE, CURVES, LOCK = "runs.csv", "runs.json.gz", ".lock"
NAME, DIGEST = "run-name", "curves-digest"
"""The first and the last column. Names of other columns have no hyphen."""
SPREAD = ("measured",)
"""Where a list of objects is spread over columns."""
NUMBERS, LETTERS = 4, 120
"""The longest list of numbers and the longest text in a cell."""
MOST_BYTES = 2**30
"""Of a file that is read."""

Place = tuple[str | int, ...]
Row = dict[str, str]
_KEY = re.compile(r"\w+", re.ASCII)
_STEP = re.compile(r"(\w+)|\[(\d+)\]", re.ASCII)


class RunTable:
    """The table of a folder, which may hold none yet.

    Processes may read it while others add runs to it, several at once. A process that is
    killed leaves the table as it was or as it was to be.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.table, self.curves = self.folder / TABLE, self.folder / CURVES

    def read(self, names: Iterable[str] | None = None) -> dict[str, Json]:
        """The records of runs by their names.

        Args:
            names: The runs that are asked for; None for all.

        Returns:
            The records that are there.

        Raises:
            KrohnError: If the files are damaged, or do not belong together.
        """
        rows = self._rows()
        asked = rows if names is None else [name for name in names if name in rows]
        lines = self._lines() if asked else {}
        return {name: self._record(name, rows[name], lines) for name in asked}

    def add(self, records: Mapping[str, Json]) -> None:
        """Write down runs; a record takes the place of one of the same name.

        Raises:
            KrohnError: If the folder cannot be written, or its table is damaged.
        """
        with self._alone():
            rows, lines = self._rows(), self._lines()
            for name, record in records.items():
                rows[name], line = _split(name, record)
                lines[rows[name][DIGEST]] = line
            text, names = _text(rows)
            kept = {self._line(name, rows[name], lines): None for name in names}
            # Rows that are replaced need their lines until the new rows are there.
            both = kept | dict.fromkeys(lines.values())
            self._write_lines(both)
            atomic_write(self.table, text)
            if both != kept:
                self._write_lines(kept)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process write meanwhile."""
        try:
            with (self.folder / LOCK).open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            reason = error.strerror or error
            raise KrohnError(f"{self.folder}: cannot be locked: {reason}") from None

    def _rows(self) -> dict[str, Row]:
        """The cells that are not empty, by run and column."""
        try:
            text = read_text(self.table, MOST_BYTES)
        except Unreadable as error:
            if error.missing:
                return {}
            raise
        try:
            header, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
            rows = [dict(zip(header, cells, strict=True)) for cells in lines]
        except (csv.Error, ValueError):
            raise self._damage_error("its rows do not fit its columns") from None
        if (header[:1], header[-1:]) != ([NAME], [DIGEST]):
            raise self._damage_error(f"its columns are not {NAME} to {DIGEST}")
        if len({row[NAME] for row in rows}) < len(rows):
            raise self._damage_error("a run is there twice")
        return {row.pop(NAME): {c: x for c, x in row.items() if x} for row in rows}

    def _lines(self) -> dict[str, str]:
        """The lines of the curves by their digests."""
        try:
            text = gzip.decompress(read_bytes(self.curves, MOST_BYTES)).decode()
        except Unreadable as error:
            if error.missing:
                return {}
            raise
        except (OSError, EOFError, zlib.error, ValueError):
            raise self._damage_error(f"{CURVES} cannot be unpacked") from None
        return {_digest(line): line for line in text.splitlines()}

    def _write_lines(self, lines: Iterable[str]) -> None:
        data = io.BytesIO()
        # No name, no time, and no number of a system: the same lines give the same bytes.
        with gzip.GzipFile("", "wb", 9, data, mtime=0) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())
        atomic_write(self.curves, data.getvalue())

    def _line(self, name: str, row: Row, lines: Mapping[str, str]) -> str:
        try:
            return lines[row[DIGEST]]
        except LookupError:
            raise self._damage_error(
                f"the row of {name} has no line in {CURVES}"
            ) from None

    def _record(self, name: str, row: Row, lines: Mapping[str, str]) -> Json:
        line = self._line(name, row, lines)
        leaves = {_place(c): _value(text) for c, text in row.items() if c != DIGEST}
        try:
            rest = strict_json.read(line, finite=False)
            if rest.pop(NAME) != name:
                raise ValueError
            return _nest_leaves(
                leaves | {_place(c): value for c, value in rest.items()}
            )
        except (AttributeError, LookupError, TypeError, ValueError):
            raise self._damage_error(f"the row of {name} is no record") from None

    def _damage_error(self, reason: str) -> KrohnError:
        return KrohnError(
            f"{self.table} is damaged: {reason}; bring {TABLE} and {CURVES} back from a "
            "copy, or delete both to train these networks again"
        )


def fold(folder: str | Path) -> None:
    """Bring the results that a sweep left in a folder, one file each, into its table.

    Raises:
        KrohnError: If the folder cannot be written, or its table is damaged.
    """
    contents: dict[Path, bytes] = {}
    records: dict[str, Json] = {}
    for path in sorted(Path(folder).glob("*.json")):
        # A damaged result stays: the next sweep finds it again.
        with suppress(KrohnError, LookupError, TypeError, ValueError):
            data = read_bytes(path)
            record = strict_json.read(data)
            if content_name(record["cell"]) == path.stem:
                contents[path], records[path.stem] = data, record
    if records:
        RunTable(folder).add(records)
    for path, data in contents.items():
        with suppress(Unreadable):  # another process has been here, too
            if read_bytes(path) == data:
                path.unlink(missing_ok=True)


def _split(name: str, record: Json) -> tuple[Row, str]:
    leaves = {_column(place): value for place, value in _leaves(record, ())}
    row = {column: _cell(x) for column, x in leaves.items() if _is_single(x)}
    rest = {column: x for column, x in leaves.items() if column not in row}
    line = canonical_text({NAME: name, **rest})
    return row | {DIGEST: _digest(line)}, line


def _leaves(value: Json, place: Place) -> Iterator[tuple[Place, Json]]:
    """The parts of a record that have no columns inside."""
    if _is_plain(value):
        inside: Iterable[tuple[str | int, Json]] = value.items()
    elif place == SPREAD and _are_plain(value):
        inside = enumerate(value)
    else:
        yield place, value
        return
    for key, part in inside:
        yield from _leaves(part, (*place, key))


def _is_plain(value: Json) -> bool:
    """Whether it is an object whose keys can be parts of a column's name."""
    return isinstance(value, dict) and value != {} and all(map(_KEY.fullmatch, value))


def _are_plain(value: Json) -> bool:
    """Whether it is a list of such objects; an empty one would leave no column."""
    return isinstance(value, list) and value != [] and all(map(_is_plain, value))


def _is_single(value: Json) -> bool:
    if isinstance(value, list):
        return len(value) <= NUMBERS and all(type(x) in (int, float) for x in value)
    if isinstance(value, str):
        return len(value) <= LETTERS
    return not isinstance(value, dict)


def _cell(value: Json) -> str:
    """A value as JSON; a text as it is, where that is no JSON."""
    if isinstance(value, str) and value.isprintable() and _value(value) == value != "":
        return value
    return canonical_text(value)


def _value(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _column(place: Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def _place(column: str) -> Place:
    return tuple(key or int(at) for key, at in _STEP.findall(column))


def _order(column: str) -> list[tuple[bool, str | int]]:
    return [(isinstance(step, str), step) for step in _place(column)]


def _nest_leaves(leaves: Mapping[Place, Json]) -> Json:
    """The record with these leaves; keys in the order of the alphabet."""
    if () in leaves:
        (value,) = leaves.values()
        return value
    inside: dict[str | int, dict[Place, Json]] = {}
    for (key, *rest), value in leaves.items():
        inside.setdefault(key, {})[tuple(rest)] = value
    parts = {key: _nest_leaves(inside[key]) for key in sorted(inside)}
    return [parts[i] for i in range(len(parts))] if 0 in parts else parts


def _text(rows: Mapping[str, Row]) -> tuple[str, list[str]]:
    """The CSV, and its runs in order: by the first column in which they differ."""
    header = sorted({c for row in rows.values() for c in row} - {DIGEST}, key=_order)
    cells = {name: [row.get(c, "") for c in header] for name, row in rows.items()}
    names = sorted(cells, key=lambda name: (list(map(_rank, cells[name])), name))
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([NAME, *header, DIGEST])
    writer.writerows([name, *cells[name], rows[name][DIGEST]] for name in names)
    return file.getvalue(), names


def _rank(text: str) -> tuple[bool, float, str]:
    """Where a cell stands in its column: numbers by size, then texts."""
    value = _value(text)
    if type(value) in (int, float) and not math.isnan(value):
        return False, value, text
    return True, 0.0, text


def _digest(line: str) -> str:
    return hashlib.blake2b(line.encode(), digest_size=8).hexdigest()
