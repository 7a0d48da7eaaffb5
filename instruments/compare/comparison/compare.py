"""From a machine to a comparison: derive, train, measure, search, look inside."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from krohn.algebra import zoo
from krohn.algebra.observation import OBSERVATIONS
from krohn.instruments.compare.comparison.belief_comparison import BeliefQuestion
from krohn.instruments.compare.comparison.belief_result import BeliefComparison
from krohn.instruments.compare.comparison.derived import unrolled_task
from krohn.instruments.compare.comparison.machines import MachineQuestion, check
from krohn.instruments.compare.comparison.pipeline import Question, compare_networks
from krohn.instruments.compare.comparison.result import Comparison
from krohn.instruments.compare.comparison.settings import SettingKeywords, Settings
from krohn.instruments.compare.tasks.beliefs import belief_task
from krohn.instruments.compare.tasks.catalogue import (
    names,
    task,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.machine_reading import AS_IT_IS, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.option_rules import refuse_others, spell_option
from krohn.report import Announce, Progress


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
    source: object,
    preset: str = "desk",
    *,
    command: str | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
    **options: Unpack[SettingKeywords],
) -> Comparison | BeliefComparison:
    """Derive a network for a machine, train others, and set them side by side.

    Args:
        source: Anything that `krohn.automaton` takes, or a task of the thesis by name
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
            `krohn.instruments.compare.comparison.settings`, and how a
            machine is read, by those in
            `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If there is no such machine, preset or device, a number makes no sense,
            nothing can be certified, or a run is interrupted.

    Examples:
        >>> krohn.compare("C2", seeds=1, steps=200)  # doctest: +SKIP
    """
    question = ask(source, Settings(preset, **options))
    if announce is not None and question.remark:
        announce(question.remark)
    again = command or f"krohn.compare({question.name!r}, preset={preset!r}, …)"
    result: Comparison | BeliefComparison = compare_networks(
        question, again, progress, announce
    )
    return result


def ask(source: object, settings: Settings) -> Question[Any, Any]:
    """What a comparison asks of networks about a source.

    Raises:
        KrohnError: If there is no such source, or it cannot be compared.
    """
    if (beliefs := belief_task(source)) is not None:
        _check_no_machine(settings, beliefs.source.name)
        return BeliefQuestion(beliefs, settings)
    unrolled = unrolled_task(source, settings.preset, settings.length)
    if unrolled is not None:
        _check_no_machine(settings, unrolled.name)
        check(unrolled)
        return MachineQuestion(unrolled, settings)
    task = named_task(source, settings)
    check(task)
    named = _machine_arguments(source, task, settings)
    return MachineQuestion(task, replace(settings, named=named))


def _check_no_machine(settings: Settings, name: str) -> None:
    """Refuse options that say how a machine is read."""
    refuse_others(settings.reading_options, (), f"{name}, which is no machine")


def _machine_arguments(
    source: object, asked: Task, reading: MachineReading
) -> tuple[str, ...] | None:
    """How `krohn run` is told the machine; None if it cannot be."""
    if not isinstance(source, str | Path):
        return None
    text = str(source)
    if text not in names():
        options = reading.reading_options
        how = (f"{spell_option(each)}={getattr(reading, each)}" for each in options)
        return (f"--machine={text}", *how)
    name, _, observe = text.removesuffix(")").partition(" (")
    if name not in zoo.names() or asked.asked is not None:
        return None
    same = zoo.machine(name).semiautomaton == asked.machine.semiautomaton
    plain, observed = f"--machine={name}", f"--observe={observe}"
    if not same or (observe and observe not in OBSERVATIONS):
        return None
    return (plain, observed) if observe else (plain,)
