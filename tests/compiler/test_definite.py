"""Machines that the last or the first letters decide, and machines that only count."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bestiary import machines
from hypothesis import given, strategies as st
from random_machines import agrees

import krohn
from krohn.algebra.automaton import Automaton, Output, Semiautomaton
from krohn.algebra.classification.digraph import equivalences
from krohn.algebra.minimisation import minimise, reachable
from krohn.algebra.products import parallel
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options
from krohn.network.precision import FLOAT32
from krohn.program.interpreter import states


def shift_register(letters: int, size: int) -> Automaton:
    """The last ``size`` letters, the first state standing for letters before the word."""
    names = tuple("abcd"[:letters])
    words = ["".join(w) for n in range(size + 1) for w in product(names, repeat=n)]
    table = [[words.index((w + a)[-size:]) for w in words] for a in names]
    return Automaton(Semiautomaton(np.array(table), names, tuple(words)))


def first_letters(letters: int, size: int) -> Automaton:
    """The first ``size`` letters."""
    names = tuple("abcd"[:letters])
    words = ["".join(w) for n in range(size + 1) for w in product(names, repeat=n)]
    table = [[words.index((w + a)[:size]) for w in words] for a in names]
    return Automaton(Semiautomaton(np.array(table), names, tuple(words)))


def counts(*limits: tuple[int, int]) -> Automaton:
    """A letter for each (tail, period), counted up to the tail and then modulo."""
    parts = []
    for i, (tail, period) in enumerate(limits):
        table = np.tile(np.arange(tail + period), (len(limits), 1))
        table[i] = np.append(np.arange(1, tail + period), tail)
        names = tuple(map(str, range(tail + period)))
        structure = Semiautomaton(table, tuple("abcd"[: len(limits)]), names)
        parts.append(Automaton(structure))
    return parallel(*parts)


@pytest.mark.parametrize(("letters", "size"), [(2, 1), (2, 3), (3, 2)])
def test_the_last_letters_decide_in_one_layer(letters: int, size: int) -> None:
    machine = shift_register(letters, size)
    for length in (1, size, size + 3):
        assert agrees(machine, "definite", length)
    built = compile_transformer(machine, 30, "definite", Options(FLOAT32))
    assert built.cost is not None
    assert built.cost.depth <= 1


@pytest.mark.parametrize(("letters", "size"), [(2, 1), (2, 3), (3, 2)])
def test_the_first_letters_decide_in_two_layers(letters: int, size: int) -> None:
    machine = first_letters(letters, size)
    for length in (1, size, size + 3):
        assert agrees(machine, "definite", length)
    built = compile_transformer(machine, 30, "definite", Options(FLOAT32))
    assert built.cost is not None
    assert built.cost.depth == 2


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_quotients_of_shift_registers_are_definite(seed: int, size: int) -> None:
    machine = shift_register(2, size)
    rng = np.random.default_rng(seed)
    shown = rng.integers(3, size=len(machine.states))
    seen = replace(machine, output=Output("states", shown, tuple("xyz")))
    assert agrees(replace(minimise(seen), output=None), "definite", 6)


@given(machines())
def test_random_machines_are_right_or_refused(structure: Semiautomaton) -> None:
    machine = Automaton(structure)
    words = np.random.default_rng(0).integers(len(structure.letters), size=(20, 9))
    expected = structure.trace(words, machine.start)
    for construction in ("definite", "content"):
        try:
            program = construct(construction, machine, 9)
        except CompileError:
            continue
        assert np.array_equal(states(program, words), expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "limits",
    [((1, 1),), ((2, 1), (1, 1)), ((0, 3), (2, 2)), ((3, 1), (0, 2), (1, 1))],
)
def test_contents_decide_in_one_layer(limits: tuple[tuple[int, int], ...]) -> None:
    machine = counts(*limits)
    for length in (1, 6):
        assert agrees(machine, "content", length)
    model = krohn.compile(machine, 30, "content")
    assert model.summary()["depth"] == 1
    assert model.proof is not None
    explored = model.proof.evidence[0]["program"]["states"]
    assert explored <= 4 * len(reachable(machine).states)


def test_letters_that_act_alike_are_counted_together() -> None:
    table = np.array([[1, 2, 2], [1, 2, 2], [0, 1, 2]])
    machine = Automaton(Semiautomaton(table, tuple("abc"), tuple("012")))
    assert agrees(machine, "content", 5)
    program = construct("content", machine, 5)
    assert sum(name.endswith(".here") for name in program.operations) == 1


@pytest.mark.slow
def test_auto_takes_them_where_they_are_cheapest() -> None:
    chosen = {
        "regex:(a|b)*aba": "definite",
        "regex:b*ab*ab*": "content",
    }
    for name, construction in chosen.items():
        assert krohn.compile(name, 20).construction == construction


def test_proofs_follow_what_the_letters_decide() -> None:
    for machine in (shift_register(2, 4), first_letters(2, 3)):
        model = krohn.compile(machine, 24, "definite", dtype="bfloat16")
        assert model.proof is not None
        assert model.proof.verdict == "verified"


def test_long_windows_are_refused() -> None:
    last = np.append(np.arange(1, 16), 15)
    chain = np.stack([last, np.zeros(16, dtype=np.int64)])
    names = tuple(map(str, range(16)))
    machine = Automaton(Semiautomaton(chain, ("a", "b"), names))
    assert len(equivalences(machine.semiautomaton)) == 16
    with pytest.raises(CompileError, match="too many words of 15 letters"):
        construct("definite", machine, 20)
