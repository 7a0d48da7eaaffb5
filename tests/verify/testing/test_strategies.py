"""Each strategy finds faults that as many random words do not find."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from foreign import FLIP_FLOP, flip_flop
from hypothesis import given, settings, strategies as st
from random_machines import machines

import krohn
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton, IntArray, Semiautomaton
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.verify.testing.counterexample import Counterexample, pair
from krohn.verify.testing.examination import black_box
from krohn.verify.testing.sampling import sample
from krohn.verify.testing.strategies import STRATEGIES, uniform
from krohn.verify.testing.strategies.shapes import turning
from krohn.verify.testing.strategies.strategy import coordinates, identities, monoid

BoolArray = npt.NDArray[np.bool_]
Fault = Callable[[Automaton, IntArray], BoolArray]

LENGTH = 64
WORDS = 300


def lasting(holds: BoolArray, steps: int) -> BoolArray:
    """Where something held at each of the last ``steps`` positions ``(count, length)``."""
    run = np.zeros(len(holds), dtype=np.int64)
    found = np.zeros_like(holds)
    for t in range(holds.shape[1]):
        run = np.where(holds[:, t], run + 1, 0)
        found[:, t] = run >= steps
    return found


def as_before(words: IntArray, period: int) -> BoolArray:
    """Where a letter is the one a period before."""
    same = np.zeros(words.shape, dtype=bool)
    same[:, period:] = words[:, period:] == words[:, :-period]
    return same


def states_of(machine: Automaton, words: IntArray) -> IntArray:
    return machine.semiautomaton.trace(words, machine.start)


def keeps(machine: Automaton) -> BoolArray:
    return (machine.transitions == np.arange(len(machine.states))).all(axis=1)


def one_letter_only(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(as_before(words, 1), 50)


def after_two_runs(machine: Automaton, words: IntArray) -> BoolArray:
    run = lasting(as_before(words, 1), 12)
    earlier = np.zeros_like(run)
    earlier[:, 14:] = run[:, :-14]
    return run & earlier


def after_a_long_run(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(as_before(words, 1), 25)


def after_few_letters_of_a_kind(machine: Automaton, words: IntArray) -> BoolArray:
    few = (words > 0).cumsum(axis=1) <= 3
    return few & (np.arange(LENGTH) > 40) & (words > 0)


def in_a_short_period(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(as_before(words, 7), 40) & ~as_before(words, 1)


def long_in_one_state(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(as_before(states_of(machine, words), 1), 25)


def with_one_letter_missing_once(machine: Automaton, words: IntArray) -> BoolArray:
    seen = np.arange(1, LENGTH + 1)
    return (words.cumsum(axis=1) == seen - 1) & (seen == LENGTH)


def forgets_without_news(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(keeps(machine)[words], 20)


def forgets_the_last_reset(machine: Automaton, words: IntArray) -> BoolArray:
    resets = (machine.transitions == machine.transitions[:, :1]).all(axis=1)
    return lasting(~resets[words], 31)


def after_all_states_were_merged(machine: Automaton, words: IntArray) -> BoolArray:
    merged = lasting(words == 0, len(machine.states) - 1)
    return np.logical_or.accumulate(merged, axis=1) & (words == 1)


def forgets_the_top_level(machine: Automaton, words: IntArray) -> BoolArray:
    found = coordinates(machine.semiautomaton, machine.start)
    assert found is not None
    node = np.full(len(words), found.start)
    kept = np.zeros(words.shape, dtype=bool)
    for t in range(words.shape[1]):
        kept[:, t] = ~found.state_changes[0, node, words[:, t]]
        node = found.after[words[:, t], node]
    return lasting(kept, 24)


def pushed_often(machine: Automaton, words: IntArray) -> BoolArray:
    return lasting(as_before(states_of(machine, words), 1), 30)


def while_nothing_is_merged(machine: Automaton, words: IntArray) -> BoolArray:
    found = monoid(machine.semiautomaton)
    assert found is not None
    rank = np.array([len(np.unique(row)) for row in found.elements])
    element = np.zeros(len(words), dtype=np.int64)
    high = np.zeros(words.shape, dtype=bool)
    for t in range(words.shape[1]):
        element = found.right[element, words[:, t]]
        high[:, t] = rank[element] >= len(machine.states) - 2
    return lasting(high, 40)


def after_many_turns(machine: Automaton, words: IntArray) -> BoolArray:
    wrong = np.zeros(words.shape, dtype=bool)
    for order, word in turning(machine.semiautomaton):
        if order >= 5 and len(word) > 2:
            wrong |= lasting(as_before(words, len(word)), 6 * len(word))
    return wrong


def with_the_period_of_a_code(machine: Automaton, words: IntArray) -> BoolArray:
    aliased = lasting(as_before(words, 16), 40)
    return aliased & ~lasting(as_before(words, 8), 8)


def reads_what_was_long_ignored(machine: Automaton, words: IntArray) -> BoolArray:
    """A read of the flip-flop language behind 20 ignored values and nothing else."""
    legal = states_of(machine, words) != machine.states.index("error")
    ignored = (words == 2) | (np.roll(words, 1, axis=1) == 2)
    long = np.roll(lasting(ignored, 40), 1, axis=1)
    return legal & long & (words == 1)


def not_at_all(machine: Automaton, words: IntArray) -> BoolArray:
    return np.zeros(words.shape, dtype=bool)


CLOCK = Automaton(
    Semiautomaton(
        np.array([[1, 2, 0], [0, 1, 2], [0, 0, 0], [1, 1, 1]]),
        ("turn", "wait", "zero", "one"),
        ("0", "1", "2"),
    ),
    name="clock",
)

DOORS = Automaton(
    Semiautomaton(
        np.array([[q if a == q else (q + a) % 5 for q in range(5)] for a in range(5)]),
        tuple("abcde"),
        tuple("01234"),
    ),
    name="doors",
)

PLANTED: dict[str, tuple[Automaton, Fault]] = {
    "constant": (zoo.machine("C2"), one_letter_only),
    "runs": (zoo.machine("S5"), after_a_long_run),
    "switch": (zoo.machine("S5"), after_two_runs),
    "needles": (zoo.machine("C2"), after_few_letters_of_a_kind),
    "periodic": (zoo.machine("S5"), in_a_short_period),
    "loops": (DOORS, long_in_one_state),
    "counts": (zoo.machine("C2"), with_one_letter_missing_once),
    "no-ops": (zoo.machine("FlipFlop"), forgets_without_news),
    "resets": (CLOCK, forgets_the_last_reset),
    "synchronised": (zoo.machine("Grid20"), after_all_states_were_merged),
    "levels": (zoo.machine("S4"), forgets_the_top_level),
    "walls": (zoo.machine("Grid9"), pushed_often),
    "rare": (zoo.machine("Grid9"), while_nothing_is_merged),
    "turns": (zoo.machine("S5"), after_many_turns),
    "code periods": (zoo.machine("S5"), with_the_period_of_a_code),
    "returns": (zoo.machine("FFL2"), reads_what_was_long_ignored),
}


def finds(name: str, machine: Automaton, fault: Fault) -> bool:
    """Whether as many words as all strategies are given find a planted fault."""

    def faulty(words: IntArray) -> IntArray:
        states = states_of(machine, words)
        wrong = (states + 1) % len(machine.states)
        return np.where(fault(machine, words), wrong, states)

    judge = pair(black_box(faulty, machine), machine, LENGTH)
    words = STRATEGIES[name](np.random.default_rng(0), machine, WORDS, LENGTH)
    return bool(len(words) and (judge.good(words) < LENGTH).any())


def test_every_strategy_but_chance_has_a_fault_of_its_own() -> None:
    assert set(STRATEGIES) == {*PLANTED, "uniform"}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PLANTED)
def test_it_finds_a_fault_that_random_words_do_not_find(name: str) -> None:
    machine, fault = PLANTED[name]
    assert not finds("uniform", machine, fault)
    assert finds(name, machine, fault)
    assert not finds(name, machine, not_at_all)


@settings(max_examples=15)
@given(machines(most=5), st.integers(1, 40), st.integers(1, 9), st.integers(0, 99))
def test_words_are_words_of_any_machine(
    machine: Automaton, length: int, count: int, seed: int
) -> None:
    for name, strategy in STRATEGIES.items():
        words, again = (
            strategy(np.random.default_rng(seed), machine, count, length)
            for _ in range(2)
        )
        assert words.shape in ((count, length), (0, length)), name
        assert words.dtype == np.int64, name
        assert np.array_equal(words, again), name
        assert not words.size or 0 <= words.min() <= words.max() < len(machine.letters)


def test_what_strategies_leave_over_is_made_up_for() -> None:
    # C3 has no walls, no resets and no word that merges states.
    parity = zoo.machine("C3")
    assert not len(STRATEGIES["walls"](np.random.default_rng(0), parity, 5, 9))
    told: list[tuple[int, int]] = []
    model = black_box(lambda words: states_of(parity, words), parity)
    assert sample(model, parity, 100, 9, 0, lambda *a: told.append(a)).words == 100
    assert told[-1] == (100, 100)


def test_identities_keep_every_state() -> None:
    for name in ("FlipFlop", "S4", "Rubik", "C2xC2"):
        machine = zoo.machine(name).semiautomaton
        for word in identities(machine):
            everywhere = np.arange(len(machine.states))
            after = machine.trace(np.tile(word, (len(everywhere), 1)), everywhere)
            assert np.array_equal(after[:, -1], everywhere)


def test_a_level_is_switched_far_back_and_kept() -> None:
    machine = zoo.machine("S4")
    found = coordinates(machine.semiautomaton, machine.start)
    assert found is not None
    words = STRATEGIES["levels"](np.random.default_rng(1), machine, 400, 33)
    node, last = np.full(400, found.start), np.zeros((400, found.values.shape[1]))
    for t in range(33):
        moved = found.state_changes[:, node, words[:, t]].T
        last = np.where(moved, t + 1, last)
        node = found.after[words[:, t], node]
    ages = set((33 - last).astype(int).ravel().tolist())
    assert {0, 1, 3, 7, 15, 31} <= ages


def test_uniform_words_hold_all_letters() -> None:
    words = uniform(np.random.default_rng(0), zoo.machine("S5"), 50, 50)
    assert set(words.ravel().tolist()) == set(range(8))


def scaled(file: ModelFile, name: str, factor: float) -> Model:
    """A network with one of its tensors multiplied."""
    tensors = {**file.tensors, name: file.tensors[name] * factor}
    return Model(ModelFile(file.header, tensors, file.precision))


class TestDamaged:
    """Networks that fail on long words only, and hardly ever on random ones."""

    def is_found(self, model: Model, machine: Automaton) -> Counterexample:
        chance = uniform(np.random.default_rng(0), machine, WORDS, LENGTH)
        assert (pair(model, machine, LENGTH).good(chance) == LENGTH).all()
        found = sample(model, machine, WORDS, LENGTH, 0).counterexample
        assert found is not None
        return found

    def test_a_sum_that_is_off_by_little(self) -> None:
        # Off by 1 in 110, a sum is read as another from 55 on; random words have 32 ones.
        parity = zoo.machine("C2")
        file = krohn.compile("C2", LENGTH, "counter").file
        model = scaled(file, "blocks.0.attention.out", 1 + 1 / 110)
        found = self.is_found(model, parity)
        assert found.word.count("1") >= 50

    def test_a_head_that_is_not_sharp_enough(self) -> None:
        found = self.is_found(Model(flip_flop(LENGTH, 0.962423650119)), FLIP_FLOP)
        assert len(found.word) > 20

    def test_a_position_code_of_a_shorter_length(self) -> None:
        file = krohn.compile("FlipFlop", LENGTH, "scan").file
        rows = file.tensors["embed.position"]
        # From 33 on each position has the code of the one 32 before it.
        turned = np.arange(LENGTH + 1)
        turned[33:] -= 32
        tensors = {**file.tensors, "embed.position": rows[turned]}
        model = Model(ModelFile(file.header, tensors, file.precision))
        found = sample(model, FLIP_FLOP, WORDS, LENGTH, 0).counterexample
        assert found is not None
        assert len(found.word) > 32
