"""Whole small networks: the solver agrees with running all words in fractions."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from bestiary import machines
from hypothesis import given, settings, strategies as st
from model_files import restated
from second_opinion import cvc5_says
from slow_network import Choose, slow_logits

import krohn
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.instruments.smt import network
from krohn.instruments.smt.gadgets import Limits
from krohn.instruments.smt.network import (
    Decision,
    Question,
    question,
)
from krohn.network.meaning.arrays import whole
from krohn.network.meaning.attention import places_of
from krohn.network.meaning.rationals import IdealRationals, Looking
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.errors import Rejected

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
    made = krohn.compile(machine, length, construction, proof=False)
    return made.file, machine


def asked(name: str, construction: str, length: int) -> Question:
    return question(*compiled(name, construction, length), length)


def first(_block: int, _head: int, _t: int, scores: dict[int, Fraction]) -> int:
    return max(scores, key=lambda j: scores[j])


def exactly(file: ModelFile, word: Sequence[int], choose: Choose = first) -> Any:
    """The logits of the ideal network, by the evaluator that is written apart."""
    shape, tensors = file.header["architecture"], file.tensors
    return slow_logits(shape, tensors, word, Fraction, choose)


def wrong_places(
    file: ModelFile, machine: Automaton, word: Sequence[int], choose: Choose = first
) -> list[int]:
    """Where the ideal network has no logit above all others, or another."""
    states = machine.semiautomaton.trace([list(word)], machine.start)[0]
    return [
        t
        for t, (said, state) in enumerate(
            zip(exactly(file, word, choose), states, strict=True)
        )
        if any(y >= said[state] for c, y in enumerate(said) if c != state)
    ]


def wrong_words(
    file: ModelFile, machine: Automaton, length: int
) -> list[tuple[int, ...]]:
    """All words of up to a length on which it is wrong, the shortest first."""
    letters, lengths = range(len(machine.letters)), range(1, length + 1)
    words = (word for n in lengths for word in product(letters, repeat=n))
    return [word for word in words if wrong_places(file, machine, word)]


def decided(file: ModelFile, machine: Automaton, length: int) -> Decision:
    """What z3 decides; a word that it finds is wrong by plain loops with its choices."""
    asked = list[IdealRationals]()

    def noted(net: Any, o: IdealRationals, words: Any) -> Any:
        asked.append(o)
        return whole(net, o, words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "whole", noted)
        found = question(file, machine, length).decide()
    if found.verdict == "refuted":
        (o,) = asked

        def choose(block: int, head: int, t: int, scores: dict[int, Fraction]) -> int:
            return o.choose(Looking(places_of(block).pattern, head, t), scores)

        both = zip(found.said, found.expected, strict=True)
        wrong = [t for t, (said, right) in enumerate(both) if said != right]
        assert wrong == wrong_places(file, machine, found.word, choose)
        assert wrong
    return found


def damaged(file: ModelFile, name: str, index: int, by: float) -> ModelFile:
    tensor = file.tensors[name].copy()
    tensor.flat[index % tensor.size] += by
    return replace(file, tensors={**file.tensors, name: tensor})


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_compiled_networks_are_right_on_all_words(case: tuple[str, str, int]) -> None:
    found = asked(*case).decide()
    assert found.verdict == "verified"
    assert found.length == case[2]


def agree(file: ModelFile, machine: Automaton, length: int) -> Decision:
    """What z3 decides, which running all words decides as well."""
    found, wrong = decided(file, machine, length), wrong_words(file, machine, length)
    assert found.verdict in ("verified", "refuted")
    if wrong:
        assert found.verdict == "refuted"
        assert (len(found.word), found.word) <= (len(wrong[0]), wrong[0])
    return found


@pytest.mark.slow
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
    agree(damaged(file, tensor, index, by), machine, length)


SEEN: dict[str, Any] = {
    "whole": {"causal": [False]},
    "sparse": {"attention": {"kind": "sparse", "block": 2, "windows": 1, "last": 1}},
}


def of_heads(file: ModelFile, said: dict[str, Any]) -> ModelFile:
    """The file with other words about its blocks of one head."""
    blocks = file.header["architecture"]["blocks"]
    assert {b["heads"] for b in blocks} <= {0, 1}
    changed = [{**b, **said} if b["heads"] else b for b in blocks]
    return restated(file, "architecture", blocks=changed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "construction", "length", "seen", "verdict"),
    [
        ("C2", "scan", 3, "whole", "verified"),
        ("C2", "scan", 3, "sparse", "refuted"),
        ("FlipFlop", "memory", 3, "whole", "refuted"),
        ("FlipFlop", "memory", 3, "sparse", "refuted"),
        ("FFLTracker2", "window", 2, "whole", "refuted"),
        ("FFLTracker2", "window", 2, "sparse", "verified"),
    ],
)
def test_heads_that_see_other_positions_are_decided_as_running_all_words_decides(
    name: str, construction: str, length: int, seen: str, verdict: str
) -> None:
    file, machine = compiled(name, construction, 4)
    file = of_heads(file, SEEN[seen])
    assert agree(file, machine, length).verdict == verdict
    found = cvc5_says(question(file, machine, length).smt_lib())
    assert found == ("unsat" if verdict == "verified" else "sat")


def test_a_counterexample_is_a_shortest_one() -> None:
    file, machine = compiled("C3", "scan", 4)
    shifted = file.tensors["embed.position"].copy()
    shifted[4] = shifted[3]
    file = replace(file, tensors={**file.tensors, "embed.position": shifted})
    found = decided(file, machine, 4)
    assert found.verdict == "refuted"
    assert len(found.word) == len(found.expected) == 4
    assert found.said[:-1] == found.expected[:-1]


@pytest.mark.slow
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


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_exact_network_answers_as_the_float_network(
    case: tuple[str, str, int],
) -> None:
    file, machine = compiled(*case)
    generator = np.random.default_rng(0)
    words = generator.integers(len(machine.letters), size=(5, case[2]))
    floats = Model(file)(torch.from_numpy(words)).argmax(dim=-1).numpy()
    for word, said in zip(words, floats, strict=True):
        exact = [int(np.argmax(x)) for x in exactly(file, word.tolist())]
        assert exact == said.tolist()


@pytest.mark.sample(1)
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
    flat, machine = compiled("FlipFlop", "memory", 4)
    at = int(np.flatnonzero(np.ptp(flat.tensors["embed.token"], axis=0))[0])
    query = flat.tensors["blocks.0.attention.query"].copy()
    query[0, at] += 1.0
    name = "blocks.0.attention.query"
    file = replace(flat, tensors={**flat.tensors, name: query})
    assert "(set-logic QF_LRA)" in question(flat, machine, 3).smt_lib()
    curved = question(file, machine, 3)
    assert "(set-logic QF_NRA)" in curved.smt_lib()
    agree(file, machine, 3)


def test_a_choice_among_equal_scores_may_be_wrong() -> None:
    """Heads that take any position are right if that is BOS, of a machine that stays."""
    file, machine = compiled("FlipFlop", "memory", 4)
    name = "blocks.0.attention.query"
    level = replace(file, tensors={**file.tensors, name: 0 * file.tensors[name]})
    table = np.full_like(machine.transitions, machine.start)
    structure = Semiautomaton(table, machine.letters, machine.states)
    still = Automaton(structure, machine.start)
    assert not wrong_words(level, still, 2)
    assert decided(level, still, 2).verdict == "refuted"


def test_heads_that_add_up_are_not_decided() -> None:
    with pytest.raises(Rejected, match="adds up"):
        asked("C3", "counter", 3)


def test_words_longer_than_the_positions_are_not_decided() -> None:
    with pytest.raises(Rejected, match="1 to 4 letters"):
        question(*compiled("C2", "scan", 4), 5)


def test_networks_of_another_kind_are_not_decided() -> None:
    made = krohn.compile("C2", arch="rnn", proof=False)
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
    file = krohn.compile(machine, 3, "scan", proof=False).file
    assert question(file, machine, 3).decide().verdict == "verified"
