"""Examining networks that Krohn knows from outside only, and files of trained ones."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.minimisation import Shows
from krohn.checks import Checks, check_digest
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.network.forward_pass import evaluation_mode
from krohn.network.model import Model
from krohn.network.modelfile import is_trained_network
from krohn.program.claim import OWN_FORMAT, Claim
from krohn.program.inputs import Words as AllWords
from krohn.program.slices import needed_part, part
from krohn.report import (
    Progress,
    Question,
    Report,
    report_out_of_range,
    report_passing_runs,
    report_refutation,
    silent,
)
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH
from krohn.verify.testing.counterexample import Simulator
from krohn.verify.testing.examination import (
    EXHAUSTIVE_WORDS,
    SAMPLES,
    BlackBox,
    Examination,
    black_box,
    examine as examine_answers,
)
from krohn.verify.testing.shortest_failing import minimise
from krohn.verify.testing.simulation_result import BUDGET
from krohn.verify.testing.word_counts import check_word_count, words_below

# Examining a network that Krohn knows from outside only: trained, or written by hand.


REASON = "a network that Krohn did not compile cannot be proved"


class SearchKeywords(MachineKeywords, total=False):
    """The keywords of `krohn.examine`; `Search` says what they mean."""

    exhaustive_words: int
    sample: int
    seed: int
    shorten: int
    digest: str | None
    progress: Progress | None


@dataclass(frozen=True)
class Search(MachineReading):
    """How a wrong word is searched for, and how the machine is read.

    ``observe`` says what the classes are; None for the states.

    Attributes:
        exhaustive_words: How many words may be run to run all of some length and below.
        sample: How many words of full length to run.
        seed: Of these.
        shorten: How many words may be run to make a wrong one minimal.
        digest: Of what is asked, as in `krohn.verify`.
        progress: Called with what is being done, how much is done, and of how much.
    """

    exhaustive_words: int = EXHAUSTIVE_WORDS
    sample: int = SAMPLES
    seed: int = 0
    shorten: int = BUDGET
    digest: str | None = None
    progress: Progress | None = None


def examine(
    model: Callable[[Any], Any],
    machine: object,
    length: int,
    **options: Unpack[SearchKeywords],
) -> Report:
    """Search for a word on which a network differs from a machine (docs/independent.md).

    Args:
        model: A torch module, which is put in evaluation mode and given a tensor of letter
            indices ``(batch, T)``; any other callable, which is given an int64 array; or
            what `krohn.load` returns. It gives logits ``(batch, T, classes)``, or the
            indices of the classes ``(batch, T)``.
        machine: What it should compute. Letters and states are numbered as in it.
        length: The longest words that are asked about.
        **options: How it is searched, by the names in `krohn.examination.Search`.

    Returns:
        ``refuted`` with the word, ``verified`` if every word was run, ``out-of-range`` if
        the network reads no such words, else ``undecided``.

    Raises:
        KrohnError: If the network gives no such answers, or different ones to the same
            words, or what is asked has another digest.

    Examples:
        >>> krohn.examine(lambda words: words.cumsum(1) % 2, "C2", 8).verdict
        'verified'
        >>> krohn.examine(lambda words: words % 2, "C2", 8).counterexample.word
        ('1', '0')
    """
    began, how = time.monotonic(), Search(**options)
    wanted = with_outputs(machine_of(machine, how), how.observe)
    shows: Shows = "states" if how.observe is None else "outputs"
    about = _question(wanted, shows, length)
    check_digest(about, how.digest)
    simulator = _simulator(model, wanted, shows)
    if simulator.longest is not None and length > simulator.longest:
        return replace(report_out_of_range(simulator.longest, length), about=about)
    progress = how.progress or silent
    asked = {"samples": how.sample, "seed": how.seed}
    with evaluation_mode(model):
        examination = examine_answers(
            simulator,
            wanted,
            length,
            exhaustive_words=how.exhaustive_words,
            **asked,
            report=lambda what: partial(progress, what),
        )
        report = _report(simulator, wanted, examination, how.shorten)
    seconds = time.monotonic() - began
    bounds = part("limits of modules")
    heads = () if bounds is None else bounds(model, length)
    return replace(report, about=about, heads=heads, seconds=seconds)


def _question(machine: Automaton, shows: Shows, length: int) -> Claim:
    """The claim that a network without a claim of its own is tested for."""
    asked = {"start": machine.states[machine.start], "shows": shows, "length": length}
    header = {"machine": json_format.claimed_machine(machine), "claim": asked}
    return Claim.of({**header, "architecture": {"dtype": OWN_FORMAT}})


def _simulator(
    model: Callable[[Any], Any], machine: Automaton, shows: Shows
) -> Simulator:
    if isinstance(model, Model) and not model.classes:
        raise KrohnError("networks are examined that say classes, and this says none")
    if isinstance(model, Model | BlackBox):
        return model
    return black_box(model, machine, shows)


def _report(
    model: Simulator, machine: Automaton, found: Examination, budget: int
) -> Report:
    failed = found.failing_run
    if failed is None or failed.counterexample is None:
        every = AllWords(len(machine.letters), found.length)
        asked = Question(every, found.length, True, found.complete)
        return report_passing_runs(
            found.runs, found.method, asked, f"{REASON}; {found.summary}"
        )
    return report_refutation(
        found.runs,
        failed.counterexample,
        lambda wrong: minimise(model, machine, wrong, budget),
        found.method,
    )


# Files of trained networks, which are examined against a machine that the user names.


@dataclass(frozen=True)
class Trained:
    """A trained network and the machine that it is held against.

    Attributes:
        network: The network, with the machine's names.
        machine: The machine.
    """

    network: BlackBox
    machine: Automaton

    def examine(self, checks: Checks) -> Report:
        """Search for a wrong word, as `krohn.examine` does.

        Of the length that is said; by default the longest that is run anyway, or can be
        read.
        """
        exhaustive, sample = checks.exhaustive, checks.sample
        # Who asks for all words only gets no samples, and who asks for nothing both.
        longest = checks.length or (exhaustive if not sample else None)
        few = EXHAUSTIVE_WORDS if not sample else 0
        if exhaustive:
            check_word_count(len(self.machine.letters), exhaustive)
            few = words_below(len(self.machine.letters), exhaustive)
        return examine(
            self.network,
            self.machine,
            longest or self.network.longest or DEFAULT_SAMPLE_LENGTH,
            exhaustive_words=few,
            sample=sample or SAMPLES,
            seed=checks.seed,
            shorten=checks.shorten,
            digest=checks.digest,
            progress=checks.progress,
        )


def examine_file(path: str | Path, checks: Checks) -> Report:
    """Examine the file of a trained network.

    Raises:
        KrohnError: If it is damaged, no machine is named, or an option has no effect.
    """
    trained = open_trained(path, checks.machine, checks.observe)
    assert trained is not None
    if checks.proof or checks.sharding is not None:
        raise KrohnError(
            "a trained network is run by one process and cannot be proved; say "
            "--exhaustive N, --sample N, or neither"
        )
    return trained.examine(checks)


def open_trained(model: object, machine: object, observe: str | None) -> Trained | None:
    """A trained network with the machine that it is held against.

    Returns:
        None if the model is not the file of one.

    Raises:
        KrohnError: If the file is damaged, no machine is named, or it has another number
            of letters or classes.
    """
    if not isinstance(model, str | Path) or not is_trained_network(model):
        return None
    if machine is None:
        raise KrohnError(
            f"{model} is a trained network, which states no machine; say --machine MACHINE"
        )
    wanted = with_outputs(machine_of(machine), observe)
    network = needed_part("trained networks", "a reader of trained networks")(model)
    shows: Shows = "states" if observe is None else "outputs"
    black_box_network = black_box(network, wanted, shows, network.longest)
    has = network.specification
    for what, count, names in (
        ("letters", has.letters, black_box_network.letters),
        ("classes", has.classes, black_box_network.classes),
    ):
        if count != len(names):
            raise KrohnError(
                f"the network has {count} {what}, and {wanted.name} has {len(names)}"
            )
    return Trained(black_box_network, wanted)
