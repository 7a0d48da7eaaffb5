"""Asking the kernel: a program beside Python that says whether a file keeps its claim."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from krohn.program.claim import Claim
from krohn.program.errors import KrohnError, demand
from krohn.verify.checker.verdict import Proved, Speaker

NAME = "krohn-kernel"
BUILT = Path(__file__).parent / "build" / NAME
"""Where `make kernel` puts it."""
MOST_SECONDS = 3600
"""The most seconds of CPU. The kernel counts its steps, and ends long before."""
INSTALL = "`make kernel` in a checkout builds it (docs/kernel.md)"
PROVED = "proved: "
"""How the line of a kernel begins that has proved a claim."""


@dataclass(frozen=True)
class Answer:
    """What the kernel says of a file.

    Attributes:
        proved: Whether the claim of the file is proved.
        text: Its one line.
    """

    proved: bool
    text: str

    def verdict(self, claim: Claim, margin: float) -> Proved:
        """The claim of the file as proved by the kernel.

        Args:
            claim: That of the file.
            margin: How far the rules have shown the right logit to be ahead, or 0.

        Raises:
            Refused: If the kernel does not say it.
        """
        demand(self.proved, self.text)
        return Proved(claim, Speaker.KERNEL, 0.0, margin)


def find_kernel(given: str | None = None) -> Path | None:
    """The program: the one that is given, built in this checkout, or installed.

    Raises:
        KrohnError: If the given one does not exist.
    """
    if given is not None:
        path = Path(given)
        if not os.access(path, os.X_OK) or path.is_dir():
            raise KrohnError(
                f"--kernel {given}: there is no such program; say auto, require, none, or "
                f"the path of a kernel ({INSTALL})"
            )
        return path.absolute()
    beside = Path(sys.executable).parent / NAME
    there = next((x for x in (BUILT, beside) if os.access(x, os.X_OK)), None)
    on_path = shutil.which(NAME)
    return there or (Path(on_path) if on_path else None)


def ask(kernel: Path, model: bytes, evidence: dict[str, Any]) -> Answer:
    """Ask the kernel whether a model file keeps its claim.

    Args:
        kernel: The program.
        model: The bytes of the file.
        evidence: What `krohn.verify.kernel.evidence.find_kernel_evidence` gives.

    Raises:
        KrohnError: If the program cannot be run, or is no kernel.
    """
    code, text = run(kernel, model, evidence)
    if code == 0 and not text.startswith(PROVED):
        raise KrohnError(f"{kernel} is no kernel: it does not say what it has proved")
    return Answer(code == 0, text)


def run(
    kernel: Path, model: bytes, evidence: dict[str, Any], *options: str
) -> tuple[int, str]:
    """The exit status of the kernel, and what it prints.

    It is given copies of what was read, which nobody else may change meanwhile.

    Raises:
        KrohnError: If the program cannot be run, or ends by a signal.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="krohn-") as folder:
        path, told = Path(folder, "model.safetensors"), Path(folder, "evidence.json")
        path.write_bytes(model)
        told.write_text(json.dumps(evidence, separators=(",", ":")), encoding="utf-8")
        try:
            done = subprocess.run(
                [kernel, *options, path, told],
                capture_output=True,
                text=True,
                check=False,
                preexec_fn=_limit_seconds,
            )
        except OSError as error:
            raise KrohnError(f"{kernel} cannot be run: {error.strerror}") from None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return (
            2,
            f"cannot decide: the kernel was stopped (it has {MOST_SECONDS:,} s of CPU)",
        )
    if done.returncode not in (0, 1, 2):
        raise KrohnError(f"{kernel} ended with {done.returncode}; please report it")
    return done.returncode, (done.stdout or done.stderr).strip()


def _limit_seconds() -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = MOST_SECONDS if hard < 0 else min(MOST_SECONDS, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
