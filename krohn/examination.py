"""Examining a network that Krohn knows from outside only: trained, or written by hand."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypedDict, Unpack

from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.algebra.shown import Shows
from krohn.checks import check_digest
from krohn.machines import machine_of
from krohn.network.evaluation_mode import evaluation_mode
from krohn.network.model import Model
from krohn.program import claim
from krohn.program.claim import Claim
from krohn.progress import Progress, silent
from krohn.report import Report, refuted, unrefuted
from krohn.verify.attention_limits.layer_norm import module_bounds
from krohn.verify.testing.black_box import BlackBox, black_box
from krohn.verify.testing.examination import PREFIXES, SAMPLES, Examination
from krohn.verify.testing.examination import examine as examined
from krohn.verify.testing.shortest_failing import minimise
from krohn.verify.testing.simulation_result import BUDGET
from krohn.verify.testing.simulator import Simulator

OWN_FORMAT = "its own format"
REASON = "a network that Krohn did not compile cannot be proved"


class SearchKeywords(TypedDict, total=False):
    """The keywords of `krohn.examine`; `Search` says what they mean."""

    observation: str | None
    prefixes: int
    samples: int
    seed: int
    budget: int
    digest: str | None
    progress: Progress | None


@dataclass(frozen=True)
class Search:
    """How a wrong word is searched for.

    Attributes:
        observation: What the classes are, as in `krohn.compile`; None for the states.
        prefixes: How many words may be run to run all of some length and below.
        samples: How many words of full length to run.
        seed: Of these.
        budget: How many words may be run to make a wrong one minimal.
        digest: Of what is asked, as in `krohn.verify`.
        progress: Called with what is being done, how much is done, and of how much.
    """

    observation: str | None = None
    prefixes: int = PREFIXES
    samples: int = SAMPLES
    seed: int = 0
    budget: int = BUDGET
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
    """
    began, how = time.monotonic(), Search(**options)
    wanted = machine_of(machine, observation=how.observation)
    shows: Shows = "states" if how.observation is None else "outputs"
    about = _question(wanted, shows, length)
    check_digest(about, how.digest)
    simulator = _simulator(model, wanted, shows)
    if simulator.longest is not None and length > simulator.longest:
        why = f"the model is for words of up to {simulator.longest} letters"
        none = Report("out-of-range", "", why, simulator.longest, 0, "nothing")
        return replace(none, about=about)
    told = how.progress or silent
    asked = {"prefixes": how.prefixes, "samples": how.samples, "seed": how.seed}
    with evaluation_mode(model):
        found = examined(
            simulator, wanted, length, **asked, report=lambda what: partial(told, what)
        )
        report = _report(simulator, wanted, found, how.budget)
    seconds = time.monotonic() - began
    heads = module_bounds(model, length)
    return replace(report, about=about, heads=heads, seconds=seconds)


def _question(machine: Automaton, shows: Shows, length: int) -> Claim:
    """What is asked of a network that claims nothing itself."""
    asked = {"start": machine.states[machine.start], "shows": shows, "length": length}
    header = {"machine": json_format.to_object(machine), "claim": asked}
    return claim.of({**header, "architecture": {"dtype": OWN_FORMAT}})


def _simulator(
    model: Callable[[Any], Any], machine: Automaton, shows: Shows
) -> Simulator:
    if isinstance(model, Model | BlackBox):
        return model
    return black_box(model, machine, shows)


def _report(
    model: Simulator, machine: Automaton, found: Examination, budget: int
) -> Report:
    failed = found.failed
    if failed is None or failed.counterexample is None:
        return unrefuted(found, len(machine.letters), REASON)
    return refuted(
        found.runs,
        failed.counterexample,
        lambda wrong: minimise(model, machine, wrong, budget),
        found.method,
    )
