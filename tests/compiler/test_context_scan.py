"""A scan of few points and the last letters: equal to the machine on all possible words."""

from dataclasses import replace

import numpy as np
import pytest

from krohn.algebra.automaton import IntArray
from krohn.algebra.windows import ContextPoints, context_points
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_program
from krohn.compiler.pipeline import Options
from krohn.kinds.hidden_markov.build_beliefs import context_scan
from krohn.kinds.hidden_markov.source import find_by_name
from krohn.kinds.hidden_markov.source_beliefs import (
    Beliefs,
    reachable,
)
from krohn.machines import read
from krohn.network.precision import PRECISIONS
from krohn.program import Map, Program, Table
from krohn.program.errors import Refused
from krohn.program.interpreter import states
from krohn.program.statement import parse
from krohn.verify.checker import refinement
from krohn.verify.checker.model_file import Machine
from krohn.verify.errors import WrongWord
from krohn.verify.search.refinement import find

OPTIONS = Options(PRECISIONS["float32"])


def beliefs(name: str) -> tuple[tuple[str, ...], Beliefs]:
    model = find_by_name(name)
    assert model is not None
    found = reachable(model)
    assert found is not None
    return model.letters, found


def solver(name: str, length: int) -> tuple[Program, Machine]:
    """The Program, and the machine of beliefs with its impossible letters."""
    letters, found = beliefs(name)
    several = np.arange(len(found.weights))
    machine = Machine(0, found.following, several)
    return context_scan(letters, found.following, length), machine


def shown(program: Program, machine: Machine) -> dict[tuple[int, ...], int]:
    """What the checker shows of a Program, by evidence that is searched for."""
    built = compile_program(program, OPTIONS)
    stated = parse(built.program, len(program.letters), program.length)
    return refinement.check(stated, find(stated, machine), machine)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Cyclic-HARD5,5@3", "Cyclic-HARD3,2@1", "RRXOR"])
def test_it_is_the_filter_on_all_possible_words(name: str) -> None:
    """Row 14: 5 points instead of 75 states; proved, not sampled."""
    program, machine = solver(name, 40)
    assert set(shown(program, machine).values()) <= set(range(len(machine.shows)))


@pytest.mark.slow
def test_cyclic_hard_needs_5_points_and_3_letters() -> None:
    _, found = beliefs("Cyclic-HARD5,5@3")
    points = context_points(found.following, 0)
    assert (points.points, points.moved, points.read) == (5, 0, 3)
    built = compile_program(solver("Cyclic-HARD5,5@3", 120)[0], OPTIONS)
    assert built.cost is not None
    assert built.cost.depth == 7
    assert built.cost.parameters < 60_000


@pytest.mark.sample(1)
@pytest.mark.parametrize("dropped", [1, 2])
def test_without_the_letters_before_it_is_refused(dropped: int) -> None:
    """The action before ``*`` is not taken: who forgets it is wrong (error 1)."""
    program, machine = solver("Cyclic-HARD3,2@1", 12)
    context = program.operations["context"]
    assert isinstance(context, Map)
    assert isinstance(context.function, Table)
    rows = context.function.rows.copy()
    rows[:, dropped] = 0
    table = Table(context.function.rows, context.function(list(rows.T)))
    changed = {**program.operations, "context": Map(table, context.inputs)}
    with pytest.raises((Refused, WrongWord)):
        shown(replace(program, operations=changed), machine)


def test_words_that_are_possible_are_followed_exactly() -> None:
    letters, found = beliefs("Cyclic-HARD5,5@4")
    program = context_scan(letters, found.following, 60)
    model = find_by_name("Cyclic-HARD5,5@4:alpha=0.2")
    assert model is not None
    words = model.sample(30, 60, np.random.default_rng(0))[0]
    said = states(program, words)
    for word, row in zip(words.tolist(), said.tolist(), strict=True):
        q, right = 0, []
        for letter in word:
            q = int(found.following[letter, q])
            right.append(q)
        assert row == right


def checked(transitions: IntArray, found: ContextPoints) -> None:
    """By brute force over words: point and last letters are one state, and move alike."""
    letters, states = transitions.shape
    many = letters + 1
    moves: dict[tuple[int, ...], int] = {}
    told: dict[tuple[int, ...], int] = {}
    todo, seen = [(0, (letters,) * 3)], set[tuple[int, tuple[int, ...]]]()
    while todo:
        if (one := todo.pop()) in seen:
            continue
        seen.add(one)
        q, last = one
        point = int(found.of[q])
        assert told.setdefault((point, *last[: found.read]), q) == q
        for letter in range(letters):
            if (to := int(transitions[letter, q])) >= 0:
                key = (letter, point, *last[: found.moved])
                assert moves.setdefault(key, int(found.of[to])) == found.of[to]
                todo.append((to, (letter, *last[:2])))
    assert len({q for q, _ in seen}) == states
    assert found.behind.shape == (states, many**found.read)


@pytest.mark.parametrize("seed", range(8))
def test_points_are_moved_by_letters_and_those_before(seed: int) -> None:
    random = np.random.default_rng(seed)
    transitions = random.integers(-2, 7, size=(3, 7)).clip(min=-1)
    transitions[0] = (np.arange(7) + 1) % 7
    checked(transitions, context_points(transitions, 0))


def test_definite_machines_have_one_point_and_groups_as_many_as_states() -> None:
    flip = read("FFLTracker2").transitions
    assert context_points(read("C5").transitions, 0).points == 5
    assert context_points(flip, 0).points <= 3
    with pytest.raises(CompileError, match="do not reduce the number of points"):
        context_scan(("0", "1"), read("C2").transitions, 8)
