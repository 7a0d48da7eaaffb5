"""Programs that say outputs: right in every construction, small for small outputs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Output, Semiautomaton
from krohn.algebra.observation import OBSERVATIONS, observe
from krohn.architectures.recurrent.build import compile_rnn
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    construct,
)
from krohn.compiler.machine_programs import forms
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import planning
from krohn.network.precision import FLOAT32
from krohn.program.interpreter import states

OBSERVED = [
    ("Dyck3,2", "stack-top"),
    ("Dyck3,2", "balance"),
    ("Grid4", "boundary"),
    ("S4", "first-chair"),
    ("C4", "zero"),
    ("D8", "location"),
    ("abab", "accept"),
]


def outputs(machine: Automaton, words: IntArray) -> IntArray:
    """``(count, length)``: what the machine shows along words."""
    assert machine.output is not None
    return machine.output.table[machine.semiautomaton.trace(words, machine.start)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "observation"), OBSERVED)
def test_every_construction_says_outputs(name: str, observation: str) -> None:
    machine = observe(zoo.machine(name), observation)
    letters = range(len(machine.letters))
    words = np.array(list(product(letters, repeat=4)))
    tried = 0
    for form, construction in product(forms(machine), CONSTRUCTIONS):
        try:
            program = construct(construction, form, 4)
        except CompileError:
            continue
        tried += 1
        assert np.array_equal(states(program, words), outputs(machine, words))
    assert tried >= 2


@given(machines(), st.integers(1, 3), st.integers(0, 1000))
def test_random_outputs_of_random_machines(
    structure: Semiautomaton, count: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(count, size=len(structure.states))
    shown = Output("states", table, tuple(map(str, range(count))))
    machine = Automaton(structure, output=shown)
    words = rng.integers(len(structure.letters), size=(20, 9))
    for construction in ("scan", "sequential"):
        program = construct(construction, machine, 9)
        assert np.array_equal(states(program, words), outputs(machine, words))


@pytest.mark.slow
def test_the_quotient_is_compiled_where_it_is_smaller() -> None:
    s5, options = zoo.machine("S5"), Options(FLOAT32)
    all_of_it = compile_transformer(s5, 20, "scan", options)
    seen = compile_transformer(observe(s5, "first-chair"), 20, "scan", options)
    assert seen.network.architecture["outputs"] == 5
    assert seen.cost is not None
    assert all_of_it.cost is not None
    assert seen.cost.parameters < all_of_it.cost.parameters
    sign = Output("states", _signs(s5), ("even", "odd"))
    parity = next(planning(replace(s5, output=sign), 20, options).best_first())
    assert parity.cost.depth == 1


def _signs(machine: Automaton) -> IntArray:
    permutations = np.array([[int(c) for c in name] for name in machine.states])
    pairs = permutations[:, :, None] > permutations[:, None, :]
    return np.asarray(np.triu(pairs.transpose(0, 2, 1)).sum(axis=(1, 2)) % 2)


def test_every_observation_is_tried_here() -> None:
    assert {name for _, name in OBSERVED} == OBSERVATIONS.keys() - {"occupant"}


def test_states_that_are_never_reached_keep_their_logits_in_an_rnn(
    own: Callable[..., Automaton],
) -> None:
    machine = own([[0, 0]])
    built = compile_rnn(machine, FLOAT32)
    assert built.network.architecture["outputs"] == len(machine.states)
