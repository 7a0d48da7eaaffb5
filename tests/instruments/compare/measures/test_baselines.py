"""The accuracy of guesses, majorities and windows of letters."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from krohn.algebra.errors import KrohnError
from krohn.algebra.zoo.samplers import ceiling
from krohn.instruments.compare.measures.accuracy import (
    accuracy,
    simulator,
)
from krohn.instruments.compare.measures.baselines import (
    Guess,
    baselines,
    best_ngram,
    contexts,
    majority,
    ngram,
    orders_until,
)
from krohn.instruments.compare.tasks import Biased
from krohn.instruments.compare.tasks.catalogue import (
    FlipFlop,
    names,
    task,
)

FEW = 2**14


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", names())
def test_every_task_has_its_baselines(name: str, rng: np.random.Generator) -> None:
    asked = task(name)
    found = baselines(asked, rng, 12, tokens=1200)
    assert [b.name for b in found] == [
        *("guess", "majority", "majority by position", "n-gram")
    ]
    for baseline in found:
        assert 0 <= accuracy(baseline.model, asked, rng, 12, 20).tokens.value <= 1


@given(st.sampled_from(["C2", "C5", "S5"]), st.integers(0, 100))
def test_a_guess_is_right_once_in_as_many_classes(name: str, seed: int) -> None:
    asked = task(name)
    classes = len(asked.classes)
    rng = np.random.default_rng(seed)
    model = simulator(Guess(classes, seed), asked)
    found = accuracy(model, asked, rng, 24, 250)
    # Late in a word hardly two words are the same so far.
    late = np.mean([p.value for p in found.positions[16:] if p is not None])
    error = (1 / classes * (1 - 1 / classes) / 2000) ** 0.5
    assert late == pytest.approx(1 / classes, abs=5 * error)


def test_a_guess_is_a_function_of_the_word_so_far(rng: np.random.Generator) -> None:
    guess = Guess(5)
    words = rng.integers(3, size=(20, 10))
    assert np.array_equal(guess(words)[:, :6], guess(words[:, :6]))
    assert np.array_equal(guess(words), guess(words))
    assert (guess(words) != Guess(5, 1)(words)).any()


def test_majorities_in_all_and_at_each_position(rng: np.random.Generator) -> None:
    """One position of three ones is odd where the first is likely to be even."""
    asked = task("C2", Biased(0.9))
    overall, each = majority(asked, rng, 4, FEW)
    # The chances of an odd parity are 0.9, 0.18, 0.756 and 0.295.
    assert each.positions.tolist() == [1, 0, 1, 0]
    assert overall.overall == 1
    words = np.zeros((2, 6), dtype=np.int64)
    assert each(words).tolist() == [[1, 0, 1, 0, 1, 1]] * 2
    assert (overall(words) == 1).all()


@pytest.mark.parametrize("order", [1, 2, 3])
def test_who_sees_the_window_of_a_definite_machine_knows_all(
    order: int, rng: np.random.Generator
) -> None:
    """Two cells of a corridor are decided by the last letter."""
    asked = task("Grid2")
    fitted = simulator(ngram(asked, rng, 10, order, FEW), asked)
    assert accuracy(fitted, asked, rng, 10, 500).tokens.perfect


def test_a_window_tells_nothing_of_parity(rng: np.random.Generator) -> None:
    """But while it holds the whole word, it tells all."""
    asked = task("C2")
    fitted = simulator(ngram(asked, rng, 20, 4, FEW * 4), asked)
    found = accuracy(fitted, asked, rng, 20, 2000)
    shares = np.array([p.value for p in found.positions if p is not None])
    assert (shares[:4] == 1).all()
    assert shares[4:] == pytest.approx(0.5, abs=0.05)


def test_contexts_that_were_never_seen_back_off(rng: np.random.Generator) -> None:
    asked = task("C5")
    fitted = ngram(asked, rng, 12, 12, 600)
    words = rng.integers(5, size=(200, 12))
    shorter = fitted.until(4)
    assert shorter.order == 4
    known, _ = fitted.tables[-1].look_up(
        list(contexts(words, fitted.keys, [t.order for t in fitted.tables]))[-1]
    )
    assert not known[:, 8:].any()
    assert (fitted(words) == shorter(words))[:, 8:].mean() > 0.9


@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_codes_agree_exactly_if_contexts_do(order: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = rng.integers(3, size=(40, 8))
    keys = rng.integers(2**64, size=(6, 4), dtype=np.uint64)
    (codes,) = contexts(words, keys, [order])
    spelt: dict[tuple[int, ...], int] = {}
    for word, row in zip(words.tolist(), codes.tolist(), strict=True):
        for t, code in enumerate(row):
            padded = [*[-1] * order, *word[: t + 1]]
            context = tuple(padded[len(padded) - order :])
            assert spelt.setdefault(context, code) == code
    assert len(set(spelt.values())) == len(spelt)


def test_the_best_order_is_the_least_of_the_best(rng: np.random.Generator) -> None:
    chosen = best_ngram(task("Grid2"), rng, 16, tokens=FEW)
    assert chosen.model.order == 1
    assert chosen.held_out[1] == 1
    assert list(chosen.held_out) == orders_until(16) == [0, 1, 2, 3, 4, 6, 8, 12, 16]


@pytest.mark.sample(1)
@pytest.mark.parametrize("ignore", [0.8, 0.1])
def test_windows_of_a_flip_flop_come_close_to_their_ceiling(
    ignore: float, rng: np.random.Generator
) -> None:
    asked = task("flip-flop", FlipFlop((ignore,)))
    found = best_ngram(asked, rng, 16, 8, 2**19).held_out
    assert list(found) == [0, 1, 2, 3, 4, 6, 8]
    for order in range(1, 9):
        # Some 8,000 held-out reads: three standard deviations are 0.017.
        best = pytest.approx(ceiling(order, 16, ignore), abs=0.017)
        assert order not in found or found[order] == best


def test_flip_flops_have_even_words() -> None:
    with pytest.raises(KrohnError, match="even length"):
        ceiling(3, 7, 0.8)
