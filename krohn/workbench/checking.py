"""Checking the set again: the proofs, the exports and the interchange interventions."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from krohn import evidence
from krohn.algebra.errors import KrohnError
from krohn.exporting import run
from krohn.intervention import Intervention, held_by, run_changed
from krohn.network import modelfile
from krohn.network.exports import destination
from krohn.network.model import said
from krohn.open_model import Model
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.report import Progress, silent
from krohn.verification import verify
from krohn.workbench.making import (
    EVIDENCE,
    FORMAT,
    FORMS,
    INDEX,
    MODEL,
    PAIRS,
    VERSION,
    WORDS,
)

LARGEST = 2**28
Holds = Callable[[Model, dict[str, Any]], bool]


@dataclass(frozen=True)
class Checked:
    """A network of the set, checked again.

    Attributes:
        name: Its folder.
        verdict: Of the small checker, on the model file and its evidence.
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
    directory: str | Path, *, words: int = 1_000, progress: Progress | None = None
) -> list[Checked]:
    """Verify a set again.

    Every model file is checked with its evidence, and every GPT-2 directory is proved
    from what is on disk. The tensors of the other forms are those of the model file, so
    that its proof holds there; and they answer adversarial words as it does.
    Listed words and interchange interventions are run.

    Args:
        directory: What `make` wrote.
        words: How many words to run through each form; fewer of long words.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If it is no such directory.
    """
    home, report = Path(directory), progress or silent
    names = _names(home)
    found = []
    for i, name in enumerate(names):
        report(name, i, len(names))
        found.append(_check(home / name, words))
    return found


def _names(home: Path) -> list[str]:
    try:
        told = strict_json.read(read_bytes(home / INDEX, LARGEST))
        if (told["format"], told["version"]) != (FORMAT, VERSION):
            raise ValueError("another format")
        names = [str(each["name"]) for each in told["models"]]
        if any(Path(name).name != name for name in names):
            raise ValueError("a folder elsewhere")
        return names
    except (ValueError, LookupError, TypeError, KrohnError):
        raise KrohnError(
            f"{home / INDEX} is no list of a workbench; `krohn workbench DIR` makes one"
        ) from None


def _check(home: Path, words: int) -> Checked:
    checked = evidence.check(home / MODEL, home / EVIDENCE)
    wrong = [] if checked.verdict == "verified" else [f"proof: {checked.reason}"]
    model, count, gpt2 = Model(modelfile.read(home / MODEL)), 0, None
    for form in FORMS:
        place = home / form
        if not place.is_dir():
            continue
        if form == "gpt2":
            proof = verify(place, proof=True)
            gpt2 = proof.verdict
            wrong += [] if gpt2 == "verified" else [f"gpt2: {proof.reason}"]
        try:
            if form != "gpt2":
                destination(form).proved(model.file, place)
            ran = run(model.file, destination(form), place, words, 0, lambda *_: None)
            count += ran.words
        except (KrohnError, LookupError, OSError, SafetensorError) as error:
            wrong.append(f"{form}: {error}")
    pairs = 0
    for name, holds in ((WORDS, _answers), (PAIRS, _answers_changed)):
        for i, row in _lines(home / name):
            pairs += name == PAIRS
            if not _is_true(holds, model, row):
                wrong.append(f"{name}: line {i}")
    return Checked(home.name, checked.verdict, gpt2, count, pairs, tuple(wrong))


def _is_true(holds: Holds, model: Model, row: Any) -> bool:
    """Whether a line is as it should be; a damaged one is not."""
    try:
        return holds(model, row)
    except (KrohnError, LookupError, TypeError, ValueError):
        return False


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = read_bytes(path, LARGEST).decode("utf-8", "replace")
    for i, line in enumerate(text.splitlines(), 1):
        try:
            yield i, json.loads(line)
        except ValueError:
            raise KrohnError(f"{path}:{i}: no JSON") from None


def _answers(model: Model, row: dict[str, Any]) -> bool:
    with torch.inference_mode():
        logits = model(model.encode(row["word"]))[0, row["from"] - 1 :]
    return list(said(logits, model.classes)) == list(row["answers"])


def _answers_changed(model: Model, row: dict[str, Any]) -> bool:
    tokens = model.encode(row["base"])
    change = Intervention(row["variable"], int(row["position"]), int(row["value"]))
    held = held_by([change], (1, tokens.shape[1] + 1))
    with torch.inference_mode():
        logits, _ = run_changed(model, tokens, held)
    return list(said(logits[0], model.classes)) == list(row["answers"])
