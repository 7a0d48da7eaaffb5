"""Verifying a model file: proof, exhaustive simulation, sampling, and their verdict."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from algebra.automaton import Automaton, Output
from algebra.errors import KrohnError
from algebra.formats import json_format
from krohn.compilation import OWN, seen
from krohn.exhaustion import Sharding, run_job
from krohn.sources import read
from network import modelfile
from network.model import Model
from network.modelfile import ModelFile
from verify import bracket_runs
from verify.counterexample import Counterexample, pair
from verify.exhaustive import exhaustive as run_exhaustive
from verify.minimal import BUDGET, Minimal, minimise
from verify.proof import Proof, Verdict, prove
from verify.sampling import sample as run_sample
from verify.simulation import Simulation

Progress = Callable[[str, int, int], None]

SEARCH_PREFIXES = 20_000
SEARCH_SAMPLES = 256
SEARCH_SCORES = 2**28
"""About so many scores of a head are computed for the words of a search."""
DEFAULT_SAMPLE_LENGTH = 256
LONGEST_SAMPLE = 8192
"""Longer words are not drawn in a search."""
LONGEST_PREFIX = 1024
"""Longer prefixes are not drawn for a generator, whose claim needs no positions."""


@dataclass(frozen=True)
class Report:
    """What verification came to.

    Attributes:
        verdict: ``verified``: everything that was asked for holds. ``refuted``: the
            network is wrong on a word, which was replayed. ``undecided``: the proof does
            not go through and no wrong word was found. ``out-of-range``: longer words
            were asked about than the model has positions for.
        method: What was done, joined by ``+``: ``proof``, ``exhaustive``, ``sample``.
        reason: Why it is not verified.
        length: The longest word that the verdict is about; None for all lengths.
        words: How many words were run through the network.
        covers: In words, which inputs the verdict is about.
        counterexample: A word on which network and machine differ.
        minimal: What is known of smaller ones.
        elsewhere: Whether the word is one for a network that was compiled on the way, for
            another start state, and is in no file.
        proof: The proof, if one was tried.
        seconds: How long it took.
    """

    verdict: Verdict
    method: str
    reason: str
    length: int | None
    words: int
    covers: str
    counterexample: Counterexample | None = None
    proof: Proof | None = None
    minimal: Minimal | None = None
    elsewhere: bool = False
    seconds: float = field(default=0.0, compare=False)

    def to_object(self) -> dict[str, Any]:
        """As ``krohn verify --json`` prints it."""
        found = self.counterexample
        return {
            "verdict": self.verdict,
            "method": self.method,
            "reason": self.reason,
            "length": self.length,
            "words": self.words,
            "covers": self.covers,
            "counterexample": found.to_object() if found else None,
            "minimal": self.minimal.least if self.minimal else None,
            "minimality": self.minimal.said if self.minimal else None,
            "evidence": self.proof.evidence if self.proof else None,
            "seconds": round(self.seconds, 3),
        }


def verify(
    model: str | Path | ModelFile,
    machine: Automaton | str | Path | None = None,
    *,
    proof: bool | None = None,
    exhaustive: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    budget: int = BUDGET,
    observation: str | None = None,
    sharding: Sharding | None = None,
    progress: Progress | None = None,
) -> Report:
    """Decide whether a model computes a machine.

    Args:
        model: A model file.
        machine: What it must compute, from its start state; by default the machine that
            the file itself names.
        proof: Whether to prove it for all words up to the claimed length. By default
            yes, unless only simulations are asked for.
        exhaustive: Run every word of up to this many letters.
        sample: Run this many random and adversarial words of full length.
        seed: Of the sampled words.
        budget: How many words may be run to make a wrong one minimal.
        observation: What to see of ``machine``, as in `krohn.compile`; by default its own
            outputs. Only for models that say outputs.
        sharding: How to run every word: processes, memory, job file, cluster; by
            default by this process, in one sitting.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If the file is damaged or the alphabets do not fit.
    """
    began = time.monotonic()
    job = open_job(
        model, machine, observation, progress or (lambda what, done, total: None)
    )
    job = replace(job, budget=budget)
    if sharding is not None:
        if not exhaustive:
            raise KrohnError(
                "processes, memory, parts, job files and clusters are for all words up "
                "to a length; say --exhaustive N as well"
            )
        job = replace(job, sharding=sharding)
    wants_proof = proof if proof is not None else not (exhaustive or sample)
    report = _verify(job, wants_proof, exhaustive, sample, seed)
    return replace(report, seconds=time.monotonic() - began)


@dataclass(frozen=True)
class Job:
    """A model and the machine it is held against, with the letters in its order."""

    file: ModelFile
    machine: Automaton
    progress: Progress
    sharding: Sharding | None = None
    budget: int = BUDGET

    @property
    def length(self) -> int | None:
        """The longest word that the file claims."""
        return modelfile.claimed_length(self.file.header)

    @property
    def model(self) -> Model:
        """The network as a torch module."""
        return Model(self.file)

    @property
    def generates(self) -> bool:
        """Whether the network gives laws of letters instead of states."""
        return bool(self.file.header["architecture"]["kind"] == "generator")

    def run_all(self, length: int) -> Simulation:
        """Run every word of up to ``length`` letters."""
        report = self.report("running all words")
        if self.sharding is not None:
            if self.generates:
                raise KrohnError("the words of a generator are run in one sitting only")
            return run_job(self.file, self.machine, length, self.sharding, report)
        if self.generates:
            return bracket_runs.run_all(self.file, self.machine, length, report)
        return run_exhaustive(self.model, self.machine, length, report)

    def run_sample(
        self, count: int, seed: int, longest: int | None = None
    ) -> Simulation:
        """Run random and adversarial words, of ``longest`` letters if T is greater."""
        length = self.length or DEFAULT_SAMPLE_LENGTH
        length = length if longest is None else min(length, longest)
        report = self.report("running samples")
        if self.generates:
            length = min(length, LONGEST_PREFIX)
            found = (self.file, self.machine, count, length, seed, report)
            return bracket_runs.run_sample(*found)
        return run_sample(self.model, self.machine, count, length, seed, report)

    def minimise(self, found: Counterexample) -> Minimal:
        """What a wrong word comes to."""
        if self.generates:
            return bracket_runs.minimise(self.file, self.machine, found, self.budget)
        return minimise(self.model, self.machine, found, self.budget)

    def report(self, what: str) -> Callable[[int, int], None]:
        """The progress of one thing that is done."""
        return lambda done, total: self.progress(what, done, total)


def open_job(
    model: str | Path | ModelFile,
    machine: Automaton | str | Path | None,
    observation: str | None,
    progress: Progress,
) -> Job:
    """A model and the machine that `verify` is given, ready to be compared.

    Raises:
        KrohnError: If the file is damaged or the alphabets do not fit.
    """
    file = model if isinstance(model, ModelFile) else modelfile.read(model)
    modelfile.claimed_length(file.header)
    own = _own_machine(file)
    outputs = file.header["claim"].get("shows") == "outputs"
    if machine is None:
        wanted = own
        claim, precision = file.header["claim"], file.precision
        stated = claim.get("start")
        if claim.get("dtype") != precision.name:
            raise KrohnError(
                f"the file is damaged: it claims {claim.get('dtype')!r}, its tensors are "
                f"{precision.name}"
            )
        if stated != own.states[own.start]:
            raise KrohnError(
                f"the file is damaged: it claims the start state {stated!r}, its machine "
                f"starts in {own.states[own.start]!r}"
            )
    else:
        wanted = machine if isinstance(machine, Automaton) else read(machine)
        wanted = seen(wanted, observation or OWN) if outputs else wanted
    return Job(file, aligned(wanted, own), progress)


def _own_machine(file: ModelFile) -> Automaton:
    try:
        return json_format.from_object(file.header["machine"])
    except KrohnError as error:
        raise KrohnError(f"the file is damaged: of its machine, {error}") from None


def aligned(machine: Automaton, own: Automaton) -> Automaton:
    """The machine with letters, states and outputs in the order of the file.

    States and outputs that the file does not know come last; a state that it does not
    know is a difference if the file says states, such an output if it says outputs.

    Raises:
        KrohnError: If the alphabets differ.
    """
    if set(machine.letters) != set(own.letters):
        odd = sorted(set(machine.letters) ^ set(own.letters))
        raise KrohnError(
            f"{machine.name} and the model have different letters: {odd[0]!r} occurs in "
            "only one of them"
        )
    unknown = [s for s in machine.states if s not in set(own.states)]
    states = (*own.states, *unknown)
    missing = [s for s in own.states if s not in set(machine.states)]
    order = [machine.states.index(s) for s in states if s not in set(missing)]
    found = _reordered(machine, own.letters, states, order)
    return replace(found, output=_aligned_output(machine, own, states))


def _aligned_output(
    machine: Automaton, own: Automaton, states: tuple[str, ...]
) -> Output | None:
    """The outputs on states in the order of the file, those that it lacks last."""
    ours, theirs = machine.output, own.output
    if ours is None or theirs is None or ours.on != "states":
        return None
    names = (*theirs.names, *(n for n in ours.names if n not in theirs.names))
    place = np.array([names.index(n) for n in ours.names])
    table = np.zeros(len(states), dtype=np.int64)
    table[[states.index(q) for q in machine.states]] = place[ours.table]
    return Output("states", table, names)


def _reordered(
    machine: Automaton,
    letters: tuple[str, ...],
    states: tuple[str, ...],
    order: list[int],
) -> Automaton:
    """States that the machine lacks become loops that nothing reaches."""
    place = {s: i for i, s in enumerate(states)}
    table = np.tile(np.arange(len(states)), (len(letters), 1))
    to = np.array([place[s] for s in machine.states])
    rows = [machine.letters.index(a) for a in letters]
    for q in order:
        table[:, to[q]] = to[machine.transitions[rows, q]]
    structure = type(machine.semiautomaton)(table, letters, states)
    return Automaton(structure, start=int(to[machine.start]), name=machine.name)


def _verify(
    job: Job, proof: bool, exhaustive: int | None, sample: int | None, seed: int
) -> Report:
    asked = {"proof": proof, "exhaustive": exhaustive, "sample": sample}
    method = "+".join(name for name, wanted in asked.items() if wanted)
    if exhaustive and job.length is not None and exhaustive > job.length:
        reason = f"the model is for words of up to {job.length} letters"
        return Report("out-of-range", method, reason, job.length, 0, "nothing")
    done = prove(job.file, job.machine, job.report("proving")) if proof else None
    runs: list[Simulation] = []
    if done is None or done.verdict == "verified":
        runs = _simulations(job, exhaustive, sample, seed)
    failed = [r.counterexample for r in runs if r.counterexample]
    if failed:
        return _refuted(job, method, done, runs, failed[0])
    if done is not None and done.verdict != "verified":
        return _search(job, method, done, seed)
    words = sum(r.words for r in runs)
    length = job.length if proof else max(r.length for r in runs)
    return Report(
        "verified", method, "", length, words, _covers(job, proof, runs), None, done
    )


def _simulations(
    job: Job,
    exhaustive: int | None,
    sample: int | None,
    seed: int,
    longest: int | None = None,
) -> list[Simulation]:
    """Run what is asked for, until something fails."""
    runs: list[Simulation] = []
    if exhaustive:
        runs.append(job.run_all(exhaustive))
    if sample and all(r.passed for r in runs):
        runs.append(job.run_sample(sample, seed, longest))
    return runs


def _refuted(
    job: Job,
    method: str,
    done: Proof | None,
    runs: list[Simulation],
    found: Counterexample,
) -> Report:
    run = next((r for r in runs if r.counterexample is found), None)
    minimal = _minimal(job, run, found)
    word, words = minimal.found, sum(r.words for r in runs)
    if word.reading == "among others":
        return Report(
            "undecided",
            method,
            _unrepeated(word),
            job.length,
            words,
            "nothing",
            None,
            done,
        )
    return Report(
        verdict="refuted",
        method=method,
        reason=_wrong(word) + (run.about if run else ""),
        length=len(word.word),
        words=words,
        covers="one word",
        counterexample=word,
        proof=done,
        minimal=minimal,
        elsewhere=bool(run and run.elsewhere),
    )


def _minimal(job: Job, run: Simulation | None, found: Counterexample) -> Minimal:
    """What is known of smaller words; nothing is run if the run knows it already."""
    if run is not None and (run.every or run.elsewhere):
        right = len(found.word) - 1 if run.every else 0
        return Minimal(found, run.every, right, 0, 0)
    return job.minimise(found)


def _wrong(found: Counterexample) -> str:
    """Where a word shows that the network is wrong."""
    if not found.word:
        return "the network is wrong before the first letter"
    reading = ", when it reads letter by letter" * (found.reading == "letter by letter")
    return f"the network is wrong at letter {len(found.word)} of this word{reading}"


def _unrepeated(found: Counterexample) -> str:
    return (
        f"the network was wrong on {' '.join(found.word)!r} when it ran that word among "
        "others, and right when it ran it alone: its answers depend on the batch"
    )


def _search(job: Job, method: str, done: Proof, seed: int) -> Report:
    """The proof failed: look for a word on which the network is wrong."""
    if done.word is not None:
        found = pair(job.model, job.machine, len(done.word)).replay(np.array(done.word))
        if found is not None:
            return _refuted(job, method, done, [], found)
    short = _affordable(len(job.machine.letters), job.length)
    long = min(job.length or DEFAULT_SAMPLE_LENGTH, LONGEST_SAMPLE)
    count = max(4, min(SEARCH_SAMPLES, SEARCH_SCORES // long**2))
    runs = _simulations(job, short, count, seed, long)
    for run in runs:
        if run.counterexample is not None:
            return _refuted(job, method, done, runs, run.counterexample)
    words = sum(r.words for r in runs)
    return Report(
        "undecided", method, done.reason, job.length, words, "nothing", None, done
    )


def _affordable(letters: int, length: int | None) -> int:
    """The greatest length at which all words are at most `SEARCH_PREFIXES`."""
    longest, words = 1, letters
    while words + letters ** (longest + 1) <= SEARCH_PREFIXES and longest != length:
        longest += 1
        words += letters**longest
    return longest


def _covers(job: Job, proof: bool, runs: list[Simulation]) -> str:
    letters = len(job.machine.letters)
    if proof and job.generates:
        claim = job.file.header["claim"]
        return (
            f"all legal prefixes of up to {job.length} letters: each output is within "
            f"{claim['tolerance']:.3g} of the law that opens with q = {claim['opening']}"
        )
    if proof and job.length is None:
        return f"all words of every length over {letters} letters"
    if proof:
        return (
            f"all {letters}^{job.length} words of length {job.length}, and all shorter"
        )
    return "; ".join(
        f"{r.words} words of up to {r.length} letters{r.about}" for r in runs
    )
