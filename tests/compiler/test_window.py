"""Memories of windows: Proposition 3, its printed tensors, and what it is a case of."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from printed_flip_flop import answers, row, stored, wrong

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.zoo.samplers import READ, VALUES, WRITE
from krohn.compiler.constructions.registry import construct
from krohn.compiler.pipeline import Options
from krohn.compiler.planning import planning
from krohn.network.model import Model
from krohn.network.precision import FLOAT32
from krohn.program import Latest, Shift
from krohn.program.interpreter import states
from krohn.verify.proof import prove

Build = Callable[..., Any]


def bit_and_enable() -> list[list[int]]:
    """The tracker as a product: state 2·bit + enable; letters w, r, i, 0, 1."""
    write, other = [1, 1, 3, 3], [0, 0, 2, 2]
    return [write, other, other, [0, 0, 2, 0], [0, 2, 2, 2]]


def agrees(machine: Automaton, length: int) -> bool:
    every = list(product(range(len(machine.letters)), repeat=length))
    expected = machine.semiautomaton.trace(every, machine.start)
    machine = replace(machine, output=None)
    return np.array_equal(states(construct("window", machine, length), every), expected)


def test_the_product_of_bit_and_enable(own: Build) -> None:
    machine = own(bit_and_enable())
    assert agrees(machine, 5)
    program = construct("window", machine, 5)
    assert program.outputs == ("stored", "kind")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("name", "depth"), [("FFLTracker2", 2), ("FFLTracker7", 2), ("FFL2", 3)]
)
@pytest.mark.parametrize("length", [16, 100])
def test_the_planner_finds_one_head_in_each_layer(
    name: str, depth: int, length: int
) -> None:
    machine = replace(zoo.machine(name), output=None)
    first = next(planning(machine, length, Options(FLOAT32)).best_first())
    assert (first.construction, first.cost.depth, first.cost.heads) == (
        "window",
        depth,
        1,
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("text", ["(ab|ba)*", "(a)*caaa|c"])
def test_tables_that_are_parted_otherwise_than_the_proof_parts_them_are_proved(
    text: str,
) -> None:
    """Two units may share a case of the proof; only joint values tell which is on."""
    model = krohn.compile(f"regex:{text}", 64, "window")
    assert model.proof is not None
    assert model.proof.verdict == "verified"
    name = max(n for n in model.file.tensors if n.endswith("weight") and "mlp" in n)
    tensor = model.file.tensors[name]
    at = np.argwhere(tensor)[0]
    spoilt = tensor.copy()
    spoilt[tuple(at)] *= -1
    file = replace(model.file, tensors={**model.file.tensors, name: spoilt})
    assert prove(file, model.machine).verdict != "verified"


def test_a_shift_then_the_latest() -> None:
    program = construct("window", zoo.machine("FFLTracker3"), 10)
    kinds = [type(op) for op in program.operations.values()]
    assert kinds.count(Shift) == kinds.count(Latest) == 1


def test_nothing_is_fetched_if_every_window_writes(own: Build) -> None:
    register = own([[0, 2, 0, 2], [1, 3, 1, 3]])
    program = construct("window", register, 10)
    assert not any(isinstance(op, Latest) for op in program.operations.values())
    assert agrees(register, 5)


def test_the_network_reads_right_in_every_word_of_twelve_letters() -> None:
    words = np.array(list(product(*[[0], [3, 4], *([0, 1, 2], [3, 4]) * 4])))
    order, value = words[:, ::2], words[:, 1::2]
    latest = np.maximum.accumulate(np.where(order == 0, np.arange(5), 0), axis=1)
    stored = np.take_along_axis(value, latest, axis=1)
    legal = ((order != READ) | (value == stored)).all(axis=1)
    reads = np.concatenate([words, np.full((len(words), 1), READ)], axis=1)[legal]
    model = Model(krohn.compile("FFLTracker2", 12).file)
    shown = model(torch.from_numpy(reads)).argmax(-1).numpy()
    assert len(reads) == 2 * 5 ** (12 // 2 - 2)
    assert np.array_equal(shown[:, -1], stored[legal, -1] - VALUES)
    inside = reads[:, :-1] == READ
    assert np.array_equal(shown[:, :-1][inside], reads[:, 1:][inside] - VALUES)


@pytest.mark.slow
def test_a_network_can_say_which_letters_may_follow() -> None:
    machine = zoo.machine("FFL2")
    compiled = krohn.compile(machine, 20, observe="outputs")
    assert compiled.construction == "window"
    words = zoo.sampler("FFL2")(np.random.default_rng(0), 50, 20)
    shown = Model(compiled.file)(torch.from_numpy(words)).argmax(-1).numpy()
    trace = machine.semiautomaton.trace(words, machine.start)
    assert machine.output is not None
    assert np.array_equal(shown, machine.output.table[trace])


def test_positions_on_a_circle_make_the_flip_flop_network_as_narrow_as_printed() -> (
    None
):
    """Proposition 3 has width 7, for valid words only."""
    built = krohn.compile("FFLTracker2", 512, "window", positions="circle")
    found = built.summary()
    assert (found["verdict"], found["d_model"], found["heads"]) == ("verified", 8, 1)
    assert found["layers"] == 2


IGNORE = 2


def every(length: int) -> IntArray:
    """All words of the language: a write first, a read last."""
    pairs = [(WRITE, 3), (WRITE, 4), (IGNORE, 3), (IGNORE, 4), (READ, 0)]
    middle = product(pairs, repeat=length // 2 - 2)
    words = [
        np.concatenate([first, *rest, (READ, 0)])
        for first, rest in product(pairs[:2], middle)
    ]
    found = np.array(words)
    reads = np.insert(found == READ, 0, False, axis=1)[:, :-1]
    return np.where(reads, stored(found) + VALUES, found)


def test_all_words_of_fourteen_letters_are_read_right() -> None:
    words = every(14)
    assert len(words) == 2 * 5**5
    read = answers(words, 2.5 * 14, 14, torch.float64)
    assert wrong(words, read) == 0


def test_a_score_that_is_too_small_reads_wrong() -> None:
    """2.39 T is the least that the thresholds of its tables allow."""
    words = every(14)
    assert wrong(words, answers(words, 1.5 * 14, 14, torch.float64)) > 0


def test_reads_and_ignores_are_one_letter_to_it() -> None:
    words = every(10)
    other = np.where(words == READ, IGNORE, words)
    both = (answers(w, 30.0, 10, torch.float64) for w in (words, other))
    assert torch.equal(*both)


@pytest.mark.parametrize(("span", "right"), [(64, False), (128, True)])
def test_it_reads_no_further_back_than_the_constant(span: int, right: bool) -> None:
    """A write of 1, then zeros that are ignored, then a read: 98 positions away."""
    word = np.array([[WRITE, 4, *[IGNORE, 3] * 48, READ, 4]])
    assert (wrong(word, answers(word, 3.0 * span, span, torch.float64)) == 0) == right


@pytest.mark.slow
def test_bfloat16_blurs_the_printed_scores_and_not_the_proved_ones() -> None:
    found = row("bfloat16", 128)
    assert found["c = 3T"] > 0
    assert found["c = 2T log 8T"] > 0
    assert found["window, proved"] == 0
