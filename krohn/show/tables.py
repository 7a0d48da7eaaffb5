"""Texts and tables on a terminal: batches, comparisons, recovered models, grammars."""

import os
import sys
from collections.abc import Iterator
from itertools import chain, zip_longest
from typing import Any, TextIO

from krohn.algebra.wording import count
from krohn.program.quoting import Lines, on_a_line

# Texts and tables on a terminal.


GAP = "  "
"""What stands between columns."""
USUAL_WIDTH = 80
"""The width of a terminal of which nothing is known."""
Cell = str | list[str]
"""A text, which is shown on one line; or its lines."""


class Terminal:
    """A stream of text on which each text is a line, whatever names hold."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def print(self, text: Cell = "", bold: bool = False) -> None:
        """Print a text; bold if a person looks on."""
        for line in _lines(text):
            shown = f"\033[1m{line}\033[0m" if bold and self._has_styles() else line
            print(shown, file=self.stream)

    def _has_styles(self) -> bool:
        dumb = os.environ.get("TERM") in ("dumb", "unknown")
        return self.stream.isatty() and not dumb


class Table:
    """A table of texts; a heading that begins with a blank is of numbers."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.rows = [[_lines(column.strip()) for column in columns]]
        self.of_numbers = [column[0] == " " for column in columns]

    def add_row(self, *cells: Cell) -> None:
        """Add the cells of a row."""
        self.rows.append([_lines(cell) for cell in cells])

    def row_lines(self, width: int | None) -> Iterator[list[str]]:
        """The lines of each row, that of the headings first.

        Args:
            width: Of a line at most; None for any.
        """
        columns = zip(*self.rows, strict=True)
        widths = [max(map(_width, chain(*column))) for column in columns]
        if width is not None:
            widths = _shrink(widths, width - len(GAP) * (len(widths) - 1))
        for row in self.rows:
            cells = [
                [part for line in cell for part in _broken(line, most)]
                for cell, most in zip(row, widths, strict=True)
            ]
            lines = zip_longest(*cells, fillvalue="")
            justified = (map(_justify, line, widths, self.of_numbers) for line in lines)
            yield [GAP.join(line).rstrip() for line in justified]


def _lines(text: Cell) -> list[str]:
    return [on_a_line(text)] if isinstance(text, str) else text


def several_lines(text: str) -> list[str]:
    """A text of our own that has line breaks, which a cell or a terminal shows as such."""
    return [on_a_line(line) for line in text.split("\n")]


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum((not combining(c)) + (east_asian_width(c) in "WF") for c in text)


def _justify(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _shrink(widths: list[int], total: int) -> list[int]:
    """Widths that are no more together than a total: the largest get smaller."""
    while (excess := sum(widths) - max(total, len(widths))) > 0:
        largest = max(widths)
        second = max((w for w in widths if w < largest), default=1)
        share = -(-excess // widths.count(largest))
        least = max(second, largest - share)
        widths = [min(w, least) for w in widths]
    return widths


def _broken(line: str, width: int) -> Iterator[str]:
    """A line in parts of some width: broken between words, within them if they are long."""
    if _width(line) <= width:
        yield line
        return
    part = ""
    for word in line.split(" "):
        longer = f"{part} {word}" if part else word
        if _width(longer) <= width:
            part = longer
            continue
        if part:
            yield part
        part = word
        while _width(part) > width:
            fits = (i for i in range(width, 1, -1) if _width(part[:i]) <= width)
            end = next(fits, 1)
            if end == len(part):
                break
            yield part[:end]
            part = part[end:]
    yield part


def console(stderr: bool = False) -> Terminal:
    """Standard output, or standard error, as a terminal."""
    stream = sys.stderr if stderr else sys.stdout
    return Terminal(stream.beneath if isinstance(stream, Lines) else stream)


def new_table(*columns: str) -> Table:
    """An empty table; a heading that begins with a blank is of numbers."""
    return Table(columns)


def print_table(table: Table, whole: bool = False) -> None:
    """Print a table; cells are broken to the width of the terminal, or it is left whole."""
    out = console()
    rows = table.row_lines(None if whole else _terminal_width())
    for number, lines in enumerate(rows):
        out.print(lines, bold=not number)


def _terminal_width() -> int:
    """The columns of the terminal that a person sees, wherever the output goes."""
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated):
        return int(stated)
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns or USUAL_WIDTH
        except OSError:
            continue
    return USUAL_WIDTH


def cut_short(out: Terminal, facts: dict[str, Any]) -> None:
    """Print the parts that a search left out, and how to ask for more."""
    if not facts.get("cut_short"):
        return
    more = "a higher --effort finds no more"
    if facts["effort"] is not None:
        more = f"each search may take {facts['effort']:,} steps; --effort allows more"
    out.print(f"Cut short: {'; '.join(facts['cut_short'])} ({more}).")


def print_attempts(out: Terminal, rows: list[dict[str, Any]], indent: str = "") -> None:
    """Print the ways that were tried before the chosen one, and why they are not proved."""
    for row in rows:
        sizes = ""
        if row["depth"] is not None:
            sizes = (
                f" (depth {row['depth']}, {count(row['layers'], 'layer')}, "
                f"{row['parameters']:,} parameters)"
            )
        form = f" in {row['dtype']}" if row["dtype"] else ""
        out.print(
            f"{indent}Tried before: {row['construction']}{form}{sizes}: {row['reason']}"
        )
