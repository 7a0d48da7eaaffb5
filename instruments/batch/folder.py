"""The files of a folder: those that `krohn compile` reads, and those that it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import SUFFIXES, form_of_text
from krohn.algebra.formats.files import read_text
from krohn.algebra.formats.table import is_table
from krohn.machines import MODEL
from krohn.program.quoting import listed
from krohn.program.slices import slice_sources
from krohn.source_kinds import find_source

TABLES = (".csv", ".tsv")
"""Suffixes of files that may be any table: of a batch, of results, of labelled words."""
GRAMMAR = ".pcfg"
NO_TABLE = "no table of transitions"
NO_DEPTH = "a grammar needs a depth: F.pcfg:depth=N in a table"
NO_MACHINE = "no file of a machine"


@dataclass(frozen=True)
class Folder:
    """The files of a folder.

    Attributes:
        machines: The names of those that are compiled or verified, in their order.
        left_out: All others, with the reason; none whose names begin with a dot.
    """

    machines: tuple[str, ...]
    left_out: Mapping[str, str]

    @property
    def remark(self) -> str:
        """A line on what is left out, and why; empty if nothing is."""
        by_reason: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            by_reason.setdefault(reason, []).append(name)
        parts = [f"{listed(names)} ({why})" for why, names in by_reason.items()]
        return f"left out: {'; '.join(parts)}" if parts else ""


def read_folder(folder: Path) -> Folder:
    """The files of a folder, each read as `krohn compile` reads it.

    Raises:
        KrohnError: If the folder cannot be read.
    """
    try:
        names = sorted(p.name for p in folder.iterdir() if p.is_file())
    except OSError as error:
        raise KrohnError(f"{folder}: cannot be read: {error.strerror}") from None
    reasons = {name: _reason_to_leave_out(folder / name) for name in names}
    left = {n: why for n, why in reasons.items() if why and not n.startswith(".")}
    return Folder(tuple(n for n, why in reasons.items() if not why), left)


def _reason_to_leave_out(path: Path) -> str:
    """Why a file is no row; empty if it is one."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(GRAMMAR):
        return NO_DEPTH
    if name.endswith(TABLES):
        return "" if _is_source(path) else NO_TABLE
    others = [suffix for entry in slice_sources().values() for suffix in entry.ends]
    if name.endswith((*SUFFIXES, *MODEL, *others)):
        return ""
    try:
        return "" if form_of_text(read_text(path)) else NO_MACHINE
    except KrohnError:
        return NO_MACHINE


def _is_source(path: Path) -> bool:
    """Whether a table is one of transitions, or of the values of a kernel."""
    try:
        return is_table(read_text(path)) or find_source(path) is not None
    except KrohnError:
        return False
