"""The pages of `make docs`: tutorials run, links lead somewhere, every name is there."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest
from hidden_packages import python
from hooks import on_page_content, with_options
from links import broken
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.structure.files import File, Files
from names import (
    LIST,
    listed,
    pages as pages_of_names,
    unlisted,
    with_links,
    with_references,
)
from slices_here import about_all
from tables import LONG, with_tables
from tutorials import FOLDER, executed, notebook

from krohn import cli
from krohn.program.extras import EXTRAS

DOCS = Path(__file__).parents[1] / "docs"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.slow  # `make docs` runs them too
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_cell_of_a_tutorial_runs(script: Path) -> None:
    cells = [cell for cell in executed(script).cells if cell.cell_type == "code"]
    assert len(cells) > 4
    assert all(cell.execution_count for cell in cells)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_is_its_script(script: Path) -> None:
    committed = script.with_suffix(".ipynb").read_text()
    assert committed == f"{nbformat.writes(notebook(script))}\n", "run make notebooks"


IN_PYTHON = """
sys.path.append(sys.argv[1])
import names
print(len(names.pages(open(sys.argv[2]).read())))
"""


@about_all
def test_each_public_name_has_a_page_and_no_private_one_has() -> None:
    text = (DOCS / LIST).read_text()
    names = listed(text)
    assert len(names) == len({*names})
    assert unlisted(text) == []
    assert not [name for name in names if "._" in name]
    made = pages_of_names(text)
    assert len({uri.lower() for uri in made}) == len(names)
    linked = with_links(text)
    for name, uri in zip(names, made, strict=True):
        (summary,) = re.findall(rf"^- \[{name}\]\((.*)\): .+\.$", linked, re.MULTILINE)
        assert f"reference/{summary}" == uri
        assert f"heading: {name}\n" in made[uri]


@pytest.mark.slow
@about_all
def test_the_extra_of_pages_brings_what_public_names_import() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    brought = re.findall(
        r"\[(\w+)\]", "".join(project["optional-dependencies"]["docs"])
    )
    others = (each for e, each in EXTRAS.items() if e not in ("compile", *brought))
    paths = (str(DOCS / "site"), str(DOCS / LIST))
    (count,) = python({p for each in others for p in each}, IN_PYTHON, *paths)
    assert int(count) == len(listed((DOCS / LIST).read_text()))


def test_a_name_that_the_list_leaves_out_comes_last() -> None:
    text = "- krohn.huggingface.register\n"
    assert "\n## More\n\n- [krohn." in with_links(text)
    assert "reference/functions/verify.md" in pages_of_names(text)


def test_names_and_documents_in_docstrings_are_links() -> None:
    uris = ("reference/functions/zoo.md", "reference/classes/Model.md", "faq.md")
    page, *_ = files = [File(uri, None, "", False) for uri in uris]
    html = "<code>krohn.zoo</code>, <code>krohn.Model</code>, docs/faq.md, docs/no.md"
    assert with_references(html, page, Files(files)) == (
        '<code>krohn.zoo</code>, <a href="../classes/Model.html"><code>krohn.Model</code>'
        '</a>, <a href="../../faq.html">docs/faq.md</a>, docs/no.md'
    )


def test_a_picture_leads_to_itself() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="faq.md"))
    shown = '<p><img alt="S5" src="images/s5.svg" /></p>'
    linked = f'<p><a href="images/s5.svg">{shown[3:-4]}</a></p>'
    assert on_page_content(shown, cast(Any, page), Files([])) == linked
    inside = '<img src="data:image/png;base64,00">'
    assert on_page_content(inside, cast(Any, page), Files([])) == inside


def test_every_command_is_listed_with_its_options() -> None:
    text = with_options("")
    for command in cli.application().registered_commands:
        assert f"\n### `krohn {command.name}`\n" in text
    assert "* `-T, --length " in text


def test_a_link_to_results_that_stands_alone_becomes_the_table(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    folder = tmp_path / "results/bounds"
    folder.mkdir(parents=True)
    (folder / "a.csv").write_text("machine,T\nC2|C3,2048\n,0.5\n")
    (folder / "a.txt").write_text("In float32.\n")
    (folder / "b.csv").write_text("T\n" + "1\n" * (LONG + 1))
    text = "[A](../results/bounds/a.csv)"
    page = tmp_path / "docs/page.md"
    table = "| machine | T |\n| --- | --- |\n| C2\\|C3 | 2,048 |\n| – | 0.5 |"
    assert table in with_tables(text, page)
    assert "In float32." in with_tables(text, page)
    assert f"{LONG + 1} rows" in with_tables(text.replace("a.csv", "b.csv"), page)
    assert with_tables(f"See {text}", page) == f"See {text}"


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


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of two pages, with the theme and the search of the pages of Krohn."""
    text = (DOCS.parent / "mkdocs.yml").read_text()
    said = re.search(r"^theme:.*?(?=^  - mkdocstrings)", text, re.DOTALL | re.MULTILINE)
    assert said is not None
    names = f"site_name: Krohn\nuse_directory_urls: false\n{said.group()}"
    (tmp_path / "mkdocs.yml").write_text(names)
    docs = tmp_path / "docs"
    shutil.copytree(DOCS / "javascripts", docs / "javascripts")
    (docs / "index.md").write_text("# Start\n\nA turnstile takes coins.\n")
    (docs / "other.md").write_text("# Stream\n\nA snapshot of the residual stream.\n")
    build(load_config(str(tmp_path / "mkdocs.yml")))
    return tmp_path / "site"


@pytest.mark.slow
def test_pages_are_searched_from_the_disk_and_fetch_nothing(site: Path) -> None:
    script = (site / "search" / "search_index.js").read_text()
    index = json.loads(script.removeprefix("var __index = "))
    assert any("residual" in page["text"] for page in index["docs"])
    page = (site / "index.html").read_text()
    assert '<script src="javascripts/iframe-worker.js">' in page
    assert broken(site) == []


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="there is no browser")
def test_a_browser_finds_a_word_from_the_disk(site: Path, tmp_path: Path) -> None:
    command = [
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *(f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=8000"),
        f"file://{site}/index.html?q=residual",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 matching document" in done.stdout
