"""Networks as GPT-2s: what is on disk is proved, not what was meant to be written."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.architectures.gpt2 import check as gpt2
from krohn.checks import Checks, check_digest
from krohn.network.export_card import exported_for
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program import strict_json
from krohn.report import Progress, Report, silent
from krohn.verification_target import Target, open_target
from krohn.verify.checker.model_file import Model
from krohn.verify.proof import Verdict

WHOLE = "the right token is ahead of all others of the vocabulary"
CALLED = "the directory of a GPT-2, which is proved"
TAKES = (
    *("file", "machine", "start", "complete", "kind"),
    *("proof", "evidence", "trusted", "digest", "kernel", "as_json"),
)
"""The options of `krohn verify` that such a directory can take."""


@dataclass(frozen=True)
class Opened:
    """A directory that was read.

    Attributes:
        files: What a GPT-2 is made of.
        model: The strict network in it, for the checker.
        file: The same as a model file.
    """

    files: gpt2.Files
    model: Model
    file: ModelFile

    def make_target(
        self,
        machine: object,
        observe: str | None = None,
        progress: Progress = silent,
    ) -> Target:
        """Ready to be held against a machine; None for the one that it states.

        Raises:
            KrohnError: If the alphabets do not fit.
        """
        tokenizer = self.model.tokenizer
        return open_target(self.file, machine, observe, progress, tokenizer)


def is_export(path: object) -> TypeGuard[str | Path]:
    """Whether a model is a directory with a file of a GPT-2 that Krohn wrote."""
    if not isinstance(path, str | Path):
        return False
    title = exported_for(path)  # other places have files of these names, too
    mine = not title or title.startswith("GPT-2")
    return mine and any(os.path.isfile(os.path.join(path, name)) for name in gpt2.NAMES)


def open_directory(directory: str | Path) -> Opened:
    """Read the directory of a GPT-2.

    Raises:
        KrohnError: If it is none that Krohn has written, or is damaged.
    """
    try:
        files = gpt2.Files.of(Path(directory))
        with np.errstate(all="ignore"):
            model = gpt2.read(files)
        header = strict_json.read(files.config)["krohn"]["model"]
        file = ModelFile(header, model.tensors, PRECISIONS[model.format.name])
    except KrohnError as error:
        raise KrohnError(
            f"{directory} is no GPT-2 that can be proved: {error}"
        ) from None
    return Opened(files, model, file)


def verify_directory(directory: str | Path, checks: Checks) -> Report:
    """Decide by proof whether the GPT-2 in a directory computes a machine.

    Args:
        directory: What `krohn export --to gpt2` wrote.
        checks: What it must compute; by default the machine that the directory names.

    Raises:
        KrohnError: If it is no such directory, words are to be run, the alphabets do not
            fit, or its claim has another digest.
    """
    others = "exhaustive", "sample", "observe", "length", "sharding"
    if checks.has_any_option(*others) or checks.proof is False:
        raise KrohnError(
            "a GPT-2 is proved; words are run by `krohn export`, and by its own library"
        )
    contents = open_directory(directory)
    target = contents.make_target(checks.machine, None, checks.report)
    check_digest(target.claim, checks.digest)
    done = target.prove(target.report("proving"), contents.model)
    # Nothing is run here, so a wrong Program is no wrong network yet.
    proved = done.verdict == "verified"
    verdict: Verdict = "verified" if proved else "undecided"
    details = target.length, 0, done.proved
    report = Report(verdict, "proof", done.reason, *details, proof=done)
    notes = *target.notes, *([WHOLE] if proved else [])
    return replace(report, about=target.claim, notes=notes)
