"""Models without their smallest probabilities: which words have other beliefs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from fitted_models import FITTED

from krohn.kinds.hidden_markov import source_arrays as arrays
from krohn.kinds.hidden_markov.source import HiddenMarkovModel
from krohn.kinds.hidden_markov.source_truncation import (
    truncation_to,
    truncations,
)
from krohn.program.patterns import letters_until_rectangles

SMALL = 2.0**-16


def with_small(seed: int, driven: bool = False) -> HiddenMarkovModel:
    """Three states, two letters; some entries are small, and all sums are exact."""
    random = np.random.default_rng(seed)
    operators = np.zeros((2, 3, 3))
    groups = ((0,), (1,)) if driven else ((0, 1),)
    for letters in groups:
        for state in range(3):
            counts = random.multinomial(
                64, np.ones(3 * len(letters)) / 6 / len(letters) * 2
            )
            column = counts / 64
            column[column == 0] = SMALL
            column[random.integers(len(column))] = SMALL
            column[column.argmax()] += 1 - column.sum()
            operators[letters, :, state] = column.reshape(-1, 3)
    start = np.array([1 - SMALL, SMALL, 0.0])
    names = "named", ("a", "b", "c"), ("0", "1")
    return HiddenMarkovModel(*names, operators, start, (0, 1) if driven else None)


@pytest.mark.sample(1)
@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_few_words_have_other_beliefs(seed: int, driven: bool) -> None:
    """All words, in fractions: those that are further off are less likely than shown."""
    model, length = with_small(seed, driven), 5
    (less,) = truncations(model, length, 1.0)
    assert 0 < less.share < 0.05
    assert (less.model.operators[model.operators == SMALL] == 0).all()
    assert less.model.start.tolist() == [1, 0, 0]
    others, worst = Fraction(0), Fraction(0)
    for word in product(range(2), repeat=length):
        weight, off = likelihood(model, word), Fraction(0)
        if driven:
            weight /= 2**length
        if not weight:
            continue
        for one, other in zip(model.ratios(word), less.model.ratios(word), strict=True):
            if not other.under:
                off = Fraction(1)
                break
            pairs = zip(one.over, other.over, strict=True)
            each = (Fraction(x, one.under) - Fraction(y, other.under) for x, y in pairs)
            off = max(off, *map(abs, each))
        worst = max(worst, off)
        others += weight * (off > less.share)
    assert others <= less.share
    assert worst > 0


def likelihood(model: HiddenMarkovModel, word: tuple[int, ...]) -> Fraction:
    """Of a word, exactly."""
    belief = [Fraction(x) for x in model.start]
    for letter in word:
        rows = model.operators[letter].tolist()
        belief = [
            sum(Fraction(x) * y for x, y in zip(r, belief, strict=True)) for r in rows
        ]
    return sum(belief, Fraction(0))


def test_the_fullest_come_first_and_are_recognised() -> None:
    model = arrays.model(FITTED["fit9"], "fit9")
    found = list(truncations(model, 64))
    kept = [np.count_nonzero(less.model.operators) for less in found]
    assert kept == sorted(kept, reverse=True)
    assert found[0].share < 1e-60
    assert found[-1].share <= 0.01
    for less in found:
        again = truncation_to(model, less.model, 64)
        assert again is not None
        assert again.share == less.share
        sums = less.model.operators.sum(axis=(0, 1))
        assert np.abs(sums - 1).max() < 1e-9
        below = float(less.model.name.split()[-1])
        assert below / 1e150 < largest_left_out(model, less.model) < below
    assert truncation_to(model, model, 64) is None
    assert truncation_to(found[0].model, model, 64) is None
    assert (
        truncation_to(arrays.model(FITTED["markov4"], "m"), found[0].model, 64) is None
    )


def largest_left_out(model: HiddenMarkovModel, less: HiddenMarkovModel) -> float:
    """An entry of the model that is 0 in the other one."""
    return float(model.operators[(model.operators > 0) & (less.operators == 0)].max())


@pytest.mark.parametrize("change", ["a large entry", "another number"])
def test_other_models_are_no_truncations(change: str) -> None:
    model = arrays.model(FITTED["fit9"], "fit9")
    less = next(iter(truncations(model, 64))).model
    operators = less.operators.copy()
    largest = np.unravel_index(operators.argmax(), operators.shape)
    operators[largest] *= 0.0 if change == "a large entry" else 0.5
    operators /= operators.sum(axis=(0, 1))
    named = less.name, less.states, less.letters
    assert (
        truncation_to(model, HiddenMarkovModel(*named, operators, less.start), 64)
        is None
    )


def test_powers_of_ten_are_said_as_such() -> None:
    """Also where they are below the normal range, and no float is near to them."""
    say = [[1.0, 0.5], [3e-321, 0.5]]
    model = HiddenMarkovModel.of("tiny", np.full((2, 2), 0.5), say, before=[1, 0])
    assert next(truncations(model, 4)).model.name.endswith(" below 1e-320")


def test_weights_are_not_left_out() -> None:
    one = {"a": [[1.0, 1e-30], [0.0, 1.0]]}
    model = HiddenMarkovModel.weighted("counts", [1, 0], one, [0, 1])
    assert not list(truncations(model, 8))


@pytest.mark.parametrize("seed", range(8))
def test_patterns_merge_after_as_many_letters_as_products_do(seed: int) -> None:
    random = np.random.default_rng(seed)
    operators = random.random((2, 3, 3)) * (random.random((2, 3, 3)) < 0.55)
    right = None
    for length in range(1, 7):
        words = (operators[list(w)] for w in product(range(2), repeat=length))
        each = (np.linalg.multi_dot([np.eye(3), *w, np.eye(3)]) > 0 for w in words)
        if all((x == np.outer(x.any(axis=1), x.any(axis=0))).all() for x in each):
            right = length
            break
    found = letters_until_rectangles(operators, 6)
    assert found == right
    if found:
        assert letters_until_rectangles(operators, found - 1) is None
