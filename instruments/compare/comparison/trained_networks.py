"""The measurements of a network that was trained on a machine, where it was trained."""

from dataclasses import dataclass
from typing import Any

from krohn.instruments.compare.comparison.measurements import (
    Measurements,
    first_failure,
    measure,
)
from krohn.instruments.compare.comparison.result import Failure, TrainedProof
from krohn.instruments.compare.measures.accuracy import simulator
from krohn.instruments.compare.models import Lstm, Network, RecurrentLayer, assemble
from krohn.instruments.compare.probes.probe_map import ProbeMap
from krohn.instruments.compare.probes.survey import Survey, survey
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.run import Run
from krohn.program.results import to_object
from krohn.verification import verify
from krohn.verify.testing.examination import BlackBox

PROBE_WORDS = 480
"""Half of them fit probes: at 32 letters as many positions as probes need and more."""
MOST_UNITS = 32
"""Larger networks are not tried to be proved: it would take long, and fail."""
EXCHANGES = 10
"""Causal tests of a network."""


@dataclass(frozen=True)
class RunMeasurements:
    """The measurements of a network, made in the process that trained it.

    Attributes:
        measured: Accuracies.
        failure: The first failing word.
        probed: Which variables of derived networks it holds and uses.
        proof: The answer of a proof; None if none was tried.
    """

    measured: Measurements
    failure: Failure
    probed: ProbeMap
    proof: TrainedProof | None


def _task(run: Run) -> Task:
    """The task of a run of a comparison, all of which are about a machine."""
    assert isinstance(run.task, Task)
    return run.task


def reads(run: Run) -> BlackBox:
    """The network of a run, as what is measured."""
    return simulator(run.network, _task(run), run.network.longest)


def look(run: Run) -> Any:
    """Measure a network and return `RunMeasurements` as JSON; other processes call this."""
    model, length = reads(run), run.recipe.length
    measured = measure(model, _task(run), length)
    failure = first_failure(model, _task(run), length)
    proof = prove_trained(run.network, _task(run))
    return to_object(RunMeasurements(measured, failure, _probe(run), proof))


def prove_trained(network: Network, task: Task) -> TrainedProof | None:
    """The answer of a proof of a recurrent network, for words of every length.

    None for others, for large ones, and where not every answer is asked for.
    """
    shape = network.specification.architecture
    if not isinstance(shape, RecurrentLayer | Lstm) or task.asked is not None:
        return None
    if shape.hidden > MOST_UNITS or shape.layers > 1:
        return None
    from krohn.architectures.gated.commands import Layer

    file = Layer.of(network.state_dict()).file(task.machine, task.shows)
    report = verify(file, sample=None)
    right = report.verdict == "verified"
    return TrainedProof(report.verdict, report.covers if right else report.reason)


def _probe(run: Run) -> ProbeMap:
    """Beside the same network before training."""
    device = next(run.network.parameters()).device
    before = assemble(run.network.specification, run.seed).to(device)
    how = Survey(PROBE_WORDS, run.recipe.length, EXCHANGES, seed=run.seed)
    return survey(run.network, _task(run), before, how)
