"""The facts needed to get a number again: command, commit, versions, device, and date."""

import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

PACKAGES = ("krohn", "numpy", "torch", "transformers")
ROOT = Path(__file__).resolve().parents[2]


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
        found = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", ":!results")
    except (OSError, subprocess.SubprocessError):
        return None
    return found + "+" * bool(changed)


def versions() -> dict[str, str]:
    """Of Python and of the packages that take part."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


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
