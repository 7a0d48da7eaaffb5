"""The modules for Coq that lie here, and running coqc on them."""

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from krohn.verify import kernel
from krohn.verify.checker.model_file import Machine


@dataclass(frozen=True)
class Development:
    """A theorem for Coq.

    Attributes:
        text: The file.
        modules: The modules of the library that it needs, in the order of their imports.
        says: The theorem in words.
    """

    text: str
    modules: tuple[str, ...]
    says: str


def integers(numbers: Iterable[int]) -> str:
    """A list of Coq."""
    return "[" + ";".join(map(str, numbers)) + "]"


def rows(table: Iterable[Iterable[int]]) -> str:
    """A list of lists, one to a line."""
    return "[" + ";\n  ".join(map(integers, table)) + "]"


def machine_term(machine: Machine) -> str:
    """The machine of a file; a letter is a row of `transitions`."""
    moves, shows = rows(machine.transitions.tolist()), integers(machine.shows.tolist())
    return (
        f"Definition machine_of_file : machine := {{|\n  start := {machine.start};\n"
        f"  moves := {moves};\n  shows := {shows} |}}%nat.\n"
    )


LIBRARY = Path(kernel.__file__).parent / "coq"
NETWORKS = ("Machine", "Arithmetic", "Recurrent", "RecurrentSound")
PROGRAMS = ("Machine", "Program", "Invariant", "InvariantSound")
TRANSFORMERS = (
    *("Machine", "Arithmetic", "Recurrent", "Program", "Invariant", "InvariantSound"),
    *("Rounding", "Closer", "Softmax", "Mean", "Transformer", "Domains", "Lists"),
    *("Bounds", "Affine", "TransformerCheck", "TablesSound", "QuickSound", "TransformerSound"),
)
"""The modules that a theorem needs, in the order of their imports."""


def copy(modules: Iterable[str], folder: Path) -> None:
    """Put modules into a folder."""
    for name in modules:
        shutil.copyfile(LIBRARY / f"{name}.v", folder / f"{name}.v")


def coqc(
    folder: Path, module: str, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Have Coq prove a module of a folder, whose imports it has proved before.

    Raises:
        TimeoutExpired: If it takes longer than it may.
    """
    return subprocess.run(
        ["coqc", "-q", "-Q", ".", "Krohn", f"{module}.v"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


def compile_modules(
    folder: Path, modules: Iterable[str] = (*NETWORKS, *PROGRAMS, *TRANSFORMERS)
) -> None:
    """Have Coq prove modules, in their order, in a folder.

    Raises:
        RuntimeError: If Coq does not accept a module.
    """
    names = dict.fromkeys(modules)
    copy(names, folder)
    for name in names:
        if (ran := coqc(folder, name)).returncode:
            raise RuntimeError(f"{name}.v: {ran.stderr}")
