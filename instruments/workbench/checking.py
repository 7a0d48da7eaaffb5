"""Checking a set again: each network is proved, and all else is derived from it anew."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors import SafetensorError

from krohn.algebra.errors import KrohnError
from krohn.instruments.workbench import contents
from krohn.instruments.workbench.answers import (
    LARGEST,
    MODEL,
)
from krohn.instruments.workbench.contents import (
    CARD_FILE,
    EVIDENCE,
    Drawing,
    Made,
)
from krohn.instruments.workbench.making import (
    FORMAT,
    INDEX,
    VERSION,
    WHAT,
    choose_names,
    each,
    entry_of,
    index,
)
from krohn.instruments.workbench.models import MODELS
from krohn.jobs.worker_pool import Report
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.report import Progress
from krohn.verify.proof import FAILURES


@dataclass(frozen=True)
class Checked:
    """A network of the set, checked again.

    Attributes:
        name: Its folder.
        verdict: ``verified`` if it is proved of its source again, and by the evidence that
            is there; ``not proved`` of a trained network.
        gpt2: The same of its GPT-2 directory; None if there is none.
        words: How many words were run, in each form.
        pairs: How many interchange interventions were run.
        wrong: What was wrong; nothing if all is as it should be.
    """

    name: str
    verdict: str
    gpt2: str | None
    words: int
    pairs: int
    wrong: tuple[str, ...]


def check(
    directory: str | Path,
    only: Iterable[str] = (),
    *,
    words: int = 1_000,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Checked]:
    """Verify a set again.

    Each model file is proved again, of the source that its network has in the list of
    Krohn. From it, the seed and the number of words of the set all other files are made
    once more, and compared byte by byte; exports are run on adversarial words. The list
    must tell the same of each network, and nothing else may be there. Of trained networks
    nothing is proved; they must be right as often as the list says.

    Args:
        directory: What `make` wrote.
        only: The names of some networks of the set; all if there are none.
        words: How many words to run through each form; fewer of long words.
        jobs: How many networks are checked at a time.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If it is no such directory, something is missing there or is not of
            the set, or a name is unknown.
    """
    home = Path(directory)
    drawing, rows = _read_list(home)
    names = choose_names(rows, only)
    return each(names, Checking(home, drawing, words, rows), jobs, progress)


def _read_list(home: Path) -> tuple[Drawing, dict[str, dict[str, Any]]]:
    """How words of a set were drawn, and the networks of its list by their names.

    Raises:
        KrohnError: If it is no list of a set, or something else than it says is there.
    """
    try:
        text = read_bytes(home / INDEX, LARGEST)
        details = strict_json.read(text)
        drawing = Drawing(details["seed"], details["words"])
        rows = {row["name"]: row for row in details["models"]}
        fine = (details["format"], details["version"]) == (FORMAT, VERSION)
        fine &= all(type(n) is int and n >= 0 for n in vars(drawing).values())
        fine &= len(rows) == len(details["models"])
        fine &= list(rows) == [e.name for e in MODELS if e.name in rows]
        fine &= index(drawing, details["models"]).encode() == text
    except (KrohnError, ValueError, LookupError, TypeError):
        fine = False
    if not fine:
        raise KrohnError(
            f"{home / INDEX} is no list of a workbench; `krohn workbench DIR` makes one"
        )
    with TemporaryDirectory() as other:
        right = Path(other)
        (right / INDEX).write_bytes(text)
        (right / CARD_FILE).write_text(WHAT, encoding="utf-8")
        for name in rows:
            (right / name).mkdir()
        wrong = differences(home, right, deep=False)
    if wrong:
        details = "; ".join(f"{name}: {why}" for name, why in wrong.items())
        raise KrohnError(f"{home} is not the set that {INDEX} lists; {details}")
    return drawing, rows


@dataclass(frozen=True)
class Checking:
    """The work of checking networks of a set."""

    home: Path
    drawing: Drawing
    words: int
    rows: dict[str, dict[str, Any]]

    def open(self, own: bool) -> Callable[[str, Report], Checked]:
        """Make this process ready: several of them share the cores."""
        if own:
            torch.set_num_threads(1)
        return self._check

    def _check(self, name: str, report: Report) -> Checked:
        home, row = self.home / name, self.rows[name]
        with TemporaryDirectory() as other:
            right = Path(other)
            try:
                shutil.copyfile(home / MODEL, right / MODEL)
                made, ran = contents.write(
                    right, entry_of(name), self.drawing, self.words, row
                )
            except (KrohnError, OSError, SafetensorError, *FAILURES) as error:
                why = f"{MODEL}: {error}; no other file was looked at"
                return Checked(name, "undecided", None, 0, 0, (why,))
            wrong = differences(home, right)
            gpt2 = (right / "gpt2").is_dir()

        def verdict(part: str) -> str:
            damaged = any(Path(x).parts[0] == part for x in wrong)
            return "undecided" if damaged else "verified"

        return Checked(
            name,
            verdict(EVIDENCE) if made.proved else "not proved",
            verdict("gpt2") if gpt2 else None,
            ran,
            made.pairs,
            (*(f"{x}: {why}" for x, why in wrong.items()), *_told_wrongly(row, made)),
        )


def _told_wrongly(row: dict[str, Any], made: Made) -> Iterator[str]:
    """What the list tells of a network that is otherwise."""
    right = json.loads(json.dumps(vars(made)))
    for key in dict.fromkeys([*right, *row]):
        if key not in right:
            yield f"{INDEX}: it says {key!r}, which it has no place for"
        elif key not in row:
            yield f"{INDEX}: it does not say {key}"
        elif row[key] != right[key]:
            yield f"{INDEX}: {key} is {row[key]!r}, and should be {right[key]!r}"


def differences(home: Path, right: Path, deep: bool = True) -> dict[str, str]:
    """What differs between a folder and how it should be, by its path in the folder.

    Args:
        home: The folder.
        right: A folder that is as it should be.
        deep: Whether what stands in folders in it is looked at, too.
    """
    reasons = dict[str, str]()
    names = {p.name for place in (home, right) for p in place.iterdir()}
    for name in sorted(names):
        ours, theirs = home / name, right / name
        folder = theirs.is_dir()
        if not theirs.exists():
            reasons[name] = "it is not of the set"
        elif not os.path.lexists(ours):
            reasons[name] = "it is missing"
        elif ours.is_symlink() or not (ours.is_dir() if folder else ours.is_file()):
            reasons[name] = "it is no " + ("folder" if folder else "file")
        elif folder:
            more = differences(ours, theirs) if deep else {}
            reasons |= {f"{name}/{inner}": why for inner, why in more.items()}
        elif (line := _first_other_line(ours, theirs)) is not None:
            reasons[name] = f"line {line} is not what the network and the seed give"
    return reasons


def _first_other_line(ours: Path, theirs: Path) -> int | None:
    """The first line in which two files differ; None if there is none."""
    one, other = (read_bytes(path, LARGEST) for path in (ours, theirs))
    if one == other:
        return None
    same = zip(one.split(b"\n"), other.split(b"\n"), strict=False)
    alike = [a == b for a, b in same]
    return (alike.index(False) if False in alike else len(alike)) + 1
