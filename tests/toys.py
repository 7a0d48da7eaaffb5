"""The distribution of toy slices that a page shows, installed as it stands there."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "docs/how-to/own-slice.md"
SHOWN = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
"""A file on the page, with its name."""
TYPED = re.compile(r"^```\n(\$ krohn .*?)^```$", re.MULTILINE | re.DOTALL)
"""Commands on the page, with what they print."""
COMMANDS = """
import contextlib, io, json, sys
from krohn.__main__ import main
for words in json.load(sys.stdin):
    sys.argv = ["krohn", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as left:
            code = left.code
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


class Done(NamedTuple):
    """What a command has done."""

    code: int
    out: str
    err: str


def files() -> dict[str, str]:
    """The files that the page shows, by their names."""
    return dict(SHOWN.findall(PAGE.read_text()))


def typed() -> list[tuple[str, str]]:
    """The commands of the page, without ``krohn``, each with what it prints."""
    text = "".join(TYPED.findall(PAGE.read_text()))
    parts = [part.partition("\n") for part in re.split(r"^\$ krohn ", text, flags=re.M)]
    return [(command, printed) for command, _, printed in parts if command]


def install(site: Path) -> None:
    """Install the distribution of the page, as pip does."""
    shown = files()
    project = tomllib.loads(shown.pop("pyproject.toml"))["project"]
    name, version = project["name"], project["version"]
    entries = [
        f"[{group}]\n" + "".join(f"{key} = {place}\n" for key, place in each.items())
        for group, each in project["entry-points"].items()
    ]
    about = f"{name.replace('-', '_')}-{version}.dist-info"
    shown[f"{about}/METADATA"] = f"Name: {name}\nVersion: {version}\n"
    shown[f"{about}/entry_points.txt"] = "\n".join(entries)
    for path, text in shown.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)


def python(site: Path, script: str, given: str = "") -> str:
    """What a script prints, where the distributions of a folder are installed."""
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=given,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def krohn(site: Path, *commands: str | Sequence[str]) -> list[Done]:
    """What commands do there, one after the other in one process."""
    words = [each.split() if isinstance(each, str) else each for each in commands]
    printed = python(site, COMMANDS, json.dumps(words)).splitlines()
    return [Done(*json.loads(line)) for line in printed]
