"""Wrong reads of flip-flops."""

from collections.abc import Callable

import numpy as np
import pytest
from glitch_rate import glitches

from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import IGNORE, READ, Instructions, reads_of
from krohn.compare.tasks.catalogue import task
from krohn.verify.testing.counterexample import Simulator

NAMES = ["flip-flop", "flip-flop, generative"]


@pytest.mark.parametrize("name", NAMES)
def test_who_reads_rightly_has_no_glitch(
    name: str, knows: Callable[..., Simulator], rng: np.random.Generator
) -> None:
    asked = task(name)
    found = glitches(knows(asked), asked, rng, 32, reads=500)
    assert [g.ignore for g in found] == [0.98, 0.8, 0.1]
    for g in found:
        assert g.none
        assert g.rate == 0
        expected = g.sequences * reads_of(32, Instructions.ignoring(g.ignore))
        assert g.reads.of == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("name", NAMES)
def test_each_wrong_read_is_counted(
    name: str, knows: Callable[..., Simulator], rng: np.random.Generator
) -> None:
    """The network is wrong at reads right after an ignored value."""
    asked = task(name)

    def change(letters: np.ndarray, said: np.ndarray) -> np.ndarray:
        before = np.roll(letters, 2, axis=1) == IGNORE
        before[:, :2] = False
        return np.where(before & (letters == READ), 2, said)

    found = glitches(knows(asked, change), asked, rng, 24, reads=4000)
    for g in found:
        assert not g.none
        # The pair before any read but the first possible one is ignored with p.
        most = g.ignore
        assert 0.75 * most < g.rate < most + 0.05
        assert g.reads.low <= 1 - g.rate <= g.reads.high


def test_reads_are_asked_for_in_even_words(
    knows: Callable[..., Simulator], rng: np.random.Generator
) -> None:
    asked = task("flip-flop")
    with pytest.raises(KrohnError, match="even length"):
        glitches(knows(asked), asked, rng, 7)
    with pytest.raises(KrohnError, match="flip-flop tasks"):
        glitches(knows(task("FFL2")), task("FFL2"), rng, 8)
