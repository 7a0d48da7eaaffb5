"""docs/formats.md says what each format refuses, in the words of the code."""

import ast
import re
from pathlib import Path

import pytest

from krohn.algebra.formats import FORMATS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("### Format by format")[2].partition("\n## ")[0]
ROWS = [line.split("|")[1:-1] for line in TABLE.splitlines() if line.startswith("| ")]
SOURCES = [*(ROOT / "algebra" / "formats").glob("*.py"), ROOT / "program/att_text.py"]


def messages(source: Path) -> str:
    """The texts in a module, a line each, with … for what is filled in."""
    texts = list[str]()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = (getattr(part, "value", None) for part in node.values)
            texts.append("".join(p if isinstance(p, str) else "…" for p in parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.append(node.value.replace("{}", "…"))
    return "\n".join(texts)


WORDS = "\n".join(map(messages, SOURCES))


@pytest.mark.parametrize("suffix", [s for form in FORMATS for s in form.suffixes])
def test_each_format_has_rows(suffix: str) -> None:
    assert any(f"`{suffix}`" in row[0] for row in ROWS[1:])


def test_what_the_page_quotes_is_what_is_said() -> None:
    quoted = [text for row in ROWS[1:] for text in re.findall(r"`([^`]+)`", row[2])]
    assert len(quoted) > 50
    assert [text for text in quoted if text not in WORDS] == []
