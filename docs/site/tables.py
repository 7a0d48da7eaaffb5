"""Tables of measurements: a link to a CSV file that stands alone becomes the table."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

LINK = re.compile(
    r"^\[(?P<title>.+)\]\((?P<path>(?:\.\./)+results/[\w./-]+\.csv)\)$", re.MULTILINE
)
LONG = 30
"""Tables of more rows are folded."""


def with_tables(markdown: str, page: Path) -> str:
    """A page with the tables to which it links.

    Args:
        markdown: Its text. A paragraph that is one link to a file of results is replaced.
        page: Its file, from which links lead.
    """
    return LINK.sub(lambda link: _section(link, page.parent / link["path"]), markdown)


def _section(link: re.Match[str], path: Path) -> str:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    table = [_line(header), "|" + " --- |" * len(header), *map(_line, rows)]
    note = path.with_suffix(".txt")
    parts = ["\n".join(table), note.read_text() if note.exists() else ""]
    caption = f"**{link['title']}** ([CSV]({link['path']}))"
    if len(rows) <= LONG:
        return "\n\n".join([caption, *parts])
    fold = f'<details markdown="1"><summary>{len(rows)} rows</summary>'
    return "\n\n".join([caption, fold, *parts, "</details>"])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(cell: str) -> str:
    if re.fullmatch(r"-?\d{4,}", cell):
        return f"{int(cell):,}"
    return cell.replace("|", "\\|") or "–"
