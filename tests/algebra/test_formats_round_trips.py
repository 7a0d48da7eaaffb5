"""A machine that is written and read back is the same, or behaves the same."""

import random
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from work import calls_at_most

from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.formats import att, dot, dot_graph, gap, json_format, kiss2, learnlib

WORDS = st.text("abcxyz019_.:+|<>{}[]()é\"'\\-*#;,=&%", min_size=1, max_size=5)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
BITS = [("0", "1"), ("00", "01", "10", "11")]
ACCEPTANCE = ("reject", "accept")


def _table(draw: st.DrawFn, rows: int, columns: int, bound: int) -> list[list[int]]:
    row = st.lists(st.integers(0, bound - 1), min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=rows, max_size=rows))


def _name_list(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=1, max_size=4, unique=True)


@st.composite
def machines(
    draw: st.DrawFn,
    names: st.SearchStrategy[str] = WORDS,
    letters: st.SearchStrategy[tuple[str, ...]] | None = None,
    outputs: tuple[str, ...] | None = None,
    on: tuple[str | None, ...] = (None, "states", "transitions"),
) -> Automaton:
    alphabet = tuple(draw(_name_list(names) if letters is None else letters))
    states = tuple(draw(_name_list(names)))
    table = _table(draw, len(alphabet), len(states), len(states))
    place = draw(st.sampled_from(on))
    output = None
    if place is not None:
        shown = outputs or tuple(draw(_name_list(names)))
        rows = 1 if place == "states" else len(alphabet)
        values = np.array(_table(draw, rows, len(states), len(shown)))
        output = Output(place, values[0] if place == "states" else values, shown)
    start = draw(st.integers(0, len(states) - 1))
    semiautomaton = Semiautomaton(np.array(table), alphabet, states)
    return Automaton(semiautomaton, start, output, draw(names))


def _same(a: Automaton, b: Automaton) -> bool:
    """Whether they are equal up to the numbering of outputs and the machine's name."""
    shown = [
        m.output and (m.output.on, np.array(m.output.names)[m.output.table].tolist())
        for m in (a, b)
    ]
    same_structure = a.semiautomaton == b.semiautomaton and a.start == b.start
    return same_structure and shown[0] == shown[1]


def _behave_alike(a: Automaton, b: Automaton, seed: int = 0) -> bool:
    rng = random.Random(seed)
    words = [rng.choices(a.letters, k=40) for _ in range(5)]
    return all(a.run(word) == b.run(word) for word in words)


@settings(max_examples=10)
@given(machines(TEXTS), st.booleans())
def test_json_keeps_everything(machine: Automaton, acting: bool) -> None:
    if acting:
        machine = replace(machine, action=tuple((1, 0) for _ in machine.letters))
    text = json_format.write(machine)
    assert json_format.read(text, "x.json") == machine
    assert json_format.write(json_format.read(text, "x.json")) == text


@given(machines())
def test_dot_keeps_letters_states_and_outputs(machine: Automaton) -> None:
    try:
        text = dot.write(machine)
    except MachineError:
        return
    assert _same(dot.read(text, "x.dot"), machine)


@given(machines())
@settings(max_examples=15)
def test_dot_reads_the_same_line_by_line_and_by_its_grammar(machine: Automaton) -> None:
    try:
        text = dot.write(machine)
    except MachineError:
        return
    # A block comment is something that only the grammar knows.
    assert _same(dot.read("/* by the grammar */\n" + text, "x.dot"), machine)


@given(machines(letters=st.sampled_from(BITS), outputs=("00", "10"), on=("states",)))
def test_kiss2_keeps_the_behaviour_of_moore_machines(machine: Automaton) -> None:
    try:
        text = kiss2.write(machine)
    except MachineError:
        return
    assert _behave_alike(machine, kiss2.read(text, "x.kiss2"))


@given(machines(letters=st.sampled_from(BITS), outputs=("0", "1"), on=("transitions",)))
def test_kiss2_keeps_mealy_machines(machine: Automaton) -> None:
    try:
        text = kiss2.write(machine)
    except MachineError:
        return
    assert _same(kiss2.read(text, "x.kiss2"), machine)


@given(machines())
def test_att_keeps_the_behaviour(machine: Automaton) -> None:
    try:
        text = att.write(machine)
    except MachineError:
        return
    assert _behave_alike(machine, att.read(text, "x.att"))


def test_att_keeps_machines_that_repeat_their_letters() -> None:
    table = np.array([[0], [0]])
    output = Output("transitions", np.array([[0], [1]]), ("a", "b"))
    machine = Automaton(Semiautomaton(table, ("a", "b"), ("q",)), output=output)
    assert _behave_alike(machine, att.read(att.write(machine), "x.att"))


@given(machines(outputs=ACCEPTANCE, on=("states",)))
def test_acceptors_keep_their_behaviour(machine: Automaton) -> None:
    again = learnlib.read(learnlib.write(machine), "x.dfa")
    renamed = {letter: str(i) for i, letter in enumerate(machine.letters)}
    word = random.Random(0).choices(machine.letters, k=40)
    assert again.run([renamed[letter] for letter in word]) == machine.run(word)
    assert _same(json_format.read(json_format.write(machine), "x"), machine)


@given(machines())
def test_gap_keeps_the_transitions(machine: Automaton) -> None:
    again = gap.read(gap.write(machine), "x.g")
    assert np.array_equal(again.transitions, machine.transitions)


EACH = 150
"""Calls for a transition that is written and read."""


def _large(letters: list[str], on: str, names: tuple[str, ...]) -> Automaton:
    rng, states = np.random.default_rng(0), 150
    shape = (states,) if on == "states" else (len(letters), states)
    return Automaton(
        Semiautomaton(
            rng.integers(0, states, (len(letters), states)),
            tuple(letters),
            tuple(f"q{i}" for i in range(states)),
        ),
        7,
        Output(on, rng.integers(0, len(names), shape), names),
    )


PLAIN = [f"a{i}" for i in range(150)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("form", "letters", "on", "names"),
    [
        (json_format, PLAIN, "transitions", ("x", "y")),
        (dot, PLAIN, "transitions", ("x", "y")),
        (dot, PLAIN, "states", ("x", "y")),
        (kiss2, [f"{i:07b}" for i in range(128)], "transitions", ("00", "01")),
        (att, PLAIN, "transitions", ("x", "y")),
        (att, PLAIN, "states", ACCEPTANCE),
    ],
)
def test_hundreds_of_states_and_letters_cost_no_more_than_each(
    form: object, letters: list[str], on: str, names: tuple[str, ...]
) -> None:
    machine = _large(letters, on, names)
    with calls_at_most(EACH * machine.transitions.size):
        again = form.read(form.write(machine), "x")
    assert _behave_alike(machine, again)


def test_hundreds_of_states_without_names_cost_no_more_than_each() -> None:
    machine = _large(PLAIN, "states", ACCEPTANCE)
    number = np.array([7, *(q for q in range(150) if q != 7)]).argsort()
    with calls_at_most(EACH * machine.transitions.size):
        again = learnlib.read(learnlib.write(machine), "x")
    assert np.array_equal(again.transitions[:, number], number[machine.transitions])
    with calls_at_most(EACH * machine.transitions.size):
        again = gap.read(gap.write(machine), "x")
    assert np.array_equal(again.transitions, machine.transitions)


def test_dot_attributes_are_read_in_linear_time() -> None:
    text = "digraph {\na -> b [" + "a=b  " * 20_000 + "!];\n}"
    begin = time.process_time()
    assert dot_graph._by_lines(text) is None
    assert time.process_time() - begin < 2
