"""Write the tables of results/ again, each by the command that made it.

``results/commands.csv`` has a line for each folder of tables: the script of this folder
and its options that make them, and the page that shows them. ``python
benchmarks/regenerate.py`` runs all these commands; names of scripts select some of them,
and `speed` all of `SPEED`: what people wait for, beside others.
A command with FOLDER in it reads machine files that do not belong to the project;
``--files`` says where they are.
"""

import argparse
import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from report import Row, cell, is_measured
from rich.console import Console

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
FOLDER = "FOLDER"
SPEED = {
    *("speed", "startup", "hot_paths", "compile_speed", "exhaustive", "monoids"),
    *("decompositions", "verifier_peers"),
}
RUNS = "runs.csv"  # of sweeps: what tables are made of


@dataclass(frozen=True)
class Block:
    """Tables that one command makes.

    Attributes:
        folder: Where they are.
        command: The script and its options.
    """

    folder: Path
    command: str

    def __str__(self) -> str:
        return self.command

    @property
    def script(self) -> str:
        """The name of the script, without its suffix."""
        return self.command.split()[0].removesuffix(".py")

    def tables(self) -> dict[str, list[dict[str, str]]]:
        """The rows of each table by the name of its file, cells as they are written."""
        paths = sorted(p for p in self.folder.glob("*.csv") if p.name != RUNS)
        return {path.stem: read(path) for path in paths}


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by the names of columns."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def blocks() -> list[Block]:
    """What `results/commands.csv` lists."""
    listed = read(RESULTS / "commands.csv")
    return [Block(RESULTS / row["folder"], row["command"]) for row in listed]


def make(block: Block, folder: Path, files: str | None) -> None:
    """Run a block's command, which writes its tables into a folder.

    Raises:
        RuntimeError: If the command fails.
    """
    script, *options = block.command.split()
    words = [str(files) if word == FOLDER else word for word in options]
    path = str(ROOT / "benchmarks" / script)
    command = [sys.executable, path, *words, "--csv", str(folder)]
    if code := subprocess.run(command, check=False).returncode:
        raise RuntimeError(f"{block.command} ended with {code}")


def stale(printed: dict[str, str], row: Row) -> dict[str, tuple[str, str]]:
    """The columns of a row that are no longer what is printed, with both values.

    Args:
        printed: The cells of the file.
        row: The row as it is found now. Measured columns, such as seconds, are left out.
    """
    now = {c: cell(value) for c, value in row.items() if not is_measured(c)}
    return {
        c: (printed.get(c, ""), value)
        for c, value in now.items()
        if printed.get(c, "") != value
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("scripts", nargs="*", help="only the tables of these scripts")
    parser.add_argument("--files", help="the folder of machine files")
    parser.add_argument("--list", action="store_true", help="print the commands")
    options = parser.parse_args(arguments)
    wanted = {name.removesuffix(".py") for name in options.scripts}
    wanted |= SPEED if "speed" in wanted else set()
    chosen = [b for b in blocks() if not wanted or b.script in wanted]
    if missing := wanted - {b.script for b in chosen}:
        parser.error(f"no table is made by {', '.join(sorted(missing))}")
    console = Console(stderr=True)
    for number, block in enumerate(chosen, 1):
        name = f"{number}/{len(chosen)} {block.folder.name}: {block.command}"
        if options.list:
            print(f"{block.folder.name}: {block.command}")
        elif FOLDER in block.command and options.files is None:
            console.print(f"{name}: left as it is; say --files", highlight=False)
        else:
            console.print(name, highlight=False)
            make(block, block.folder, options.files)


if __name__ == "__main__":
    main()
