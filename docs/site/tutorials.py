"""Tutorials: notebooks kept as scripts, executed, as pages with what they print."""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

FOLDER = Path(__file__).parents[1] / "tutorials"
SECONDS = 600
"""The longest that a cell may take on a busy machine: a whole tutorial takes a minute."""


def notebook(script: Path) -> Any:
    """The notebook of a script, not executed: the same at each call."""
    book = jupytext.read(script)
    for number, cell in enumerate(book.cells):
        cell["id"] = f"{script.stem}-{number}"
    return book


def executed(script: Path) -> Any:
    """The notebook of a script, with its outputs. It writes its files elsewhere.

    Raises:
        CellExecutionError: If a cell raises.
    """
    book = notebook(script)
    with TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        client = NotebookClient(book, timeout=SECONDS, resources=where)
        client.extra_arguments = ["--log-level=ERROR"]  # no word on its sockets
        # Commands of a page are those of the environment that makes it.
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        return client.execute(env={**os.environ, "PATH": path})


def pages(script: Path) -> dict[str, str | bytes]:
    """The page of a script, its pictures and its notebook, by their names."""
    book = executed(script)
    named = {"unique_key": script.stem, "output_files_dir": script.stem}
    text, resources = MarkdownExporter().from_notebook_node(book, named)
    kept = (
        f"\n\n[This page as a notebook]({script.stem}.ipynb), "
        f"[as a script]({script.name}).\n"
    )
    return {
        f"{script.stem}.md": text + kept,
        f"{script.stem}.ipynb": nbformat.writes(book),
        **resources["outputs"],
    }


if __name__ == "__main__":
    for script in sorted(FOLDER.glob("*.py")):
        text = f"{nbformat.writes(notebook(script))}\n"
        script.with_suffix(".ipynb").write_text(text)
