"""The compiled network of a task, and programs that are machines on short words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from krohn.algebra.errors import KrohnError
from krohn.compilation import compile as compiled
from krohn.compile_options import CompileOptions
from krohn.compiled_model import CompiledModel
from krohn.compiler.planning import planning
from krohn.foreign import saying_outputs
from krohn.instruments.compare.comparison.result import CompiledProof
from krohn.instruments.compare.tasks.catalogue import Surviving
from krohn.instruments.compare.tasks.sources import Unrolling, source_in_form
from krohn.instruments.compare.tasks.task import Task
from krohn.instruments.compare.training import presets
from krohn.machines import OWN
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile

# Sources that are machines on words that are not too long.


MOST_STATES = 1100
"""Of which a comparison draws, probes and writes down the machine in some seconds."""


@dataclass(frozen=True)
class UnrolledTask(Task):
    """The task of saying after each letter what a program says.

    Attributes:
        program: It; `machine` says the same of words as long as networks read.
    """

    program: Any = None


def unrolled_task(
    source: object, preset: str, length: int | None
) -> UnrolledTask | None:
    """The task of a program that is a machine on short words; None of other sources.

    Args:
        source: The program, or what names it.
        preset: Says how long words are, unless ``length`` does.
        length: Letters in the words that are trained on.

    Raises:
        KrohnError: If it cannot be read, or remembers too much.
    """
    unrolling: Unrolling | None = source_in_form("unrolling", source)
    if unrolling is None:
        return None
    program = unrolling.source
    shortest = Task(program.name, unrolling.machine(1), Surviving(), "outputs")
    longest = presets.gpt(preset, shortest, length=length)[1].reads
    machine = unrolling.machine(longest)
    if len(machine.states) > MOST_STATES:
        raise KrohnError(
            f"on words of up to {longest} letters {program.name} is a machine of "
            f"{len(machine.states):,} states, and comparisons go up to {MOST_STATES:,}; "
            "train on shorter words by --length"
        )
    return UnrolledTask(program.name, machine, Surviving(), "outputs", program=program)


# The compiled network of a task, proved for words as long as they are measured.


MOST_PARAMETERS = 20_000_000
"""A scan of 50 points: proved in about a minute on a core, run by two words a second."""


@dataclass(frozen=True)
class Derived:
    """A network that was compiled and proved.

    Attributes:
        model: It, ready to run.
        file: What a model file of it would hold.
        proved: What is proved.
        remark: Why it is for shorter words than asked for; empty if it is not.
    """

    model: Model
    file: ModelFile
    proved: CompiledProof
    remark: str


def derive(
    task: Task,
    lengths: Sequence[int],
    progress: Callable[[int, int], None] | None = None,
) -> Derived:
    """Compile and prove a network for the longest words that can be certified.

    Args:
        task: Whose machine is compiled.
        lengths: Of words, ascending; the longest one is tried first.
        progress: Called by the proof with steps done and in all.

    Raises:
        KrohnError: If not even the shortest words can be certified.
    """
    remark, (shortest, *longer) = "", lengths
    for length in reversed(longer):
        try:
            return _derive_for(task, length, progress, remark)
        except KrohnError as error:
            remark = remark or f"No network for {length} letters was certified: {error}"
    return _derive_for(task, shortest, progress, remark)


def _derive_for(
    task: Task, length: int, progress: Callable[[int, int], None] | None, remark: str
) -> Derived:
    model = _compile(task, length, progress)
    file = model.file
    if isinstance(task, UnrolledTask):
        file = saying_outputs(file, task.letters, task.classes)
    return Derived(Model(file), file, _proof(model), remark)


def _compile(
    task: Task, length: int, progress: Callable[[int, int], None] | None
) -> CompiledModel:
    if isinstance(task, UnrolledTask):
        return compiled(task.program, length, progress=progress)
    observed = OWN if task.shows == "outputs" else None
    _check_size(task, length)
    return compiled(task.machine, length, observe=observed, progress=progress)


def _check_size(task: Task, length: int) -> None:
    """Refuse what takes longer to prove than everything else together.

    Raises:
        KrohnError: If the best network would be too large.
    """
    shows = task.shows == "outputs"
    machine = task.machine if shows else replace(task.machine, output=None)
    options = CompileOptions().options
    best = next(planning(machine, length, options).best_first(), None)
    if best is not None and best.cost.parameters > MOST_PARAMETERS:
        raise KrohnError(
            f"a network for {task.machine.name} and {length} letters has "
            f"{best.cost.parameters:,} parameters, and comparisons go up to "
            f"{MOST_PARAMETERS:,}; choose a smaller machine, or shorter words by --length"
        )


def _proof(found: CompiledModel) -> CompiledProof:
    proof = found.proof
    return CompiledProof(
        "undecided" if proof is None else proof.verdict,
        f"{proof.proved or proof.reason}" if proof else "no proof was asked for",
        found.file.claim.length,
        found.construction,
        found.file.precision.name,
        found.seconds,
    )
