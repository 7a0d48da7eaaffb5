"""Every property is what its definition says, and every refutation can be checked."""

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.classification import Classification, classify
from krohn.algebra.classification.findings import find
from krohn.algebra.errors import MachineError

FULL = [[1, 2, 3, 0], [1, 0, 2, 3], [0, 0, 2, 3]]


def agree(oracle: ModuleType, machine: Semiautomaton) -> None:
    found = classify(machine)
    assert {p.name: p.holds for p in found.properties} == oracle.definition(machine)
    refute(oracle, machine, found)


def refute(oracle: ModuleType, machine: Semiautomaton, found: Classification) -> None:
    for p in found.properties:
        if p.holds is False:
            oracle.Witnesses(machine).check(p)


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(100))
def test_random_machines(oracle: ModuleType, seed: int) -> None:
    agree(oracle, oracle.random_machine(np.random.default_rng(seed)))


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(100))
def test_machines_that_never_lead_back(oracle: ModuleType, seed: int) -> None:
    agree(oracle, oracle.random_ordered_machine(np.random.default_rng(seed)))


def test_the_skeleton_knows_what_all_idempotents_know(oracle: ModuleType) -> None:
    """Erratum E23: the images' groups decide what the maximal subgroups decide."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        machine = oracle.random_machine(rng)
        found = find(machine, Budget())
        groups = oracle.subgroups(oracle.semigroup(machine))
        images = [c.group for c in found.skeleton.classes]
        for answer in ("is_trivial", "is_solvable"):
            expected = all(getattr(group, answer) for group in groups)
            assert all(getattr(group, answer) for group in images) == expected
        assert {g.order for g in groups} <= {g.order for g in images}


# k, or the length, is the least one: with one letter less it is not so.
@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(200))
def test_the_number_of_letters_is_the_least(oracle: ModuleType, seed: int) -> None:
    rng = np.random.default_rng(seed)
    machine = oracle.random_ordered_machine(rng)
    found = classify(machine)
    if found["definite"].holds:
        k = found["definite"].witness["k"]
        for length, holds in ((k, True), (k - 1, False)):
            maps = oracle.maps_of_length(machine, length) if length >= 0 else set()
            assert all(len(set(x)) == 1 for x in maps) == (holds or not maps)
    if found["reverse definite"].holds:
        k = found["reverse definite"].witness["k"]
        rows = machine.transitions
        for length, holds in ((k, True), (k - 1, False)):
            maps = oracle.maps_of_length(machine, length) if length >= 0 else set()
            kept = all((rows[:, list(x)] == x).all() for x in maps)
            assert kept == (holds or not maps)
    if found["nilpotent"].holds:
        k = found["nilpotent"].witness["length"]
        assert len(oracle.maps_of_length(machine, k)) == 1
        if k > 1:
            shorter = oracle.maps_of_length(machine, k - 1)
            assert len(shorter | oracle.maps_of_length(machine, k)) > 1


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(50))
def test_reset_words_reset(oracle: ModuleType, seed: int) -> None:
    machine = oracle.random_machine(np.random.default_rng(seed), most=12)
    found = classify(machine, Budget(size=1000))["synchronising"]
    if found.holds:
        after = oracle.Witnesses(machine).map(found.witness["word"])
        assert {machine.states[q] for q in after} == set(found.witness["ends"])
    else:
        oracle.Witnesses(machine).check(found)


@pytest.mark.sample(2)
@pytest.mark.parametrize("n", range(2, 9))
def test_cerny_machines_have_the_longest_reset_words(
    oracle: ModuleType, n: int
) -> None:
    cycle, merge = (np.arange(n) + 1) % n, np.arange(n)
    merge[0] = 1 % n
    found = classify(oracle.machine_of([cycle, merge]))["synchronising"]
    assert len(found.witness["word"]) >= (n - 1) ** 2


@pytest.mark.parametrize("n", range(2, 10))
def test_corridors_are_aperiodic(n: int) -> None:
    found = classify(zoo.machine(f"Grid{n}"))
    assert found["aperiodic"].holds
    assert found["solvable"].holds
    assert {group.name for group in found.subgroups} == {"1"}
    assert found.factors == ()


def test_brackets_with_a_sink_are_aperiodic() -> None:
    found = classify(zoo.machine("Dyck4,2"))
    assert (found.size, found["aperiodic"].holds) == (1246, True)


def test_brackets_that_ignore_what_does_not_fit_are_not_aperiodic(
    oracle: ModuleType,
) -> None:
    """Depth 2, two kinds: closing the wrong bracket, or one too many, does nothing."""
    machine = stay_dyck(2, 2)
    found = classify(machine)
    assert found.size == 2636
    assert not found["aperiodic"].holds
    refute(oracle, machine, found)


def stay_dyck(depth: int, kinds: int) -> Semiautomaton:
    stacks: list[tuple[int, ...]] = [()]
    for stack in stacks:
        if len(stack) < depth:
            stacks += [(*stack, kind) for kind in range(kinds)]
    index = {stack: i for i, stack in enumerate(stacks)}
    rows = []
    for kind in range(kinds):
        rows.append([index.get((*s, kind), index[s]) for s in stacks])
        rows.append([index[s[:-1] if s[-1:] == (kind,) else s] for s in stacks])
    names = tuple("".join(map(str, stack)) or "empty" for stack in stacks)
    return Semiautomaton(np.array(rows), tuple("(){}[]<>"[: 2 * kinds]), names)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["A5", "S5", "A6", "S6", "Rubik"])
def test_groups_that_are_not_solvable(oracle: ModuleType, name: str) -> None:
    machine = zoo.machine(name)
    found = classify(machine)["solvable"]
    assert found.holds is False
    assert found.witness["group"] == {"A5": "A5", "S5": "A5"}.get(
        name, found.witness["group"]
    )
    if name != "Rubik":
        oracle.Witnesses(machine.semiautomaton).check(found)


def test_five_states_suffice_for_a_group_that_is_not_solvable(
    oracle: ModuleType,
) -> None:
    """Erratum E24: footnote 17 asks for 60; A5 acts on 5, and 4 are too few."""
    machine = oracle.machine_of([[1, 2, 3, 4, 0], [1, 2, 0, 3, 4]])
    found = classify(machine)["solvable"]
    assert (found.holds, found.witness["order"]) == (False, 60)
    assert len(found.witness["words"]) == 2
    assert classify(oracle.machine_of(FULL))["solvable"].holds


def test_a_hidden_group_that_is_not_solvable(oracle: ModuleType) -> None:
    """All maps of five points, in a machine with two more states."""
    full = [[1, 2, 3, 4, 0, 0, 5], [1, 0, 2, 3, 4, 1, 1], [0, 0, 2, 3, 4, 6, 5]]
    machine = oracle.machine_of(full)
    found = classify(machine)["solvable"]
    assert found.witness["group"] == "A5"
    oracle.Witnesses(machine).check(found)


def test_groups_of_all_maps_of_four_points(oracle: ModuleType) -> None:
    found = classify(oracle.machine_of(FULL))
    assert [group.name for group in found.subgroups] == ["S4", "S3", "C2", "1"]
    assert found.factors == ("C2", "C3")
    assert found.size == found.semigroup_size == 256


def test_many_states_that_are_few_points() -> None:
    found = classify(zoo.machine("S6"))
    assert (found.size, found.subgroups[0].degree) == (720, 6)
    assert found["aperiodic"].witness["order"] > 1


def test_what_the_budget_does_not_decide_is_open_and_the_rest_is_not(
    oracle: ModuleType,
) -> None:
    rng = np.random.default_rng(0)
    machine = oracle.machine_of(rng.integers(40, size=(4, 40)))
    found = classify(machine, Budget(size=500))
    assert found.size is None
    assert found.at_least > 500
    assert found["solvable"].holds is None
    assert "more than" in found["solvable"].evidence
    assert found["aperiodic"].holds is False
    assert found["DA"].holds is False
    refute(oracle, machine, found)


def test_large_aperiodic_machines_stay_open_without_a_budget() -> None:
    machine = zoo.machine("Dyck4,2")
    found = classify(machine, Budget(size=20))
    assert found["aperiodic"].holds is None
    assert found["DA"].holds is None
    assert found["idempotent"].holds is False


def test_no_step_at_all() -> None:
    found = classify(zoo.machine("Grid9"), Budget(0))
    assert found.subgroups is None
    assert [what.partition(" (")[0] for what in found.cut] == [
        "not all elements were listed",
        "not all images were listed",
    ]
    assert found["transitive"].holds


def test_outputs_and_the_start_do_not_matter() -> None:
    machine = zoo.machine("Grid4")
    other = Automaton(machine.semiautomaton, start=2)
    assert classify(machine) == classify(other) == classify(machine.semiautomaton)


def test_unknown_property() -> None:
    with pytest.raises(MachineError, match="there are permutation, "):
        classify(zoo.machine("C2"))["green"]


def test_twice_the_letters_say_the_same() -> None:
    for name in ("S4", "Grid4", "FlipFlop", "A5"):
        machine = zoo.machine(name)
        names = tuple(f"{a}{i}" for i in "12" for a in machine.letters)
        rows = np.concatenate([machine.transitions, machine.transitions])
        action = machine.action and machine.action * 2
        twice = Automaton(Semiautomaton(rows, names, machine.states), action=action)
        once, again = classify(machine), classify(twice)
        assert (once.size, once.subgroups) == (again.size, again.subgroups)
        assert [p.holds for p in once.properties] == [p.holds for p in again.properties]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["C6", "S3", "S4", "D10", "A4"])
@pytest.mark.parametrize("seed", range(3))
def test_a_stated_action_is_not_believed(name: str, seed: int) -> None:
    """A file may state any permutations of points, of a group of the same order."""
    machine = replace(zoo.machine(name), action=None)
    right, rng = classify(machine), np.random.default_rng(seed)
    for points in (3, 4, 5):
        rows = [tuple(map(int, rng.permutation(points))) for _ in machine.letters]
        told = classify(replace(machine, action=tuple(rows)))
        assert told.subgroups == right.subgroups
        assert told.factors == right.factors


def test_the_group_of_a_false_action_is_not_told() -> None:
    """Both groups have six elements."""
    turns = zoo.machine("C6")
    moves = np.stack([turns.transitions[1], turns.transitions[2]])
    structure = Semiautomaton(moves, ("a", "b"), turns.states)
    machine = Automaton(structure, 0, action=((1, 0, 2), (1, 2, 0)))
    assert classify(machine).subgroups == classify(structure).subgroups
