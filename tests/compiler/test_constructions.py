"""Each construction serves the machines of its theorem and refuses all others."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st
from random_machines import agrees, machines

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.minimisation import reachable
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import automatic, planning
from krohn.compiler.search import SIZES_TO_MINIMISE
from krohn.network.precision import FLOAT32

Build = Callable[..., Any]


@pytest.mark.slow
@settings(max_examples=8)
@given(machines(), st.integers(1, 4))
def test_what_is_offered_is_right(machine: Automaton, length: int) -> None:
    assume(len(reachable(machine).states) > 1)  # test_one_state_can_be_planned
    for name in automatic(length):
        try:
            construct(name, machine, length)
        except CompileError:
            continue
        assert agrees(machine, name, length), name


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 5, 9])
def test_sequential_has_at_most_one_layer_for_each_letter(length: int) -> None:
    network = compile_transformer(
        zoo.machine("Grid4"), length, "sequential", Options(FLOAT32)
    )
    assert network.cost is not None
    assert length - 1 <= network.cost.depth <= length


@pytest.mark.parametrize("points", [3, 4, 5])
def test_scan_composes_points_instead_of_states(points: int) -> None:
    program = construct("scan", zoo.machine(f"S{points}"), 4)
    assert sum(n.startswith("map0") for n in program.operations) == points


def test_an_action_that_does_not_determine_the_state_is_refused(own: Build) -> None:
    turn = own([[1, 2, 0]])
    broken = Automaton(turn.semiautomaton, action=((0, 1),))
    with pytest.raises(CompileError, match="does not determine its state"):
        construct("scan", broken, 3)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("C5", "counter"),
        ("FlipFlop", "memory"),
        ("C2xC2", "product"),
        ("S4", "scan5"),
        ("A5", "scan5"),
        ("Grid4", "gridworld"),
    ],
)
def test_the_planner_takes_the_least_depth(name: str, chosen: str) -> None:
    known = planning(zoo.machine(name), 20, Options(FLOAT32))
    first = next(known.best_first("depth"))
    assert first.construction == chosen
    found = known.candidates("depth")
    assert found[0].name == chosen
    least = [c.bound.depth for c in found if c.bound is not None]
    assert min(least) == first.cost.depth
    assert all(c.reason for c in found if c.bound is None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("minimise", "chosen"),
    [
        ("depth", "scan10"),
        ("parameters", "scan"),
        ("latency", "semidirect-car"),
        ("compromise", "scan"),
    ],
)
def test_the_planner_minimises_what_it_is_asked_to(minimise: str, chosen: str) -> None:
    options = Options(FLOAT32)
    found = list(planning(zoo.machine("S4"), 100, options).best_first(minimise))
    assert found[0].construction == chosen
    first = SIZES_TO_MINIMISE[minimise][0]
    least = [getattr(p.cost, first) for p in found]
    assert least == sorted(least)


def test_nothing_else_is_minimised() -> None:
    with pytest.raises(CompileError, match="depth, widest, parameters, latency"):
        next(planning(zoo.machine("C2"), 5, Options(FLOAT32)).best_first("beauty"))


@pytest.mark.sample(1)
@pytest.mark.parametrize(("radix", "depth"), [(2, 7), (3, 5), (5, 3), (10, 2)])
def test_scans_of_higher_radix_are_shallower(radix: int, depth: int) -> None:
    name = "scan" if radix == 2 else f"scan{radix}"
    machine = zoo.machine("A5")
    network = compile_transformer(machine, 100, name, Options(FLOAT32))
    assert network.cost is not None
    assert network.cost.depth == depth
    assert network.cost.heads == radix - 1


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "depth"),
    [
        *(("C6", 1), ("FlipFlop", 1), ("D6", 2), ("D8", 2), ("Q8", 2), ("A4", 2)),
        *(("S4", 3), ("PermReset4", 4), ("Dyck4,2", 5), ("Grid4", 3)),
    ],
)
def test_a_cascade_is_as_deep_as_its_levels(name: str, depth: int) -> None:
    """Derived lengths, and one more layer for each memory (docs/decomposition.md)."""
    machine = zoo.machine(name)
    network = compile_transformer(machine, 100, "cascade", Options(FLOAT32))
    assert network.cost is not None
    assert network.cost.depth == depth


def test_one_state_can_be_planned(own: Build) -> None:
    assert next(planning(own([[0]]), 3, Options(FLOAT32)).best_first())
