"""The card of an export, README.md, by which a directory says for what it was written."""

import re
from pathlib import Path

CARD = "README.md"
HEADING = re.compile(r"^krohn: \{.*?^---$.*?^# [^\n]*, for ([^\n]+)$", re.M | re.S)
"""The facts that Krohn writes into the front matter of a card, and its heading."""


def exported_for(path: str | Path) -> str:
    """For what a directory was exported; empty if it is no export of Krohn."""
    try:
        text = (Path(path) / CARD).read_text("utf-8")
    except (OSError, ValueError):
        return ""
    found = HEADING.search(text)
    return found[1] if found else ""


def say_export(path: str | Path) -> str:
    """What a directory is that is no model file, in words; empty if it is no export."""
    if not (title := exported_for(path)):
        return ""
    return (
        f"{path} is an export for {title}, which `krohn export` checked when it was "
        "written; `krohn verify F` proves the model file F that it was made from"
    )
