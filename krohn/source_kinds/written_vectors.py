"""Real vectors as a person writes them."""

import csv
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.network.precision import FloatArray
from krohn.program.files import read_text

LARGEST_TEXT = 2**24
"""In bytes, of a file of numbers."""


def vectors(
    words: list[str], names: tuple[str, ...], most: int | None = None
) -> FloatArray:
    """``(t, d)`` numbers as a person writes them.

    Vectors with blanks between them, their numbers with commas; or the name of a file of
    comma-separated values, a vector a line, with or without a line of names before them;
    only lines at its end may be empty.

    Args:
        words: What a person wrote.
        names: Of the d numbers of a vector.
        most: How many vectors the network reads; what is behind them is not looked at.

    Raises:
        KrohnError: If it is no such thing, or has more vectors.
    """
    if len(words) == 1 and words[0].endswith((".csv", ".txt", ".tsv")):
        rows = _rows(Path(words[0]), names, most)
    else:
        rows = [part.split(",") for part in " ".join(words).split()]
    if len(names) == 1:
        rows = [[number] for row in rows for number in row]
    if most is not None and len(rows) > most:
        raise KrohnError(
            f"the network takes up to {most} vectors, and there are more; compile it again "
            "for more"
        )
    if not rows:
        raise KrohnError("an input has at least one vector")
    for t, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise KrohnError(
                f"vector {t} has {len(row)} numbers, and {len(names)} are needed: "
                f"{','.join(names)}"
            )
    return np.array([[_number(n, t) for n in row] for t, row in enumerate(rows, 1)])


def _number(text: str, t: int) -> float:
    try:
        found = float(text)
    except ValueError:
        raise KrohnError(
            f"vector {t} has {text.strip()!r}, which is no number"
        ) from None
    if not np.isfinite(found):
        raise KrohnError(f"vector {t} has {text.strip()!r}, which is not finite")
    return found


def _rows(path: Path, names: tuple[str, ...], most: int | None) -> list[list[str]]:
    text = read_text(path, LARGEST_TEXT)
    blanks = "\t" if path.suffix == ".tsv" else ","
    lines = csv.reader(StringIO(text), delimiter=blanks)
    # One vector too many is enough to be refused; before them may be a line of names.
    try:
        found = list(islice(lines, None if most is None else most + 2))
    except csv.Error as error:
        raise KrohnError(f"{path}: line {lines.line_num}: {error}") from None
    while found and not any(map(str.strip, found[-1])):
        found.pop()
    for line, row in enumerate(found, start=1):
        if not any(map(str.strip, row)):
            raise KrohnError(f"{path}: line {line}: there is no number")
    headed = bool(found) and tuple(n.strip() for n in found[0]) == names
    return found[headed:]
