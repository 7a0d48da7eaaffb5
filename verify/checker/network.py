"""The whole proof: a model file and its evidence."""

import hashlib
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krohn.program import strict_json
from krohn.program.claim import Claim
from krohn.program.errors import Refused, demand
from krohn.program.files import read_bytes
from krohn.verify.checker.established import Established, judge
from krohn.verify.checker.model_file import (
    LARGEST_FILE,
    Files,
    Machine,
    Model,
    names,
    read,
)
from krohn.verify.checker.registry import (
    foreign_checkers,
    reader,
    reader_of,
    rule,
)
from krohn.verify.checker.verdict import Proved, Speaker

if TYPE_CHECKING:
    from collections.abc import Callable


class Evidence(dict[str, Any]):
    """An object of evidence, which says what is missing in it."""

    def __missing__(self, name: str) -> Any:
        raise Refused(
            f"the evidence has no {name!r}, which the proof needs: make it anew with "
            "krohn verify --evidence"
        )


def recheck(
    data: bytes | Files,
    evidence: bytes,
    machine: Machine | None = None,
    claim: Claim | None = None,
) -> Established:
    """The statement that a model file and its evidence prove.

    Args:
        data: The model file, or the files of a GPT-2.
        evidence: The evidence, as JSON.
        machine: What it must compute; that of the file's own header if absent.
        claim: Of a file that states this machine, with its names.

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
            content = strict_json.read(evidence, objects=Evidence)
            demand(content["format"] == "krohn-evidence", "this is no evidence")
            demand(content["version"] == 1, "the evidence has an unknown version")
            demand(
                content["model"] == digest(data),
                "the evidence is for another model file",
            )
            return check_claim(open_model(data), content, machine, claim=claim)
    except (Refused, MemoryError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise Refused(f"the evidence cannot be followed ({reason})") from None


def contents(path: Path) -> bytes | Files:
    """The bytes of a model file, or the files of the directory of a GPT-2."""
    if not path.is_dir():
        return read_bytes(path, LARGEST_FILE)
    files: Files = rule("directory").Files.of(path)
    return files


def open_model(data: bytes | Files) -> Model:
    """A model file from its bytes, or a GPT-2 from its files.

    Raises:
        Refused: If it is damaged.
    """
    if isinstance(data, bytes):
        return strip_disguise(read(data))
    model: Model = rule("directory").read(data)
    return model


def strip_disguise(model: Model) -> Model:
    """The network that a file is proved by: in a disguised one a plain one beside it.

    Of a pruned Transformer masks are taken off first.
    """
    if getattr(model.claim.architecture, "masks", None) is not None:
        model = rule("masks").take_off(model)
    if getattr(model.claim.architecture, "disguise", None) is None:
        return model
    plain: Model = rule("disguise").plain(model)
    return plain


def digest(data: bytes | Files) -> str:
    """The digest by which evidence names a model file, or the files of a GPT-2."""
    return hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else data.digest


def check_claim(
    model: Model,
    said: Any,
    machine: Machine | None,
    progress: "Callable[[Established], None] | None" = None,
    claim: Claim | None = None,
) -> Established:
    """The statement that is proved of a network, if its file claims no more.

    Args:
        model: The model.
        said: The evidence.
        machine: What it must compute; that of its own header if absent.
        progress: Called after each step of the proof of a Transformer's Program, with all
            that is shown up to there.
        claim: Of a file that states the machine, with its names; by default its own, and
            then the machine is that of its header.

    Raises:
        Refused: If nothing is shown, or less than is claimed; other errors, too, if the
            evidence is damaged.
    """
    own, model = model.claim, replace(model)
    demand(own.dtype == model.format.name, "the tensors have another format")
    demand(own.of_machine or machine is None, "the file claims to compute no machine")
    if machine is None or claim is None:
        _check_own(model, machine)
        claim = own
    alike = (own.sense, own.inputs, own.dtype) == (
        claim.sense,
        claim.inputs,
        claim.dtype,
    )
    demand(alike, "the machine is claimed for other inputs than those of the file")
    followed = model.gain == 1 or bool(model.header.get("program", {}).get("channels"))
    demand(followed, "no rule is about scores of such a network that are multiplied")
    name = reader_of(model)
    options = {"progress": progress} if name == "transformer" else {}
    statement: Established = reader(name)(model, said, machine, **options)
    _check_read(model)
    demand(
        statement.inputs == claim.inputs, f"what is shown is about {statement.inputs}"
    )
    judge(statement, claim, said)
    error = statement.error if statement.error < inf else 0.0
    others = foreign_checkers(model)
    proved = Proved(claim, Speaker.RULES, error, statement.margin, others)
    return replace(statement, proved=proved)


def _check_own(model: Model, machine: Machine | None) -> None:
    """Refuse another machine than that of a file, whose claim would be said to hold."""
    if machine is not None:
        named = "transitions" in model.header.get("machine", {})
        demand(named, "the file is about no machine, and no other claim is given")
        own = model.machine
        alike = machine.start == own.start
        alike &= np.array_equal(machine.transitions, own.transitions)
        alike &= np.array_equal(machine.shows, own.shows)
        demand(alike, "the claim of the file is about another machine")


def _check_read(model: Model) -> None:
    """Refuse a key that no rule has read, and another number of names than outputs."""
    parts = {} if model.claim.of_machine else {"source": model.source}
    parts |= {"program": model.program} if "program" in model.header else {}
    for part, stated in parts.items():
        left = ", ".join(stated.left())
        demand(not left, f"no rule looks at the {left} of such a {part}")
    if "classes" in parts.get("source", ()):
        each = len(names(model.source, "classes"))
        right = each == vars(model.claim.architecture)["outputs"]
        demand(right, "the file does not name each output")
