"""The examples that ``krohn COMMAND --help`` ends with, and the files that they need."""

import shlex
import shutil
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import typer
from safetensors.numpy import save_file

from krohn import cli

GROUP: Any = typer.main.get_command(cli.application())
NAMES = sorted(GROUP.commands)
TRAINING = "compare"
"""The command whose examples train, for minutes."""
MAKERS = ("-o", "--evidence", "--html")
"""Options before the name of a file or folder that is written."""
TABLE = "machine,length\nC2,16\nregex:(ab)*,16\n"
EDGES = "from,to\nembedding,blocks.0.attn.0\nblocks.0.attn.0,blocks.0.mlp\n"


def examples(name: str) -> list[list[str]]:
    """The arguments of each example of a command, the command's name first."""
    lines = cleandoc(GROUP.commands[name].epilog).splitlines()
    typed = [shlex.split(line) for line in lines]
    assert all(words[0] == "krohn" for words in typed)
    return [words[1:] for words in typed]


def written(words: list[str]) -> set[str]:
    """The files and folders that a command writes."""
    made = {each for word, each in pairwise(words) if word in MAKERS}
    return made | ({words[1]} if is_new_set(words) else set())


def is_new_set(words: list[str]) -> bool:
    """Whether a command makes a workbench."""
    return words[0] == "workbench" and "--check" not in words


def read(words: list[str], among: set[str]) -> set[str]:
    """The files, of some, that a command reads."""
    named = {word.partition("/")[0] for word in words[1:]}
    return (named & among) - written(words)


def in_order() -> list[list[str]]:
    """All examples, once each, after those that write the files that they read."""
    left = [words for name in NAMES for words in examples(name)]
    unique = [words for n, words in enumerate(left) if words not in left[:n]]
    ordered: list[list[str]] = []
    while unique:
        to_come = set[str]().union(*map(written, unique))
        ready = [words for words in unique if not read(words, to_come)]
        assert ready, unique
        ordered += ready
        unique = [words for words in unique if words not in ready]
    return ordered


def put_files(place: Path) -> None:
    """Write the files of examples that no example writes."""
    examples_here = Path(__file__).parents[1] / "examples"
    shutil.copytree(examples_here, place / "examples")
    (place / "machines.csv").write_text(TABLE)
    (place / "folder").mkdir()
    shutil.copy(examples_here / "turnstile.dot", place / "folder")
    (place / "edges.csv").write_text(EDGES)
    save_file({"count": np.eye(5)[4:5]}, place / "directions.safetensors")
