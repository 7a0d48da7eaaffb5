"""Masks by subset sums: which sums are found, and what masked random maps compute."""

from itertools import product

import numpy as np
import pytest

import krohn
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.architectures.pruned import build as pruned
from krohn.architectures.pruned.build_masks import (
    Choice,
    Masked,
    choice,
    layer,
    mask_for,
    nearest_subset,
)
from krohn.compiler import CompileError
from krohn.network.precision import PRECISIONS, FloatArray, Precision

FLOAT64, FLOAT32 = PRECISIONS["float64"], PRECISIONS["float32"]


def masked(
    target: FloatArray, units: int, precision: Precision, near: float | None = None
) -> Masked:
    """The masks of random layers of seed 5."""

    def draw(side: str, shape: tuple[int, int]) -> FloatArray:
        return layer(f"test.{side}", 5, *shape, precision)

    return mask_for(draw, target, units, near)


def test_of_few_numbers_the_nearest_sum_is_found() -> None:
    generator = np.random.default_rng(0)
    for count in (0, 1, 2, 3, 7, 10):
        for _ in range(20):
            numbers = generator.uniform(-1, 1, count)
            target = float(generator.uniform(-2, 2))
            every = [
                numbers[np.array(k, bool)].sum() for k in product((0, 1), repeat=count)
            ]
            best = min(abs(total - target) for total in every)
            kept = nearest_subset(numbers, target)
            assert abs(numbers[kept].sum() - target) == pytest.approx(best, abs=1e-12)


def test_of_many_numbers_the_sum_is_nearer_than_of_28() -> None:
    generator = np.random.default_rng(1)
    for _ in range(10):
        numbers = generator.uniform(-1, 1, 60) * generator.uniform(-1, 1, 60)
        target = 4.0  # more than 28 of them usually come to
        kept = nearest_subset(numbers, target)
        assert abs(numbers[kept].sum() - target) < 1e-3
        assert kept[28:].any()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("count", "likely"), [(6, 0.37), (10, 0.79), (12, 0.94), (16, 0.96)]
)
def test_random_products_hit_a_target_as_often_as_measured_before(
    count: int, likely: float
) -> None:
    """Within 1e-2 of a uniform target in [-1, 1]; 600 draws beside one of 100."""
    generator = np.random.default_rng(count)
    hits = 0
    for _ in range(600):
        numbers = generator.uniform(-1, 1, count) * generator.uniform(-1, 1, count)
        target = float(generator.uniform(-1, 1))
        hits += abs(numbers[nearest_subset(numbers, target)].sum() - target) <= 1e-2
    spread = (likely * (1 - likely)) ** 0.5
    assert abs(hits / 600 - likely) <= 4 * spread * (1 / 600 + 1 / 100) ** 0.5


def test_a_masked_random_map_is_the_linear_one_on_what_is_not_negative() -> None:
    generator = np.random.default_rng(3)
    target = generator.uniform(-1, 1, (3, 3))
    found = masked(target, 56, FLOAT64)
    left, right = found.left.dense(), found.right.dense()
    assert found.off <= 1e-3
    assert np.abs(left @ right - target).max() == pytest.approx(found.off, abs=1e-12)
    x = generator.uniform(0, 1, (50, 3))
    with_relu = np.maximum(x @ left, 0) @ right
    assert np.array_equal(with_relu, x @ left @ right)
    assert np.abs(with_relu - x @ target).max() <= 3 * found.off
    assert found.kept < found.size == 56 * 3 * 6


def test_what_is_kept_is_what_was_drawn_and_the_seed_says_what_that_was() -> None:
    target = np.array([[0.5, -1.0]])
    found = masked(target, 24, FLOAT32)
    drawn = layer("test.right", 5, *found.right.shape, FLOAT32)
    at = found.right.rows, found.right.columns
    assert np.array_equal(found.right.values, drawn[at])
    again = masked(target, 24, FLOAT32)
    assert np.array_equal(again.right.values, found.right.values)
    other = layer("test.right", 6, *found.right.shape, FLOAT32)
    assert not np.intersect1d(drawn, other).size
    assert np.abs(drawn).max() <= 1


@pytest.mark.parametrize("name", ["C2", "FlipFlop", "S3", "Memory5", "Grid4"])
def test_the_rnn_that_is_looked_for_is_the_machine_and_hands_no_error_on(
    name: str,
) -> None:
    """Exactly in binary fractions; and with weights off by what turns no pair, for ever."""
    machine, generator = zoo.machine(name), np.random.default_rng(2)
    wanted = pruned.target(machine)
    off = 0.99 / pruned.relative_error(1.0, 1.0)
    noisy = [
        x + off * generator.choice([-1, 1], x.shape) * (x != 0)
        for x in (wanted.hidden, wanted.input)
    ]
    h, near = wanted.start, wanted.start
    state = machine.start
    for letter in generator.integers(0, len(machine.letters), 400):
        state = int(machine.transitions[letter, state])
        h = np.maximum(h @ wanted.hidden + wanted.input[letter], 0)
        near = np.maximum(near @ noisy[0] + noisy[1][letter], 0)
        logits = h @ wanted.unembed
        assert logits[state] == pruned.SCALE**2
        assert np.delete(logits, state).max() <= 0
        assert int((near @ wanted.unembed).argmax()) == state


@pytest.mark.parametrize(
    ("construction", "reason"),
    [
        ("pruned:seed=x", "seed and units"),
        ("pruned:units=0", "units are from 1"),
        ("pruned:", "seed and units"),
        ("pruned:fixed=middle", "fixed=left or fixed=right"),
        ("pruned:fixed=left,fixed=right", "fixed=left or fixed=right"),
    ],
)
def test_bad_choices_are_refused(construction: str, reason: str) -> None:
    with pytest.raises(CompileError, match=reason):
        choice(construction)


def test_choices_are_read() -> None:
    assert choice("pruned") == Choice()
    assert choice("pruned:seed=3,units=28") == Choice(3, 28)
    assert choice("pruned:fixed=right,units=28") == Choice(0, 28, "right")
    assert choice("elman") is None


@pytest.mark.slow
def test_no_pruned_gru_and_too_few_units_are_said() -> None:
    with pytest.raises(
        KrohnError, match="a GRU is built by 'saturated', not by 'pruned'"
    ):
        krohn.compile("C2", arch="gru", construction="pruned")
    with pytest.raises(KrohnError, match="there is one with construction='pruned'"):
        krohn.compile("C2", construction="pruned:seed=4,units=8", arch="rnn")
