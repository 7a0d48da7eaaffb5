"""Every intermediate result of a derived network, once, under all its names."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from krohn.algebra import zoo
from krohn.algebra.automaton import IntArray
from krohn.algebra.observation import observe
from krohn.instruments.compare.probes.variables import (
    canonical,
    depends_only_on,
    merge_equal,
    period,
    since,
    variable,
    variables,
)
from krohn.instruments.compare.tasks.task import Task
from krohn.program.interpreter import interpret

Tasks = Callable[[str], Task]
Words = Callable[..., IntArray]

columns = arrays(np.int64, (3, 5), elements=st.integers(0, 4))


@given(columns, st.permutations(range(5)))
def test_columns_that_differ_by_names_of_values_are_one_variable(
    values: IntArray, names: list[int]
) -> None:
    renamed = np.array(names)[values]
    assert np.array_equal(canonical(values), canonical(renamed))
    both = merge_equal(
        [variable("a", "channel", values), variable("b", "channel", renamed)]
    )
    constant = len(np.unique(values)) == 1
    assert [v.names for v in both] == ([] if constant else [("a", "b")])


@given(columns, columns)
def test_several_parts_are_told_apart_exactly_if_one_of_them_is(
    first: IntArray, second: IntArray
) -> None:
    joint = canonical(np.stack([first, second], axis=-1)).ravel()
    pairs = list(zip(first.ravel(), second.ravel(), strict=True))
    for i, pair in enumerate(pairs):
        same = [j for j, other in enumerate(pairs) if other == pair]
        assert np.array_equal(np.flatnonzero(joint == joint[i]), same)


@given(columns, columns)
def test_functions_are_recognised(given: IntArray, other: IntArray) -> None:
    assert depends_only_on(variable("f", "channel", given % 2), given)
    known: dict[int, int] = {}
    pairs = zip(given.ravel().tolist(), other.ravel().tolist(), strict=True)
    expected = all(known.setdefault(x, y) == y for x, y in pairs)
    assert depends_only_on(variable("g", "channel", other), given) == expected


def test_a_letter_has_the_period_of_its_powers() -> None:
    assert period(zoo.machine("C6").transitions[1]) == 6
    assert period(zoo.machine("Grid4").transitions[0]) == 1
    assert period(np.array([1, 0, 3, 4, 2, 0])) == 6


def test_since_counts_letters_from_the_last_event() -> None:
    assert since(np.array([[0, 1, 0, 0, 1]])).tolist() == [[1, 0, 1, 2, 0]]


def test_a_counter_has_its_sum_and_the_scan_its_products(
    task_of: Tasks, words_for: Words
) -> None:
    task = task_of("C2")
    words = words_for(task)
    found = variables(task, words)
    answer = found.find_by_name("counter: count")
    assert answer.kind == "answer"
    assert {"state", "count of 1 mod 2", "cascade: now0"} < set(answer.names)
    total = found.find_by_name("counter: sum")
    assert np.array_equal(total.numbers, np.cumsum(words, axis=1))
    product = found.find_by_name("scan: product of the last 4 letters").classes
    for t in range(words.shape[1]):
        parity = words[:, max(t - 3, 0) : t + 1].sum(axis=1) % 2
        assert len(np.unique(2 * parity + product[:, t])) == 2
    assert "counter: increment" in found.find_by_name("letter").names


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["Grid4", "D6", "Dyck2,2", "PermReset3"])
def test_variables_differ_and_are_what_their_programs_say(
    task_of: Tasks, words_for: Words, name: str
) -> None:
    task = task_of(name)
    words = words_for(task, 40, 12)
    found = variables(task, words)
    keys = {v.classes.tobytes() for v in found.found}
    assert len(keys) == len(found.found)
    assert all(v.values > 1 for v in found.found)
    home = found.find_by_name("answer").homes[0]
    values = interpret(home.program, words)
    outputs = np.stack([values[n][:, 1:] for n in home.channels], axis=-1)
    assert np.array_equal(canonical(outputs), canonical(task.states(words)))


def test_a_corridor_has_boundaries_and_a_stack_a_depth(
    task_of: Tasks, words_for: Words
) -> None:
    grid = task_of("Grid4")
    words = words_for(grid)
    ago = variables(grid, words).find_by_name("letters since boundary")
    at_wall = np.isin(grid.states(words), (0, 3))
    assert np.array_equal(ago.numbers == 0, at_wall)
    walk = variables(grid, words).find_by_name("walk without walls").numbers
    assert walk is not None
    right = grid.letters.index("R")
    assert np.array_equal(walk, np.cumsum(2 * (words == right) - 1, axis=1))
    dyck = task_of("Dyck2,2")
    words = words_for(dyck)
    names = [dyck.machine.states[q] for q in dyck.states(words).ravel()]
    depth = variables(dyck, words).find_by_name("stack depth")
    assert depth.numbers is not None
    lengths = dict(zip(names, depth.numbers.ravel().tolist(), strict=True))
    assert sorted(lengths.values()) == [0, 1, 1, 2, 2, 2, 2]


def test_outputs_are_answered_by_programs_for_outputs(
    task_of: Tasks, words_for: Words
) -> None:
    grid = task_of("Grid4")
    walls = replace(grid, machine=observe(grid.machine, "boundary"), shows="outputs")
    found = variables(walls, words_for(walls))
    answer = found.find_by_name("answer")
    assert answer.values == 2
    assert answer.homes
    assert found.find_by_name("state").values == 4
