"""Grinding subjects: every kind of mutant, judged by a checker and by the truth."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic
from typing import TypeAlias

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import output_classes
from krohn.network.modelfile import ModelFile, pack
from krohn.program.errors import Refused
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import recheck
from krohn.verify.proof import prove
from krohn.verify.search.find import find
from mutants.kinds import KINDS, draw
from mutants.subject import Subject
from mutants.truth import Truth


@dataclass(frozen=True)
class Judgement:
    """The judgement of a checker on a model.

    Attributes:
        accepted: Whether it vouches for it.
        reason: Why it does not.
        word: A word that it believes to be answered wrongly, letter indices.
    """

    accepted: bool
    reason: str = ""
    word: tuple[int, ...] = ()


Checker: TypeAlias = Callable[[ModelFile, Automaton], Judgement]


def by_proof(file: ModelFile, machine: Automaton) -> Judgement:
    """The proof of `krohn.verify.proof`."""
    found = prove(file, machine)
    return Judgement(found.verdict == "verified", found.reason, found.word or ())


def by_evidence(file: ModelFile, machine: Automaton) -> Checker:
    """The small checker, which is told of every mutant what is right of a model.

    Raises:
        Refused: If there is no evidence for the model.
    """
    data = pack(file.header, file.tensors)
    evidence = find(data, _told(file, machine))

    def judge(mutant: ModelFile, machine: Automaton) -> Judgement:
        data = pack(mutant.header, mutant.tensors)
        said = {**evidence, "model": sha256(data).hexdigest()}
        for bound in ("noise", "leak", "margin"):  # the mutant's own are as good
            said.pop(bound, None)
        try:
            recheck(data, json.dumps(said).encode(), _told(mutant, machine))
        except Refused as reason:
            return Judgement(False, str(reason))
        return Judgement(True)

    return judge


def _told(file: ModelFile, machine: Automaton) -> Machine:
    shows = output_classes(machine, file.header["claim"].get("shows", "states")).of
    return Machine(machine.start, machine.transitions, shows)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mutant.

    Attributes:
        kind: How it was made.
        where: What was changed.
        judgement: What the checker said.
        harm: What is wrong with it, found by running it; empty if nothing was found.
        exact: Whether all words were run, so that nothing means nothing.
    """

    kind: str
    where: str
    judgement: Judgement
    harm: str
    exact: bool

    @property
    def hole(self) -> bool:
        """Whether the checker accepted what is wrong."""
        return self.judgement.accepted and bool(self.harm)


def grind(
    subject: Subject,
    checker: Checker = by_proof,
    each: int = 1,
    seed: Sequence[int] = (0,),
    kinds: Sequence[str] = tuple(KINDS),
    seconds: float = float("inf"),
) -> Iterator[Outcome]:
    """Judge up to ``each`` mutants of every kind.

    Args:
        subject: The model.
        checker: What is put to the test; what it raises counts as no acceptance.
        each: How many mutants of a kind; fewer where a kind has nothing to change.
        seed: The same numbers give the same mutants.
        kinds: Names of `KINDS`.
        seconds: After so long no further mutant is made.
    """
    truth, ends = Truth(subject), monotonic() + seconds
    place = {name: i for i, name in enumerate(KINDS)}
    for number in range(each):
        for name in kinds:
            if monotonic() > ends:
                return
            rng = np.random.default_rng([*seed, number, place[name]])
            mutant = draw(name, subject, rng)
            if mutant is not None:
                judgement = _judged(checker, mutant.subject)
                harm = truth.harm(mutant.subject, judgement.word)
                yield Outcome(name, mutant.where, judgement, harm, truth.exact)


def _judged(checker: Checker, subject: Subject) -> Judgement:
    try:
        return checker(subject.file, subject.machine)
    except Exception as error:
        return Judgement(False, f"the checker raised {type(error).__name__}: {error}")


def reason_class(reason: str) -> str:
    """A reason without names and numbers, so that equal ones can be counted."""
    plain = re.sub(r"(?<!\w)'[^']*'", "…", reason)
    plain = re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", plain)
    return re.sub(r"\(#[#, ]*\)", "(…)", plain)


@dataclass(frozen=True)
class Score:
    """How many mutants came out in which way.

    Attributes:
        mutants: All of them.
        harmful_rejected: Wrong ones that were not accepted.
        harmless_accepted: Right ones that were.
        harmless_rejected: Right ones that were not.
        holes: Wrong ones that were accepted.
    """

    mutants: int
    harmful_rejected: int
    harmless_accepted: int
    harmless_rejected: int
    holes: int

    @property
    def strictness(self) -> float | None:
        """The share of harmless mutants that were rejected; None if none is harmless."""
        harmless = self.harmless_accepted + self.harmless_rejected
        return self.harmless_rejected / harmless if harmless else None


def score(outcomes: Iterable[Outcome]) -> Score:
    """Count outcomes."""
    found = list(outcomes)
    pairs = [(bool(o.harm), o.judgement.accepted) for o in found]
    return Score(
        len(found),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
        pairs.count((True, True)),
    )
