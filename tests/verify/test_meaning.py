"""The Program computes the machine: right ones are accepted, wrong ones get a word."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import krohn
from algebra import zoo
from algebra.automaton import Automaton
from algebra.semiautomaton import Semiautomaton
from compiler import plan
from compiler.pipeline import Options, arrange, optimise
from compiler.transformer import describe, lower
from network.precision import FLOAT32
from program import Program
from program.interpreter import interpret
from verify import meaning
from verify.errors import Differs, Rejected
from verify.statement import Statement, check_domains, parse
from verify.transducer import Transducer

Build = Callable[..., Any]
MACHINES = [
    ("C3", "counter", "exploration"),
    ("C2xC3", "product", "exploration of parts"),
    ("Grid3", "gridworld", "exploration of joined memories"),
    ("Dyck1,2", "dyck", "exploration of joined memories"),
    ("FlipFlop", "memory", "exploration"),
    ("S3", "scan", "windows"),
    ("Grid4", "scan", "windows"),
    ("abab", "scan", "windows"),
    ("Adder", "scan", "windows"),
    ("S4", "cascade", "exploration"),
    ("Grid4", "cascade", "exploration"),
    ("PermReset3", "cascade", "exploration"),
    ("Grid4", "sequential", None),
    ("abab", "sequential", None),
]
STATED: dict[tuple[str, int, str, int], tuple[Statement, Program]] = {}
EACH = pytest.mark.parametrize(("name", "construction", "argument"), MACHINES)


def stated(
    machine: Automaton, construction: str, length: int
) -> tuple[Statement, Program]:
    """What a model file would say, and the Program that it was made from."""
    key = machine.name, machine.start, construction, length
    if key not in STATED:
        STATED[key] = freshly_stated(machine, construction, length)
    return STATED[key]


def freshly_stated(
    machine: Automaton, construction: str, length: int
) -> tuple[Statement, Program]:
    options = Options(FLOAT32)
    program = optimise(plan.construct(construction, machine, length), options)
    layout, features = arrange(program, options)
    entry = describe(layout, lower(layout, features, strict=False))
    return parse(entry, len(machine.letters), length), program


def prove(statement: Statement, machine: Automaton) -> meaning.Meaning:
    own = np.arange(len(machine.states))
    return meaning.prove(statement, machine, check_domains(statement), own)


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


@EACH
def test_right_programs_are_accepted(
    name: str, construction: str, argument: str | None
) -> None:
    machine = zoo.machine(name)
    statement, _ = stated(machine, construction, 6)
    found = prove(statement, machine)
    assert found.argument == argument or argument is None
    assert set(found.readings.values()) <= set(range(len(machine.states)))
    assert found.evidence()["argument"] == found.argument


@EACH
@given(st.data())
def test_wrong_programs_get_a_shortest_word(
    name: str, construction: str, argument: str | None, data: st.DataObject
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
        with pytest.raises(Differs) as caught:
            prove(statement, other)
        word = caught.value.word
        assert len(word) == expected
        one, two = (m.semiautomaton.trace(word, m.start) for m in (machine, other))
        assert one[-1] != two[-1]
        assert np.array_equal(one[:-1], two[:-1])


@EACH
@given(st.data())
def test_a_transducer_is_the_program(
    name: str, construction: str, argument: str | None, data: st.DataObject
) -> None:
    machine = zoo.machine(name)
    statement, program = stated(machine, construction, 8)
    letter = st.integers(0, len(machine.letters) - 1)
    word = data.draw(st.lists(letter, min_size=8, max_size=8))
    values = interpret(program, [word])
    transducer = Transducer.of(statement, check_domains(statement))
    memory = transducer.advance((), statement.letters)
    outputs = len(statement.outputs)
    for t, a in enumerate([None, *word]):
        if a is not None:
            memory = transducer.advance(memory, a)
        shown = [int(values[n][0, t]) for n in statement.outputs]
        assert statement.decode.get(memory[:outputs]) == statement.decode.get(
            tuple(shown)
        )


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
        longer = replace(statement, length=length)
        if wrong.any():
            with pytest.raises(Differs) as caught:
                prove(longer, machine)
            assert len(caught.value.word) == wrong.any(axis=0).argmax() + 1
        else:
            assert prove(longer, machine)


@EACH
def test_another_start_is_noticed(
    name: str, construction: str, argument: str | None
) -> None:
    machine = zoo.machine(name)
    statement, _ = stated(machine, construction, 5)
    for state in machine.states:
        other = machine.with_start(state)
        expected = shortest(machine, other)
        if expected is not None and expected <= 5:
            with pytest.raises(Differs) as caught:
                prove(statement, other)
            assert len(caught.value.word) == expected


@pytest.mark.parametrize("name", ["C2", "C5", "C7"])
def test_a_counter_is_proved_by_as_many_pairs_as_residues(name: str) -> None:
    machine = zoo.machine(name)
    for length in (20, 200):
        statement, _ = stated(machine, "counter", length)
        assert prove(statement, machine).pairs <= len(machine.states) + 1


def test_looking_far_back_without_windows_is_refused() -> None:
    machine = zoo.machine("C2")
    statement, _ = stated(machine, "scan", 64)
    with pytest.raises(Rejected, match=r"looks back \d+ positions"):
        prove(replace(statement, length=65), machine)


def test_too_much_memory_is_refused() -> None:
    machine = zoo.machine("S4")
    statement, _ = stated(machine, "scan", 32)
    with pytest.raises(Rejected, match="remembers too much"):
        prove(replace(statement, length=33), machine)


@pytest.mark.parametrize("name", ["C2", "FlipFlop", "Grid4"])
def test_a_read_out_that_forgets_a_state_is_noticed(name: str) -> None:
    machine = zoo.machine(name)
    statement, _ = stated(machine, "scan", 4)
    for gone in statement.decode:
        rest = {v: q for v, q in statement.decode.items() if v != gone}
        with pytest.raises(Differs):
            prove(replace(statement, decode=rest), machine)


def test_every_start_of_a_corridor_is_proved() -> None:
    for state in zoo.machine("Grid4").states:
        for construction in ("scan", "sequential"):
            model = krohn.compile("Grid4", 6, construction, start=state)
            assert model.file.header["claim"]["start"] == state
