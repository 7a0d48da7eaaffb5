"""What holds of every construction: right on all words, from every start; proved; refused.

A new construction adds its lines to the tables, and no test.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import ceil, log2

import numpy as np
import pytest
from every_construction import SERVED, WIDE
from hypothesis import given, settings, strategies as st
from random_machines import agrees, machines

import krohn
from krohn.algebra.automaton import Automaton
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.constructions.registry import (
    CONSTRUCTIONS,
    ON_REQUEST,
    construct,
)
from krohn.compiler.constructions.thesis.simulator import MOST_ELEMENTS
from krohn.compiler.pipeline import Options
from krohn.network.precision import FLOAT32
from krohn.program.interpreter import states

REFUSED = {
    "scan": ("C2:0 C2:-3", "at least 1"),
    "sequential": ("C2:5000", "layer per letter"),
    "nothing": ("C2", "no construction 'nothing'; there are auto, "),
    "chunked": ("PermReset3:16", "choose a shorter length"),
    "memorising": ("S4:9", "choose a shorter length"),
    "permutation-reset": ("Grid4 A5", "krohn-rhodes|not solvable"),
    "krohn-rhodes": ("A5 C1", "not solvable|takes machines of 2"),
    **dict.fromkeys(
        ("semidirect", "wreath", "series"),
        (
            "Grid4 A5 C211 C1",
            f"no permutation|not solvable|more than {MOST_ELEMENTS}|use memory",
        ),
    ),
    "parity-table": (f"{WIDE}:40", r"more than 65536 rows; .* parity adds"),
    "cascade": (f"{WIDE}:40", "counts its letters up to 40"),
    "counter": ("S3 C2xC2 FlipFlop", "no modular counter"),
    "memory": ("C3 Grid4", "no memory: every letter must either"),
    "window": ("C2 Grid4 Dyck4,2 S3", "no memory of windows"),
    "product": ("Q8 Grid4 D6 Adder", "not a product|no product of counters"),
    "gridworld": ("C3 Memory3 S3 Dyck2,2", "no gridworld"),
    "corridor": ("C3 Memory3 S3 Dyck2,2", "no gridworld"),
    "dyck": ("C3 Grid4 abab", "no stack of bounded depth"),
    "definite": ("C3 Grid4 S3", "neither the last few letters nor the first"),
    "content": ("S3", "do not commute"),
    "parity": ("C3 FlipFlop S3 Grid4", "no parity of positions"),
    "parity-tree": (
        "S3 Grid4 FlipFlop C3 abab Adder ParityTree6,1:63 ParityTree5,1:31",
        "no binary tree|too many joint values",
    ),
}
"""Machines that a construction does not serve, for words of 4 or so many letters, and what
it says of them.
"""
DEPTHS: list[tuple[str, str, Callable[[int], int]]] = [
    ("counter", "C5", lambda _: 1),
    ("memory", "Memory3", lambda _: 1),
    ("product", "C2xC3", lambda _: 1),
    ("gridworld", "Grid4", lambda _: 2),
    ("scan", "Grid4", lambda length: ceil(log2(length))),
]


def test_every_construction_is_here() -> None:
    assert set(SERVED) == {*CONSTRUCTIONS, *ON_REQUEST}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", SERVED)
def test_it_is_right_on_every_word_from_every_start(name: str) -> None:
    for source, length in SERVED[name].items():
        machine = replace(krohn.read(source), output=None)
        every = np.array(list(product(range(len(machine.letters)), repeat=length)))
        for start in machine.states:
            started = machine.with_start(start)
            try:
                program = construct(name, started, length)
            except CompileError:
                assert start != machine.states[machine.start], source
                continue
            expected = started.semiautomaton.trace(every, started.start)
            assert np.array_equal(states(program, every), expected), (source, start)


@pytest.mark.sample(1)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", SERVED)
def test_its_network_is_proved_and_right_on_short_words(
    name: str, strict: bool
) -> None:
    (source, length), *_ = SERVED[name].items()
    model = krohn.compile(source, 6, name, strict=strict)
    report = krohn.verify(model, exhaustive=min(length, 3), proof=True)
    assert (model.construction, report.verdict) == (name, "verified")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "construction", ["scan", "sequential", "chunked", "memorising"]
)
@settings(max_examples=15)
@given(machines(2, 4), st.integers(1, 5))
def test_some_serve_every_machine(
    construction: str, machine: Automaton, length: int
) -> None:
    assert agrees(machine, construction, length)


SPLIT = ("S3", "D8", "D10", "A4", "S4", "C6", "C2xC2xC2")
PROVED = [
    *((c, n, 16) for c in ("semidirect", "semidirect-car") for n in SPLIT),
    *((c, n, 16) for c in ("wreath", "series") for n in (*SPLIT, "Q8", "C8")),
    *(
        ("permutation-reset", n, 33)
        for n in ("PermReset2", "PermReset3", "S4", "Memory5", "FlipFlop")
    ),
    *(("krohn-rhodes", n, 33) for n in ("Grid3", "Grid4", "Grid9", "PermReset3")),
    *(("krohn-rhodes", n, 33) for n in ("Dyck2,2", "Dyck4,2", "abab", "Adder")),
    *(("chunked", n, 9) for n in ("C2", "Grid4", "S3", "D8")),
    *(("memorising", n, 5) for n in ("C2", "Grid4", "D8")),
]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("construction", "name", "length"), PROVED)
def test_networks_of_the_thesis_are_proved(
    construction: str, name: str, length: int
) -> None:
    model = krohn.compile(name, length, construction)
    report = krohn.verify(model, exhaustive=3, proof=True)
    assert (model.construction, report.verdict) == (construction, "verified")


@pytest.mark.slow
def test_a_search_may_reach_no_state_in_a_step() -> None:
    assert krohn.compile("Dyck2,1", 4, "dyck").proof.verdict == "verified"


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", REFUSED)
def test_other_machines_are_refused_by_name(name: str) -> None:
    sources, reason = REFUSED[name]
    for source in sources.split():
        machine, _, length = source.partition(":")
        with pytest.raises(CompileError, match=reason) as refused:
            construct(name, krohn.read(machine), int(length or 4))
        assert "\n" not in str(refused.value)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "source", "depth"), DEPTHS)
def test_depth_is_that_of_the_theorem(
    name: str, source: str, depth: Callable[[int], int]
) -> None:
    for length in (1, 2, 3, 4, 5, 8, 9, 100):
        built = compile_transformer(krohn.read(source), length, name, Options(FLOAT32))
        assert built.cost is not None
        assert built.cost.depth == depth(length)
