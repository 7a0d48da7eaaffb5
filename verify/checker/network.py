"""The whole proof: a model file and its evidence."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.program import strict_json
from krohn.program.errors import Refused, demand
from krohn.program.files import read_bytes
from krohn.verify.checker.established import Established, judge
from krohn.verify.checker.model_file import LARGEST_FILE, Machine, Model, names, read
from krohn.verify.checker.registry import reader, reader_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from krohn.verify.checker.gpt2 import Files


class Evidence(dict[str, Any]):
    """An object of evidence, which says what is missing in it."""

    def __missing__(self, name: str) -> Any:
        raise Refused(
            f"the evidence has no {name!r}, which the proof needs: make it anew with "
            "krohn verify --evidence"
        )


READ = ("source", "program")
"""The parts of a header of which a proof must have read each key."""


class Read(dict[str, Any]):
    """An object of a header, which knows the keys of it that a rule has read.

    Whoever goes through all of them has read none: that refuses a file, and lets none in.
    """

    def __init__(self, stated: Any) -> None:
        demand(type(stated) is dict, "the file does not say what it is about")
        super().__init__(stated)
        self.read: set[str] = {"name"}
        """What it is called is a label, and about nothing."""

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """What stands under a key; if there is none, the default."""
        self.read.add(key)
        return super().get(key, default)


def recheck(
    data: "bytes | Files", evidence: bytes, machine: Machine | None = None
) -> Established:
    """The statement that a model file and its evidence prove.

    Args:
        data: The model file, or the files of a GPT-2.
        evidence: The evidence, as JSON.
        machine: What it must compute; that of the file's own header if absent.

    Returns:
        What was established.

    Raises:
        Refused: If that does not show that the network computes the machine from its
            start state, on every word of up to T letters, of any length if it is an RNN,
            in the format of the file; or, of a generator, that it says the law of the
            next letter on legal prefixes.
    """
    try:
        with np.errstate(all="ignore"):  # what is not a number fails every demand
            said = strict_json.read(evidence, objects=Evidence)
            demand(said["format"] == "krohn-evidence", "this is no evidence")
            demand(said["version"] == 1, "the evidence has an unknown version")
            demand(
                said["model"] == digest(data), "the evidence is for another model file"
            )
            return established(opened(data), said, machine)
    except Refused:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise Refused(f"the evidence cannot be followed ({reason})") from None


def contents(path: Path) -> "bytes | Files":
    """The bytes of a model file, or the files of the directory of a GPT-2."""
    if not path.is_dir():
        return read_bytes(path, LARGEST_FILE)
    from krohn.verify.checker.gpt2 import Files  # no other file rests on it

    return Files.of(path)


def opened(data: "bytes | Files") -> Model:
    """A model file from its bytes, or a GPT-2 from its files.

    Raises:
        Refused: If it is damaged.
    """
    if isinstance(data, bytes):
        return undisguised(read(data))
    from krohn.verify.checker import gpt2  # no other file rests on it

    return gpt2.read(data)


def undisguised(model: Model) -> Model:
    """The network that a file is proved by: in a disguised one a plain one beside it."""
    if "disguise" not in model.header["architecture"]:
        return model
    from krohn.verify.checker import disguise  # no other file rests on it

    return disguise.plain(model)


def digest(data: "bytes | Files") -> str:
    """The digest by which evidence names a model file, or the files of a GPT-2."""
    return hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else data.digest


def established(
    model: Model,
    said: Any,
    machine: Machine | None,
    progress: "Callable[[Established], None] | None" = None,
) -> Established:
    """The statement that is proved of a network, if its file claims no more.

    Args:
        model: The model.
        said: The evidence.
        machine: What it must compute; that of its own header if absent.
        progress: Called after each step of the proof of a Transformer's Program, with all
            that is shown up to there.

    Raises:
        Refused: If nothing is shown, or less than is claimed; other errors, too, if the
            evidence is damaged.
    """
    stated, claim = model.header, model.header["claim"]
    parts = {part: Read(stated[part]) for part in READ if part in stated}
    header: dict[str, Any] = {**stated, **parts}
    about = "source" in header
    if about:
        alone = machine is None and "machine" not in header
        demand(alone, "the file claims to compute no machine")
        demand(header["version"] >= 5, "this version is for machines only")
        called = stated["source"].get("name", "")
        demand(type(called) is str, "what a source is called is no text")
    followed = model.gain == 1 or bool(stated.get("program", {}).get("channels"))
    demand(followed, "no rule is about scores of such a network that are multiplied")
    exact = claim.get("kind", "exact") == "exact"
    demand(exact or about, "a claim of a wrong kind")
    name = reader_of(header)
    told = {"progress": progress} if name == "transformer" else {}
    length = model.length
    found: Established = reader(name)(
        model._replace(header=header), said, machine, **told
    )
    _check_read(header)
    demand(found.length == length, "the claim is about another length")
    judge(found, header, said)
    return found


def _check_read(header: dict[str, Any]) -> None:
    """Refuse a key that no rule has read, and another number of names than outputs."""
    for part in (part for part in READ if part in header):
        left = ", ".join(sorted(header[part].keys() - header[part].read))
        demand(not left, f"no rule looks at the {left} of such a {part}")
    if "classes" in header.get("source", ()):
        each = len(names(header["source"], "classes"))
        right = each == header["architecture"]["outputs"]
        demand(right, "the file does not name each output")
