"""The cost of a command before its work: CPU time as a multiple of numpy's import.

Every command is a process of its own, in turn with ``python -c "import numpy"`` and
``python -c "import torch"``; user and system time of the process, medians of a few rounds
after one that is not counted: it compiles Python to bytecode, as an installation does.
The machine is S3, for words of up to 8 letters, so that what remains is imports.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from report import Row, Table, parser, publish

import krohn

ROUNDS = 5
PYTHON = {"import numpy": "import numpy", "import torch": "import torch"}


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands by name; their files are in a folder."""
    model, evidence, out = (str(folder / n) for n in ("m.safetensors", "e.json", "o"))
    krohn.compile("S3", 8, proof=False).save(model)
    verify = ["verify", model, "--proof", "--evidence", evidence]
    return {
        "krohn --help": ["--help"],
        "krohn zoo": ["zoo"],
        "krohn explain": ["explain", "S3", "-T", "8"],
        "krohn explain S5": ["explain", "S5", "-T", "8"],
        "krohn decompose": ["decompose", "S3"],
        "krohn compile": ["compile", "S3", "-T", "8", "-o", f"{out}.safetensors"],
        "krohn verify": ["verify", model],
        "krohn verify --kernel none": ["verify", model, "--kernel", "none"],
        "krohn verify --proof": verify,
        "krohn recheck": ["recheck", model, evidence],
        "krohn draw MACHINE": ["draw", "S3", "-o", f"{out}.svg"],
        "krohn run": ["run", model, "213"],
    }


def children_seconds() -> float:
    """The CPU seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent(arguments: list[str], bytecode: str) -> float:
    """The CPU seconds of a process that must succeed; its bytecode is in a folder."""
    own = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    before = children_seconds()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        env=os.environ | own,
    )
    return children_seconds() - before


def measured() -> list[Row]:
    """A row for each command."""
    with TemporaryDirectory() as name:
        todo = {title: ["-c", code] for title, code in PYTHON.items()}
        for title, arguments in commands(Path(name)).items():
            todo[title] = ["-m", "krohn", *arguments]
        bytecode = str(Path(name, "bytecode"))
        _, *found = [
            {title: spent(process, bytecode) for title, process in todo.items()}
            for _ in range(1 + ROUNDS)
        ]
    ratios = {t: median(r[t] / r["import numpy"] for r in found) for t in todo}
    return [
        {"command": title, "ratio to import numpy": ratio}
        for title, ratio in ratios.items()
    ]


def main() -> None:
    """Measure and print the table."""
    options = parser(__doc__).parse_args()
    publish([Table("CPU time of a command", measured())], options)


if __name__ == "__main__":
    main()
