"""From a hidden Markov model or a linear system to a comparison."""

import time
from collections.abc import Sequence
from pathlib import Path

from krohn.algebra.errors import KrohnError
from krohn.compare.models import Network
from krohn.compare.probes.beliefs import read_beliefs
from krohn.compare.tasks.beliefs import BeliefTask, Source, task_of
from krohn.compare.training.devices import usable
from krohn.compare.training.sweep import Result
from krohn.comparison.assembling import origin
from krohn.comparison.belief_networks import PROBED, derived, plans, rules, trained
from krohn.comparison.belief_result import BeliefComparison, BeliefModel, Geometry
from krohn.comparison.settings import Settings, run_folder
from krohn.program.errors import Refused
from krohn.progress import Progress, silent
from krohn.source_kinds import named as named_source
from krohn.sources import hidden_markov, linear_systems
from krohn.sources.hidden_markov import HiddenMarkovModel
from krohn.sources.linear_systems import LinearSystem

SHOWN = 400
"""Beliefs of a triangle."""


def belief_source(source: object) -> Source | None:
    """The hidden Markov model or linear system that something is, or names.

    Raises:
        KrohnError: If a number of a name is out of range.
    """
    if isinstance(source, LinearSystem | HiddenMarkovModel):
        return source
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    try:
        # Of Cyclic-DET too, which other commands take for the machine that it is.
        found = linear_systems.named(text) or hidden_markov.named(text)
    except Refused as reason:
        raise KrohnError(str(reason)) from None
    if found is not None:
        return found
    other = named_source(text)
    told = None if other is None else other[1]
    return told if isinstance(told, LinearSystem | HiddenMarkovModel) else None


def compare_beliefs(
    source: Source,
    settings: Settings,
    command: str | None = None,
    progress: Progress | None = None,
) -> BeliefComparison:
    """Compile a network, train others, and set them beside the exact filter.

    Args:
        source: A hidden Markov model or a linear system.
        settings: What is trained, and how; `depth` is that of the deepest Transformer.
        command: What does it again; None for a call of `krohn.compare`.
        progress: Called with what is being done, how much is done, and of how much.

    Raises:
        KrohnError: If a number makes no sense, or training is interrupted.
    """
    began, told = time.monotonic(), progress or silent
    usable(settings.device)
    task, chosen = task_of(source), plans(settings)
    length = chosen["rnn"][3].length
    again = command or f"krohn.compare({source.name!r}, preset={settings.preset!r}, …)"
    remarks, models, proved, network = list[str](), list[BeliefModel](), None, None
    told("proving", 0, 1)
    try:
        model, proved, network = derived(task, length)
        models.append(model)
    except (KrohnError, Refused) as error:
        remarks.append(f"There is no compiled network to compare with: {error}")
    told("proving", 1, 1)
    with run_folder(settings.runs) as folder:
        found = trained(task, settings, folder, again, told)
        geometry = _geometry(task, length, network, found)
    models += [*rules(task, length), *(model for model, _ in found)]
    missing = {k: t for k, (t, *_) in chosen.items()}
    missing = {k: t for k, t in missing.items() if all(m.key != k for m in models)}
    if missing:
        names = "; ".join(missing.values())
        remarks.append(f"Not trained, because the time was up: {names}")
    return BeliefComparison(
        name=source.name,
        task=_asked(task),
        states=len(BeliefTask(source).classes),
        letters=len(task.letters),
        probabilities=task.probabilities,
        length=length,
        preset=settings.preset,
        proved=proved,
        models=tuple(models),
        geometry=geometry,
        origin=origin(settings, again, time.monotonic() - began, tuple(remarks)),
    )


def _asked(task: BeliefTask) -> str:
    if task.asks == "next":
        after = "" if task.after is None else " where it comes after " + task.after[0]
        return f"the law of the next letter{after}"
    return (
        "the belief b_t after every letter" if task.probabilities else "the vector b_t"
    )


def _geometry(
    task: BeliefTask,
    length: int,
    network: Network | None,
    found: Sequence[tuple[BeliefModel, list[Result]]],
) -> tuple[Geometry, ...]:
    """Beliefs in a triangle: of the compiled network, the RNN, the deepest Transformer."""
    if len(BeliefTask(task.source).classes) != 3 or not task.probabilities:
        return ()
    shown = [("compiled", network)] if network is not None else []
    deepest = max((model.depth or 0 for model, _ in found), default=0)
    for model, results in found:
        if model.key in ("rnn", f"gpt{deepest}"):
            errors = [one.scores.error for one in model.ones]
            best = results[errors.index(min(errors))]
            title = f"{model.title}, seed {best.cell.seed}"
            shown.append((title, best.run().network))
    return tuple(triangle(title, task, length, each) for title, each in shown)


def triangle(
    title: str, task: BeliefTask, length: int, network: Network, most: int = SHOWN
) -> Geometry:
    """Beliefs of fresh words, and as read after the last layer, so many at most."""
    exact, said = read_beliefs(network, task, length, PROBED)
    points = [tuple(map(tuple, x[:most].round(4).tolist())) for x in (exact, said)]
    return Geometry(title, points[0], points[1])
