"""Simulations find every wrong answer, and the shortest word that leads to one."""

import math
from collections import deque
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.architectures.recurrent.build import compile_rnn
from krohn.compiler.compiled_network import compile_transformer
from krohn.compiler.pipeline import Options
from krohn.network.model import NOT_FINITE, TIED, Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.verify.testing.counterexample import (
    CheckError,
    Counterexample,
    Pair,
    pair,
)
from krohn.verify.testing.exhaustive import exhaustive
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.strategies import STRATEGIES

FLOAT32 = PRECISIONS["float32"]
LONG = 24
COMPILED = [
    ("C2", "counter"),
    ("FlipFlop", "memory"),
    ("C2xC2", "product"),
    ("Grid4", "scan"),
    ("Grid4", "sequential"),
    ("C2", "rnn"),
    ("S3", "rnn"),
]


def build(machine: Automaton, construction: str, length: int = LONG) -> Model:
    if construction == "rnn":
        network = compile_rnn(machine, FLOAT32).network
    else:
        options = Options(FLOAT32)
        network = compile_transformer(machine, length, construction, options).network
    header = {
        "architecture": network.architecture,
        "machine": {"letters": machine.letters, "states": machine.states},
        "claim": {},
    }
    tensors = {name: FLOAT32.round(array) for name, array in network.tensors.items()}
    return Model(ModelFile(header, tensors, FLOAT32))


def affordable(machine: Automaton) -> int:
    """A length with a few hundred words."""
    return int(math.log(500, len(machine.letters)))


def spoil(machine: Automaton, letter: int, state: int, target: int) -> Automaton:
    table = machine.transitions.copy()
    table[letter, state] = target
    wrong = Semiautomaton(table, machine.letters, machine.states)
    return Automaton(wrong, machine.start)


def brute_force(
    model: Model, machine: Automaton, length: int
) -> tuple[str, ...] | None:
    for size in range(1, length + 1):
        words = np.array(list(product(range(len(machine.letters)), repeat=size)))
        good = pair(model, machine, size).good(words)
        if (good < size).any():
            return tuple(machine.letters[a] for a in words[(good < size).argmax()])
    return None


def distinguishing(left: Automaton, right: Automaton) -> tuple[str, ...] | None:
    """The first of the shortest words after which the two machines' states differ."""
    queue: deque[tuple[tuple[int, int], tuple[str, ...]]]
    queue = deque([((left.start, right.start), ())])
    seen = {(left.start, right.start)}
    while queue:
        (p, q), word = queue.popleft()
        if p != q:
            return word
        for a, letter in enumerate(left.letters):
            after = (int(left.transitions[a, p]), int(right.transitions[a, q]))
            if after not in seen:
                seen.add(after)
                queue.append((after, (*word, letter)))
    return None


@st.composite
def machines(draw: st.DrawFn) -> tuple[Automaton, Automaton]:
    letters, states = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    state = st.integers(0, states - 1)
    row = st.lists(state, min_size=states, max_size=states)
    table = np.array(draw(st.lists(row, min_size=letters, max_size=letters)))
    names = (
        tuple(f"a{i}" for i in range(letters)),
        tuple(f"q{i}" for i in range(states)),
    )
    machine = Automaton(Semiautomaton(table, *names), draw(state))
    return machine, spoil(
        machine, draw(st.integers(0, letters - 1)), draw(state), draw(state)
    )


class TestExhaustive:
    @pytest.mark.sample(1)
    @pytest.mark.parametrize(("name", "construction"), COMPILED)
    @pytest.mark.parametrize("block", [None, 5])
    def test_right_networks_pass(
        self, name: str, construction: str, block: int | None
    ) -> None:
        machine = zoo.machine(name)
        length = affordable(machine)
        result = exhaustive(build(machine, construction), machine, length, block=block)
        letters = len(machine.letters)
        assert result.has_passed
        assert result.length == length
        assert result.words == sum(letters**i for i in range(1, length + 1))

    def test_every_node_is_the_word_it_stands_for(self) -> None:
        # Blocks of 7 nodes make all shapes of batches: all letters, some, and one.
        machine = zoo.machine("S5")
        other = spoil(machine, 1, machine.start, machine.start)
        model = build(machine, "rnn")
        for block in (1, 2, 7, 1000):
            found = exhaustive(model, other, 4, block=block).counterexample
            assert found is not None
            assert found.word == brute_force(model, other, 4)

    @pytest.mark.sample(1)
    @pytest.mark.parametrize(("name", "construction"), COMPILED)
    def test_a_damaged_network_is_refuted_by_the_shortest_word(
        self, name: str, construction: str
    ) -> None:
        machine = zoo.machine(name)
        length, refuted = affordable(machine), 0
        for seed, model in enumerate(damaged(machine, construction)):
            shortest = brute_force(model, machine, length)
            result = exhaustive(model, machine, length, block=3 + 20 * seed)
            found = result.counterexample
            refuted += found is not None
            assert (found.word if found else None) == shortest
            assert found is None or is_sound(model, machine, found)
        assert refuted

    @pytest.mark.slow
    def test_a_late_error_is_found_under_a_small_budget(self) -> None:
        machine = zoo.machine("C2")
        model = build(machine, "counter", 12)
        model.get_parameter("network.position")[11] += 100.0
        shortest = brute_force(model, machine, 12)
        result = exhaustive(model, machine, 12, budget=20_000)
        assert result.counterexample is not None
        assert result.counterexample.word == shortest
        assert len(result.counterexample.word) == 11

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("construction", ["counter", "scan", "rnn"])
    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_what_is_not_finite_never_passes(
        self, construction: str, value: float
    ) -> None:
        machine = zoo.machine("C2")
        model = build(machine, construction)
        model.network.bias[-1] = value
        found = exhaustive(model, machine, 3).counterexample
        assert found is not None
        assert found.word == machine.letters[:1]
        assert found.actual == (NOT_FINITE,)
        assert sample(model, machine, 8, 5, 0).counterexample is not None

    @pytest.mark.parametrize("construction", ["counter", "scan", "rnn"])
    def test_ties_never_pass_whichever_class_comes_first(
        self, construction: str
    ) -> None:
        machine = zoo.machine("C2")
        model = build(machine, construction)
        for parameter in (model.network.weight, model.network.bias):
            parameter.data.zero_()
        for letter in machine.letters:
            assert model.run([letter]) == [TIED]
        found = exhaustive(model, machine, 3).counterexample
        assert found is not None
        assert found.actual == (TIED,)
        assert sample(model, machine, 8, 5, 0).counterexample is not None

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("construction", ["counter", "scan"])
    @pytest.mark.parametrize("depth", [1, 2, 5, 8])
    def test_a_moved_position_is_found_where_it_is(
        self, construction: str, depth: int
    ) -> None:
        machine = zoo.machine("C2")
        model = build(machine, construction)
        model.get_parameter("network.position")[depth] += 100.0
        shortest = brute_force(model, machine, 8)
        assert shortest is not None
        for block in (7, None):
            found = exhaustive(model, machine, 8, block=block).counterexample
            assert found is not None
            assert found.word == shortest

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("construction", ["counter", "rnn"])
    def test_every_parameter_made_nan_is_noticed_or_unused(
        self, construction: str
    ) -> None:
        machine = zoo.machine("C2")
        for name, _ in build(machine, construction).named_parameters():
            model = build(machine, construction)
            model.get_parameter(name).fill_(float("nan"))
            assert not exhaustive(model, machine, 2).has_passed, name

    def test_letters_and_states_are_matched_by_name(self) -> None:
        machine = zoo.machine("S3")
        letters, states = machine.letters[::-1], machine.states[::-1]
        renumbered = len(states) - 1 - machine.transitions[::-1, ::-1]
        start = len(states) - 1 - machine.start
        same = Automaton(Semiautomaton(renumbered, letters, states), start)
        assert exhaustive(build(machine, "rnn"), same, 5).has_passed

    def test_a_state_that_the_network_lacks_is_a_mismatch(self) -> None:
        machine = zoo.machine("C2")
        renamed = Semiautomaton(machine.transitions, machine.letters, ("0", "new"))
        model = build(machine, "rnn")
        found = exhaustive(model, Automaton(renamed, machine.start), 3).counterexample
        assert found is not None
        assert found.expected[-1] == "new"

    def test_what_cannot_be_checked_is_said(self) -> None:
        model, machine = build(zoo.machine("C2"), "counter", 4), zoo.machine("C2")
        with pytest.raises(CheckError, match="but S3 has"):
            exhaustive(model, zoo.machine("S3"), 3)
        with pytest.raises(CheckError, match="up to 4 letters, not 5"):
            exhaustive(model, machine, 5)
        with pytest.raises(CheckError, match="length 0"):
            exhaustive(model, machine, 0)

    def test_progress_ends_at_the_number_of_words(self) -> None:
        told: list[tuple[int, int]] = []
        machine = zoo.machine("C2")
        exhaustive(
            build(machine, "rnn"), machine, 5, lambda *a: told.append(a), block=4
        )
        assert told[-1] == (62, 62)
        assert told == sorted(told)

    @settings(max_examples=20)
    @given(machines(), st.integers(1, 9))
    def test_a_wrong_transition_gives_the_shortest_distinguishing_word(
        self, pair_of: tuple[Automaton, Automaton], block: int
    ) -> None:
        right, wrong = pair_of
        model = build(right, "rnn")
        shortest = distinguishing(right, wrong)
        found = exhaustive(model, wrong, 5, block=block).counterexample
        assert (found.word if found else None) == shortest
        if found:
            assert found.expected == wrong.semiautomaton.run(found.word, wrong.start)
            assert found.actual == right.semiautomaton.run(found.word, right.start)


def damaged(machine: Automaton, construction: str) -> Iterator[Model]:
    """Networks with one weight changed: the largest of some of the parameters."""
    parameters = [n for n, p in build(machine, construction).named_parameters()]
    for name in parameters[:: max(1, len(parameters) // 6)]:
        model = build(machine, construction)
        flat = model.get_parameter(name).view(-1)
        flat[flat.abs().argmax()] *= -1.0
        yield model


def is_sound(model: Model, machine: Automaton, found: Counterexample) -> bool:
    """Whether machine and network say what a counterexample says of them."""
    expected = machine.semiautomaton.run(found.word, machine.start)
    right_but_last = found.expected[:-1] == found.actual[:-1]
    says = found.expected == expected and found.actual == tuple(model.run(found.word))
    return says and right_but_last and found.expected != found.actual


class TestSample:
    def test_one_letter_is_enough_for_every_strategy(self) -> None:
        a = Automaton(Semiautomaton(np.array([[1, 0]]), ("a",), ("p", "q")))
        for strategy in STRATEGIES.values():
            assert not strategy(np.random.default_rng(0), a, 5, 7).any()

    @pytest.mark.sample(1)
    @pytest.mark.parametrize(("name", "construction"), COMPILED)
    def test_right_networks_pass(self, name: str, construction: str) -> None:
        machine = zoo.machine(name)
        told: list[tuple[int, int]] = []
        model = build(machine, construction)
        result = sample(
            model, machine, 101, LONG, 7, lambda *a: told.append(a), batch=8
        )
        assert result.has_passed
        assert result.words == 101
        assert told[-1] == (101, 101)

    def test_the_same_seed_finds_the_same_word(self) -> None:
        machine = zoo.machine("S5")
        other, model = spoil(machine, 0, 77, 3), build(machine, "scan", 60)
        found = [sample(model, other, 400, 60, s).counterexample for s in (1, 1, 2)]
        assert found[0] == found[1] != found[2]
        assert found[0] is not None
        assert found[0].expected[:-1] == found[0].actual[:-1]
        assert found[0].expected[-1] != found[0].actual[-1]

    def test_loops_stay_in_a_state_and_then_leave(self) -> None:
        machine = zoo.machine("Grid4")
        words = STRATEGIES["loops"](np.random.default_rng(0), machine, 200, 64)
        trace = machine.semiautomaton.trace(words, machine.start)
        stayed = (trace[:, 1:] == trace[:, :-1]).mean(axis=1)
        assert stayed.max() > 0.9
        assert 0 < stayed.min() < 0.7


def test_a_pair_answers_for_every_position() -> None:
    machine = zoo.machine("C2")
    judge: Pair = pair(build(machine, "rnn"), spoil(machine, 1, 1, 1), 4)
    words = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]])
    assert judge.good(words).tolist() == [3, 2, 4, 1]
