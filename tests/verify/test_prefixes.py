"""Layers that are right further and further: right chunks pass, wrong ones never do."""

from dataclasses import replace
from itertools import product as words

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program import Map, Operation, Program, Shift, Table
from krohn.program.interpreter import states
from krohn.program.statement import Statement as Stated, parse
from krohn.verify.checker.refinement import check
from krohn.verify.errors import WrongWord
from krohn.verify.search.find import machine_of
from krohn.verify.search.refinement import find

BASELINES = ["sequential", "chunked", "memorising"]


def stated(source: Program) -> Stated:
    """The statement of a Program in a model file."""
    options = Options(FLOAT32)
    layout, features = arrange(optimise(source, options), options)
    described = describe(layout, lower(layout, features, strict=False))
    return parse(described, len(source.letters), source.length)


def passes(source: Program, machine: Automaton) -> bool:
    """Whether it is right; a chain of lemmas leads to all that is."""
    program, own = stated(source), machine_of(machine)
    try:
        found = find(program, own)
    except WrongWord as differs:
        check_word(source, machine, differs.word)
        return False
    check(program, found, own)
    return True


def check_word(source: Program, machine: Automaton, word: tuple[int, ...]) -> None:
    """The Program is wrong after a word, and after no shorter prefix."""
    said = states(source, np.array([word]))[0]
    right = said == machine.semiautomaton.trace(word, machine.start)
    assert right.tolist() == [True] * (len(word) - 1) + [False]


def is_right(source: Program, machine: Automaton) -> bool:
    """The Program's states are the machine's on every word of full length."""
    every = list(words(range(len(machine.letters)), repeat=source.length))
    expected = machine.semiautomaton.trace(every, machine.start)
    return np.array_equal(states(source, every), expected)


def changed(source: Program, **operations: Operation) -> Program:
    return source.with_operations({**source.operations, **operations})


@pytest.mark.sample(2)
@pytest.mark.parametrize("construction", BASELINES)
@pytest.mark.parametrize("name", ["C2", "Grid3", "abab"])
@pytest.mark.parametrize("length", [2, 4])
def test_baselines_pass(construction: str, name: str, length: int) -> None:
    machine = zoo.machine(name)
    start = machine.states[1]
    for m in (machine, machine.with_start(start)):
        assert passes(construct(construction, m, length), m)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["C2", "D6", "Grid4"])
def test_long_chunks_pass(name: str) -> None:
    """Every layer is followed letter by letter, and only as far as its chunk."""
    machine = zoo.machine(name)
    program = stated(construct("chunked", machine, 20))
    found = find(program, machine_of(machine))
    check(program, found, machine_of(machine))
    assert [part["length"] for part in found["parts"]] == [5, 10, 15, 20]


@st.composite
def damaged(draw: st.DrawFn) -> tuple[Program, Automaton]:
    """A chunked or memorising Program with one value of one table changed."""
    size = draw(st.integers(2, 3))
    row = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
    table = np.array(draw(st.lists(row, min_size=1, max_size=2)))
    names = tuple("ab"[: len(table)]), tuple("pqr"[:size])
    machine = Automaton(Semiautomaton(table, *names), start=draw(st.integers(0, 1)))
    kind = draw(st.sampled_from(["chunked", "memorising"]))
    source = construct(kind, machine, draw(st.integers(2, 4)))
    name = draw(
        st.sampled_from([n for n in source.operations if n.startswith("state")])
    )
    old = source.operations[name]
    assert isinstance(old, Map)
    assert isinstance(old.function, Table)
    values = old.function.values.copy()
    at = draw(st.integers(0, len(values) - 1))
    values[at] = (values[at] + 1) % (values.max() + 1)
    new = Map(Table(old.function.rows, values), old.inputs)
    return changed(source, **{name: new}), machine


@settings(max_examples=20)
@given(damaged())
def test_what_is_right_passes_and_nothing_else(case: tuple[Program, Automaton]) -> None:
    source, machine = case
    assert passes(source, machine) == is_right(source, machine)


@pytest.mark.sample(1)
@pytest.mark.parametrize("by", [1, 2, 4])
def test_a_chunk_that_looks_back_to_another_place(by: int) -> None:
    machine = zoo.machine("Grid4")
    source = construct("chunked", machine, 9)
    assert passes(source, machine)
    wrong = changed(source, before2=Shift("state1", by))
    assert not passes(wrong, machine)


@pytest.mark.sample(1)
@pytest.mark.parametrize("other", ["letter", "letter-2"])
def test_a_chunk_that_reads_its_letters_in_another_order(other: str) -> None:
    machine = zoo.machine("Grid4")
    source = construct("chunked", machine, 9)
    swap = {"letter-1": other, other: "letter-1"}
    names = [n for n in source.operations if n.startswith("state")]
    wrong = {n: source.operations[n].rename_channels(swap) for n in names}
    assert not passes(changed(source, **wrong), machine)


def test_a_layer_too_few() -> None:
    machine = zoo.machine("Grid4")
    source = construct("chunked", machine, 9)
    short = replace(source, outputs=("state2",))
    assert not passes(short, machine)
    assert not is_right(short, machine)


def test_chunks_for_another_machine() -> None:
    source = construct("chunked", zoo.machine("C4"), 9)
    names = source.letters
    turned = zoo.machine("C4").transitions[::-1]
    other = Automaton(Semiautomaton(turned, names, tuple("0123")))
    assert passes(source, zoo.machine("C4"))
    assert not passes(source, other)
    assert not passes(source, zoo.machine("C4").with_start("1"))
