"""Evidence files: writing what the small checker can check, and checking it."""

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import output_classes
from krohn.checks import AnotherClaim, check_digest
from krohn.foreign import directory_reader, is_trained, names_machine
from krohn.network import modelfile
from krohn.network.modelfile import ModelFile
from krohn.network.precision import one_thread
from krohn.program import strict_json
from krohn.program.claim import Claim
from krohn.program.errors import Refused, demand, told_as
from krohn.program.files import read_bytes
from krohn.program.slices import needed_part
from krohn.program.writing import atomic_write
from krohn.report import Report
from krohn.source_kinds import of_file
from krohn.source_kinds.base import SourceKind
from krohn.verification_target import Target, open_target
from krohn.verify import trusted
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import digest as digest_of, recheck
from krohn.verify.checker.verdict import Proved, Speaker
from krohn.verify.kernel.trusted_files import kernel_rests
from krohn.verify.proof import Proof, steps
from krohn.verify.search.find import for_file, machine_of
from krohn.verify.trusted import Rests

if TYPE_CHECKING:
    from krohn.architectures.gpt2.check import Files

LARGEST = 2**30


@dataclass(frozen=True)
class Checked:
    """The result of the small checker.

    Attributes:
        about: What the evidence is about, with the digest of the whole claim.
        verdict: ``verified``, or ``undecided``: the evidence does not show the claim.
        reason: Why it is not verified.
        proved: The claim that was shown; None if it is not verified.
        facts: Length, format, margin of the read-out, noise of channels, leaks of heads.
        seconds: How long checking took.
        found_in: How long the proof took that found it; None if the evidence was there.
        size: Bytes of evidence.
    """

    about: Claim
    verdict: str
    reason: str
    facts: dict[str, Any]
    proved: Proved | None
    seconds: float
    found_in: float | None
    size: int

    def to_object(self) -> dict[str, Any]:
        """As ``krohn recheck --json`` prints it."""
        subject = {"about": self.about.to_object(), "digest": self.about.digest}
        own = {key: value for key, value in vars(self).items() if key != "proved"}
        return {**own, **subject, "seconds": round(self.seconds, 3)}


def rests_on(found: Report, path: str | Path) -> Rests:
    """The files and lines that a proof rests on.

    They are those of the kernel if it has spoken; else the small checker runs alone.

    Args:
        found: What verification of the file came to, beside no other machine.
        path: The model file, or the directory of a GPT-2.

    Raises:
        KrohnError: If there is no proof, or the checker alone does not confirm it.
    """
    if isinstance(found.ground, Proved) and found.ground.by is Speaker.KERNEL:
        architecture = found.ground.claim.architecture
        assert architecture is not None
        return kernel_rests(architecture.kind)
    evidence = for_file(_model(path), _proof_of(found, path).told)
    with told_as(about=f"{path}: "):
        return trusted.rests_on(path, _text(evidence).encode())


def _proof_of(found: Report, path: str | Path) -> Proof:
    """The proof of a report.

    Raises:
        KrohnError: If there is none.
    """
    if found.proof is None or found.verdict != "verified":
        asked = "evidence is that of a proof; say --proof as well"
        why = found.reason if found.proof else asked
        raise KrohnError(
            f"{path} is {found.verdict}, so there is no evidence to write: {why}"
        )
    return found.proof


def write(
    found: Report,
    path: str | Path,
    out: str | Path,
    machine: Automaton | None = None,
    observe: str | None = None,
) -> Checked:
    """Write the evidence that a proof has found, once the small checker has checked it.

    Args:
        found: What verification came to.
        path: The model file.
        out: The file to write; nothing is written if the evidence is not confirmed.
        machine: What the model must compute; by default what its file names.
        observe: What to see of the machine, for models that say outputs.

    Raises:
        KrohnError: If the model was not proved, if the small checker cannot be shown the
            claim, or if the file cannot be read or written.
    """
    proof = _proof_of(found, path)
    data, expected = _read(path, machine, observe)
    evidence = for_file(data, proof.told)
    checked, shown = _check(data, _text(evidence).encode(), expected)
    if shown is None:
        raise KrohnError(
            f"the small checker does not confirm the evidence: {checked.reason}; "
            "nothing was written"
        )
    text = _text(evidence | {"record": _record(evidence, shown)})
    atomic_write(out, text)
    found_in = round(proof.seconds, 3)
    return replace(checked, found_in=found_in, size=len(text))


def _text(evidence: dict[str, Any]) -> str:
    return json.dumps(evidence, sort_keys=True, separators=(",", ":")) + "\n"


def _record(evidence: dict[str, Any], shown: Established) -> dict[str, Any]:
    """The facts that a proof established, for people.

    The small checker does not read them.
    """
    form = shown.form
    return {
        "dtype": form.name,
        "unit roundoff": form.unit,
        "unit roundoff of sums": form.sum_unit,
        "steps": steps(shown, evidence),
    }


def check(
    path: str | Path,
    evidence: str | Path,
    machine: Automaton | str | None = None,
    observe: str | None = None,
    digest: str | None = None,
) -> Checked:
    """Check evidence again.

    Args:
        path: The model file.
        evidence: The evidence.
        machine: What the model must compute, or the name of another source that it must
            be about; by default what its file names.
        observe: What to see of the machine, for models that say outputs.
        digest: Of the claim that it must be about, as in `krohn.verify`.

    Raises:
        AnotherClaim: If the claim has another digest, or the evidence shows what the file
            claims, and the machine that is asked for does something else.
        KrohnError: If a file cannot be read, the alphabets differ, or another kind of
            source is named.
    """
    data, expected = _read(path, machine, observe)
    evidence_bytes = read_bytes(evidence, LARGEST)
    check_digest(expected.claim, digest)
    result = _check(data, evidence_bytes, expected)[0]
    if result.verdict != "verified" and not _is_object(evidence_bytes):
        raise KrohnError(
            f"{evidence} is no evidence (it is not JSON); `krohn verify {path} "
            "--proof --evidence E.json` writes some"
        )
    if result.verdict != "verified" and machine is not None:
        _refuse_another_machine(path, evidence_bytes, expected.target)
    return result


def _refuse_another_machine(
    path: str | Path, evidence: bytes, asked: Target | None
) -> None:
    """Refuse evidence of what a file says itself, where another machine is asked for.

    Raises:
        AnotherClaim: If the two machines differ, as `krohn.verify` would refute it.
    """
    if asked is None or is_trained(path) or not names_machine(asked.file):
        return
    data, own = _read(path, None, None)
    apart = "" if own.target is None else asked.difference_from(own.target.machine)
    if apart and _check(data, evidence, own)[0].verdict == "verified":
        raise AnotherClaim(
            f"not verified: {apart}; the evidence shows what the file itself claims, "
            f"{own.claim.lines()[0]}"
        )


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(strict_json.read(text), dict)
    except ValueError:
        return False


def _check(
    data: "bytes | Files", evidence: bytes, held: "_Expected"
) -> tuple[Checked, Established | None]:
    """The result of a check, and the facts that it showed if it went through."""
    began, shown, reason = time.monotonic(), None, ""
    try:
        with one_thread():
            demand(not held.problem, held.problem)
            if held.file is not None:
                data, evidence = _move_evidence(data, evidence, held.file)
            shown = recheck(data, evidence, held.machine, held.claim)
    except Refused as refused:
        reason = str(refused)
    verdict, seconds = "verified" if shown else "undecided", time.monotonic() - began
    facts = shown.facts() if shown else {}
    proved = shown.proved if shown else None
    values = (verdict, reason, facts, proved, seconds, None, len(evidence))
    return Checked(held.claim, *values), shown


class _Expected(NamedTuple):
    """The expected subject of evidence: the machine, if it has one, and the whole claim.

    There may be a ``problem``, for which no evidence shows the claim. Of another source
    than the file's own, ``file`` claims it. Of a machine, ``target`` has it beside the
    file.
    """

    machine: Machine | None
    claim: Claim
    problem: str = ""
    file: ModelFile | None = None
    target: Target | None = None


def _move_evidence(
    data: "bytes | Files", evidence: bytes, claiming: ModelFile
) -> tuple[bytes, bytes]:
    """The bytes of a file that claims another source, and evidence about its network.

    Raises:
        Refused: If the evidence is for another network.
    """
    try:
        evidence_object = strict_json.read(evidence)
    except ValueError:
        evidence_object = None
    same = isinstance(evidence_object, dict) and evidence_object.get(
        "model"
    ) == digest_of(data)
    demand(same, "the evidence is for another model file")
    claimed = modelfile.pack(claiming.header, claiming.tensors)
    return claimed, _text({**evidence_object, "model": digest_of(claimed)}).encode()


def _read(
    path: str | Path, machine: Automaton | str | None, observe: str | None
) -> tuple["bytes | Files", _Expected]:
    """The bytes that evidence is about, and what is expected of these very bytes."""
    if (reader := directory_reader(path)) is not None:
        opened = reader.open_directory(path)
        return opened.files, _of_target(opened.make_target(machine, observe))
    data = _read_model(path, machine, observe)
    file = modelfile.parse(data, path)
    kind = of_file(file)
    if not isinstance(kind, SourceKind):
        seen = None if is_trained(path) else observe
        return data, _of_target(open_target(file, machine, seen))
    if observe is not None:
        raise KrohnError(f"{path} is not about a machine; leave --observe out")
    claimed = kind.claiming(file, machine)
    other = None if machine is None else claimed
    about, problem = claimed.claim, kind.problem(claimed)
    return data, _Expected(None, about, problem, other)


def _of_target(target: Target) -> _Expected:
    shows = output_classes(target.machine, target.file.claim.shows.value).of
    machine = machine_of(target.machine, shows)
    return _Expected(machine, target.claim, target.problem, target=target)


def _model(path: str | Path) -> "bytes | Files":
    """The bytes that evidence is about."""
    if (reader := directory_reader(path)) is not None:
        return reader.open_directory(path).files  # type: ignore[no-any-return]
    return _read_model(path)


def _read_model(
    path: str | Path, machine: object = None, observe: str | None = None
) -> bytes:
    """The bytes of a model file; of a trained network, those of one that is made of it."""
    file = _read_trained(path, machine, observe)
    if file is None:
        return modelfile.read_data(path)
    return modelfile.pack(file.header, file.tensors)


def _read_trained(
    path: str | Path, machine: object, observe: str | None
) -> ModelFile | None:
    """The model file of a trained recurrent network; None for other files."""
    if not is_trained(path):
        return None
    # torch, which no other proof needs
    model_file = needed_part("recurrent networks", "a reader of recurrent networks")
    return model_file(path, machine, observe)  # type: ignore[no-any-return]
