"""Python where some packages are not installed, as users of a plain wheel have it."""

import json
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LIGHT = ("numpy", "safetensors", "typer", "rich")
"""What `pip install krohn` brings."""

HIDE = """
import json, sys

hidden = set(json.loads(sys.argv.pop(1)))

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in hidden:
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""
COMMANDS = """
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from krohn.cli import run

for command in sys.argv[1:]:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = run(json.loads(command))
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def python(hidden: Iterable[str], program: str, *arguments: str) -> list[str]:
    """What a program prints, line by line, where these packages cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-c", HIDE + program, json.dumps(sorted(hidden)), *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def run(
    hidden: Iterable[str], *commands: Iterable[object]
) -> list[tuple[int, str, str]]:
    """Exit code, output and errors of commands of one process."""
    typed = [json.dumps([str(a) for a in command]) for command in commands]
    done = map(json.loads, python(hidden, COMMANDS, *typed))
    return [(code, out, err) for code, out, err in done]


def all_but_light() -> set[str]:
    """The packages that are installed here, and are not where only `LIGHT` is."""
    distributions, left = set[str](), list(LIGHT)
    while left:
        name = canonicalize_name(left.pop())
        if name not in distributions:
            distributions.add(name)
            needs = map(Requirement, requires(name) or ())
            here = {"extra": ""}
            left += [n.name for n in needs if not n.marker or n.marker.evaluate(here)]
    return {
        package
        for package, names in packages_distributions().items()
        if not distributions & {canonicalize_name(name) for name in names}
    } - {"krohn"}
