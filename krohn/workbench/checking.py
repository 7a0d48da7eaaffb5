"""Checking the set again: the proofs, the exports and the interchange interventions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from krohn import evidence
from krohn.algebra.errors import KrohnError
from krohn.exporting import run
from krohn.jobs.worker_pool import Report
from krohn.network import modelfile
from krohn.network.exports import destination
from krohn.open_model import Model
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.report import Progress
from krohn.verification import verify
from krohn.workbench.answers import (
    LARGEST,
    MODEL,
    PAIRS,
    WORDS,
    lines,
    right,
    right_changed,
)
from krohn.workbench.making import EVIDENCE, FORMAT, FORMS, INDEX, VERSION, chosen, each

SLIGHT = 0.01
"""How far the accuracy of a trained network may be off on another machine."""
Share = Callable[[Model, dict[str, Any]], float]
LISTS: tuple[tuple[str, Share, str], ...] = (
    (WORDS, right, "accuracy"),
    (PAIRS, right_changed, "interchange"),
)
"""Files of a network, how many answers to a line are right, and what states their mean."""


@dataclass(frozen=True)
class Checked:
    """A network of the set, checked again.

    Attributes:
        name: Its folder.
        verdict: Of the small checker, on the model file and its evidence; ``not proved``
            of a trained network.
        gpt2: The verdict of a proof of the GPT-2 directory; None if there is none.
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

    Every model file is checked with its evidence, and every GPT-2 directory is proved
    from what is on disk. The tensors of the other forms are those of the model file, so
    that its proof holds there; and they answer adversarial words as it does.
    Listed words and interchange interventions are run. Of trained networks nothing is
    proved; they must be right as often as the list of the set says.

    Args:
        directory: What `make` wrote.
        only: The names of some networks of the set; all if there are none.
        words: How many words to run through each form; fewer of long words.
        jobs: How many networks are checked at a time.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If it is no such directory, or a name is unknown.
    """
    home = Path(directory)
    rows = _rows(home)
    names = chosen(rows, only)
    return each(names, Checking(home, words, rows), jobs, progress)


def _rows(home: Path) -> dict[str, dict[str, Any]]:
    """The networks of the list by their names."""
    try:
        told = strict_json.read(read_bytes(home / INDEX, LARGEST))
        if (told["format"], told["version"]) != (FORMAT, VERSION):
            raise ValueError("another format")
        rows = {str(row["name"]): row for row in told["models"]}
        if any(Path(name).name != name for name in rows):
            raise ValueError("a folder elsewhere")
        for row in rows.values():
            if type(row["proved"]) is not bool:
                raise ValueError("no status")
            float(row["accuracy"]), float(row["interchange"])
        return rows
    except (ValueError, LookupError, TypeError, KrohnError):
        raise KrohnError(
            f"{home / INDEX} is no list of a workbench; `krohn workbench DIR` makes one"
        ) from None


@dataclass(frozen=True)
class Checking:
    """The work of checking networks of a set."""

    home: Path
    words: int
    rows: dict[str, dict[str, Any]]

    def open(self, own: bool) -> Callable[[str, Report], Checked]:
        """Make this process ready: several of them share the cores."""
        if own:
            torch.set_num_threads(1)
        return lambda name, _: _check(self.home / name, self.words, self.rows[name])


def _check(home: Path, words: int, row: dict[str, Any]) -> Checked:
    wrong, verdict = list[str](), "not proved"
    if row["proved"]:
        checked = evidence.check(home / MODEL, home / EVIDENCE)
        verdict = checked.verdict
        wrong += [] if verdict == "verified" else [f"proof: {checked.reason}"]
        if checked.about.digest != row["digest"]:
            wrong.append("proof: it is of another claim")
    model, count, gpt2 = Model(modelfile.read(home / MODEL)), 0, None
    if (home / "gpt2").is_dir():
        proof = verify(home / "gpt2", proof=True)
        gpt2 = proof.verdict
        wrong += [] if gpt2 == "verified" else [f"gpt2: {proof.reason}"]
    for form in FORMS:
        try:
            if (home / form).is_dir():
                count += _check_form(model, form, home / form, words, row["proved"])
        except (KrohnError, LookupError, OSError, SafetensorError) as error:
            wrong.append(f"{form}: {error}")
    for name, share, stated in LISTS:
        found = [_share_of(share, model, line) for line in lines(home / name)]
        if row["proved"]:
            wrong += [f"{name}: line {i}" for i, s in enumerate(found, 1) if s < 1]
        elif not found or abs(sum(found) / len(found) - row[stated]) > SLIGHT:
            wrong.append(f"{name}: {stated} is not {row[stated]:.4f}")
    return Checked(home.name, verdict, gpt2, count, len(found), tuple(wrong))


def _check_form(model: Model, form: str, place: Path, words: int, proved: bool) -> int:
    """How many words an export answered rightly.

    Raises:
        KrohnError: If it is not that of the network, or an answer is wrong.
    """
    to = destination(form)
    if form != "gpt2":
        to.proved(model.file, place)
    if not proved:
        return 0
    return run(model.file, to, place, words, 0, lambda *_: None).words


def _share_of(share: Share, model: Model, row: Any) -> float:
    """The share of right answers; none of a damaged line is."""
    try:
        return share(model, row)
    except (KrohnError, LookupError, TypeError, ValueError):
        return 0.0
