"""From a machine to a comparison: derive, train, measure, search, look inside."""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

from krohn.algebra import zoo
from krohn.algebra.observation import OBSERVATIONS
from krohn.instruments.compare.comparison.assembling import assemble
from krohn.instruments.compare.comparison.belief_comparison import compare_beliefs
from krohn.instruments.compare.comparison.belief_result import BeliefComparison
from krohn.instruments.compare.comparison.derived import unrolled_task
from krohn.instruments.compare.comparison.measurements import (
    SettingKeywords,
    Settings,
    check,
    run_folder,
)
from krohn.instruments.compare.comparison.result import Comparison
from krohn.instruments.compare.tasks.beliefs import belief_task
from krohn.instruments.compare.tasks.catalogue import (
    names,
    task,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training.provenance import usable
from krohn.machine_objects import AS_IT_IS, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.option_rules import refuse_others, spelled
from krohn.report import Announce, Progress, silent


def named_task(source: object, reading: MachineReading = AS_IT_IS) -> Task:
    """The task of a machine, or one of the thesis by name.

    Args:
        source: What names it.
        reading: How it is read, if it is a machine.

    Raises:
        KrohnError: If nothing has this name.
    """
    if isinstance(source, str) and source in names():
        # Whatever has a name misses no transition.
        refuse_others(reading.reading_options, ("complete",), "a task of the thesis")
        return task(source)
    return task(with_outputs(machine_of(source, reading), reading.observe))


def compare(
    machine: object,
    preset: str = "desk",
    *,
    command: str | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
    **options: Unpack[SettingKeywords],
) -> Comparison | BeliefComparison:
    """Derive a network for a machine, train others, and set them side by side.

    Args:
        machine: Anything that `krohn.automaton` takes, or a task of the thesis by name
            (`krohn.instruments.compare.tasks.catalogue.names`); or a hidden Markov model
            or linear system, or its name (``Cyclic-DET5,5@3``); or a counting program
            (``crasp:Dyck1``).
        preset: Sizes and recipes: ``"desk"`` or ``"paper"`` (docs/instruments/compare.md).
        command: What does it again; None for a call of this function.
        progress: Called with what is being done, how much is done, and of how much.
        announce: Called with what is to be known of how the machine was read, if
            anything is, and with the cost before it starts, a `TrainingCost`; a few steps
            are measured for it.
        **options: What is trained, by the names of the `Settings` in
            `krohn.instruments.compare.comparison.measurements`, and how a
            machine is read, by those in
            `krohn.machine_objects.MachineReading`.

    Raises:
        KrohnError: If there is no such machine, preset or device, a number makes no sense,
            nothing can be certified, or a run is interrupted.
    """
    settings = Settings(preset, **options)
    model = belief_task(machine)
    if model is not None:
        refuse_others(
            settings.reading_options, (), f"{model.source.name}, which is no machine"
        )
        return compare_beliefs(model, settings, command, progress, announce)
    counting = unrolled_task(machine, preset, settings.length)
    asked = counting or named_task(machine, settings)
    if counting is not None:
        refuse_others(
            settings.reading_options, (), f"{asked.name}, which is no machine"
        )
    else:
        named = _machine_arguments(machine, asked, settings)
        settings = replace(settings, named=named)
    check(asked)
    if announce is not None and asked.machine.remark:
        announce(asked.machine.remark)
    usable(settings.device)
    told = progress or silent
    again = command or f"krohn.compare({asked.name!r}, preset={preset!r}, …)"
    with run_folder(settings.runs) as folder:
        return assemble(asked, settings, folder, again, told, announce)


def _machine_arguments(
    source: object, asked: Task, reading: MachineReading
) -> tuple[str, ...] | None:
    """How `krohn run` is told the machine; None if it cannot be."""
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    if text not in names():
        said = reading.reading_options
        how = (f"{spelled(each)}={getattr(reading, each)}" for each in said)
        return (f"--machine={text}", *how)
    name, _, observe = text.removesuffix(")").partition(" (")
    if name not in zoo.names() or asked.asked is not None:
        return None
    same = zoo.machine(name).semiautomaton == asked.machine.semiautomaton
    plain, observed = f"--machine={name}", f"--observe={observe}"
    if not same or (observe and observe not in OBSERVATIONS):
        return None
    return (plain, observed) if observe else (plain,)
