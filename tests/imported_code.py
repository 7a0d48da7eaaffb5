"""The modules of Krohn that a command imports: ``python tests/imported_code.py zoo``."""

import subprocess
import sys
from pathlib import Path

COUNT = """
import sys
from contextlib import redirect_stdout
from krohn.cli import run

with redirect_stdout(sys.stderr):
    assert run(sys.argv[1:]) == 0
for name, module in sorted(sys.modules.items()):
    if name.partition(".")[0] == "krohn" and getattr(module, "__file__", None):
        print(name, module.__file__, sep="\\t")
"""


def imported_code(*command: object) -> dict[str, int]:
    """The lines of each module that a command imports."""
    typed = [sys.executable, "-c", COUNT, *map(str, command)]
    done = subprocess.run(typed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pairs = (line.split("\t") for line in done.stdout.splitlines())
    return {
        name: len(Path(file).read_text("utf-8").splitlines()) for name, file in pairs
    }


if __name__ == "__main__":
    modules = imported_code(*sys.argv[1:])
    for name, lines in sorted(modules.items(), key=lambda each: -each[1]):
        print(f"{lines:6,} {name}")
    print(f"{sum(modules.values()):6,} lines of {len(modules)} modules")
