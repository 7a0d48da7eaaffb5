"""The networks that are trained for a comparison, each measured where it was trained."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.architectures.gated.commands import Layer
from krohn.instruments.compare.comparison.measurements import (
    MeasuredSeed,
    Measurements,
    Settings,
    first_failure,
    measure,
)
from krohn.instruments.compare.comparison.result import (
    GPT,
    LSTM,
    Failure,
    TrainedProof,
    Training,
)
from krohn.instruments.compare.measures.accuracy import simulator
from krohn.instruments.compare.models import (
    Architecture,
    Lstm,
    Network,
    RecurrentLayer,
    assemble,
    build,
)
from krohn.instruments.compare.probes.probe_map import ProbeMap
from krohn.instruments.compare.probes.survey import (
    Survey,
    survey,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import presets
from krohn.instruments.compare.training.folder import WEIGHTS
from krohn.instruments.compare.training.recipe import Recipe
from krohn.instruments.compare.training.run import (
    Cell,
    Job,
    Run,
)
from krohn.instruments.compare.training.sweep import (
    Result,
    sweep,
)
from krohn.program.results import from_object, to_object
from krohn.replaying import command_line, replay_command
from krohn.verification import verify
from krohn.verify.testing.examination import BlackBox

PROBE_WORDS = 480
"""Half of them fit probes: at 32 letters as many positions as probes need and more."""
ENDED = {
    "finished": "all {steps:,} steps",
    "early": "good enough after {steps:,} steps",
    "diverged": "stopped after {steps:,} steps, because its loss was not a number",
}
"""How runs end, in words."""

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


@dataclass(frozen=True)
class TrainedNetwork:
    """A network that was trained.

    Attributes:
        key: Of the model.
        result: Where its weights are, and what came of it.
        entry: What is known of it.
        probed: Which variables of derived networks it holds and uses.
    """

    key: str
    result: Result
    entry: MeasuredSeed
    probed: ProbeMap


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
    proof = proved(run.network, _task(run))
    return to_object(RunMeasurements(measured, failure, _probed(run), proof))


def proved(network: Network, task: Task) -> TrainedProof | None:
    """The answer of a proof of a recurrent network, for words of every length.

    None for others, for large ones, and where not every answer is asked for.
    """
    shape = network.specification.architecture
    if not isinstance(shape, RecurrentLayer | Lstm) or task.asked is not None:
        return None
    if shape.hidden > MOST_UNITS or shape.layers > 1:
        return None
    file = Layer.of(network.state_dict()).file(task.machine, task.shows)
    report = verify(file, sample=None)
    right = report.verdict == "verified"
    return TrainedProof(report.verdict, report.covers if right else report.reason)


def _probed(run: Run) -> ProbeMap:
    """Beside the same network before training."""
    device = next(run.network.parameters()).device
    before = assemble(run.network.specification, run.seed).to(device)
    how = Survey(PROBE_WORDS, run.recipe.length, EXCHANGES, seed=run.seed)
    return survey(run.network, _task(run), before, how)


def cells(task: Task, settings: Settings) -> dict[str, tuple[Cell, ...]]:
    """The networks that are to be trained, by model, a cell for each seed."""
    return {
        key: tuple(
            Cell(task, architecture, recipe, seed) for seed in range(settings.seeds)
        )
        for key, (architecture, recipe) in plans(task, settings).items()
    }


def plans(task: Task, settings: Settings) -> dict[str, tuple[Architecture, Recipe]]:
    """Architecture and recipe of each kind of network, with what a user changed."""
    gpt, taught = presets.gpt(settings.preset, task, settings.depth, settings.length)
    gpt = replace(
        gpt,
        width=settings.width or gpt.width,
        positions=settings.known or gpt.positions,
    )
    lstm: Lstm | RecurrentLayer
    lstm, learnt = presets.lstm(settings.preset, task, settings.length)
    if settings.provable:
        lstm, learnt = presets.provable(task, settings.length)
    if settings.steps is not None:
        taught, learnt = (
            replace(r, steps=settings.steps, warmup=min(r.warmup, settings.steps))
            for r in (taught, learnt)
        )
    return {GPT: (gpt, taught), LSTM: (lstm, learnt)}


def in_turn(wanted: Mapping[str, Sequence[Cell]]) -> list[Cell]:
    """All cells, one of each kind before a second one."""
    return [cell for seed in zip(*wanted.values(), strict=True) for cell in seed]


def job_of(settings: Settings, folder: Path, command: str) -> Job:
    """The job that trains and measures each cell."""
    return Job(folder, look, settings.device, command)


def check_buildable(wanted: dict[str, tuple[Cell, ...]]) -> None:
    """Build one network of each kind, before hours are spent on the others.

    Raises:
        KrohnError: If a library is not installed.
    """
    for cell, *_ in wanted.values():
        letters, classes = len(cell.task.letters), len(cell.task.classes)
        build(cell.architecture, letters, classes, cell.recipe.reads, cell.seed)


def train_all(
    wanted: dict[str, tuple[Cell, ...]],
    settings: Settings,
    folder: Path,
    command: str,
    report: Callable[[str, int, int], None] | None = None,
) -> tuple[TrainedNetwork, ...]:
    """Train, measure and search what is not done yet.

    Args:
        wanted: The cells, by model.
        settings: How many side by side, where, and how long.
        folder: Of the runs.
        command: What does all this again.
        report: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a network cannot be trained, or the runs are interrupted.
    """
    _forget_unreadable(wanted, job_of(settings, folder, command))
    # One of each kind before a second one: time may be short.
    order = in_turn(wanted)
    results = sweep(
        order,
        folder,
        look,
        settings.jobs,
        seconds=settings.seconds,
        device=settings.device,
        command=command,
        report=report,
    )
    keys = {cell.name: key for key, group in wanted.items() for cell in group}
    found = [_trained(keys[r.cell.name], r, settings) for r in results]
    return tuple(sorted(found, key=lambda t: (t.key, t.result.cell.seed)))


def _forget_unreadable(wanted: dict[str, tuple[Cell, ...]], job: Job) -> None:
    """Let networks be measured again that another Krohn measured; their weights stay."""
    for cell in (cell for group in wanted.values() for cell in group):
        record = job.done(cell)
        try:
            if record is not None:
                from_object(RunMeasurements, record["measured"], "a run")
        except KrohnError:
            job.file(cell).unlink()


def _trained(key: str, result: Result, settings: Settings) -> TrainedNetwork:
    looked = from_object(RunMeasurements, result.measured, "a run")
    run = result.run()
    failure = _replayed(result.cell, looked.failure, settings)
    proof = _proved_again(result.cell, looked.proof, settings)
    ended = ENDED[run.outcome].format(steps=run.steps)
    history = run.history
    training = Training(
        tuple(p.step for p in history),
        tuple(p.loss if math.isfinite(p.loss) else None for p in history),
        tuple(p.accuracy for p in history),
        history[-1].seconds,
        ended,
    )
    entry = MeasuredSeed(result.cell.seed, looked.measured, failure, training, proof)
    return TrainedNetwork(key, result, entry, looked.probed)


def _replayed(cell: Cell, failure: Failure, settings: Settings) -> Failure:
    """The failure with the command that shows it again, if the network is kept.

    The folder of a run is named by its content: no other comparison writes there.
    """
    kept, named, word = _kept(cell, settings), settings.named, failure.word
    if kept is None or named is None or word is None:
        return failure
    return replace(failure, replay=replay_command(kept, word, named))


def _proved_again(
    cell: Cell, proof: TrainedProof | None, settings: Settings
) -> TrainedProof | None:
    """The proof with the command that makes it again, if the network is kept."""
    kept, named = _kept(cell, settings), settings.named
    if proof is None or kept is None or named is None:
        return proof
    again = command_line(["krohn", "verify", *named, "--", kept])
    return replace(proof, again=again)


def _kept(cell: Cell, settings: Settings) -> str | None:
    runs = settings.runs
    return None if runs is None else str(Path(runs) / cell.name / WEIGHTS)
