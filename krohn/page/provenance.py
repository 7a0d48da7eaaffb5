"""What is needed to do it again: the command, the versions, and the bytes of the file."""

import hashlib
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import krohn
from krohn.network.modelfile import LARGEST_FILE
from krohn.program.files import read_bytes
from krohn.replaying import quoted

PACKAGES = ("numpy", "torch", "safetensors", "ml-dtypes")
SOLVER = "z3-solver"


@dataclass(frozen=True)
class Provenance:
    """How a verdict came about.

    Attributes:
        command: A shell command.
        file: The name of the model file.
        size: In bytes.
        sha256: Of its bytes.
        versions: Of what took part, by name.
    """

    command: str
    file: str
    size: int
    sha256: str
    versions: dict[str, str]


def provenance(file: str, arguments: Sequence[str], method: str) -> Provenance:
    """The provenance of what ``krohn`` says of a model file.

    Raises:
        KrohnError: If the file cannot be read.
    """
    data = read_bytes(file, LARGEST_FILE)
    solver = [SOLVER] if method in ("smt", "gadgets") else []
    return Provenance(
        command(arguments),
        file,
        len(data),
        hashlib.sha256(data).hexdigest(),
        {"krohn": krohn.__version__, **dict(_versions([*PACKAGES, *solver]))},
    )


def command(arguments: Sequence[str]) -> str:
    """A command with its arguments, as a shell reads it."""
    try:
        return " ".join(map(quoted, ["krohn", *arguments]))
    except ValueError:
        return "krohn, with arguments that no command line can hold"


def _versions(packages: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    yield "machine", f"{platform.system()} {platform.machine()}"
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
