"""Words of the flip-flop language, of brackets, and words that are given."""

from fractions import Fraction

import numpy as np
import pytest

from krohn.algebra import zoo
from krohn.algebra.brackets import distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import IGNORE, READ, Instructions, reads_of
from krohn.compare.tasks import Abab, DyckPrefixes, FlipFlop, Given


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


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
