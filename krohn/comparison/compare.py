"""From a machine to a comparison: derive, train, measure, search, look inside."""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import Complete, Kind
from krohn.algebra.observation import OBSERVATIONS
from krohn.compare.tasks.catalogue import names, task
from krohn.compare.tasks.task import Task
from krohn.compare.training.provenance import usable
from krohn.comparison.assembling import assemble
from krohn.comparison.belief_comparison import belief_source, compare_beliefs
from krohn.comparison.belief_result import BeliefComparison
from krohn.comparison.derived import counting_task
from krohn.comparison.measurements import SettingKeywords, Settings, check, run_folder
from krohn.comparison.result import Comparison
from krohn.machines import automaton
from krohn.report import Announce, Progress, silent


def named_task(
    source: object,
    complete: Complete = "reject",
    kind: Kind | None = None,
) -> Task:
    """The task of a machine, or one of the thesis by name.

    Args:
        source: What names it.
        complete: What to do with missing transitions of a file.
        kind: What an AT&T file is read as; None for what its labels say.

    Raises:
        KrohnError: If nothing has this name.
    """
    if isinstance(source, str) and source in names():
        return task(source)
    return task(automaton(source, complete=complete, kind=kind))


def compare(
    machine: object,
    preset: str = "desk",
    *,
    complete: Complete = "reject",
    kind: Kind | None = None,
    command: str | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
    **options: Unpack[SettingKeywords],
) -> Comparison | BeliefComparison:
    """Derive a network for a machine, train others, and set them side by side.

    Args:
        machine: Anything that `krohn.automaton` takes, or a task of the thesis by name
            (`krohn.compare.tasks.catalogue.names`); or a hidden Markov model or linear
            system, or its name (``Cyclic-DET5,5@3``); or a counting program
            (``crasp:Dyck1``).
        preset: Sizes and recipes: ``"desk"`` or ``"paper"`` (docs/compare.md).
        complete: What to do with missing transitions of a file.
        kind: What an AT&T file is read as; None for what its labels say.
        command: What does it again; None for a call of this function.
        progress: Called with what is being done, how much is done, and of how much.
        announce: Called with the cost before it starts, a
            `krohn.compare.training.sweep.TrainingCost`; a few steps are measured for it.
        **options: What is trained, by the names of
            `krohn.comparison.measurements.Settings`.

    Raises:
        KrohnError: If there is no such machine, preset or device, a number makes no sense,
            nothing can be certified, or a run is interrupted.
    """
    settings = Settings(preset, **options)
    model = belief_source(machine)
    if model is not None:
        if complete != "reject" or kind is not None:
            raise KrohnError(
                f"{model.name} is no file of a machine: leave out --complete and --as"
            )
        return compare_beliefs(model, settings, command, progress, announce)
    counting = counting_task(machine, preset, settings.length)
    asked = counting or named_task(machine, complete, kind)
    check(asked)
    if counting is not None and (complete != "reject" or kind is not None):
        raise KrohnError(
            f"{counting.name} is no file of a machine: leave out --complete and --as"
        )
    if counting is None:
        named = _machine_arguments(machine, asked, complete, kind)
        settings = replace(settings, named=named)
    usable(settings.device)
    told = progress or silent
    again = command or f"krohn.compare({asked.name!r}, preset={preset!r}, …)"
    with run_folder(settings.runs) as folder:
        return assemble(asked, settings, folder, again, told, announce)


def _machine_arguments(
    source: object, asked: Task, complete: Complete, kind: Kind | None
) -> tuple[str, ...] | None:
    """How `krohn run` is told the machine; None if it cannot be."""
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    if text not in names():
        filling = () if complete == "reject" else (f"--complete={complete}",)
        reading = () if kind is None else (f"--as={kind}",)
        return (f"--machine={text}", *filling, *reading)
    name, _, observation = text.removesuffix(")").partition(" (")
    if name not in zoo.names() or asked.asked is not None:
        return None
    same = zoo.machine(name).semiautomaton == asked.machine.semiautomaton
    plain, observed = f"--machine={name}", f"--observe={observation}"
    if not same or (observation and observation not in OBSERVATIONS):
        return None
    return (plain, observed) if observation else (plain,)
