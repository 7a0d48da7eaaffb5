"""Functions of the position: proved as flags and as tables; spoilt ones are refused."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from model_files import place, redescribed, stated, with_entries

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.formats import json_format
from krohn.compiler.pipeline import Options, arrange, optimise
from krohn.compiler.transformer import describe, lower
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32
from krohn.program import Latest, Map, Position, Program, Token, table
from krohn.verify.proof import prove

CLOCK = (1, 0, 0, 1, 0, 1, 1, 0)
LENGTH = len(CLOCK) - 1
PARITY = zoo.machine("Parity6@2,5")


def sampled_and_held(clock: tuple[int, ...] = CLOCK) -> Automaton:
    """The state 2t + h: h is the letter at the latest position that the clock marks."""
    rows = []
    for letter in (0, 1):
        after = [min(t + 1, LENGTH) for t in range(LENGTH + 1)]
        held = [letter if clock[t] else None for t in after]
        pairs = [(t, q) for t in range(LENGTH + 1) for q in (0, 1)]
        rows.append(
            [2 * after[t] + (q if held[t] is None else letter) for t, q in pairs]
        )
    names = tuple(f"q{i}" for i in range(2 * LENGTH + 2))
    return Automaton(Semiautomaton(np.array(rows), ("a", "b"), names))


@cache
def file(uniform: bool = False, strict: bool = False) -> ModelFile:
    """A network in which a clock says what is remembered."""
    program = Program(
        letters=("a", "b"),
        states=2 * LENGTH + 2,
        length=LENGTH,
        operations={
            "token": Token(),
            "letter": Map(table({(0,): 0, (1,): 1, (2,): 0}), ("token",)),
            "clock": Position(CLOCK),
            "time": Position(tuple(range(LENGTH + 1))),
            "held": Latest("letter", "clock"),
        },
        outputs=("held", "time"),
        decode={(h, t): 2 * t + h for t in range(LENGTH + 1) for h in (0, 1)},
    )
    options = Options(FLOAT32, strict=strict, uniform=uniform)
    layout, features = arrange(optimise(program, options), options)
    network = lower(layout, features, strict)
    tensors = {n: FLOAT32.round(t) for n, t in network.tensors.items()}
    header = {
        "architecture": network.architecture,
        "program": describe(layout, network),
        "machine": json_format.claimed_machine(sampled_and_held()),
        "claim": {"length": LENGTH},
    }
    return ModelFile(header, tensors, FLOAT32)


@pytest.mark.sample(1)
@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_a_clock_can_be_a_flag(uniform: bool, strict: bool) -> None:
    assert prove(file(uniform, strict), sampled_and_held()).verdict == "verified"


@pytest.mark.parametrize("place", [1, 3, LENGTH])
def test_another_clock_is_another_machine(place: int) -> None:
    other = tuple(1 - c if t == place else c for t, c in enumerate(CLOCK))
    proof = prove(file(), sampled_and_held(other))
    assert proof.verdict == "refuted"
    assert proof.word is not None
    assert len(proof.word) >= place


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["clock", "time"])
@pytest.mark.parametrize("position", [0, 1, LENGTH])
def test_wrong_rows_of_the_position_table_are_refused(name: str, position: int) -> None:
    at = position, place(file(), name)
    spoilt = with_entries(file(), "embed.position", at, lambda old: old + 1)
    proof = prove(spoilt, sampled_and_held())
    assert proof.verdict == "undecided"
    assert f"'{name}' is embedded wrongly" in proof.reason


@pytest.mark.parametrize(
    ("tensor", "name"), [("token", "clock"), ("position", "letter")]
)
def test_the_other_table_must_be_silent(tensor: str, name: str) -> None:
    at = 1, place(file(), name)
    spoilt = with_entries(file(), f"embed.{tensor}", at, lambda old: 1 - old)
    proof = prove(spoilt, sampled_and_held())
    assert proof.verdict == "undecided"
    assert f"'{name}' is embedded wrongly" in proof.reason


def with_values(change: Callable[[list[int]], list[int]]) -> ModelFile:
    values = stated(file(), "clock")["values"]
    return redescribed(file(), "clock", values=change(list(values)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v[:-1], "not one for each of the positions"),
        (lambda v: [*v, 0], "not one for each of the positions"),
        (lambda v: [0, *v[1:]], "1 at BOS"),
        (lambda v: [*v[:-1], 2], "outside its domain"),
        (lambda v: [*v[:-1], -1], "negative"),
        (lambda v: [*v[:-1], 0.0], "of the wrong type"),
    ],
)
def test_wrong_statements_are_refused(
    change: Callable[[list[int]], list[int]], reason: str
) -> None:
    proof = prove(with_values(change), sampled_and_held())
    assert proof.verdict == "undecided"
    assert reason in proof.reason


def test_a_parity_of_other_positions_is_refuted() -> None:
    compiled = krohn.compile(PARITY, 6, "parity", observe="outputs")
    proof = prove(compiled.file, zoo.machine("Parity6@2,6"))
    assert proof.verdict == "refuted"
    assert proof.word is not None
    assert len(proof.word) == 5
