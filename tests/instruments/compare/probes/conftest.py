"""Tasks of zoo machines, with the words that the thesis draws."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest

import krohn
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.zoo import machine, sampler
from krohn.instruments.compare.models import (
    Compiled,
    wrap_compiled,
)
from krohn.instruments.compare.tasks.task import Task


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


@lru_cache(maxsize=8)
def derived_network(name: str, construction: str, length: int = 16) -> Compiled:
    return wrap_compiled(krohn.compile(name, length, construction, proof=False).file)


@pytest.fixture(scope="session")
def derived() -> Callable[..., Compiled]:
    """A compiled network by machine and construction."""
    return derived_network
