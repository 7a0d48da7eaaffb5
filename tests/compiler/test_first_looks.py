"""What is soon seen of a machine is what its constructions find out with more work."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_machines import machines

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import CONSTRUCTIONS, Construction
from krohn.compiler.cost import holding_a_memory
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import plans
from krohn.network.precision import FLOAT32
from krohn.program.slices import find

CHECKED = {
    name: each
    for name, each in CONSTRUCTIONS.items()
    if each.check is not Construction("").check
}
BOUNDED = [n for n, each in CONSTRUCTIONS.items() if each.least is holding_a_memory]


@st.composite
def memories(draw: st.DrawFn) -> Automaton:
    """Machines whose letters keep all states or write one; one of them keeps."""
    size = draw(st.integers(2, 4))
    written = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
    rows = [range(size), *([q] * size for q in written)]
    names = tuple("kxyz"[: len(rows)]), tuple("pqrs"[:size])
    start = draw(st.integers(0, size - 1))
    return Automaton(Semiautomaton(np.array([*map(list, rows)]), *names), start=start)


def refusal(function: Callable[..., object], *given: object) -> str:
    """Why a function refuses a machine; empty if it does not."""
    try:
        function(*given)
    except CompileError as error:
        return str(error)
    return ""


@settings(max_examples=60)
@given(machines(most=5), st.sampled_from(sorted(CHECKED)))
def test_what_is_refused_at_once_is_refused_for_the_same_reason(
    machine: Automaton, name: str
) -> None:
    row = CHECKED[name]
    soon = refusal(row.check, machine, 6)
    assert soon in ("", refusal(find(row.place), machine, 6))


@pytest.mark.parametrize(
    ("name", "refused", "served"),
    [
        ("dyck", "FlipFlop", "Dyck2,2"),
        ("definite", "FlipFlop", "regex:(a|b)*ab"),
        ("piecewise", "C3", "regex:a*b*"),
        ("departures", "S4", "regex:a*b*"),
        ("wreath", "FlipFlop", "C3"),
        ("parity", "C3", "Parity4@1,3"),
        ("parity-tree", "Parity4@1,3", "ParityTree2,2"),
    ],
)
def test_what_is_refused_at_once(name: str, refused: str, served: str) -> None:
    check = CHECKED[name].check
    assert refusal(check, krohn.automaton(refused), 6)
    assert not refusal(check, krohn.automaton(served), 6)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(memories(), st.integers(2, 9), st.sampled_from(BOUNDED))
def test_no_network_is_smaller_than_its_bound(
    machine: Automaton, length: int, name: str
) -> None:
    bound = holding_a_memory(machine, length)
    try:
        found = plans(name, machine, length, Options(FLOAT32))
    except CompileError:
        return
    for plan in found:
        for size in ("depth", "layers", "d_model", "parameters"):
            assert getattr(bound, size) <= getattr(plan.cost, size), (name, size)


def test_a_memory_is_as_small_as_the_bound() -> None:
    machine = zoo.machine("FlipFlop")
    (plan,) = plans("memory", machine, 20, Options(FLOAT32))
    bound = holding_a_memory(machine, 20)
    assert (bound.d_model, bound.parameters) == (5, 162)
    assert (plan.cost.d_model, plan.cost.parameters) == (5, 162)
    assert holding_a_memory(zoo.machine("C2"), 20).parameters == 0
