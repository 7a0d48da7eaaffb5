"""The thesis' networks for machines with resets, and its baselines; all are proved."""

from math import ceil

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings, strategies as st
from random_machines import agrees, machines

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.minimisation import reachable
from krohn.compiler.constructions.registry import construct
from krohn.program import Shift

torch.set_num_threads(1)


@st.composite
def permutation_resets(draw: st.DrawFn) -> Automaton:
    size = draw(st.integers(2, 4))
    turns = st.permutations(range(size)).map(list)
    resets = st.integers(0, size - 1).map(lambda q: [q] * size)
    table = draw(st.lists(turns | resets, min_size=1, max_size=3))
    names = tuple("abc"[: len(table)]), tuple("pqrs"[:size])
    start = draw(st.integers(0, size - 1))
    return Automaton(Semiautomaton(np.array(table), *names), start=start)


@settings(max_examples=40)
@given(permutation_resets())
def test_every_permutation_reset_machine_is_served(machine: Automaton) -> None:
    assert agrees(machine, "permutation-reset", 5)


@pytest.mark.slow
@settings(max_examples=40)
@given(machines(2, 4))
def test_every_solvable_machine_is_served(machine: Automaton) -> None:
    assume(len(reachable(machine).states) > 1)
    assert agrees(machine, "krohn-rhodes", 5)


@pytest.mark.slow
def test_all_permutations_of_four_points_with_resets_are_proved() -> None:
    """|G|²·|Q| = 13,824 rows, and as many pairs to explore."""
    built = krohn.compile("PermReset4", 33, "permutation-reset")
    assert built.proof is not None
    assert built.proof.verdict == "verified"


def drawn(seed: int) -> Automaton:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (2, 4))
    rows[0] = rng.permutation(4)
    names = ("a", "b"), tuple("pqrs")
    return Automaton(Semiautomaton(rows, *names), start=int(rng.integers(4)))


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(8))
def test_random_machines_are_proved(seed: int) -> None:
    built = krohn.compile(drawn(seed), 17, "krohn-rhodes")
    assert built.proof is not None
    assert built.proof.verdict == "verified"


@pytest.mark.parametrize("name", ["Grid4", "Dyck2,2"])
def test_every_level_looks_back_by_one(name: str) -> None:
    """Levels below the first read the states before the letter (E21)."""
    program = construct("krohn-rhodes", zoo.machine(name), 8)
    looks = [op for op in program.operations.values() if isinstance(op, Shift)]
    levels = sum(n.endswith(".writes") for n in program.operations)
    assert {op.by for op in looks} == {1}
    assert len(looks) == levels - 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [2, 5, 9, 10, 16])
def test_chunks_need_about_root_many_layers(length: int) -> None:
    built = krohn.compile("C2", length, "chunked")
    size = ceil(length**0.5)
    assert built.summary()["depth"] == ceil(length / size)
