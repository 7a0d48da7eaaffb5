"""The thesis' networks for groups: right on every group of their theorem, and proved."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from random_machines import agrees

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct
from krohn.compiler.constructions.thesis import extensions
from krohn.compiler.constructions.thesis.simulator import (
    Simulator,
    group_of,
)

torch.set_num_threads(1)


@st.composite
def solvable_groups(draw: st.DrawFn) -> Automaton:
    points = draw(st.integers(2, 6))
    rows = draw(st.lists(st.permutations(range(points)), min_size=1, max_size=2))
    group = PermutationGroup(np.array(rows))
    if not group.is_solvable or group.order > 72 or group.is_trivial:
        rows = [[*range(1, points), 0]]
    letters = tuple("ab"[: len(rows)])
    names = tuple("pqrstu"[:points])
    start = draw(st.integers(0, points - 1))
    machine = Automaton(Semiautomaton(np.array(rows), letters, names), start=start)
    return machine if not group_of(machine).is_trivial else zoo.machine("C2")


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", ["wreath", "series"])
@settings(max_examples=15)
@given(solvable_groups())
def test_every_solvable_group_is_served(construction: str, machine: Automaton) -> None:
    words = np.random.default_rng(0).integers(len(machine.letters), size=(100, 7))
    assert agrees(machine, construction, 7, words)


@pytest.mark.sample(1)
@pytest.mark.parametrize("construction", ["semidirect", "semidirect-car"])
@settings(max_examples=15)
@given(solvable_groups())
def test_every_group_that_splits_is_served(
    construction: str, machine: Automaton
) -> None:
    if extensions.semidirect_simulator(group_of(machine)) is None:
        with pytest.raises(CompileError, match="does not split"):
            construct(construction, machine, 7)
    else:
        words = np.random.default_rng(0).integers(len(machine.letters), size=(100, 7))
        assert agrees(machine, construction, 7, words)


@pytest.mark.parametrize(
    ("name", "stages", "places"),
    [
        # Spec of Theorem 16: 3ℓ − 2 layers, r ← p·r + 1 places.
        ("C5", 1, 1),
        ("C4", 4, 3),
        ("C8", 7, 7),
        ("S3", 4, 3),
        ("D8", 7, 7),
        ("Q8", 7, 7),
        ("A4", 7, 10),
        ("S4", 10, 21),
    ],
)
def test_composition_series_have_the_sizes_of_the_theorem(
    name: str, stages: int, places: int
) -> None:
    found = extensions.series_simulator(group_of(zoo.machine(name)))
    assert (found.stages, found.codes.shape[1]) == (stages, places)


@pytest.mark.parametrize(
    ("name", "stages", "places"),
    [("S3", 4, 2), ("D8", 4, 2), ("A4", 4, 3), ("S4", 7, 4)],
)
def test_splittings_save_stages_and_places(name: str, stages: int, places: int) -> None:
    group = group_of(zoo.machine(name))
    found = extensions.semidirect_simulator(group)
    left = extensions.semidirect_simulator(group, undone=False)
    assert found is not None
    assert left is not None
    assert (found.stages, found.codes.shape[1]) == (stages, places)
    # Every product that is not turned back saves a look-up.
    assert left.stages == stages - (stages - 1) // 3


def test_quaternions_do_not_split_but_embed() -> None:
    group = group_of(zoo.machine("Q8"))
    assert extensions.semidirect_simulator(group) is None
    found = extensions.wreath_simulator(group)
    assert (found.stages, found.codes.shape[1]) == (4, 3)


@pytest.mark.parametrize("name", ["C6", "D8", "Q8", "A4", "S4"])
@pytest.mark.parametrize(
    "simulator", [extensions.wreath_simulator, extensions.series_simulator]
)
def test_codes_tell_elements_and_begin_with_zeros(name: str, simulator: object) -> None:
    assert callable(simulator)
    found = simulator(group_of(zoo.machine(name)))
    assert isinstance(found, Simulator)
    assert len(found.elements_by_code()) == len(found.codes)
    assert not found.codes[0].any()


def test_sums_that_are_too_long_are_refused() -> None:
    with pytest.raises(CompileError, match="shorter length"):
        construct("series", zoo.machine("C101"), 4000)
