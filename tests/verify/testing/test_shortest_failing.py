"""A wrong word becomes the first of the shortest ones, or the budget is said to end it."""

from collections import deque
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from slices_here import here

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.architectures.generator import find_words as bracket_words
from krohn.network.model import Model, name_answers
from krohn.network.modelfile import ModelFile
from krohn.verify.testing.counterexample import Counterexample, pair
from krohn.verify.testing.examination import black_box
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.shortest_failing import minimise, run_all

T = 6
SMALL = {
    "Grid4": krohn.compile("Grid4", T, "scan", proof=False).file,
    "C3": krohn.compile("C3", T, "counter", proof=False).file,
    "FlipFlop": krohn.compile("FlipFlop", T, "memory", proof=False).file,
}
if here("architectures.recurrent"):
    SMALL["S3"] = krohn.compile("S3", arch="rnn", proof=False).file
Pairing = tuple[Model, Automaton]
# Most changes of an entry change no answer, and such models are passed over.
MANY = settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])


@st.composite
def damaged(draw: st.DrawFn) -> Pairing:
    """A small model with one to three entries changed, and its machine."""
    name = draw(st.sampled_from(sorted(SMALL)))
    file = SMALL[name]
    tensors = dict(file.tensors)
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(sorted(n for n in tensors if tensors[n].size)))
        changed = tensors[where].copy()
        at = draw(st.integers(0, changed.size - 1))
        factor = draw(st.sampled_from([0.0, -1.0, 0.5, 1.5, 2.0]))
        changed.flat[at] = factor * changed.flat[at] + draw(st.sampled_from([0, 0, 1]))
        tensors[where] = changed
    return Model(ModelFile(file.header, tensors, file.precision)), zoo.machine(name)


def wrong_words(model: Model, machine: Automaton, length: int) -> list[list[int]]:
    """Every word of up to a length whose last answer is wrong, the shortest first."""
    found = []
    for n in range(1, length + 1):
        words = list(product(range(len(machine.letters)), repeat=n))
        logits = model(torch.tensor(words))[:, -1]
        two = logits.topk(2, dim=-1).values
        # Nearer ties are decided by the order of summation, thus by the batch.
        assume(bool(((two[:, 0] - two[:, 1]).abs() > 1e-3).all()))
        answers = name_answers(logits, model.classes)
        for word, answer in zip(words, answers, strict=True):
            state = machine.start
            for a in word:
                state = int(machine.transitions[a, state])
            if answer != machine.states[state]:
                found.append(list(word))
    return found


def named(machine: Automaton, word: list[int]) -> Counterexample:
    return Counterexample(tuple(machine.letters[a] for a in word), (), ())


def encode(machine: Automaton, found: Counterexample) -> IntArray:
    return machine.semiautomaton.encode(found.word)


@pytest.mark.slow
@MANY
@given(damaged(), st.data())
def test_it_is_the_first_of_the_shortest(both: Pairing, data: st.DataObject) -> None:
    model, machine = both
    wrong = wrong_words(model, machine, 5)
    assume(wrong)
    word = data.draw(st.sampled_from(wrong))
    found = minimise(model, machine, named(machine, word))
    assert found.least
    assert encode(machine, found.found).tolist() == wrong[0]
    assert found.right == len(wrong[0]) - 1
    assert found.summary.startswith("minimal")


@pytest.mark.slow
@MANY
@given(damaged(), st.integers(1, 60), st.data())
def test_a_small_budget_is_kept_to_and_stated(
    both: Pairing, budget: int, data: st.DataObject
) -> None:
    model, machine = both
    wrong = wrong_words(model, machine, 5)
    assume(wrong)
    word = data.draw(st.sampled_from(wrong))
    found = minimise(model, machine, named(machine, word), budget)
    short = encode(machine, found.found).tolist()
    assert found.words <= budget
    assert short in wrong
    assert (len(short), short) <= (len(word), word)
    assert all(len(w) > found.right for w in wrong)
    assert found.least <= (short == wrong[0])
    if not found.least:
        assert f"limited to {budget:,} words" in found.summary


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize("budget", [200_000, 2_000])
def test_letters_that_do_not_matter_are_deleted_and_lowered(budget: int) -> None:
    model, machine, found = long_failure()
    small = minimise(model, machine, found, budget)
    short, judge = encode(machine, small.found), pair(model, machine, 100)
    assert len(short) < len(found.word)
    assert judge.replay(short) == small.found
    assert small.found.expected[:-1] == small.found.actual[:-1]
    for i, letter in enumerate(short):
        fewer = np.delete(short, i)
        assert not fewer.size or judge.replay(fewer) is None
        for less in range(letter):
            lower = short.copy()
            lower[i] = less
            assert judge.replay(lower) is None


def test_it_cuts_at_the_first_wrong_answer() -> None:
    machine = zoo.machine("C2")
    model = Model(krohn.compile(machine, arch="rnn", proof=False).file)
    wrong = spoil(machine, 1, 0, 0)
    word = [0] * 20 + [1] * 20
    assert minimise(model, wrong, named(machine, word)).found.word == ("1",)


def test_a_word_that_does_not_fail_is_left_alone() -> None:
    machine = zoo.machine("FlipFlop")
    fine = named(machine, [0, 1, 2, 0])
    found = minimise(Model(SMALL["FlipFlop"]), machine, fine)
    assert (found.found, found.least) == (fine, False)


def test_objects() -> None:
    stated = {
        "word": ["a"],
        "expected": ["p"],
        "actual": ["q"],
        "reading": "at once",
    }
    assert Counterexample(("a",), ("p",), ("q",)).to_object() == stated


# --- networks that are looked at from outside -----------------------------------------


@settings(max_examples=15)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=7))
def test_a_function_that_is_wrong_behind_one_word(secret: list[int]) -> None:
    machine = zoo.machine("FlipFlop")

    def almost(words: IntArray) -> IntArray:
        states = machine.semiautomaton.trace(words, machine.start)
        for at in range(len(secret), words.shape[1] + 1):
            hit = (words[:, at - len(secret) : at] == secret).all(axis=1)
            states[hit, at - 1] = 1 - states[hit, at - 1]
        return states

    found = named(machine, [2, 1, *secret, 0, 2])
    small = minimise(black_box(almost, machine), machine, found)
    assert small.least
    assert encode(machine, small.found).tolist() == secret


def test_who_looks_ahead_is_shown_with_the_whole_word() -> None:
    machine = zoo.machine("C2")

    def prophet(words: IntArray) -> IntArray:
        states = machine.semiautomaton.trace(words, machine.start)
        states[:, 0] ^= words.shape[1] > 2
        return states

    model = black_box(prophet, machine)
    found = minimise(model, machine, named(machine, [1, 1, 1, 1])).found
    assert found.word == ("0", "0", "0")
    assert found.expected[0] != found.actual[0]
    assert found.expected[1:] == found.actual[1:]


def test_who_is_wrong_only_in_company_is_no_counterexample() -> None:
    machine = zoo.machine("C2")

    def sociable(words: IntArray) -> IntArray:
        states = machine.semiautomaton.trace(words, machine.start)
        return 1 - states if len(words) > 1 else states

    model = black_box(sociable, machine)
    for done in (sample(model, machine, 64, 5, 0), run_all(model, machine, 5)):
        assert done.counterexample is not None
        assert done.counterexample.reading == "among others"
        same = minimise(model, machine, done.counterexample)
        assert (same.found.reading, same.least) == ("among others", False)


def test_who_is_wrong_only_letter_by_letter_is_replayed_so() -> None:
    file = SMALL["C3"]
    model, machine = Model(file), zoo.machine("C3")
    whole = model.network.forward
    model.network.step = _shy(model.network.step)  # type: ignore[method-assign]
    found = pair(model, machine, T).replay(np.array([1, 2, 1]))
    assert found is not None
    assert (found.word, found.reading) == (("1",), "letter by letter")
    assert model.network.forward == whole


def _shy(step):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    def other(tokens: torch.Tensor, cache: object) -> tuple[torch.Tensor, object]:
        logits, after = step(tokens, cache)
        return logits * torch.nan, after

    return other


# --- generators -----------------------------------------------------------------------


def test_a_prefix_for_a_generator_is_the_first_of_the_shortest() -> None:
    machine = zoo.machine("Dyck2,2")
    file = krohn.compile_generator(machine, 8, proof=False).file
    tensors = dict(file.tensors)
    last = max(n for n in tensors if n.endswith("bias"))
    bias = tensors[last] = tensors[last].copy()
    bias[0] += 0.25
    broken = ModelFile(file.header, tensors, file.precision)
    word = named(machine, [0, 2, 1, 3, 0])
    found = bracket_words.minimise(broken, machine, word)
    everything = bracket_words.run_all(broken, machine, 5, lambda done, total: None)
    assert everything.counterexample == found.found
    assert found.least


# --- helpers --------------------------------------------------------------------------


def long_failure() -> tuple[Model, Automaton, Counterexample]:
    """A long word on which a network of S5 and a machine far from the start differ."""
    machine = zoo.machine("S5")
    far = far_state(machine)
    model = Model(krohn.compile(machine, 100, "scan", proof=False).file)
    other = spoil(machine, 0, far, far)
    found = sample(model, other, 2000, 100, 0).counterexample
    assert found is not None
    return model, other, found


def spoil(machine: Automaton, letter: int, state: int, target: int) -> Automaton:
    table = machine.transitions.copy()
    table[letter, state] = target
    return Automaton(
        Semiautomaton(table, machine.letters, machine.states), machine.start
    )


def far_state(machine: Automaton) -> int:
    """A state that is reached from the start by no shorter word than any other is."""
    queue, seen = deque([machine.start]), {machine.start: None}
    while queue:
        last = queue.popleft()
        for q in machine.transitions[:, last].tolist():
            if q not in seen:
                seen[q] = None
                queue.append(q)
    return last
