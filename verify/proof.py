"""Proving that the tensors of a model file compute a machine, for all words up to T.

The proof reads tensors and the machine, nothing else: not the code that made the weights
and not the code that runs them.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from algebra.automaton import Automaton
from algebra.errors import MachineError
from algebra.shown import SHOWS, Shown, shown
from network.modelfile import ModelFile
from program.errors import Refused
from program.statement import parse
from verify import transformer
from verify.errors import Rejected
from verify.evidence import meaning
from verify.evidence.longest import longest
from verify.evidence.opened import machine_of, model_of
from verify.evidence.record import followed, steps
from verify.recheck import generator, recurrent
from verify.recheck import meaning as checker
from verify.recheck.model import WrongWord
from verify.recheck.network import Established
from verify.statement import check_domains
from verify.statement import parse as parse_whole

Verdict = Literal["verified", "refuted", "undecided", "out-of-range"]
# What following a malformed file may end in.
FAILURES = (
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    MemoryError,
    RecursionError,
)


@dataclass(frozen=True)
class Proof:
    """What came of an attempt to prove a model.

    Attributes:
        verdict: ``verified``; ``undecided`` if a step could not be established; or
            ``refuted`` if the stated Program itself differs from the machine, with a
            word that the caller must replay on the network.
        reason: Why it is not verified; empty if it is.
        length: The longest word covered; None if there is no limit.
        evidence: What was established, step by step.
        word: A shortest word on which Program and machine differ, letter indices.
        seconds: How long it took.
        bounds: Every bound that the small checker has shown, if it was asked.
    """

    verdict: Verdict
    reason: str
    length: int | None
    evidence: list[dict[str, Any]] = field(default_factory=list)
    word: tuple[int, ...] | None = None
    seconds: float = 0.0
    bounds: Established | None = field(default=None, repr=False, compare=False)


def prove(
    file: ModelFile,
    machine: Automaton,
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Try to prove that a model computes a machine from its start state.

    Args:
        file: The model.
        machine: Its letters must be those of the file, in the same order; its states,
            or its outputs if the file claims to say these, are matched by position
            with the logits.
        progress: Called with the number of sublayers done and in all.

    Returns:
        Never raises for a model that cannot be proved: the verdict says so.
    """
    began = time.monotonic()
    established: list[dict[str, Any]] = []
    length = file.header["claim"].get("length")

    def report() -> None:
        if progress is not None:
            progress(len(established), _expected(file))

    try:
        with np.errstate(all="ignore"):  # what is not a number fails every comparison
            for step in _steps(file, machine):
                established.append(step)
                report()
        result = Proof("verified", "", length, established)
    except WrongWord as found:
        result = Proof("refuted", str(found), length, established, found.word)
    except (Rejected, Refused) as error:
        result = Proof("undecided", str(error), length, established)
    except FAILURES as error:
        reason = f"the file cannot be followed ({type(error).__name__}: {error})"
        result = Proof("undecided", reason, length, established)
    seconds = time.monotonic() - began
    return Proof(**{**result.__dict__, "seconds": seconds})


def _steps(file: ModelFile, machine: Automaton) -> Iterator[dict[str, Any]]:
    _check_numbers(file)
    yield from PROOFS[file.header["architecture"]["kind"]](file, machine)


def _generator(file: ModelFile, machine: Automaton) -> Iterator[dict[str, Any]]:
    model, own = model_of(file), machine_of(machine)
    found = generator.established(model, {}, own)
    yield from [*steps(found, {}), {"longest": longest(model, own)}]


def _rnn(file: ModelFile, machine: Automaton) -> Iterator[dict[str, Any]]:
    told = machine_of(machine, _classes(file, machine).of)
    yield from steps(recurrent.established(model_of(file), {}, told), {})


def _transformer(file: ModelFile, machine: Automaton) -> Iterator[dict[str, Any]]:
    length, classes = file.header["claim"].get("length"), _classes(file, machine)
    if type(length) is not int or length < 1:
        raise Rejected("the file claims no length")
    if length >= len(file.tensors["embed.position"]):
        raise Rejected("the file claims a length that it has no positions for")
    letters = len(machine.letters)
    if file.header["architecture"]["vocabulary"] != letters + 1:
        raise Rejected("the file has another number of letters than the machine")
    stated = file.header.get("program")
    if not isinstance(stated, dict):
        raise Rejected("the file does not say what its channels are")
    statement = parse_whole(stated, letters, length)
    reach = check_domains(statement)
    own, known = machine_of(machine, classes.of), parse(stated, letters, length)
    evidence = meaning.find(known, own)
    readings = checker.check(known, evidence, own)
    yield followed(evidence, readings)
    tensors = transformer.Tensors(file, statement, reach)
    yield from transformer.prove(tensors, readings)


PROOFS = {"transformer": _transformer, "rnn": _rnn, "generator": _generator}


def _check_numbers(file: ModelFile) -> None:
    for name, tensor in file.tensors.items():
        if not np.isfinite(tensor).all():
            raise Rejected(f"tensor {name!r} has entries that are not finite")
        if ((tensor != 0) & (np.abs(tensor) < file.precision.smallest)).any():
            raise Rejected(
                f"tensor {name!r} has subnormal entries, which may be flushed"
            )


def _classes(file: ModelFile, machine: Automaton) -> Shown:
    """What the logits stand for, as the file claims it."""
    shows = file.header["claim"].get("shows", "states")
    if shows not in SHOWS:
        raise Rejected(f"the file claims to say {shows!r}")
    try:
        classes = shown(machine, shows)
    except MachineError as error:
        raise Rejected(str(error)) from None
    if file.header["architecture"]["outputs"] > len(classes.names):
        raise Rejected("the file has logits for what the machine does not have")
    return classes


def _expected(file: ModelFile) -> int:
    return 3 + 2 * len(file.header["architecture"].get("blocks", []))
