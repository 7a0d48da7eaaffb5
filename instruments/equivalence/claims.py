"""Whether two networks of laws, numbers or texts are one function: one claim, for both."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.alignment import in_order
from krohn.foreign import own_machine
from krohn.network.modelfile import ModelFile
from krohn.program.claim import Sense
from krohn.program.inputs import contains
from krohn.source_kinds import of_file
from krohn.source_kinds.base import SourceKind
from krohn.verification_target import open_target
from krohn.verify.proof import Proof, prove

Pair = tuple[str, str]
WITHIN = ("error", "tolerance")
"""The terms of a claim that say how far an answer may be off."""


@dataclass(frozen=True)
class OneClaim:
    """The result of asking whether one claim is that of two networks.

    Attributes:
        verdict: ``"verified"``, ``"refuted"`` or ``"undecided"``.
        reason: Why it is undecided.
        within: How far answers of the two may be apart; None if they are the same.
        inputs: The inputs that this is about, in words.
        word: An input on which they differ more.
        says: What each says then.
    """

    verdict: str
    reason: str = ""
    within: float | None = None
    inputs: str = ""
    word: tuple[str, ...] | None = None
    says: Pair | None = None


def one_claim(files: list[ModelFile], names: list[str], laws: bool) -> OneClaim:
    """Prove the claim of one file of the network of the other, too.

    Each network is then within its error of what that claim says, so that the two are
    within the sum of these of one another.

    Args:
        files: Two files that are proved to meet their own claims.
        names: Theirs, for messages.
        laws: Whether both are generators of brackets.

    Raises:
        KrohnError: If the two read other letters, or say other things.
    """
    error, tried = _error(files), list[str]()
    for one, other in ((0, 1), (1, 0)):
        moved = _stating(files[one], files[other], laws)
        if not contains(files[other].claim.inputs, moved.claim.inputs):
            tried.append(f"{names[other]} is not proved on {moved.claim.inputs}")
            continue
        shown = _proof(moved, laws)
        if shown.proved is not None:
            inputs = str(shown.proved.claim.inputs)
            return OneClaim("verified", within=error, inputs=inputs)
        tried.append(
            f"{names[one]} is not shown to compute what {names[other]} claims: "
            f"{shown.reason}"
        )
    parted = _find_difference(files, error) if laws and error is not None else None
    return parted or OneClaim("undecided", reason=tried[-1])


def _error(files: list[ModelFile]) -> float | None:
    """The sum of the errors of two claims, rounded up; None if they have none."""
    errors = [file.claim.error for file in files if file.claim.error]
    return float(np.nextafter(sum(errors), np.inf)) if errors else None


def _stating(file: ModelFile, other: ModelFile, laws: bool) -> ModelFile:
    """A file that claims what another one claims of its source, with its own error."""
    if not laws:
        kind = of_file(file)
        assert isinstance(kind, SourceKind)
        return kind.stating(file, other.header["source"])
    machine = in_order(own_machine(other), own_machine(file))
    claim_fields = {"start": machine.states[machine.start]}
    claim_fields |= {"opening": other.claim.opening}
    claim = {**file.header["claim"], **claim_fields}
    machine_object = json_format.claimed_machine(machine)
    return replace(
        file, header={**file.header, "machine": machine_object, "claim": claim}
    )


def _proof(file: ModelFile, laws: bool) -> Proof:
    """The result of the checker on the claim of a file."""
    return prove(file, open_target(file, None, None).machine if laws else None)


def check_alike(files: list[ModelFile], names: list[str]) -> None:
    """Refuse two networks of different kinds: nothing of them is compared.

    Raises:
        KrohnError: If they are.
    """
    called = [_describe_claim(file) for file in files]
    if called[0] != called[1]:
        (a, b), (one, other) = names, called
        raise KrohnError(
            f"{a} is about {one}, and {b} about {other}: they are not compared"
        )


def _describe_claim(file: ModelFile) -> str:
    laws = file.claim.sense is Sense.LAWS
    return "laws of brackets" if laws else of_file(file).called


# Two laws of brackets that differ: a prefix on which both networks are run.


def _find_difference(files: list[ModelFile], error: float) -> OneClaim | None:
    """A shortest prefix after which two generators say laws that are too far apart.

    Returns:
        None if no such prefix is found, or they do not say so when they are run.
    """
    from krohn.architectures.generator.find_words import (
        claimed_law,
        laws_of,
    )
    from krohn.running import GeneratorRunner

    own = own_machine(files[0])
    machines = [in_order(own_machine(file), own) for file in files]
    stated = [_stating(files[0], file, laws=True) for file in files]
    laws = [
        laws_of(claimed_law(file, machine)[0])
        for file, machine in zip(stated, machines, strict=True)
    ]
    lengths = [file.claim.longest for file in files]
    word = _prefix(machines, laws, error, min(lengths))
    if word is None:
        return None
    last_laws = list[np.ndarray[Any, Any]]()
    for file in files:
        result = GeneratorRunner(file, own_machine(file)).run(word)
        order = [result["letters"].index(letter) for letter in own.letters]
        last_laws.append(np.array(result["laws"][-1])[order])
    if not np.abs(last_laws[0] - last_laws[1]).max() > error:
        return None
    rows = tuple("/".join(f"{p:.4g}" for p in law) for law in last_laws)
    return OneClaim("refuted", within=error, word=tuple(word), says=(rows[0], rows[1]))


def _prefix(
    machines: list[Automaton],
    laws: list[np.ndarray[Any, Any]],
    error: float,
    length: int,
) -> list[str] | None:
    """The first of the shortest prefixes, legal for both, where laws are farther apart."""
    one, other = machines
    words: dict[tuple[int, int], list[str]] = {(one.start, other.start): []}
    queue = list(words)
    for p, q in queue:
        word = words[p, q]
        if np.abs(laws[0][p] - laws[1][q]).max() > error:
            return word
        for a in np.flatnonzero((laws[0][p] > 0) & (laws[1][q] > 0)):
            after = int(one.transitions[a, p]), int(other.transitions[a, q])
            if after not in words and len(word) < length:
                words[after] = [*word, one.letters[a]]
                queue.append(after)
    return None
