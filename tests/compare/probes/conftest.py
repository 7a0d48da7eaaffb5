"""Tasks of zoo machines, with the words that the thesis draws."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from torch import Tensor, nn

import krohn
from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from algebra.zoo import machine, sampler
from compare.models.architecture import Lstm, Specification
from compare.models.network import Inside, Network
from compare.tasks.task import Task
from network.model import Model
from network.modelfile import ModelFile
from network.transformer import Attention, Transformer


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


class Stage(nn.Module):
    """A step of the stream, as a module that hooks can change."""

    def __init__(self, step: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.step = step

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x)


class Derived(Network):
    """A compiled network whose layers are the snapshots of its stream."""

    def __init__(self, file: ModelFile) -> None:
        model = Model(file)
        assert isinstance(model.network, Transformer)
        sizes = len(model.letters), len(model.classes), model.network.length
        super().__init__(Specification(Lstm(), *sizes))
        self.model, self.plain = model, model.network
        stages = [Stage(lambda letters: self.plain.embed(self.plain.with_bos(letters)))]
        for attention, mlp in zip(self.plain.attention, self.plain.mlp, strict=True):
            stages += [Stage(_adding(attention)), Stage(mlp)]
        self.stages = nn.ModuleList(stages)

    def forward(self, letters: Tensor, shift: int = 0) -> Tensor:
        return self.inside(letters, shift).logits

    def inside(self, letters: Tensor, shift: int = 0) -> Inside:
        x, seen = letters, []
        for stage in self.stages:
            x = stage(x)
            seen.append(x[:, 1:])
        return Inside(self.plain.read_out(seen[-1]), tuple(seen), ())

    def layers(self) -> tuple[nn.Module, ...]:
        return tuple(self.stages)


def _adding(attention: nn.Module) -> Callable[[Tensor], Tensor]:
    if not isinstance(attention, Attention):
        return lambda x: x
    return lambda x: x + attention(x)[0]


@lru_cache(maxsize=8)
def derived_network(name: str, construction: str, length: int = 16) -> Derived:
    file = krohn.compile(name, length, construction, proved=False).file
    return Derived(file)


@pytest.fixture(scope="session")
def derived() -> Callable[..., Derived]:
    """A compiled network by machine and construction."""
    return derived_network
