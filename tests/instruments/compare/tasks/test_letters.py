"""Words of letters, of the flip-flop language, of brackets, and words that are given."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.products import complete
from krohn.algebra.zoo.samplers import IGNORE, READ, Instructions, reads_of
from krohn.instruments.compare.tasks import (
    Abab,
    Biased,
    Counted,
    Default,
    DyckPrefixes,
    FlipFlop,
    Given,
    Uniform,
)
from krohn.instruments.compare.tasks.letters import forbids

LETTERS = ("open", "close")


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def stuck() -> Automaton:
    """One letter leads on from the start, and none from where it leads."""
    return Automaton(complete([[1, -1], [-1, -1]], LETTERS, ("start", "end")))


@given(st.floats(0, 1), st.sampled_from(["C2", "C5", "S5"]))
def test_one_letter_has_its_probability_and_the_others_are_alike(
    p: float, name: str
) -> None:
    machine = zoo.machine(name)
    letter = machine.letters[0]
    words = Biased(p, letter).draw(machine, rng(), 100, 100)
    frequency = np.bincount(words.ravel(), minlength=len(machine.letters)) / words.size
    rest = (1 - p) / (len(machine.letters) - 1)
    assert frequency[0] == pytest.approx(p, abs=0.02)
    assert frequency[1:] == pytest.approx(rest, abs=0.02)


@given(st.floats(0, 1))
def test_biased_brackets_are_legal(p: float) -> None:
    machine = zoo.machine("Dyck4,2")
    words = Biased(p, "(").draw(machine, rng(), 50, 20)
    traces = machine.semiautomaton.trace(words, machine.start)
    assert not (traces == machine.states.index("error")).any()


def test_a_bias_holds_among_the_legal_letters() -> None:
    machine = zoo.machine("Dyck4,2")
    first = Biased(0.7, "(").draw(machine, rng(), 20_000, 1)[:, 0]
    # The others have 0.1 each; of them the empty stack allows [ only.
    assert (first == 0).mean() == pytest.approx(0.7 / 0.8, abs=0.01)
    assert set(first.tolist()) == {0, 2}


def test_where_no_legal_letter_has_a_chance_all_legal_ones_do() -> None:
    machine = zoo.machine("Dyck4,2")
    words = Biased(1.0, "(").draw(machine, rng(), 200, 5)
    assert (words[:, :4] == 0).all()
    assert (words[:, 4] == 1).all()


@given(st.integers(0, 12), st.sampled_from(["C2", "C5"]))
def test_a_counted_letter_occurs_so_often(times: int, name: str) -> None:
    machine = zoo.machine(name)
    words = Counted(times).draw(machine, rng(), 50, 12)
    assert ((words == machine.letters.index("1")).sum(axis=1) == times).all()


def test_counted_letters_stand_anywhere() -> None:
    words = Counted(3).draw(zoo.machine("C2"), rng(), 20_000, 10)
    assert words.mean(axis=0) == pytest.approx(0.3, abs=0.02)
    # Two of three given places, out of ten: 3·2/(10·9).
    assert (words[:, 0] & words[:, 9]).mean() == pytest.approx(6 / 90, abs=0.01)


def test_without_a_letter_1_the_last_letter_is_marked() -> None:
    words = Counted(2).draw(zoo.machine("Grid4"), rng(), 5, 6)
    assert ((words == 1).sum(axis=1) == 2).all()


@pytest.mark.parametrize(
    ("inputs", "name", "message"),
    [
        (Counted(7), "C2", "cannot hold"),
        (Counted(1), "Dyck4,2", "forbids"),
        (Counted(1, "x"), "C2", "no letter 'x'"),
        (Biased(0.5, "x"), "C2", "no letter 'x'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    inputs: Counted | Biased, name: str, message: str
) -> None:
    with pytest.raises(KrohnError, match=message):
        inputs.draw(zoo.machine(name), rng(), 2, 6)


@pytest.mark.parametrize("bad", [lambda: Biased(1.5), lambda: Counted(-1)])
def test_numbers_that_make_no_sense_are_refused(bad: object) -> None:
    assert callable(bad)
    with pytest.raises(KrohnError):
        bad()


@pytest.mark.parametrize("name", ["Dyck4,2", "FlipFlop", "abab", "PermReset4"])
def test_own_words_of_the_zoo_are_those_of_its_samplers(name: str) -> None:
    drawn = Default().draw(zoo.machine(name), rng(), 20, 10)
    assert np.array_equal(drawn, zoo.sampler(name)(rng(), 20, 10))


def test_a_machine_that_borrows_a_name_has_words_of_its_own() -> None:
    impostor = replace(zoo.machine("C2"), name="Dyck4,2")
    assert set(Default().draw(impostor, rng(), 20, 10).ravel().tolist()) == {0, 1}


def test_own_words_avoid_the_error_as_long_as_they_can() -> None:
    machine = stuck()
    assert forbids(machine)
    words = Default().draw(machine, rng(), 200, 4)
    assert (words[:, 0] == 0).all()
    assert words[:, 1:].mean() == pytest.approx(0.5, abs=0.1)


def test_an_error_that_can_be_left_forbids_nothing() -> None:
    machine = zoo.machine("C2")
    states = ("fine", "error")
    renamed = replace(machine.semiautomaton, states=states)
    assert not forbids(replace(machine, semiautomaton=renamed))


def test_uniform_words_need_not_be_legal() -> None:
    words = Uniform().draw(zoo.machine("Dyck4,2"), rng(), 1000, 1)
    assert set(words.ravel().tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("ignore", [0.98, 0.8, 0.1])
def test_flip_flops_read_as_often_as_their_law_says(ignore: float) -> None:
    words = FlipFlop((ignore,)).draw(zoo.machine("FFLTracker2"), rng(), 2000, 64)
    expected = reads_of(64, Instructions.ignoring(ignore))
    assert (words == READ).sum(axis=1).mean() == pytest.approx(expected, rel=0.05)


def test_each_word_of_a_mixture_has_one_distribution() -> None:
    words = FlipFlop((0.0, 1.0)).draw(zoo.machine("FFL2"), rng(), 1000, 40)
    ignored = (words == IGNORE).sum(axis=1)
    assert set(ignored.tolist()) == {0, 18}
    assert (ignored == 0).mean() == pytest.approx(0.5, abs=0.05)


def test_flip_flops_are_for_machines_that_read_them() -> None:
    with pytest.raises(KrohnError, match="FFLTracker2"):
        FlipFlop().draw(zoo.machine("C5"), rng(), 2, 4)


def test_bracket_prefixes_have_their_law() -> None:
    machine = zoo.machine("Dyck2,2")
    law = distribution(machine, Fraction(1, 4))
    words = DyckPrefixes(0.25, closed=False).draw(machine, rng(), 50_000, 5)
    codes = words @ 4 ** np.arange(5)
    for word, _ in law.prefixes(5):
        frequency = (codes == np.array(word) @ 4 ** np.arange(5)).mean()
        assert frequency == pytest.approx(float(law.probability(word)), abs=0.006)


def test_closed_prefixes_are_those_that_end_with_a_closing_bracket() -> None:
    machine = zoo.machine("Dyck2,2")
    law = distribution(machine, Fraction(1, 2))
    words = DyckPrefixes().draw(machine, rng(), 50_000, 4)
    assert (words[:, -1] % 2 == 1).all()
    chances = {w: law.probability(w) for w, _ in law.prefixes(4) if w[-1] % 2}
    codes = words @ 4 ** np.arange(4)
    for word, chance in chances.items():
        frequency = (codes == np.array(word) @ 4 ** np.arange(4)).mean()
        expected = float(chance / sum(chances.values()))
        assert frequency == pytest.approx(expected, abs=0.006)


def test_one_bracket_cannot_end_closed() -> None:
    with pytest.raises(KrohnError, match="2 letters"):
        DyckPrefixes().draw(zoo.machine("Dyck4,2"), rng(), 2, 1)


@pytest.mark.parametrize(("always", "share"), [(True, 1.0), (False, 0.5)])
def test_abab_always_or_half_of_the_time(always: bool, share: float) -> None:
    words = Abab(always).draw(zoo.machine("abab"), rng(), 2000, 40)
    periodic = (words == np.arange(40) % 2).all(axis=1).mean()
    assert periodic == pytest.approx(share, abs=0.03)


def test_given_words_are_cut_and_never_stretched() -> None:
    given = Given((("1", "0", "0"), ("0", "1", "1", "1")))
    words = given.draw(zoo.machine("C2"), rng(), 50, 2)
    assert {tuple(w) for w in words.tolist()} == {(1, 0), (0, 1)}
    with pytest.raises(KrohnError, match="has 3 letters"):
        given.draw(zoo.machine("C2"), rng(), 1, 4)
