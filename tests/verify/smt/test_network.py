"""Whole small networks: the solver agrees with running all words in fractions."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from bestiary import machines
from hypothesis import given, settings, strategies as st
from second_opinion import cvc5_says

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.errors import Rejected
from krohn.verify.smt.exact import logits
from krohn.verify.smt.gadgets import Limits
from krohn.verify.smt.network import Question, question

CASES = [
    ("C3", "scan", 4),
    ("C3", "sequential", 3),
    ("FlipFlop", "memory", 4),
    ("Memory3", "memory", 4),
    ("FFLTracker2", "window", 4),
]


@cache
def compiled(name: str, construction: str, length: int) -> tuple[ModelFile, Automaton]:
    machine = krohn.read(name)
    made = krohn.compile(machine, length, construction, proved=False)
    return made.file, machine


def asked(name: str, construction: str, length: int) -> Question:
    return question(*compiled(name, construction, length), length)


def first(_block: int, _head: int, _t: int, scores: Sequence[Fraction]) -> int:
    return list(scores).index(max(scores))


def wrong_words(
    file: ModelFile, machine: Automaton, length: int
) -> list[tuple[int, ...]]:
    """All words on which the exact network has no logit above all others, or another."""
    found = []
    for word in product(range(len(machine.letters)), repeat=length):
        states = machine.semiautomaton.trace([word], machine.start)[0]
        for said, state in zip(logits(file, word, first), states, strict=True):
            if any(y >= said[state] for c, y in enumerate(said) if c != state):
                found.append(word)
                break
    return found


def damaged(file: ModelFile, name: str, index: int, by: float) -> ModelFile:
    tensor = file.tensors[name].copy()
    tensor.flat[index % tensor.size] += by
    return replace(file, tensors={**file.tensors, name: tensor})


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_compiled_networks_are_right_on_all_words(case: tuple[str, str, int]) -> None:
    found = asked(*case).decide()
    assert found.verdict == "verified"
    assert found.length == case[2]


@settings(max_examples=5)
@given(
    st.sampled_from([("C2", 3), ("FlipFlop", 2)]),
    st.integers(0, 100),
    st.integers(0, 10_000),
    st.sampled_from([-2.0, -1.0, 0.5, 1.0]),
)
def test_damaged_networks_are_decided_as_running_all_words_decides(
    case: tuple[str, int], which: int, index: int, by: float
) -> None:
    (name, length) = case
    file, machine = compiled(name, "scan", 3)
    tensor = sorted(file.tensors)[which % len(file.tensors)]
    file = damaged(file, tensor, index, by)
    found = question(file, machine, length).decide()
    wrong = wrong_words(file, machine, length)
    if found.verdict == "verified":
        assert not wrong
    if wrong:
        assert found.verdict == "refuted"
        assert found.length <= length


def test_a_counterexample_is_a_shortest_one() -> None:
    file, machine = compiled("C3", "scan", 4)
    shifted = file.tensors["embed.position"].copy()
    shifted[4] = shifted[3]
    found = question(
        replace(file, tensors={**file.tensors, "embed.position": shifted}), machine, 4
    ).decide()
    assert found.verdict == "refuted"
    assert len(found.word) == len(found.expected) == 4
    assert found.said != found.expected[-1]


@settings(max_examples=5)
@given(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))
def test_a_counterexample_is_the_first_of_its_length(
    letter: int, state: int, target: int
) -> None:
    file, machine = compiled("C3", "scan", 3)
    table = machine.transitions.copy()
    table[letter, state] = target
    other = Automaton(Semiautomaton(table, machine.letters, machine.states), 0)
    right, own = (
        {w: int(m.semiautomaton.trace([list(w)], 0)[0, -1]) for w in short_words(3)}
        for m in (other, machine)
    )
    wrong = [w for w in right if right[w] != own[w]]
    found = question(file, other, 3).decide()
    assert (found.verdict == "refuted") == bool(wrong)
    if wrong:
        assert (found.word, found.least) == (wrong[0], True)


def short_words(length: int) -> list[tuple[int, ...]]:
    """Over three letters, the shortest first, in order."""
    return [w for n in range(1, length + 1) for w in product(range(3), repeat=n)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_exact_network_answers_as_the_float_network(
    case: tuple[str, str, int],
) -> None:
    file, machine = compiled(*case)
    generator = np.random.default_rng(0)
    words = generator.integers(len(machine.letters), size=(5, case[2]))
    floats = Model(file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
    for word, said in zip(words, floats, strict=True):
        exact = [int(np.argmax(x)) for x in logits(file, list(word), first)]
        assert exact == said.tolist()


@pytest.mark.parametrize(
    "case", [("C2", "scan", 4), ("FlipFlop", "memory", 3)], ids=lambda case: case[0]
)
def test_cvc5_gives_the_same_verdicts(case: tuple[str, str, int]) -> None:
    file, machine = compiled(*case)
    right = question(file, machine, case[2])
    assert cvc5_says(right.smt_lib()) == "unsat"
    table = machine.transitions[::-1]
    other = replace(
        machine, semiautomaton=replace(machine.semiautomaton, transitions=table)
    )
    wrong = question(file, other, case[2])
    assert wrong.decide().verdict == "refuted"
    assert cvc5_says(wrong.smt_lib()) == "sat"


def test_scores_may_be_products_of_two_unknowns() -> None:
    file, machine = compiled("FlipFlop", "memory", 4)
    at = int(np.flatnonzero(np.ptp(file.tensors["embed.token"], axis=0))[0])
    query = file.tensors["blocks.0.attention.query"].copy()
    query[0, at] += 1.0
    name = "blocks.0.attention.query"
    file = replace(file, tensors={**file.tensors, name: query})
    curved = question(file, machine, 3)
    assert not curved.encoding.linear
    assert "(set-logic QF_NRA)" in curved.smt_lib()
    wrong = wrong_words(file, machine, 3)
    assert curved.decide().verdict == ("refuted" if wrong else "verified")


def test_heads_that_add_up_are_not_decided() -> None:
    with pytest.raises(Rejected, match="adds up"):
        asked("C3", "counter", 3)


def test_words_longer_than_the_positions_are_not_decided() -> None:
    with pytest.raises(Rejected, match="1 to 4 letters"):
        question(*compiled("C2", "scan", 4), 5)


def test_networks_of_another_kind_are_not_decided() -> None:
    made = krohn.compile("C2", arch="rnn", proved=False)
    with pytest.raises(Rejected, match="Transformers"):
        question(made.file, krohn.read("C2"), 2)


@pytest.mark.slow
def test_without_time_nothing_is_decided() -> None:
    found = asked("FFL2", "scan", 6).decide(Limits(seconds=0.001))
    assert found.verdict == "undecided"
    assert found.length < 6
    assert found.reason


@settings(max_examples=4)
@given(machines(most_states=3, most_letters=2), st.integers(0, 2))
def test_scans_of_all_small_machines_are_right(
    structure: Semiautomaton, start: int
) -> None:
    machine = Automaton(structure, start=start % len(structure.states), name="any")
    file = krohn.compile(machine, 3, "scan", proved=False).file
    assert question(file, machine, 3).decide().verdict == "verified"
