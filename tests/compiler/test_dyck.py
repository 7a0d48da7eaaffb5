"""Stacks in three layers: right from every stack, on legal and illegal words."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options
from krohn.network.precision import FLOAT32
from krohn.program.interpreter import states


@pytest.mark.slow
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_long_legal_words(seed: int, length: int) -> None:
    machine = zoo.machine("Dyck4,2")
    word = zoo.sampler("Dyck4,2")(np.random.default_rng(seed), 3, length)
    expected = machine.semiautomaton.trace(word, machine.start)
    program = construct("dyck", machine, length)
    assert np.array_equal(states(program, word), expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("length", [1, 10, 100])
@pytest.mark.parametrize("name", ["Dyck2,2", "Dyck4,2"])
def test_three_layers_are_enough(name: str, length: int) -> None:
    machine = zoo.machine(name)
    network = compile_transformer(machine, length, "dyck", Options(FLOAT32))
    assert network.cost is not None
    assert network.cost.depth <= 3
