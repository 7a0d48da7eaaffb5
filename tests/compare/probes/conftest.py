"""Tasks of zoo machines, with the words that the thesis draws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from algebra.zoo import machine, sampler
from compare.tasks.task import Task


@dataclass(frozen=True)
class Usual:
    """The thesis' distribution of a zoo machine."""

    zoo: str
    said: str = "the thesis' words"

    def draw(
        self, machine: Automaton, rng: np.random.Generator, count: int, length: int
    ) -> IntArray:
        return sampler(self.zoo)(rng, count, length)


def zoo_task(name: str) -> Task:
    return Task(name, machine(name), Usual(name))


def drawn(task: Task, count: int = 64, length: int = 16, seed: int = 0) -> IntArray:
    rng = np.random.default_rng(seed)
    return task.inputs.draw(task.machine, rng, count, length)


@pytest.fixture(scope="session")
def task_of() -> Callable[[str], Task]:
    """The task of a zoo machine by name."""
    return zoo_task


@pytest.fixture(scope="session")
def words_for() -> Callable[..., IntArray]:
    """Words of a task."""
    return drawn
