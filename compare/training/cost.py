"""The cost of a sweep, from a few measured steps of each kind of network."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import ceil

import torch

from krohn.algebra.wording import count
from krohn.compare.training.run import Cell, Job, fresh

STEPS = 4
"""Of a trial: the first one is slower and does not count, the last one is evaluated."""
Clock = Callable[[], float]


@dataclass(frozen=True)
class TrainingCost:
    """Cells of a sweep that are still to be trained, and their cost.

    Attributes:
        trainings: How many networks.
        done: How many are trained already.
        steps: Of all trainings, if none stops early.
        seconds: Of CPU time, if none stops early; None if another device computes.
    """

    trainings: int
    done: int
    steps: int
    seconds: float | None

    def __str__(self) -> str:
        before = f" ({self.done:,} trained already)" if self.done else ""
        if not self.trainings:
            return f"nothing is left to be trained{before}"
        said = (
            f"{count(self.trainings, 'network')} to train{before}, "
            f"{self.steps:,} steps in all if none stops early"
        )
        if self.seconds is None:
            return said
        return (
            f"{said}: about {duration(self.seconds)} of CPU time, judged by {STEPS - 1} "
            "steps of each kind; measuring the networks comes on top"
        )


def cost_of(
    job: Job, cells: Iterable[Cell], clock: Clock = time.process_time
) -> TrainingCost:
    """The cost of training the cells that have no result yet.

    Args:
        job: What is done to each cell.
        cells: The networks.
        clock: The CPU time so far.

    Raises:
        KrohnError: If a recipe does not apply, or the table of the folder is damaged.
    """
    asked = list({cell.name: cell for cell in cells}.values())
    known = job.known(asked) if job.folder.is_dir() else {}
    todo = [cell for cell in asked if cell.name not in known]
    seconds = None
    if job.device == "cpu":
        kinds = {(cell.architecture, cell.recipe): cell for cell in todo}
        each = {kind: _trial(cell, clock) for kind, cell in kinds.items()}
        seconds = sum(
            _seconds(cell, *each[cell.architecture, cell.recipe]) for cell in todo
        )
    steps = sum(cell.recipe.steps for cell in todo)
    return TrainingCost(len(todo), len(known), steps, seconds)


def _seconds(cell: Cell, step: float, evaluation: float) -> float:
    """Of one training, from those of a step and of an evaluation."""
    recipe = cell.recipe
    return recipe.steps * step + ceil(recipe.steps / recipe.every) * evaluation


def _trial(cell: Cell, clock: Clock) -> tuple[float, float]:
    """The CPU seconds of a step and of an evaluation, from a training of a few steps."""
    recipe = cell.recipe
    short = replace(recipe, steps=STEPS, warmup=min(recipe.warmup, STEPS), every=STEPS)
    times, threads = list[float](), torch.get_num_threads()
    torch.set_num_threads(1)  # as where networks are trained
    try:
        with torch.random.fork_rng(devices=[]):
            trainer = fresh(replace(cell, recipe=short))
            for _ in range(STEPS):
                began = clock()
                trainer.advance()
                times.append(clock() - began)
    finally:
        torch.set_num_threads(threads)
    step = sum(times[1:-1]) / (STEPS - 2)
    return step, max(times[-1] - step, 0.0)


def duration(seconds: float) -> str:
    """A time to two digits, in the unit that people would use."""
    sizes = ((3600, "h"), (60, "min"), (1, "s"))
    size, unit = next((s for s in sizes if seconds >= 2 * s[0]), sizes[-1])
    amount = seconds / size
    return f"{amount:.0f} {unit}" if amount >= 10 else f"{amount:.2g} {unit}"
