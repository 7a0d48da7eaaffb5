"""Proving that the tensors of a model file compute a machine, for all words up to T.

The proof reads tensors and the machine, nothing else: not the code that made the weights
and not the code that runs them.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import MachineError
from krohn.algebra.minimisation import Shown, output_classes
from krohn.network.modelfile import ModelFile
from krohn.network.precision import one_thread
from krohn.program.claim import Claim, Sense
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64
from krohn.verify.checker.established import Established
from krohn.verify.checker.heads import Look
from krohn.verify.checker.model_file import Model, check_numbers
from krohn.verify.checker.verdict import Proved
from krohn.verify.errors import Rejected, WrongWord
from krohn.verify.search.find import (
    Watch,
    claims,
    machine_of,
    measure_proof,
    model_of,
    search,
)

# The established steps of a proof, for people.


def steps(found: Established, evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """JSON values, one for each step of the proof.

    Of a Transformer these are its Program, or how errors are measured, the embedding,
    every sublayer and the read-out, as far as it came.

    Args:
        found: What the checker saw.
        evidence: What it was told.
    """
    last: dict[str, Any] = {"error": found.error} if found.error < inf else {}
    if found.margin:
        last["margin"] = found.margin
    if not found.streams and not found.readings:
        return [{**found.told, **last}]
    first = {**found.told}
    if found.readings:
        first = program_summary(evidence.get("program", {}), found.readings)
    embedding = [{"sublayer": "embedding"}][: len(found.streams)]
    read_out = [{"sublayer": "read-out", **last}] if last else []
    return [first, *embedding, *_sublayers(found), *read_out]


def program_summary(
    evidence: Mapping[str, Any], readings: Mapping[tuple[int, ...], int]
) -> dict[str, Any]:
    """The number of abstract states by which a Program was followed, and of its outputs."""
    counts = {"readings": len(readings)}
    if "parts" in evidence:
        states = sum(len(part["states"]) for part in evidence["parts"])
        counts = {"parts": len(evidence["parts"]), "states": states, **counts}
    return {"program": counts}


def _sublayers(found: Established) -> Iterator[dict[str, Any]]:
    for snapshot, stream in enumerate(found.streams[1:], start=1):
        kind = "attention" if snapshot % 2 else "mlp"
        channels = [
            {"channel": name, "noise": float(noise.max()), **_look(found.looks, name)}
            for name, noise in stream.noise.items()
            if stream.program.channels[name].born == snapshot
        ]
        yield {"sublayer": f"{kind} {(snapshot - 1) // 2}", "channels": channels}


def _look(looks: Mapping[str, Look], name: str) -> dict[str, float]:
    if name not in looks:
        return {}
    look = looks[name]
    gap = min(look.gap, LARGEST_FLOAT64)  # JSON has no infinity
    return {"gap": gap, "leak": look.leak, "score_error": look.error}


Verdict = Literal["verified", "refuted", "undecided", "out-of-range"]
FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
)
"""Errors in which following a malformed file may end. Memory that runs out is none: that
is no property of a file, and ends the command."""


@dataclass(frozen=True)
class Proof:
    """The result of an attempt to prove a model.

    Attributes:
        verdict: ``verified``; ``undecided`` if a step could not be established; or
            ``refuted`` if the stated Program itself differs from the machine, with a
            word that the caller must replay on the network.
        reason: Why it is not verified; empty if it is.
        length: The longest word that is claimed; None if there is no limit.
        evidence: The established steps.
        word: A shortest word on which Program and machine differ, letter indices.
        seconds: How long it took.
        bounds: All that the small checker has shown; None unless verified.
        proved: The claim that the checker has shown; None unless verified.
        told: The evidence given to the small checker, with the bounds that it has shown:
            the content of an evidence file (`krohn.verify.search.find.for_file`). Empty
            unless verified.
        is_too_long: Whether its Program takes too many steps to be followed.
    """

    verdict: Verdict
    reason: str
    length: int | None
    evidence: list[dict[str, Any]] = field(default_factory=list)
    word: tuple[int, ...] | None = None
    seconds: float = 0.0
    bounds: Established | None = field(default=None, repr=False, compare=False)
    proved: Proved | None = None
    told: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    is_too_long: bool = False


def prove(
    file: ModelFile,
    machine: Automaton | None,
    progress: Callable[[int, int], None] | None = None,
    model: Model | None = None,
    claim: Claim | None = None,
) -> Proof:
    """Try to prove that a model computes a machine from its start state, or its source.

    Args:
        file: The model, which anybody may have written.
        machine: Its letters must be those of the file, in the same order; its states,
            or its outputs if the file claims to say these, are matched by position
            with the logits. None if the file is about another source.
        progress: Called with the number of steps done and in all.
        model: The model for the small checker, if not the tensors of the file.
        claim: Of a file that states the machine, with its names; by default its own.

    Returns:
        Never raises for a model that cannot be proved: the verdict says so.
    """
    began, length = time.monotonic(), None
    try:
        length = file.claim.length
        return prove_own(file, machine, progress, model, claim)
    except Refused as refused:  # of its claim
        reason = str(refused)
    except FAILURES as error:
        reason = f"the file cannot be followed ({type(error).__name__}: {error})"
    return Proof("undecided", reason, length, seconds=time.monotonic() - began)


def prove_own(
    file: ModelFile,
    machine: Automaton | None,
    progress: Callable[[int, int], None] | None = None,
    model: Model | None = None,
    claim: Claim | None = None,
) -> Proof:
    """Try to prove a model that the compiler made: an error in it is a fault of Krohn.

    The choice among networks goes by the refusals of the rules alone. So the same source
    gives the same network, or none, on every computer.

    Args:
        file: The model.
        machine: As for `prove`.
        progress: As for `prove`.
        model: As for `prove`.
        claim: As for `prove`.
    """
    began, length = time.monotonic(), file.claim.length
    last: tuple[dict[str, Any], Established] | None = None

    def watch(evidence: dict[str, Any], found: Established) -> None:
        nonlocal last
        last = evidence, found
        if progress is not None:
            done = 1 + len(found.streams) + (found.margin > 0)
            progress(done, 3 + 2 * len(file.architecture.blocks))

    try:
        # What is not a number fails every comparison.
        with one_thread(), np.errstate(all="ignore"):
            checked_model = model or model_of(file)
            result = _proof_of(file, checked_model, machine, watch, claim)
    except WrongWord as found:
        result = Proof("refuted", str(found), length, word=found.word)
    except Refused as refused:
        result = Proof("undecided", str(refused), length)
    except Rejected as refused:
        result = Proof("undecided", str(refused), length, is_too_long=True)
    if last is not None and result.verdict != "verified":
        evidence, shown_so_far = last
        result = replace(result, evidence=steps(shown_so_far, evidence))
    return replace(result, seconds=time.monotonic() - began)


def shown_of(file: ModelFile) -> Established:
    """The claim that the small checker shows of a file about a source that is no machine.

    Raises:
        Refused: If the file claims something else.
    """
    with one_thread(), np.errstate(all="ignore"):
        model = model_of(file)
        for name, values in model.tensors.items():
            check_numbers(name, values, model.format)
        return search(model, None)[1]


def _proof_of(
    file: ModelFile,
    model: Model,
    machine: Automaton | None,
    watch: Watch,
    claim: Claim | None,
) -> Proof:
    """A proof, from the evidence that the small checker accepts, with all bounds."""
    for name, values in model.tensors.items():
        check_numbers(name, values, model.format)
    brackets = file.claim.sense is Sense.LAWS
    own = None
    if machine is not None:
        own = machine_of(machine, None if brackets else _classes(file, machine).of)
    evidence, statement = search(model, own, watch, claim)
    established = steps(statement, evidence)
    if brackets and own is not None:
        established += measure_proof(model, own)
    return Proof(
        "verified",
        "",
        file.claim.length,
        established,
        bounds=statement,
        proved=statement.proved,
        told={**evidence, **claims(statement)},
    )


def _classes(file: ModelFile, machine: Automaton) -> Shown:
    """The classes that the logits stand for, as the file claims."""
    try:
        classes = output_classes(machine, file.claim.shows.value)
    except MachineError as error:
        raise Refused(str(error)) from None
    if file.architecture.outputs > len(classes.names):
        raise Refused(
            "the file has logits for states or outputs that the machine does not have"
        )
    return classes
