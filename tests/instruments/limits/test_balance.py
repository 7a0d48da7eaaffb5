"""Balance: 0 for what is built, positive and length-limiting for what is perturbed."""

from dataclasses import replace

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.architectures.generator.build import Freedom
from krohn.architectures.generator.commands import compile_generator
from krohn.instruments.limits.balance import (
    balance,
    pumping_distances,
)
from krohn.network.modelfile import ModelFile

MACHINE = zoo.machine("Dyck3,2")


def built(pattern: str = "random", name: str = "Dyck3,2") -> ModelFile:
    free = Freedom(pattern, seed=3, scale=1.0)
    return compile_generator(name, 40, free, dtype="float64", proof=False).file


def perturbed(delta: float) -> ModelFile:
    """Scores of opening brackets moved at random, for queries that close."""
    file = built()
    query = file.tensors["layers.0.attention.query"].copy()
    noise = np.random.default_rng(0).standard_normal((6, 6))
    query[6:12, :6] += delta * noise
    return replace(file, tensors={**file.tensors, "layers.0.attention.query": query})


@pytest.mark.parametrize("pattern", ["random", "symmetric", "uniform"])
def test_what_is_built_is_balanced(pattern: str) -> None:
    found = balance(built(pattern), MACHINE)
    assert found.violations.shape == (4, 6)
    assert found.margins.min() > 0
    assert found.worst < 1e-13


def test_beta_grows_with_the_perturbation() -> None:
    betas = [balance(perturbed(d), MACHINE).beta for d in (0, 1e-3, 1e-2, 1e-1)]
    assert betas == sorted(betas)
    assert betas[1] == pytest.approx(betas[2] / 10, rel=0.1)


def test_balanced_stacks_stay_apart_however_much_is_pumped() -> None:
    gaps = pumping_distances(built(), MACHINE, [0, 10, 10_000])
    assert gaps == pytest.approx([gaps[0]] * 3, abs=1e-9)


def test_without_balance_pumping_makes_the_stack_be_forgotten() -> None:
    gaps = pumping_distances(perturbed(0.1), MACHINE, [10_000, 100_000])
    assert gaps[1] == pytest.approx(gaps[0] / 10, rel=0.1)


def test_balance_needs_two_kinds_and_two_levels() -> None:
    for name in ("Dyck3,1", "Dyck1,2"):
        file, machine = built(name=name), zoo.machine(name)
        with pytest.raises(KrohnError, match="two kinds"):
            balance(file, machine)
        with pytest.raises(KrohnError, match="two kinds"):
            pumping_distances(file, machine, [1])
