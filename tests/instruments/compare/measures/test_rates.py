"""Intervals hold as often as they say, over words and seeds; wrong reads are counted."""

from collections.abc import Callable

import numpy as np
import pytest
from glitch_rate import glitches
from hypothesis import given, strategies as st
from scipy import stats

from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import IGNORE, READ, Instructions, reads_of
from krohn.instruments.compare.measures.accuracy import (
    clustered_rate,
    independent,
    spread,
)
from krohn.instruments.compare.tasks.catalogue import task
from krohn.verify.testing.counterexample import Simulator


def whole(right: int, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of one answer each."""
    each = np.ones(words, dtype=np.int64)
    return (np.arange(words) < right).astype(np.int64), each


@given(st.integers(0, 60), st.integers(1, 60))
def test_one_answer_a_word_gives_the_interval_of_clopper_and_pearson(
    right: int, words: int
) -> None:
    right = min(right, words)
    found = clustered_rate(*whole(right, words))
    exact = stats.binomtest(right, words).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-6)


@given(st.integers(1, 5000), st.integers(1, 500))
def test_without_an_error_only_words_count(words: int, length: int) -> None:
    """The rule of three, with 3.69 for an interval of two sides."""
    answers = np.full(words, length)
    found = clustered_rate(answers, answers)
    assert found.perfect
    assert found.high == 1
    assert found.low == pytest.approx(0.025 ** (1 / words))
    assert 1 - found.low <= 3.69 / words


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 2000))
def test_words_in_which_nothing_is_asked_say_nothing(
    words: int, length: int, empty: int
) -> None:
    answers = np.full(words, length)
    padded = np.append(answers, np.zeros(empty, dtype=np.int64))
    assert clustered_rate(padded, padded) == clustered_rate(answers, answers)


def test_more_errors_are_hardly_a_better_bound() -> None:
    """One error among many answers is no reason to count more than the words."""
    answers = np.full(100, 32)
    bounds = []
    for errors in range(33):
        right = answers.copy()
        right[0] -= errors
        bounds.append(clustered_rate(right, answers).low)
    assert max(bounds) - bounds[0] < 0.001
    assert bounds[4:] == sorted(bounds[4:], reverse=True)


def test_answers_of_a_word_that_fail_together_count_once() -> None:
    rng = np.random.default_rng(0)
    answers = np.full(400, 50)
    together = clustered_rate(50 * (rng.random(400) < 0.8), answers)
    alone = clustered_rate(rng.binomial(50, 0.8, 400), answers)
    assert alone.high - alone.low < 0.02
    assert together.high - together.low > 0.07


@pytest.mark.sample(1)
@pytest.mark.parametrize(("a", "b"), [(0.02, 0.98), (0.3, 0.7), (5, 5), (0.005, 2)])
def test_intervals_hold_the_truth_nineteen_times_of_twenty(a: float, b: float) -> None:
    """Wrong answers of a word share a probability of a beta distribution."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        wrong = rng.binomial(20, rng.beta(a, b, 200))
        found = clustered_rate(20 - wrong, np.full(200, 20))
        held += found.low <= b / (a + b) <= found.high
    # Three standard deviations of 400 trials at 0.95 are 0.033.
    assert held / 400 > 0.95 - 0.033


def test_rates_of_positions_are_exact_and_nothing_asked_is_no_rate() -> None:
    rates = independent(np.array([3, 0, 0]), np.array([10, 0, 5]))
    assert rates[1] is None
    exact = stats.binomtest(3, 10).proportion_ci(0.95, "exact")
    assert rates[0] is not None
    assert (rates[0].low, rates[0].high) == pytest.approx((exact.low, exact.high))
    assert rates[2] is not None
    assert rates[2].low == 0


def test_nothing_asked_is_an_error() -> None:
    with pytest.raises(KrohnError, match="nothing was asked"):
        clustered_rate(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64))


def test_the_spread_of_seeds() -> None:
    found = spread([0.5, 0.9, 0.7])
    assert (found.mean, found.median) == pytest.approx((0.7, 0.7))
    assert (found.least, found.most) == (0.5, 0.9)
    reach = stats.t.ppf(0.975, 2) * 0.2 / 3**0.5
    assert found.low == pytest.approx(max(0, 0.7 - reach))
    assert found.high == 1
    assert found.covers == 0.75


def test_one_seed_has_no_interval_and_equal_ones_have_none() -> None:
    """Two perfect networks do not make it certain that a third one is."""
    assert spread([0.5]).low is None
    assert (spread([1.0, 1.0]).low, spread([1.0, 1.0]).high) == (None, None)
    assert spread([1.0, 1.0]).mean == 1
    with pytest.raises(KrohnError, match="no run"):
        spread([])


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_the_median_lies_between_the_extremes_as_often_as_said(
    runs: int, seed: int
) -> None:
    values = np.random.default_rng(seed).random((4000, runs))
    inside = (values.min(axis=1) < 0.5) & (values.max(axis=1) > 0.5)
    assert inside.mean() == pytest.approx(spread(values[0]).covers, abs=0.04)


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
