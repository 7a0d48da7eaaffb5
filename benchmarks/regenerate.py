"""Write the tables of the documents again, each by the command that made it.

A table of a document stands between two comments, the first of which names a script of
this folder and its options:

    <!-- results: bounds.py -->
    …
    <!-- end of results -->

``python benchmarks/regenerate.py`` runs all these commands and puts what they print in the
place of what stood there. Names of scripts select some of them. A command with FOLDER in
it reads machine files that do not belong to the project; ``--files`` says where they are.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from report import Row, is_measured, shown
from rich.console import Console

ROOT = Path(__file__).parents[1]
FOLDER = "FOLDER"
_BLOCK = re.compile(
    r"<!-- results: (?P<command>[^\n]+?) -->\n(?P<text>.*?)<!-- end of results -->",
    re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """Tables of a document.

    Attributes:
        document: The file.
        command: The script and its options.
        text: What stands there now, as Markdown.
    """

    document: Path
    command: str
    text: str

    def __str__(self) -> str:
        return self.command

    @property
    def script(self) -> str:
        """The name of the script, without its suffix."""
        return self.command.split()[0].removesuffix(".py")

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """The rows of each table by its title, cells as they are printed."""
        sections = self.text.split("### ")[1:]
        return {s.partition("\n")[0]: list(_rows(s)) for s in sections}


def blocks() -> list[Block]:
    """Every block of every document."""
    return [
        Block(path, match["command"], match["text"])
        for path in sorted(ROOT.glob("docs/**/*.md"))
        for match in _BLOCK.finditer(path.read_text())
    ]


def _rows(section: str) -> Iterator[dict[str, str]]:
    lines = [line for line in section.splitlines() if line.startswith("|")]
    if not lines:
        return
    columns, _, *rows = (_cells(line) for line in lines)
    for row in rows:
        yield dict(zip(columns, row, strict=True))


def _cells(line: str) -> list[str]:
    inside = re.split(r"(?<!\\)\|", line)[1:-1]
    # Columns that are named alike differ by spaces at their ends.
    return [cell[1:-1].replace("\\|", "|") for cell in inside]


def written(block: Block, files: str | None) -> str:
    """The output of a block's command.

    Raises:
        RuntimeError: If the command fails.
    """
    words = [files if word == FOLDER else word for word in block.command.split()]
    script = ROOT / "benchmarks" / words[0]
    done = subprocess.run(
        [sys.executable, str(script), *map(str, words[1:]), "--markdown"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{block.command} ended with {done.returncode}")
    return done.stdout


def replace(block: Block, text: str) -> None:
    """Put a text in the place of a block's."""
    old = block.document.read_text()
    stood = f"<!-- results: {block.command} -->\n{block.text}<!--"
    block.document.write_text(
        old.replace(stood, f"<!-- results: {block.command} -->\n{text}<!--")
    )


def stale(printed: dict[str, str], row: Row) -> dict[str, tuple[str, str]]:
    """The columns of a row that are no longer what is printed, with both values.

    Args:
        printed: The cells of the document.
        row: The row as it is found now. Measured columns, such as seconds, are left out.
    """
    now = {c: shown(value) for c, value in row.items() if not is_measured(c)}
    return {
        c: (printed.get(c, "–"), value)
        for c, value in now.items()
        if printed.get(c, "–") != value
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the commands, and rewrite the documents."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("scripts", nargs="*", help="only the tables of these scripts")
    parser.add_argument("--files", help="the folder of machine files")
    parser.add_argument("--list", action="store_true", help="print the commands")
    options = parser.parse_args(arguments)
    wanted = {name.removesuffix(".py") for name in options.scripts}
    found = [b for b in blocks() if not wanted or b.script in wanted]
    if missing := wanted - {b.script for b in found}:
        parser.error(f"no document has a table of {', '.join(sorted(missing))}")
    console = Console(stderr=True)
    for number, block in enumerate(found, 1):
        name = f"{number}/{len(found)} {block.document.name}: {block.command}"
        if options.list:
            print(f"{block.document.name}: {block.command}")
        elif FOLDER in block.command and options.files is None:
            console.print(f"{name}: left as it is; say --files", highlight=False)
        else:
            console.print(name, highlight=False)
            replace(block, written(block, options.files))


if __name__ == "__main__":
    main()
