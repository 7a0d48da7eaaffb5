"""The pages of `make docs`: tutorials run, links lead somewhere, every name is there."""

import re
from pathlib import Path

import pytest
from hooks import NAMES, unlisted
from links import broken
from tutorials import FOLDER, executed

import krohn

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.slow  # `make docs` runs them too
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_cell_of_a_tutorial_runs(script: Path) -> None:
    cells = [cell for cell in executed(script).cells if cell.cell_type == "code"]
    assert len(cells) > 4
    assert all(cell.execution_count for cell in cells)


def test_the_reference_has_every_public_name() -> None:
    text = (DOCS / NAMES).read_text()
    listed = re.findall(r"^::: krohn\.(\w+)$", text + unlisted(text), re.M)
    assert sorted(listed) == sorted(krohn.__all__)


PAGE = '<h1 id="top">Krohn</h1>'


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('<a href="gone.html">', "gone.html leads nowhere"),
        ('<a href="#gone">', "#gone has no such anchor"),
        ('<a href="other.html#gone">', "other.html#gone has no such anchor"),
        ('<img src="gone.svg">', "gone.svg leads nowhere"),
        ('<script src="https://x.org/a.js">', "https://x.org/a.js is fetched"),
    ],
)
def test_a_wrong_link_is_found(tmp_path: Path, wrong: str, said: str) -> None:
    (tmp_path / "404.html").write_text("")
    (tmp_path / "other.html").write_text(PAGE)
    right = '<a href="other.html#top">, <a href="https://x.org">, <a href="#top">'
    (tmp_path / "index.html").write_text(PAGE + right)
    assert broken(tmp_path) == []
    (tmp_path / "index.html").write_text(PAGE + right + wrong)
    (found,) = broken(tmp_path)
    assert found.startswith(f"index.html: {said}")
