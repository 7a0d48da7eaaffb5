"""The Program computes the machine: right ones are accepted, wrong ones get a word."""

from collections import deque
from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program import Program
from krohn.program.errors import Refused
from krohn.program.interpreter import interpret
from krohn.program.statement import Statement as Stated, parse
from krohn.verify.checker.refinement import check
from krohn.verify.errors import Rejected, WrongWord
from krohn.verify.search import exploration
from krohn.verify.search.find import machine_of
from krohn.verify.search.refinement import find

MACHINES = [
    ("C3", "counter"),
    ("C2xC3", "product"),
    ("Grid3", "gridworld"),
    ("Dyck1,2", "dyck"),
    ("FlipFlop", "memory"),
    ("S3", "scan"),
    ("Grid4", "scan"),
    ("abab", "scan"),
    ("Adder", "scan"),
    ("S4", "cascade"),
    ("Grid4", "cascade"),
    ("PermReset3", "cascade"),
    ("Grid4", "sequential"),
    ("abab", "sequential"),
]
STATED: dict[tuple[str, int, str, int], tuple[Stated, Program]] = {}
EACH = pytest.mark.parametrize(("name", "construction"), MACHINES)


def stated(
    machine: Automaton, construction: str, length: int
) -> tuple[Stated, Program]:
    """The statement in a model file, and the Program that it was made from."""
    key = machine.name, machine.start, construction, length
    if key not in STATED:
        STATED[key] = freshly_stated(machine, construction, length)
    return STATED[key]


def freshly_stated(
    machine: Automaton, construction: str, length: int
) -> tuple[Stated, Program]:
    options = Options(FLOAT32)
    program = optimise(construct(construction, machine, length), options)
    layout, features = arrange(program, options)
    entry = describe(layout, lower(layout, features, strict=False))
    return parse(entry, len(machine.letters), length), program


def prove(program: Stated, machine: Automaton) -> int:
    """How many abstract states it takes."""
    own = machine_of(machine)
    found = find(program, own)
    accepted = check(program, found, own)
    assert set(accepted.values()) <= set(range(len(machine.states)))
    return sum(len(part["states"]) for part in found["parts"])


def shortest(right: Automaton, wrong: Automaton) -> int | None:
    """The length of a shortest word after which two machines differ."""
    start = (right.start, wrong.start)
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        (p, q), length = queue.popleft()
        for a in range(len(right.letters)):
            pair = int(right.transitions[a, p]), int(wrong.transitions[a, q])
            if pair[0] != pair[1]:
                return length + 1
            if pair not in seen:
                seen.add(pair)
                queue.append((pair, length + 1))
    return None


def spoilt(machine: Automaton, letter: int, state: int, to: int) -> Automaton:
    table = machine.transitions.copy()
    table[letter, state] = to
    return replace(
        machine,
        semiautomaton=Semiautomaton(table, machine.letters, machine.states),
        action=None,
    )


@pytest.mark.sample(2)
@EACH
def test_right_programs_are_accepted(name: str, construction: str) -> None:
    machine = zoo.machine(name)
    assert prove(stated(machine, construction, 6)[0], machine)


@pytest.mark.sample(1)
@EACH
@settings(max_examples=5)
@given(st.data())
def test_wrong_programs_get_a_shortest_word(
    name: str, construction: str, data: st.DataObject
) -> None:
    machine = zoo.machine(name)
    letter = data.draw(st.integers(0, len(machine.letters) - 1))
    state = data.draw(st.integers(0, len(machine.states) - 1))
    to = data.draw(st.integers(0, len(machine.states) - 1))
    length = data.draw(st.integers(1, 6))
    other = spoilt(machine, letter, state, to)
    statement, _ = stated(machine, construction, length)
    expected = shortest(machine, other)
    if expected is None or expected > length:
        assert prove(statement, other)
    else:
        with pytest.raises(WrongWord) as caught:
            prove(statement, other)
        word = caught.value.word
        assert len(word) == expected
        one, two = (m.semiautomaton.trace(word, m.start) for m in (machine, other))
        assert one[-1] != two[-1]
        assert np.array_equal(one[:-1], two[:-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "letters"), [("S3", 5), ("Grid4", 2), ("D6", 2)])
def test_windows_that_are_too_short_are_noticed(name: str, letters: int) -> None:
    machine = zoo.machine(name)
    statement, program = stated(machine, "scan", 4)
    for length in (4, 5, 6):
        words = np.array(list(product(range(letters), repeat=length)))
        values = interpret(program, words)
        rows = np.stack([values[n][:, 1:] for n in statement.outputs], axis=-1)
        shown = np.array(
            [[statement.decode.get(tuple(v), -1) for v in row] for row in rows.tolist()]
        )
        wrong = shown != machine.semiautomaton.trace(words, machine.start)
        longer = replace(statement, frame=statement.frame._replace(length=length))
        if wrong.any():
            with pytest.raises(WrongWord) as caught:
                prove(longer, machine)
            assert len(caught.value.word) == wrong.any(axis=0).argmax() + 1
        else:
            assert prove(longer, machine)


@pytest.mark.sample(1)
@EACH
def test_another_start_is_noticed(name: str, construction: str) -> None:
    machine = zoo.machine(name)
    statement, _ = stated(machine, construction, 5)
    for state in machine.states:
        other = machine.with_start(state)
        expected = shortest(machine, other)
        if expected is not None and expected <= 5:
            with pytest.raises(WrongWord) as caught:
                prove(statement, other)
            assert len(caught.value.word) == expected


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["C2", "C5", "C7"])
def test_a_counter_is_proved_by_as_many_pairs_as_residues(name: str) -> None:
    machine = zoo.machine(name)
    for length in (20, 200):
        statement, _ = stated(machine, "counter", length)
        assert prove(statement, machine) <= len(machine.states) + 1


@pytest.mark.slow
def test_looking_far_back_without_windows_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exploration, "MOST_STATES", 10_000)  # tests are quick
    for name, length in (("C2", 64), ("S4", 32)):
        machine = zoo.machine(name)
        program, _ = stated(machine, "scan", length)
        with pytest.raises((Refused, Rejected), match=r"too many|more than"):
            prove(
                replace(program, frame=program.frame._replace(length=length + 1)),
                machine,
            )


@pytest.mark.parametrize("name", ["C2", "FlipFlop", "Grid4"])
def test_a_read_out_that_forgets_a_state_is_noticed(name: str) -> None:
    machine = zoo.machine(name)
    statement, _ = stated(machine, "scan", 4)
    for gone in statement.decode:
        rest = {v: q for v, q in statement.decode.items() if v != gone}
        with pytest.raises(WrongWord):
            prove(replace(statement, decode=rest), machine)


@pytest.mark.slow
def test_every_start_of_a_corridor_is_proved() -> None:
    ways = cycle(("scan", "sequential"))
    for state, construction in zip(zoo.machine("Grid4").states, ways, strict=False):
        model = krohn.compile("Grid4", 6, construction, start=state)
        assert model.file.header["claim"]["start"] == state
