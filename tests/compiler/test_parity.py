"""Sparse parity: which letters count depends on the position."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.algebra.structure import as_layered_parity, clock
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import construct
from krohn.compiler.passes.simplify import InferDomains
from krohn.network.model import Model
from krohn.program import Latest, Map, Position, Program, Shift, Token, table
from krohn.program.interpreter import interpret, states

SUPPORT = (3, 17, 42, 43, 77, 100)
LARGE = f"Parity100@{','.join(map(str, SUPPORT))}"


def every(length: int) -> IntArray:
    return np.array(list(product((0, 1), repeat=length)))


def odd(words: IntArray, support: tuple[int, ...]) -> IntArray:
    """The parity of the bits at the support, by its definition."""
    return np.asarray(words[:, np.array(support) - 1].sum(axis=1) % 2)


@given(st.integers(1, 6), st.data())
def test_the_machine_is_the_parity(size: int, data: st.DataObject) -> None:
    support = data.draw(st.sets(st.integers(1, size), min_size=1))
    name = f"Parity{size}@{','.join(map(str, sorted(support)))}"
    machine = zoo.machine(name)
    words = every(size)
    last = machine.semiautomaton.trace(words, machine.start)[:, -1]
    assert machine.output is not None
    assert np.array_equal(
        machine.output.table[last], odd(words, tuple(sorted(support)))
    )


@pytest.mark.parametrize(
    "name", ["Parity4@5", "Parity4@2,2", "Parity4@3,1", "Parity4@0"]
)
def test_the_support_is_a_set_of_positions(name: str) -> None:
    with pytest.raises(MachineError, match="ascending positions"):
        zoo.machine(name)


FORMS = ("parity", "parity-selected", "parity-table", "parity-sawtooth")


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", FORMS)
@given(size=st.integers(1, 5), length=st.integers(1, 7), data=st.data())
def test_the_program_is_the_parity(
    form: str, size: int, length: int, data: st.DataObject
) -> None:
    support = sorted(data.draw(st.sets(st.integers(1, size), min_size=1)))
    machine = zoo.machine(f"Parity{size}@{','.join(map(str, support))}")
    started = replace(
        machine.with_start(data.draw(st.sampled_from(machine.states))), output=None
    )
    found = as_layered_parity(started, length)
    assert found is not None
    if form != "parity" and not any(map(any, found.increments)):
        with pytest.raises(CompileError, match="nothing to select"):
            construct(form, started, length)
        return
    program = construct(form, started, length)
    expected = started.semiautomaton.trace(every(length), started.start)
    assert np.array_equal(states(program, every(length)), expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("size", "support"), [(4, (4,)), (10, (2, 3, 7)), (12, (1, 2, 5, 6, 11, 12))]
)
def test_every_word_is_right_on_the_network(
    size: int, support: tuple[int, ...], form: str
) -> None:
    name = f"Parity{size}@{','.join(map(str, support))}"
    compiled = krohn.compile(name, size, form, observe="outputs")
    shown = Model(compiled.file)(torch.from_numpy(every(size))).argmax(-1)[:, -1]
    assert np.array_equal(shown, odd(every(size), support))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *product(FORMS, ("float32", "float16")),
        *product(FORMS[:3], ("bfloat16",)),  # a sawtooth passes the noise of six on
    ],
)
def test_a_hundred_bits_of_which_six_count(form: str, dtype: str) -> None:
    compiled = krohn.compile(LARGE, 100, form, dtype=dtype, observe="outputs")
    assert compiled.summary()["depth"] == 1
    assert compiled.proof is not None
    assert compiled.proof.verdict == "verified"
    rng = np.random.default_rng(0)
    words = np.repeat(rng.integers(2, size=(4, 1, 100)), 64, axis=1).reshape(-1, 100)
    words[:, np.array(SUPPORT) - 1] = np.tile(every(6), (4, 1))
    words[:64, np.setdiff1d(np.arange(100), np.array(SUPPORT) - 1)] = 1
    shown = Model(compiled.file)(torch.from_numpy(words)).argmax(-1)[:, -1]
    assert np.array_equal(shown, odd(words, SUPPORT))


@pytest.mark.slow
def test_a_head_that_selects_needs_a_step_for_each_selected_position() -> None:
    sizes = {
        form: krohn.compile(LARGE, 100, form, observe="outputs").summary()
        for form in FORMS
    }
    assert [sizes[f]["layers"] for f in FORMS] == [2, 1, 2, 1]
    assert [sizes[f]["depth"] for f in FORMS] == [1, 1, 1, 1]
    assert [sizes[f]["heads"] for f in FORMS] == [1, 1, 1, 1]
    assert [sizes[f]["mlp_width"] for f in FORMS] == [2 * 6, 2 * 6, 2**5, 6]
    assert sizes["parity-selected"]["parameters"] == 842


TWO_KINDS = Automaton(
    Semiautomaton(
        np.array([[2, 3, 0, 1], [3, 2, 0, 1], [2, 3, 1, 0]]),
        ("a", "b", "c"),
        ("even0", "even1", "odd0", "odd1"),
    ),
    name="alternating",
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_positions_may_count_different_letters(length: int) -> None:
    """The letter b counts at odd positions, c at even ones."""
    words = np.array(list(product(range(3), repeat=length)))
    expected = TWO_KINDS.semiautomaton.trace(words, TWO_KINDS.start)
    for form in FORMS:
        program = construct(form, TWO_KINDS, length)
        assert np.array_equal(states(program, words), expected)
        compiled = krohn.compile(TWO_KINDS, length, form)
        shown = Model(compiled.file)(torch.from_numpy(words)).argmax(-1)
        assert np.array_equal(shown, expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("form", ["parity", "parity-table"])
def test_sums_of_what_counts_attend_to_all_positions_alike(form: str) -> None:
    """Proposition 10 selects nothing by attention: all letters have the same weight."""
    file = krohn.compile("Parity9@2,3,7", 9, form, observe="outputs").file
    at = 1  # the block of the head
    query, key = (file.tensors[f"blocks.{at}.attention.{n}"] for n in ("query", "key"))
    x = file.tensors["embed.position"]
    scores = (x @ query[0]) @ (x @ key[0]).T
    assert len(query) == 1
    assert (scores[:, 1:] == 0).all()


def test_positions_that_count_are_the_support() -> None:
    found = as_layered_parity(zoo.machine("Parity6@2,5"), 8)
    assert found is not None
    assert [t for t, added in enumerate(found.increments, 1) if any(added)] == [2, 5]


@pytest.mark.parametrize(("size", "support"), [(1, "1"), (7, "2,5"), (30, "30")])
def test_a_parity_counts_its_letters(size: int, support: str) -> None:
    assert clock(zoo.machine(f"Parity{size}@{support}")) == size
    assert clock(zoo.machine("FlipFlop")) == 0


def with_positions(length: int, clock: tuple[int, ...]) -> Program:
    """The letter at the latest position that a clock marks, and the clock before."""
    return Program(
        letters=("a", "b"),
        states=8,
        length=length,
        operations={
            "token": Token(),
            "letter": Map(table({(0,): 0, (1,): 1, (2,): 0}), ("token",)),
            "clock": Position(clock),
            "held": Latest("letter", "clock"),
            "before": Shift("clock", 1),
        },
        outputs=("held", "clock", "before"),
        decode={row: i for i, row in enumerate(product((0, 1), repeat=3))},
    )


CLOCK = (1, 0, 0, 1, 0, 1, 1, 0)


@given(st.lists(st.integers(0, 1), min_size=7, max_size=7))
def test_a_position_says_the_same_for_every_word(word: list[int]) -> None:
    values = interpret(with_positions(7, CLOCK), [word])
    assert values["clock"][0].tolist() == list(CLOCK)
    assert values["before"][0].tolist() == [1, *CLOCK[:-1]]
    marked = [max(j for j in range(t + 1) if CLOCK[j]) for t in range(8)]
    assert values["held"][0].tolist() == [[0, *word][j] for j in marked]


def test_a_position_needs_one_value_for_each() -> None:
    with pytest.raises(CompileError, match=r"4 values, not one for each .*0\.\.7"):
        InferDomains().apply(with_positions(7, CLOCK[:4]))
