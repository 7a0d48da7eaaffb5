"""Machines from files and into files; ``docs/formats.md`` describes the formats."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import att, dot, gap, json_format, kiss2, learnlib
from krohn.algebra.formats.assembly import Complete, Kind
from krohn.algebra.formats.files import read_text
from krohn.algebra.formats.regex import from_regex
from krohn.program.writing import atomic_write

__all__ = [
    "SUFFIXES",
    "Complete",
    "Kind",
    "from_regex",
    "no_choice",
    "read",
    "write",
]

_Reader = Callable[[str, str, Complete], Automaton]

_READERS: dict[str, _Reader] = {
    "json": lambda text, name, _: json_format.read(text, name),
    "dot": dot.read,
    "kiss2": kiss2.read,
    "gap": lambda text, name, _: gap.read(text, name),
    "learnlib": lambda text, name, _: learnlib.read(text, name),
}
_WRITERS: dict[str, Callable[[Automaton], str]] = {
    "json": json_format.write,
    "dot": dot.write,
    "kiss2": kiss2.write,
    "att": att.write,
    "gap": gap.write,
    "learnlib": learnlib.write,
}
SUFFIXES = {
    ".json": "json",
    ".dot": "dot",
    ".gv": "dot",
    ".kiss2": "kiss2",
    ".kiss": "kiss2",
    ".att": "att",
    ".fst.txt": "att",
    ".g": "gap",
    ".gap": "gap",
    ".dfa": "learnlib",
}
_SIGNS = (
    ("json", re.compile(r"\A\s*\{")),
    (
        "dot",
        re.compile(r"\A(?:\s|//[^\n]*|#[^\n]*)*(?:strict\s+)?(?:di)?graph\b", re.I),
    ),
    ("kiss2", re.compile(r"^\.(?:i|o|start_kiss)\b", re.M)),
    ("gap", re.compile(r"\bTransformation\s*\(|^\s*\[?\s*\(\s*\d+\s*,", re.M)),
    ("learnlib", re.compile(r"\A\s*\d+[ \t]+\d+[ \t]*\r?\n[01 \t]+\r?(?:\n|\Z)")),
    ("att", re.compile(r"\A\s*\S+(?:[ \t]+\S+){2,4}[ \t]*\r?(?:\n|\Z)")),
)


def read(
    source: str | Path, complete: Complete = "reject", kind: Kind | None = None
) -> Automaton:
    """The machine in a file of any known format.

    The format follows from the end of the name: ``.json``, ``.dot`` or ``.gv``,
    ``.kiss2`` or ``.kiss``, ``.att`` or ``.fst.txt``, ``.g`` or ``.gap``, or ``.dfa``,
    each also with ``.gz`` behind it; for other names, from how the content begins.

    Args:
        source: The path of the file.
        complete: The treatment of missing transitions, where the format allows
            them: refuse the machine, lead them to a sink, or stay.
        kind: The kind as which an AT&T file is read; None to go by its labels.

    Raises:
        MachineError: If the file cannot be read, its format is unknown, it does not
            describe a deterministic machine, or it is no AT&T file and ``kind`` is
            given.
    """
    text = read_text(Path(source))
    form = _form_of_name(str(source)) or _form_of_text(text)
    if form is None:
        raise _unknown(source)
    if form == "att":
        return att.read(text, str(source), complete, kind)
    if kind is not None:
        raise no_choice(str(source))
    return _READERS[form](text, str(source), complete)


def no_choice(name: str) -> MachineError:
    """The error for a kind that is given where there is nothing to choose."""
    return MachineError(
        f"{name}: --as says how to read an AT&T text file; this is none, and says itself "
        "what it is"
    )


def write(machine: Automaton, path: str | Path) -> None:
    """Write the machine in the format that the end of the name asks for.

    Either all of the file is written or it stays as it was.

    Raises:
        MachineError: If the format is unknown or cannot carry the machine, or the file
            cannot be written.
    """
    form = _form_of_name(str(path))
    if form is None:
        raise _unknown(path)
    text = _WRITERS[form](machine)
    packed = str(path).lower().endswith(".gz")
    # Without the time in its head, the same machine gives the same file.
    atomic_write(path, gzip.compress(text.encode(), mtime=0) if packed else text)


def _form_of_name(name: str) -> str | None:
    plain = name.lower().removesuffix(".gz")
    forms = (form for suffix, form in SUFFIXES.items() if plain.endswith(suffix))
    return next(forms, None)


def _form_of_text(text: str) -> str | None:
    return next((form for form, sign in _SIGNS if sign.search(text[:4096])), None)


def _unknown(path: str | Path) -> MachineError:
    if str(path) == "-":
        return MachineError(
            "-: standard input holds no machine in a format that is known by its text; "
            "save it to a file whose name ends in its format"
        )
    return MachineError(
        f"{path}: unknown format; name the file with one of {', '.join(SUFFIXES)}, "
        "each also with .gz behind it"
    )
