"""Networks whose answers are known, to be measured."""

from collections.abc import Callable

import numpy as np
import pytest

from krohn.algebra.automaton import IntArray
from krohn.instruments.compare.measures import simulator
from krohn.instruments.compare.tasks import Task
from krohn.verify.testing.counterexample import Simulator

Change = Callable[[IntArray, IntArray], IntArray]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def knows() -> Callable[..., Simulator]:
    """A simulator that answers a task rightly, but for a change of letters and classes."""

    def made(
        task: Task,
        change: Change = lambda letters, said: said,
        longest: int | None = None,
    ) -> Simulator:
        return simulator(
            lambda letters: change(letters, task.label(letters).labels), task, longest
        )

    return made
