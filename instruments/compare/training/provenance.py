"""The facts that a run depends on: random streams, devices, settings, versions."""

import hashlib
import json
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import IntEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.instruments.compare.tasks.sources import source_in_form
from krohn.program.errors import Refused
from krohn.program.extras import import_folder
from krohn.program.quoting import kind_of_value

# Random numbers of a run: a function of seed, step and purpose, and of nothing else.
#
# So a run that goes on needs no state of a generator, and the draws of one part (a
# longer evaluation, a regulariser) change nothing for the others. Whoever measures
# networks draws from here too, or from a large seed: numpy's generators of a number, of
# (number, 0) and of (number, 0, 0) are one, so a small seed alone gives the words of a
# run's first step.


MOST = 2**32
"""A seed is one word of what seeds a generator; a step is the next one."""


class Purpose(IntEnum):
    """The purpose of random numbers; words to train on come from ``(seed, step)``."""

    WORDS = 0
    SHIFT = 1
    DROPOUT = 2
    REGULARISER = 3
    EVALUATION = 4
    PROBES = 5
    MEASURES = 6


def stream(seed: int, step: int, purpose: Purpose) -> np.random.Generator:
    """The random numbers of a step of a run."""
    return np.random.default_rng((seed, step, purpose))


def dropout_seed(seed: int, step: int) -> int:
    """The seed of torch's generator before a step."""
    words = np.random.SeedSequence((seed, step, Purpose.DROPOUT))
    return int(words.generate_state(1, np.uint64)[0] >> np.uint64(1))


def check_seed(seed: int) -> int:
    """A seed that can be used.

    Raises:
        KrohnError: If it is negative or needs more than 32 bits.
    """
    if not 0 <= seed < MOST:
        raise KrohnError(f"a seed is a whole number in 0..{MOST - 1}, not {seed}")
    return seed


def usable(name: str) -> torch.device:
    """A device on which torch can compute here.

    Raises:
        KrohnError: If there is none of this name.
    """
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError):  # the latter: a torch without CUDA
        raise KrohnError(
            f"torch cannot compute on {name!r} here; name a device that it has, as cpu"
        ) from None
    return device


# Dataclasses of plain values as JSON, and by a name that their content decides.


Json = Any


def describe(value: object) -> Json:
    """A value as JSON: machines, dataclasses, collections, plain values.

    Raises:
        KrohnError: If it holds anything else.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Automaton):
        return json_format.to_object(value)
    if hasattr(value, "to_wire"):
        return _source(value)
    if is_dataclass(value):
        content = {f.name: describe(getattr(value, f.name)) for f in fields(value)}
        return {"kind": type(value).__name__, **content}
    if isinstance(value, Mapping):
        return {str(key): describe(content) for key, content in value.items()}
    if isinstance(value, list | tuple):
        return [describe(content) for content in value]
    raise KrohnError(
        f"{kind_of_value(value)} has no description; tasks, architectures and recipes "
        "hold plain values only"
    )


def _source(value: Any) -> Json:
    """A model of a family by its name, which stands for all its numbers; else those."""
    wire = value.to_wire()
    try:
        named = source_in_form("beliefs", value.name)
    except Refused:
        named = None
    if named is not None and named.source.to_wire() == wire:
        return {"kind": wire["kind"], "name": value.name}
    return wire


def canonical_text(obj: Json) -> str:
    """JSON in the one form in which equal objects are equal texts."""
    return json.dumps(obj, sort_keys=True, separators=(",", ":"))


def content_name(obj: Json) -> str:
    """Sixteen digits that the content decides; among a million, two agree by 3e-8."""
    return hashlib.sha256(canonical_text(obj).encode()).hexdigest()[:16]


# The facts needed to get a number again: command, commit, versions, device, and date.


PACKAGES = ("krohn", "numpy", "torch", "transformers")
ROOT = import_folder()


def provenance(command: str, device: str, seconds: float) -> dict[str, object]:
    """How a result came about, as JSON.

    Args:
        command: That gives it again.
        device: Where torch computed.
        seconds: How long it took, in all sittings.
    """
    return {
        "command": command,
        "commit": commit(),
        "versions": versions(),
        "device": device_name(device),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
    }


def command() -> str:
    """The command that started this process, without the folders of this machine."""
    script = Path(sys.argv[0] or "python").absolute()
    if script.name == "__main__.py":
        return shlex.join(["python", "-m", script.parent.name, *sys.argv[1:]])
    here = script.is_relative_to(Path.cwd())
    name = script.relative_to(Path.cwd()) if here else script.name
    return shlex.join([str(name), *sys.argv[1:]])


def commit() -> str | None:
    """Of the source that runs, with a plus if files have changed since; None if unknown.

    Tables of results change when a sweep adds to them, which is no change of the source.
    """
    if not (ROOT / ".git").exists():
        return None
    try:
        revision = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", ":!results")
    except (OSError, subprocess.SubprocessError):
        return None
    return revision + "+" * bool(changed)


def versions() -> dict[str, str]:
    """Of Python and of the packages that take part."""
    numbers = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            continue
    return numbers


def device_name(device: str) -> str:
    """The product name of a device."""
    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(device)
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else f"{platform.system()} {platform.machine()}"


def _git(*asked: str) -> str:
    done = subprocess.run(
        ["git", "-C", ROOT, *asked], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
